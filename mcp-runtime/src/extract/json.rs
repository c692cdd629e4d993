//! An argument from its JSON text, and what to say when that fails.

use std::{any::Any, borrow::Cow};

use serde::de::DeserializeOwned;

use crate::{
    error::shown,
    wire::{Kind, Raw, validate},
};

/// The deepest nesting that `serde_json` reads.
pub(super) const DEPTH: usize = 127;

/// Reads `raw` as a `T`. When only its type is wrong and it came as a string (`"5"`, `"[1,2]"`), the string's
/// content is read once more as JSON, since many models write arguments so; `strict` turns that off. A type
/// that takes strings never gets there.
///
/// The second part is the text that was read in the end, for the check of constraints.
pub(crate) fn read<T: DeserializeOwned + 'static>(
    raw: Raw<'_>,
    strict: bool,
) -> Result<(T, Option<String>), String> {
    if let Some(value) = usual(raw) {
        return Ok((value, None));
    }
    let first = match serde_json::from_str(raw.as_str()) {
        Ok(value) => return Ok((value, None)),
        Err(error) => error,
    };
    if !strict
        && raw.kind() == Kind::String
        && let Some(inner) = raw.string()
        && let Ok(value) = serde_json::from_str(&inner)
    {
        // What holds for a message holds for JSON inside a string of it.
        let json = validate(inner.as_bytes(), DEPTH).ok();
        return match json.and_then(Raw::doubled) {
            Some(doubled) => Err(doubled.to_string()),
            None => Ok((value, Some(inner.into_owned()))),
        };
    }
    Err(explain::<T>(raw.as_str(), &first))
}

/// What most arguments are, read as serde would read it and without its machinery; `None` for what is else or wrong.
fn usual<T: 'static>(raw: Raw<'_>) -> Option<T> {
    // Decided when this is compiled for a type.
    let mut slot = None::<T>;
    let any: &mut dyn Any = &mut slot;
    if let Some(slot) = any.downcast_mut::<Option<String>>() {
        *slot = raw.string().map(Cow::into_owned);
    } else if let Some(slot) = any.downcast_mut::<Option<i64>>() {
        // Which serde takes for a number with a fraction.
        *slot = raw.i64().filter(|_| raw.as_str() != "-0");
    } else if let Some(slot) = any.downcast_mut::<Option<u64>>() {
        *slot = raw.u64();
    } else if let Some(slot) = any.downcast_mut::<Option<bool>>() {
        *slot = raw.bool();
    }
    slot
}

/// The error with the path to the value inside the argument, found by reading once more.
fn explain<T: DeserializeOwned>(text: &str, first: &serde_json::Error) -> String {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(error) => {
            let path = error.path().to_string();
            let reason = wording(&error.inner().to_string());
            if path == "." { reason } else { format!("at `{}`: {reason}", shown(&path)) }
        }
        Ok(_) => wording(&first.to_string()),
    }
}

/// serde's text without the position in a text nobody sees, and with Rust's number types in a client's words.
pub(crate) fn wording(error: &str) -> String {
    let text = error.split(" at line ").next().unwrap_or(error);
    let Some((before, expected)) = text.rsplit_once("expected ") else { return text.to_owned() };
    let expected = match expected {
        "i8" => "an integer from -128 to 127",
        "u8" => "an integer from 0 to 255",
        "i16" => "an integer from -32768 to 32767",
        "u16" => "an integer from 0 to 65535",
        "i32" | "i64" | "isize" | "i128" => "an integer",
        "u32" | "u64" | "usize" | "u128" => "an integer that is not negative",
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        "a map" => "an object",
        other => other,
    };
    // The value itself comes first, and may be long.
    match shown(before) {
        all if all.len() == before.len() => format!("{before}expected {expected}"),
        start => format!("{start}…, expected {expected}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn check<T: DeserializeOwned + std::fmt::Debug + 'static>(
        text: &str,
        strict: bool,
        expected: Result<&str, &str>,
    ) {
        let found = read::<T>(Raw::trusted(text), strict).map(|(value, _)| format!("{value:?}"));
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{text}");
    }

    #[test]
    fn strings_are_read_once_more_unless_strict() {
        check::<i64>(r#""5""#, false, Ok("5"));
        check::<Vec<i64>>(r#""[1,2]""#, false, Ok("[1, 2]"));
        check::<String>(r#""5""#, false, Ok(r#""5""#));
        check::<BTreeMap<String, i64>>(r#""{\"a\":1}""#, false, Ok(r#"{"a": 1}"#));
        check::<BTreeMap<String, i64>>(
            r#""{\"a\":1,\"a\":7}""#,
            false,
            Err("`a` appears twice in one object"),
        );
        check::<i64>(r#""5""#, true, Err(r#"invalid type: string "5", expected an integer"#));
        check::<i64>(
            r#""five""#,
            false,
            Err(r#"invalid type: string "five", expected an integer"#),
        );
    }

    #[test]
    fn usual_types_are_read_as_serde_reads_them() {
        fn agrees<T: DeserializeOwned + PartialEq + std::fmt::Debug + 'static>(text: &str) {
            let (ours, serdes) = (usual::<T>(Raw::trusted(text)), serde_json::from_str(text).ok());
            assert_eq!(ours, serdes, "{text}");
        }
        for text in [
            "0",
            "-0",
            "5",
            "-5",
            "1.0",
            "1e2",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "-9223372036854775809",
            "18446744073709551615",
            "18446744073709551616",
            "true",
            "false",
            "null",
            "[]",
            "{}",
            "\"\"",
            "\"5\"",
            "\"true\"",
            r#""a\u00e4\n\ud83d\ude00\"\/ö""#,
        ] {
            agrees::<String>(text);
            agrees::<i64>(text);
            agrees::<u64>(text);
            agrees::<bool>(text);
        }
        assert_eq!(usual::<f64>(Raw::trusted("1")), None);
    }

    #[test]
    fn the_path_is_named() {
        #[derive(serde::Deserialize, Debug)]
        struct Item {
            #[expect(dead_code, reason = "only reading it is tested")]
            qty: u8,
        }
        check::<Vec<Item>>(
            r#"[{"qty":1},{"qty":300}]"#,
            false,
            Err("at `[1].qty`: invalid value: integer `300`, expected an integer from 0 to 255"),
        );
    }
}
