//! Spellings of URIs that RFC 3986 (section 6.2.2) calls equivalent.

use std::{borrow::Cow, fmt::Write as _};

use mcp_runtime_contract::percent;

/// Returns the URI with every character percent-encoded that is not ASCII, every space, and with escapes in upper case. So a text that an
/// author or a client writes without escapes is equal to the same text with them.
pub(crate) fn encoded(uri: &str) -> Cow<'_, str> {
    if !uri.bytes().any(|byte| matches!(byte, b' ' | b'%') || !byte.is_ascii()) {
        return Cow::Borrowed(uri);
    }
    let mut encoded = String::with_capacity(uri.len() + 8);
    let mut escape = 0;
    for byte in uri.bytes() {
        match byte {
            b'%' => escape = 3,
            b' ' | 0x80.. => {
                let _ = write!(encoded, "%{byte:02X}");
                continue;
            }
            _ => {}
        }
        let is_digit = escape > 0 && byte != b'%';
        encoded.push(char::from(if is_digit { byte.to_ascii_uppercase() } else { byte }));
        escape = u8::saturating_sub(escape, 1);
    }
    if encoded == uri { Cow::Borrowed(uri) } else { Cow::Owned(encoded) }
}

/// Returns the [`encoded`] URI with scheme and host in lower case. URIs of the same resource have the same key, unless a part of the host is
/// the variable of a template, whose case may matter.
pub(crate) fn resource_key(uri: &str) -> Cow<'_, str> {
    let key = encoded(uri);
    let (start, rest) = key.split_at(scheme_and_host(&key).unwrap_or_default());
    if !start.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return key;
    }
    let mut escapes = start.split('%');
    let mut lower = escapes.next().unwrap_or_default().to_ascii_lowercase();
    for part in escapes {
        let (digits, text) = part.split_at(part.len().min(2));
        lower.extend(["%", digits, &text.to_ascii_lowercase()]);
    }
    if lower == start { key } else { (lower + rest).into() }
}

/// Returns the key under which subscriptions and updates of a URI meet: the percent-decoded URI, with its scheme in lower case. The case of the
/// host stays, because it may be the variable of a template.
pub(crate) fn subscription_key(uri: &str) -> String {
    let mut key = percent::decode(uri).unwrap_or(Cow::Borrowed(uri)).into_owned();
    if let Some(end) = key.find(':') {
        key[..end].make_ascii_lowercase();
    }
    key
}

/// Returns the length of scheme and host, in bytes. Their case does not matter. A host with a part before an `@` does not count, because
/// that part is case-sensitive. `None` means that the text has no scheme.
pub(crate) fn scheme_and_host(uri: &str) -> Option<usize> {
    let (scheme, after) = uri.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme {
        return None;
    }
    let host = after.strip_prefix("//").unwrap_or_default();
    let host = &host[..host.find(['/', '?', '#']).unwrap_or(host.len())];
    let slashes = if after.starts_with("//") { 2 } else { 0 };
    let host = if host.contains('@') { 0 } else { host.len() };
    Some(scheme.len() + 1 + slashes + host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_spellings_have_the_same_key() {
        fn check(uri: &str, expected: &str) {
            let key = resource_key(uri);
            assert_eq!(key, expected, "{uri}");
            assert_eq!(resource_key(&key), key);
            assert_eq!(matches!(key, Cow::Borrowed(_)), uri == expected, "{uri}");
        }
        check("note://today", "note://today");
        check("NOTE://Today/A", "note://today/A");
        check("Note:Today", "note:Today");
        check("http://Me@Host/A", "http://Me@Host/A");
        check("HTTP://Me@Host/A", "http://Me@Host/A");
        check("note://é/è", "note://%C3%A9/%C3%A8");
        check("note://É/%C3%89", "note://%C3%89/%C3%89");
        check("note://%C3%A9/x", "note://%C3%A9/x");
        check("NOTE://A%2fB%C/x", "note://a%2Fb%C/x");
        check("note://a/%c3%a9", "note://a/%C3%A9");
        check("note://a/b c", "note://a/b%20c");
        check("note://a/%2fb%", "note://a/%2Fb%");
        check("note://a/%%3f", "note://a/%%3F");
        check("no scheme", "no%20scheme");
        check("", "");
    }

    #[test]
    fn the_key_of_a_subscription_keeps_the_case_of_the_host() {
        for (uri, expected) in [
            ("NOTE://A%20b/%C3%A9", "note://A b/é"),
            ("note://100%", "note://100%"),
            ("É:x", "É:x"),
            ("x", "x"),
        ] {
            assert_eq!(subscription_key(uri), expected);
        }
    }
}
