//! Checks the address of a page that a user is sent to (rule ELIC-07).

use crate::percent;

/// Longest address in bytes, chosen so that browsers accept it and servers can keep it.
const LONGEST: usize = 8 << 10;

/// Description of a valid address, for error messages.
pub(crate) const EXPECTED: &str =
    "an absolute http or https URL with a host, without a user name and without blanks";

/// Checks that a user can be sent to `url`. Whether the page is safe cannot be told from its address.
///
/// # Errors
/// Returns what is wrong with the address, but not the address itself, which may be confidential.
pub(crate) fn check(url: &str) -> Result<(), &'static str> {
    if url.len() > LONGEST {
        return Err("it is longer than 8192 bytes");
    }
    // Characters that a browser would drop, or read differently from what the user sees.
    let is_foreign = |it: u8| !it.is_ascii_graphic() || br#""<>\^`{|}"#.contains(&it);
    if url.bytes().any(is_foreign) {
        return Err("it has characters that no URL has; they are written as %XX");
    }
    if percent::decode_bytes(url).is_none() {
        return Err("it has a % without two hexadecimal digits");
    }
    let (scheme, rest) = url.split_once("://").ok_or("it does not begin with https://")?;
    if !["http", "https"].iter().any(|it| scheme.eq_ignore_ascii_case(it)) {
        return Err("it does not begin with https://");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("it has a user name");
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, after) = rest.split_once(']').ok_or("its host is no address")?;
            address.parse::<core::net::Ipv6Addr>().map_err(|_| "its host is no address")?;
            (address, after)
        }
        None => authority.find(':').map_or((authority, ""), |at| authority.split_at(at)),
    };
    if host.is_empty() {
        return Err("it has no host");
    }
    let port_fits = match port.strip_prefix(':') {
        Some(digits) => {
            digits.bytes().all(|it| it.is_ascii_digit())
                && (digits.is_empty() || digits.parse::<u16>().is_ok())
        }
        None => port.is_empty(),
    };
    if port_fits { Ok(()) } else { Err("its port is no number up to 65535") }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_person_is_sent_to_web_pages_only() {
        for good in [
            "https://pay.example.com/x?y=z#part",
            "HTTPS://pay.example.com",
            "http://localhost:8080/login",
            "http://127.0.0.1:0",
            "https://[::1]:443/",
            "https://pay.example.com:/a%20b",
            "https://pay.example.com/to@home?a=b:c",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "pay",
            "/pay",
            "//pay.example.com",
            "pay.example.com",
            "ftp://pay.example.com",
            "javascript://pay.example.com/%0aalert(1)",
            "javascript:alert(1)",
            "https:pay.example.com",
            "https://",
            "https:///pay",
            "https://:443/",
            "https://?x",
            "https://user@pay.example.com",
            "https://user:secret@pay.example.com/",
            "https://pay.example.com\\@evil.example.com",
            " https://pay.example.com",
            "https://pay.example.com/a b",
            "https://pay.example.com/\n",
            "https://pay.example.com/\u{a0}",
            "https://pay.example.com/ü",
            "https://pay.example.com/%4",
            "https://pay.example.com:99999/",
            "https://pay.example.com:port/",
            "https://[::1/",
            "https://[pay]/",
            "https://[::1]x/",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert!(check(&format!("https://pay.example.com/{}", "x".repeat(8 << 10))).is_err());
    }
}
