//! Percent-encoding (RFC 3986 §2.1), for URI templates, for the fragments of `$ref` and for paths.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Decodes `%41` to `A`. Returns `None` for an escape that is incomplete or not hexadecimal, and for bytes that are not UTF-8, because
/// different programs decode such text differently.
pub fn decode(text: &str) -> Option<Cow<'_, str>> {
    match decode_bytes(text)? {
        Cow::Borrowed(_) => Some(Cow::Borrowed(text)),
        Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
    }
}

/// [`decode`] for text whose decoded bytes need not be UTF-8, such as a path.
pub fn decode_bytes(text: &str) -> Option<Cow<'_, [u8]>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text.as_bytes()));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            byte => byte,
        });
    }
    Some(Cow::Owned(bytes))
}

/// Appends `text` to `into`. Every byte that is neither unreserved nor accepted by `also` is percent-encoded.
pub fn encode(text: &str, also: fn(u8) -> bool, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || also(byte) {
            into.push(byte as char);
        } else {
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

fn hex(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding() {
        fn check(text: &str, expected: Option<&str>) {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
        }
        check("", Some(""));
        check("plain+text", Some("plain+text"));
        check("a%20b%2F%2f", Some("a b//"));
        check("%C3%A9", Some("é"));
        check("%", None);
        check("%4", None);
        check("%4g", None);
        check("%+1", None);
        check("%FF", None);
        check("%é1", None);
        assert_eq!(decode_bytes("a%FF").as_deref(), Some(&b"a\xff"[..]));
    }

    #[test]
    fn encoding() {
        let mut text = String::new();
        encode("a/b c%é", |byte| byte == b'/', &mut text);
        assert_eq!(text, "a/b%20c%25%C3%A9");
        assert_eq!(decode(&text).as_deref(), Some("a/b c%é"));
    }
}
