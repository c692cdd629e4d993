//! Property tests: this crate and `serde_json` read every text alike, and the members recorded by the validating pass are those of the
//! text.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::Value;

use crate::{
    IndexedObject, JsonKind, ParseLimits, Parsed, Raw,
    message::{Envelope, ParsedText},
    parse, validate, write,
};

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

/// Generates texts from pieces of JSON. Such texts are nearly valid far more often than random bytes.
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
        JsonKind::Null => Value::Null,
        JsonKind::Bool => raw.bool().into(),
        JsonKind::String => raw.string().into(),
        JsonKind::Array => raw.elements().map(read).collect(),
        JsonKind::Object => raw.members().map(|(name, value)| (name, read(value))).collect(),
        // The default float parser of `serde_json` may be off by one unit in the last place. The other side is read with it, so this side
        // uses it too.
        JsonKind::Number => serde_json::from_str(raw.as_str()).unwrap(),
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

/// Names of members, most of which are names that JSON-RPC defines.
const NAMES: [&str; 22] = [
    r#""jsonrpc""#,
    r#""jsonrpc""#,
    r#""id""#,
    r#""\u0069d""#,
    r#""method""#,
    r#""params""#,
    r#""params""#,
    r#""params""#,
    r#""param\u0073""#,
    r#""result""#,
    r#""error""#,
    r#""arguments""#,
    r#""arguments""#,
    r#""argument\u0073""#,
    r#""_meta""#,
    r#""_met\u0061""#,
    r#""name""#,
    r#""a""#,
    r#""b""#,
    r#""c""#,
    r#""""#,
    r#""ü\n""#,
];
const SCALARS: [&str; 9] =
    [r#""2.0""#, r#""2.0""#, r#""\u0032.0""#, "1", "-0.5e3", "null", "true", r#""x""#, r#""a\"}""#];

fn space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "", " ", "\n\t", "\r "])
}

fn between(open: &str, parts: &[String], close: &str) -> String {
    format!("{open}{}{close}", parts.join(","))
}

fn message_text() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(SCALARS.to_vec()).prop_map(str::to_owned);
    scalar.prop_recursive(5, 60, 9, |inner| {
        let spaced = (space(), inner.clone(), space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let spaced = spaced.boxed();
        let name = prop::sample::select(NAMES.to_vec());
        let member = (space(), name, space(), spaced.clone());
        let member = member.prop_map(|(a, name, b, value)| format!("{a}{name}{b}:{value}"));
        let plain = Just(r#""jsonrpc":"2.0""#.to_owned());
        let members = prop::collection::vec(prop_oneof![6 => member, 1 => plain], 0..9);
        prop_oneof![
            1 => prop::collection::vec(spaced, 0..5).prop_map(|elements| between("[", &elements, "]")),
            6 => members.prop_map(|members: Vec<_>| between("{", &members, "}")),
        ]
    })
}

/// Generates messages, some of which are cut off or have one byte changed or removed.
fn message_bytes() -> impl Strategy<Value = Vec<u8>> {
    let spoil = prop::option::of((any::<prop::sample::Index>(), 0..3u8, any::<u8>()));
    (message_text(), spoil).prop_map(|(text, spoil)| {
        let mut bytes = text.into_bytes();
        if let Some((at, how, byte)) = spoil {
            let at = at.index(bytes.len());
            match how {
                0 => bytes.truncate(at),
                1 => bytes[at] = byte,
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    })
}

fn check_object(known: IndexedObject<'_>, whole: Raw<'_>) {
    assert_eq!(known.whole, whole);
    let names = ["a", "b", "name", "arguments", "_meta"];
    assert_eq!(known.pick(names), whole.pick(names), "{whole:?}");
    if let Some(members) = known.members {
        let found = members.iter().flatten().map(|member| (member.0.into(), member.1));
        assert!(found.eq(whole.members()), "{whole:?}");
    }
}

/// Whether a name occurs twice in any object of `value`.
fn has_duplicate(value: Raw<'_>) -> bool {
    let mut names = BTreeSet::new();
    value.members().any(|(name, value)| !names.insert(name) || has_duplicate(value))
        || value.elements().any(has_duplicate)
}

fn check_envelope(envelope: &Envelope<'_>, text: Raw<'_>) {
    let names = ["jsonrpc", "id", "method", "result", "error"];
    let Envelope { jsonrpc, id, method, result, error, .. } = *envelope;
    assert_eq!([jsonrpc, id, method, result, error], text.pick(names), "{text:?}");
    if text.kind() == JsonKind::Object {
        assert_eq!(envelope.duplicate.is_some(), has_duplicate(text), "{text:?}");
    }
    let whole = text.get("params").map(|params| match params.kind() {
        JsonKind::Null => Raw::EMPTY_OBJECT,
        _ => params,
    });
    assert_eq!(envelope.params.as_ref().map(|params| params.object().whole), whole, "{text:?}");
    let (Some(params), Some(whole)) = (&envelope.params, whole) else { return };
    check_object(params.object(), whole);
    for (name, known) in [("arguments", params.arguments()), ("_meta", params.meta())] {
        assert_eq!(known.map(|object| object.whole), whole.get(name), "{name} in {text:?}");
        if let Some(known) = known {
            check_object(known, known.whole);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn a_message_is_what_its_text_says(bytes in message_bytes(), depth in prop::sample::select(vec![2, 3, 4, 128])) {
        let mut parsed = Parsed::default();
        let read = parse(&bytes, ParseLimits { depth, batch: 3 }, &mut parsed).map(|_| ());
        let valid = validate(&bytes, depth);
        prop_assert_eq!(read, valid.map(|_| ()));
        let Ok(text) = valid else { return Ok(()) };
        match parsed.text() {
            ParsedText::One(envelope) => {
                prop_assert_ne!(text.kind(), JsonKind::Array);
                check_envelope(envelope, text);
            }
            ParsedText::Batch(all) => {
                prop_assert_eq!(all.len(), text.elements().count());
                all.iter().zip(text.elements()).for_each(|(envelope, text)| check_envelope(envelope, text));
            }
            ParsedText::LongBatch => prop_assert!(text.elements().count() > 3),
        }
    }
}

#[test]
fn serde_json_reads_the_parameters_of_a_message_at_the_depth_limit() {
    // In a message at our depth limit of 128, the parameters are 127 deep. This is the maximum depth that `serde_json` reads.
    let params = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert!(serde_json::from_str::<Value>(&params(127)).is_ok());
    assert!(serde_json::from_str::<Value>(&params(128)).is_err());
    assert!(validate(format!("{{\"params\":{}}}", params(127)).as_bytes(), 128).is_ok());
}
