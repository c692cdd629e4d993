//! This module and `serde_json` agree about every text.

use proptest::prelude::*;
use serde_json::Value;

use super::json::validate;
use super::{Kind, Raw, write};

fn json() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    scalar.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..8)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-z\"\\\\/\u{0}-\u{20}ä😀]{0,20}"]
}

/// Texts made of pieces of JSON, which are nearly JSON far more often than random bytes are.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] = &[
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\"",
        b"\\",
        b"\"a\"",
        b"\"k\":",
        b"\\u",
        b"\\ud83d",
        b"\\ude00",
        b"00",
        b"0",
        b"1",
        b"-",
        b"+",
        b".",
        b"e",
        b"E",
        b"1e308",
        b"1e309",
        b"-0",
        b"true",
        b"false",
        b"null",
        b"nul",
        b" ",
        b"\n",
        b"\r",
        b"\t",
        b"\x0c",
        b"\xc3\xa4",
        b"\xc3",
        b"\xa4",
        b"\xff",
        b"\x00",
        b"\x1f",
        b"\x7f",
        b"\\n",
        b"\\x",
        b"\xef\xbb\xbf",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..14).prop_map(|pieces| pieces.concat())
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..4);
    (json(), any::<bool>(), edits).prop_map(|(value, pretty, edits)| {
        let mut bytes =
            if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }
                .unwrap();
        for (index, byte, edit) in edits {
            let at = index.index(bytes.len().max(1)).min(bytes.len());
            match edit {
                0 if at < bytes.len() => drop(bytes.remove(at)),
                1 => bytes.insert(at, byte),
                2 => bytes.truncate(at),
                _ if at < bytes.len() => bytes[at] = byte,
                _ => {}
            }
        }
        bytes
    })
}

fn accepted_alike(bytes: &[u8]) -> Result<(), TestCaseError> {
    let ours = validate(bytes, 128).is_ok();
    let theirs = serde_json::from_slice::<Value>(bytes).is_ok();
    prop_assert_eq!(ours, theirs, "{}", String::from_utf8_lossy(bytes));
    Ok(())
}

/// Reads a value through `Raw` alone.
fn read(raw: Raw<'_>) -> Value {
    match raw.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => raw.bool().into(),
        Kind::String => raw.string().into(),
        Kind::Array => raw.elements().map(read).collect(),
        Kind::Object => raw.members().map(|(name, value)| (name, read(value))).collect(),
        // The default float parser of `serde_json` may be off by one unit in the last place, so both sides use it.
        Kind::Number => serde_json::from_str(raw.as_str()).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_bytes_are_accepted_alike(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
        accepted_alike(&bytes)?;
    }

    #[test]
    fn pieces_are_accepted_alike(bytes in pieces()) {
        accepted_alike(&bytes)?;
        accepted_alike(&[b"\"".as_slice(), &bytes, b"\""].concat())?;
        accepted_alike(&[b"[".as_slice(), &bytes, b"]"].concat())?;
        accepted_alike(&[b"{\"a\":".as_slice(), &bytes, b"}"].concat())?;
    }

    #[test]
    fn mutated_json_is_accepted_alike(bytes in mutated()) {
        accepted_alike(&bytes)?;
    }

    #[test]
    fn numbers_are_accepted_alike(number in "-?[0-9]{1,3}(\\.[0-9]{0,3})?([eE][-+]?[0-9]{0,4})?", zeros in 0..400usize) {
        accepted_alike(number.as_bytes())?;
        accepted_alike(format!("{number}{}", "0".repeat(zeros)).as_bytes())?;
    }

    #[test]
    fn values_read_through_raw_are_equal(value in json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let raw = validate(text.as_bytes(), 128).unwrap();
        prop_assert_eq!(raw.as_str(), &text);
        prop_assert_eq!(read(raw), serde_json::from_str::<Value>(&text).unwrap());
    }

    #[test]
    fn escaped_strings_decode_alike(units in prop::collection::vec(any::<u16>(), 0..12), plain in text()) {
        let escapes = units.iter().map(|unit| format!("\\u{unit:04X}")).collect::<String>();
        let quoted = serde_json::to_string(&plain).unwrap();
        let text = format!("\"{escapes}{}{escapes}\"", &quoted[1..quoted.len() - 1]);
        match serde_json::from_str::<String>(&text) {
            Ok(expected) => prop_assert_eq!(validate(text.as_bytes(), 0).unwrap().string().unwrap(), expected),
            Err(_) => prop_assert!(validate(text.as_bytes(), 0).is_err()),
        }
    }

    #[test]
    fn written_strings_read_back_equal(text in text()) {
        let mut written = Vec::new();
        write::string(&mut written, &text);
        prop_assert!(!written.contains(&b'\n'));
        prop_assert_eq!(serde_json::from_slice::<String>(&written).unwrap(), text.as_str());
        prop_assert_eq!(validate(&written, 0).unwrap().string().unwrap(), text.as_str());
    }
}

#[test]
fn the_depth_limit_of_the_wire_is_what_the_second_parse_takes() {
    // In a message at our depth limit of 128, the parameters are 127 deep, and `serde_json` reads no deeper than 127.
    let params = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert!(serde_json::from_str::<Value>(&params(127)).is_ok());
    assert!(serde_json::from_str::<Value>(&params(128)).is_err());
    assert!(validate(format!("{{\"params\":{}}}", params(127)).as_bytes(), 128).is_ok());
}
