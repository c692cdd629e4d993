//! Headers that repeat values of the body for proxies: `Mcp-Name` and `Mcp-Param-…`. Specification: basic/transports/streamable-http.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mcp_runtime_wire::{JsonKind, Raw, validate};

/// Decodes the value of a header. Plain text stands for itself, and `=?base64?…?=` for its decoded content. Returns `None` if the value has
/// bytes that no header may have, or if the wrapper does not contain the base64 of a text.
pub(crate) fn decode(value: &[u8]) -> Option<Cow<'_, str>> {
    if !value.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        return None;
    }
    let value = std::str::from_utf8(value).ok()?.trim_matches([' ', '\t']);
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(value.into());
    };
    let bytes = STANDARD.decode(inner).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Returns whether a header agrees with the argument that it repeats. Lists, objects and `null` have no headers, so the result for them is
/// `false`.
pub(crate) fn agrees(header: &[u8], argument: Raw<'_>) -> bool {
    let Some(header) = decode(header) else { return false };
    match argument.kind() {
        JsonKind::String => argument.string().is_some_and(|text| text == header),
        JsonKind::Bool => argument.as_str() == header,
        JsonKind::Number => {
            number(&header).is_some_and(|sent| Some(sent) == number(argument.as_str()))
        }
        JsonKind::Null | JsonKind::Array | JsonKind::Object => false,
    }
}

/// Number, split into its sign, its digits without leading and trailing zeros, and a decimal exponent. The comparison of these parts is
/// exact at any size, whereas different large integers can be equal as `f64`.
#[derive(Debug, PartialEq)]
struct HeaderNumber {
    is_negative: bool,
    digits: String,
    exponent: i64,
}

