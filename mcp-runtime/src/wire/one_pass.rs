//! The members that the validating pass records are those that the text has.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{
    Limits, Parsed, Raw, json::validate, message::Envelope, noted::Known, parse, raw::Kind,
};

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

fn text() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(SCALARS.to_vec()).prop_map(str::to_owned);
    scalar.prop_recursive(5, 60, 9, |inner| {
        let spaced = (space(), inner.clone(), space()).prop_map(|(a, it, b)| format!("{a}{it}{b}"));
        let spaced = spaced.boxed();
        let name = prop::sample::select(NAMES.to_vec());
        let member = (space(), name, space(), spaced.clone());
        let member = member.prop_map(|(a, name, b, value)| format!("{a}{name}{b}:{value}"));
        let plain = Just(r#""jsonrpc":"2.0""#.to_owned());
        let members = prop::collection::vec(prop_oneof![6 => member, 1 => plain], 0..9);
        prop_oneof![
            1 => prop::collection::vec(spaced, 0..5).prop_map(|it| between("[", &it, "]")),
            6 => members.prop_map(|it: Vec<_>| between("{", &it, "}")),
        ]
    })
}

/// Texts, some of which are cut off or have one byte changed or removed.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let spoil = prop::option::of((any::<prop::sample::Index>(), 0..3u8, any::<u8>()));
    (text(), spoil).prop_map(|(text, spoil)| {
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

fn check_object(known: Known<'_>, whole: Raw<'_>) {
    assert_eq!(known.whole, whole);
    let names = ["a", "b", "name", "arguments", "_meta"];
    assert_eq!(known.pick(names), whole.pick(names), "{whole:?}");
    if let Some(members) = known.members {
        let found = members.iter().flatten().map(|it| (it.0.into(), it.1));
        assert!(found.eq(whole.members()), "{whole:?}");
    }
}

/// Whether any object in `value` has a name twice.
fn has_doubled(value: Raw<'_>) -> bool {
    let mut names = BTreeSet::new();
    value.members().any(|(name, value)| !names.insert(name) || has_doubled(value))
        || value.elements().any(has_doubled)
}

fn check_envelope(envelope: &Envelope<'_>, text: Raw<'_>) {
    let names = ["jsonrpc", "id", "method", "result", "error"];
    let Envelope { jsonrpc, id, method, result, error, .. } = *envelope;
    assert_eq!([jsonrpc, id, method, result, error], text.pick(names), "{text:?}");
    if text.kind() == Kind::Object {
        assert_eq!(envelope.doubled.is_some(), has_doubled(text), "{text:?}");
    }
    let whole = text.get("params");
    assert_eq!(envelope.params.as_ref().map(|it| it.all.whole()), whole, "{text:?}");
    let (Some(params), Some(whole)) = (&envelope.params, whole) else { return };
    check_object(params.all.known(), whole);
    for (name, known) in [("arguments", params.arguments()), ("_meta", params.meta())] {
        assert_eq!(known.map(|it| it.whole), whole.get(name), "{name} in {text:?}");
        if let Some(known) = known {
            check_object(known, known.whole);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn a_message_is_what_its_text_says(bytes in bytes(), depth in prop::sample::select(vec![2, 3, 4, 128])) {
        let mut parsed = Parsed::default();
        let read = parse(&bytes, Limits { depth, batch: 3 }, &mut parsed).map(|_| ());
        let valid = validate(&bytes, depth);
        prop_assert_eq!(read, valid.map(|_| ()));
        let Ok(text) = valid else { return Ok(()) };
        match &parsed {
            Parsed::One(envelope) => {
                prop_assert_ne!(text.kind(), Kind::Array);
                check_envelope(envelope, text);
            }
            Parsed::Batch(all) => {
                prop_assert_eq!(all.len(), text.elements().count());
                all.iter().zip(text.elements()).for_each(|(it, text)| check_envelope(it, text));
            }
            Parsed::LongBatch => prop_assert!(text.elements().count() > 3),
        }
    }
}
