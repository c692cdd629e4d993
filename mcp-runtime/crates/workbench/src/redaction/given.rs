//! Patterns of secrets whose texts are known.

use std::fmt::Write as _;

use base64::{Engine as _, prelude::BASE64_STANDARD_NO_PAD};
use regex::{Regex, RegexBuilder, escape};

/// Shortest text in base64 that is taken for a secret, in characters. Images contain each shorter text by chance.
const SHORTEST_BASE64: usize = 5;

/// Length in bytes from which a secret is found with escaped letters and digits no more.
const LONG: usize = 256;

/// Compiles the pattern of a secret: the secret as it is, or with escapes in it, and the secret in hexadecimal digits and in base64.
pub(super) fn pattern(secret: &str) -> Regex {
    // Letters and digits need no escape, and in a long secret their patterns would take seconds.
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() && secret.len() > LONG;
    let own = |sign: char| if is_plain(sign) { sign.into() } else { character(sign) };
    let mut pattern: String = secret.chars().map(own).collect();
    pattern += "|(?i:";
    secret.bytes().for_each(|byte| pattern += &format!("{byte:02x}"));
    pattern.push(')');
    (0..3).filter_map(|before| base64(secret, before)).for_each(|form| {
        pattern.push('|');
        pattern += &form;
    });
    // A secret may be a key of several kilobytes.
    let compiled = RegexBuilder::new(&pattern).size_limit(usize::MAX).build();
    compiled.expect("all characters of the secret are escaped")
}

/// Returns the pattern of a character: itself, or its escape in JSON, in a URL or in HTML. An escape may itself be escaped.
fn character(sign: char) -> String {
    let own = escape(sign.encode_utf8(&mut [0; 4]));
    let mut pattern = match sign {
        '\\' => r"(?:\\+".to_owned(),
        '"' | '\'' | '/' | '`' | '$' => format!(r"(?:\\*{own}"),
        '\n' => r"(?:\n|\\+n".to_owned(),
        '\r' => r"(?:\r|\\+r".to_owned(),
        '\t' => r"(?:\t|\\+t".to_owned(),
        ' ' => r"(?: |\+".to_owned(),
        _ => format!("(?:{own}"),
    };
    pattern += match sign {
        '&' => "|&amp;",
        '<' => "|&lt;",
        '>' => "|&gt;",
        '"' => "|&quot;",
        '\'' => "|&apos;",
        _ => "",
    };
    pattern.push('|');
    for byte in sign.encode_utf8(&mut [0; 4]).bytes() {
        let _ = write!(pattern, "%(?:25)*(?i:{byte:02x})");
    }
    pattern.push('|');
    for unit in sign.encode_utf16(&mut [0; 2]) {
        let _ = write!(pattern, r"\\+u(?i:{unit:04x})");
    }
    let code = u32::from(sign);
    let _ = write!(pattern, "|&#(?:0*{code}|(?i:x0*{code:x}));)");
    pattern
}

/// Returns the pattern of the secret in base64, behind a number of bytes that is `before` more than a multiple of three. Bits of the first and
/// of the last character may belong to other bytes.
fn base64(secret: &str, before: usize) -> Option<String> {
    let mut bytes = vec![0; before];
    bytes.extend(secret.bytes());
    let encoded = BASE64_STANDARD_NO_PAD.encode(&bytes);
    let shared = usize::from(!bytes.len().is_multiple_of(3));
    let core = &encoded[(before * 8).div_ceil(6)..encoded.len() - shared];
    if core.len() < SHORTEST_BASE64 {
        return None;
    }
    let edge = r"[A-Za-z0-9+/_-]?";
    let mut pattern = if before == 0 { String::new() } else { edge.to_owned() };
    for sign in core.chars() {
        match sign {
            '+' => pattern += r"(?:[+-]|%(?i:2b))",
            '/' => pattern += r"(?:\\*/|_|%(?i:2f))",
            sign => pattern.push(sign),
        }
    }
    if shared == 1 {
        pattern += edge;
        pattern += "(?:=|%(?i:3d)){0,2}";
    }
    Some(pattern)
}