/// Parses a number in the syntax of JSON.
fn number(text: &str) -> Option<HeaderNumber> {
    let json = validate(text.as_bytes(), 0).ok().filter(|json| json.as_str() == text)?;
    if json.kind() != JsonKind::Number {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (mantissa, is_negative) = match mantissa.strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (mantissa, false),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_end_matches('0');
    let dropped = i64::try_from(all.len() - digits.len()).ok()?;
    let digits = digits.trim_start_matches('0').to_owned();
    if digits.is_empty() {
        return Some(HeaderNumber { is_negative: false, digits, exponent: 0 });
    }
    let exponent = exponent
        .parse::<i64>()
        .ok()?
        .checked_sub(i64::try_from(fraction.len()).ok()?)?
        .checked_add(dropped)?;
    Some(HeaderNumber { is_negative, digits, exponent })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_plain_or_wrapped() {
        let check = |value: &str, expected: Option<&str>| {
            assert_eq!(decode(value.as_bytes()).as_deref(), expected, "{value:?}");
        };
        check("eu", Some("eu"));
        check("", Some(""));
        check(" \t two words \t", Some("two words"));
        check("=?base64?Z3LDvMOfZQ==?=", Some("grüße"));
        check("  =?base64?IGEg?=  ", Some(" a "));
        check("=?base64??=", Some(""));
        // Without the complete wrapper, the value is plain text.
        check("=?base64?Z3LDvMOfZQ==", Some("=?base64?Z3LDvMOfZQ=="));
        check("Z3LDvMOfZQ==?=", Some("Z3LDvMOfZQ==?="));
        check("=?BASE64?YQ==?=", Some("=?BASE64?YQ==?="));
        check("=?base64?=", Some("=?base64?="));
        check("x=?base64?YQ==?=", Some("x=?base64?YQ==?="));
        // These values have no padding, use the URL-safe alphabet, contain a space, or do not decode to UTF-8.
        check("=?base64?YQ?=", None);
        check("=?base64?YQ=?=", None);
        check("=?base64?_-8=?=", None);
        check("=?base64?Y Q=?=", None);
        check("=?base64?/w==?=", None);
        check("a\u{7}b", None);
        check("a\nb", None);
        check("a\u{7f}", None);
        check("grüße", None);
        assert_eq!(decode(b"\xff"), None);
    }

    #[test]
    fn headers_agree_by_the_type_of_the_argument() {
        let check = |header: &str, argument: &str, expected: bool| {
            let found = agrees(header.as_bytes(), Raw::trusted(argument));
            assert_eq!(found, expected, "{header:?} and {argument}");
        };
        check("eu", r#""eu""#, true);
        check(" eu ", r#""eu""#, true);
        check("Eu", r#""eu""#, false);
        check("", r#""""#, true);
        check("eu", r#"" eu""#, false);
        check("=?base64?IGV1?=", r#"" eu""#, true);
        check("=?base64?Z3LDvMOfZQ==?=", r#""gr\u00fc\u00dfe""#, true);
        check("=?base64?Z3LDvMOfZQ?=", r#""grüße""#, false);
        check("=?base64?=", r#""=?base64?=""#, true);
        check("=?base64?YQ==?=", r#""=?base64?YQ==?=""#, false);
        check("true", "true", true);
        check("false", "true", false);
        check("True", "true", false);
        check("true", r#""true""#, true);
        check("42", "42", true);
        check("42.0", "42", true);
        check("42", "42.0", true);
        check("4.2e1", "42", true);
        check("4200E-2", "42", true);
        check("-0", "0", true);
        check("0e99", "0.0", true);
        check("1e2", "100", true);
        check("100", "10", false);
        check("-42", "42", false);
        check("9007199254740993", "9007199254740992", false);
        check("18446744073709551616", "18446744073709551616.0", true);
        // A number whose exponent does not fit into an `i64` agrees with no argument.
        check("1e99999999999999999999", "42", false);
        check("1e-99999999999999999999", "0", false);
        check("042", "42", false);
        check("+42", "42", false);
        check("0x2a", "42", false);
        check("", "42", false);
        check("4 2", "42", false);
        check("\"42\"", "42", false);
        check("NaN", "42", false);
        check("=?base64?NDI=?=", "42", true);
        check("null", "null", false);
        check("", "null", false);
        check("[1]", "[1]", false);
        check("{}", "{}", false);
    }

    /// Writes a text as a client does: as plain text if possible, and otherwise in base64.
    fn header(text: &str) -> String {
        let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
            && text.trim_matches([' ', '\t']) == text
            && !(text.starts_with("=?base64?") && text.ends_with("?="));
        if plain { text.to_owned() } else { wrapped(text) }
    }

    fn wrapped(text: &str) -> String {
        format!("=?base64?{}?=", STANDARD.encode(text))
    }

    proptest! {
        #[test]
        fn a_header_agrees_with_an_argument_only_if_the_texts_are_equal(text in ".*", other in ".*") {
            let argument = serde_json::to_string(&text).unwrap();
            prop_assert!(agrees(header(&text).as_bytes(), Raw::trusted(&argument)));
            prop_assert!(agrees(wrapped(&text).as_bytes(), Raw::trusted(&argument)));
            prop_assert_eq!(agrees(header(&other).as_bytes(), Raw::trusted(&argument)), text == other);
        }

        #[test]
        fn integers_agree_when_they_are_equal(a in -1_000_i64..1_000, b in -1_000_i64..1_000, zeros in 0_usize..5) {
            let argument = b.to_string();
            let ways = [format!("{a}"), format!("{a}.{}0", "0".repeat(zeros)), format!("{a}e0"), format!("{a}0e-1")];
            for way in ways {
                prop_assert_eq!(agrees(way.as_bytes(), Raw::trusted(&argument)), a == b, "{}", way);
            }
        }

        #[test]
        fn arbitrary_header_bytes_cause_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40), argument in "[0-9.eE-]{0,12}") {
            let _ = decode(&bytes);
            let text = serde_json::to_string(&argument).unwrap();
            let _ = (agrees(&bytes, Raw::trusted(&text)), number(&argument));
        }
    }
}
