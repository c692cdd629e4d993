//! Reading of an argument from its JSON text, and the wording of its errors.

use std::{any::Any, borrow::Cow};

use mcp_runtime_wire::{JsonKind, Raw, validate};
use serde::de::DeserializeOwned;
use serde_path_to_error::Track;

use super::lenient;
use crate::error::shown;

/// Reads `raw` as a `T`. A value that `serde_json` rejects is read once more, [leniently](lenient). If a string such as `"5"` or `"[1,2]"`
/// still does not fit the type, the content of the string is read as JSON, because many models quote arguments. `strict` turns this last
/// step off.
///
/// The second part of the result is the content read in place of `raw`, if any. The caller checks the constraints against this text.
pub(crate) fn read<T: DeserializeOwned + 'static>(
    raw: Raw<'_>,
    strict: bool,
) -> Result<(T, Option<String>), String> {
    if let Some(value) = usual(raw) {
        return Ok((value, None));
    }
    match serde_json::from_str(raw.as_str()) {
        Ok(value) => Ok((value, None)),
        Err(_) => read_again(raw, strict),
    }
}

#[cold]
fn read_again<T: DeserializeOwned>(
    raw: Raw<'_>,
    strict: bool,
) -> Result<(T, Option<String>), String> {
    let error = match read_leniently(raw) {
        Ok(value) => return Ok((value, None)),
        Err(error) => error,
    };
    if !strict
        && raw.kind() == JsonKind::String
        && let Some(inner) = raw.string()
        && let Ok(inner) = validate(inner.as_bytes(), DEPTH)
        && let Ok(value) = read_leniently(inner)
    {
        // JSON inside a string must obey the same rule as a message: no object has a duplicate name.
        return match inner.duplicate_name() {
            Some(doubled) => Err(doubled.to_string()),
            None => Ok((value, Some(inner.as_str().to_owned()))),
        };
    }
    Err(error)
}

/// Maximum nesting depth that `serde_json` reads.
pub(crate) const DEPTH: usize = 127;

/// Reads a value leniently.
///
/// # Errors
/// Fails if the value does not fit the type. The error text contains the path to the value inside the argument.
fn read_leniently<T: DeserializeOwned>(raw: Raw<'_>) -> Result<T, String> {
    let mut path = String::new();
    let value = lenient::read(raw, |reader| {
        let mut track = Track::new();
        let tracked = serde_path_to_error::Deserializer::new(reader, &mut track);
        T::deserialize(tracked).inspect_err(|_| path = track.path().to_string())
    });
    value.map_err(|error| {
        let reason = wording(&error.to_string());
        if path == "." { reason } else { format!("at `{}`: {reason}", shown(&path)) }
    })
}

/// Reads the most common types as serde would, but faster. `None` for other types, and for wrong values.
fn usual<T: 'static>(raw: Raw<'_>) -> Option<T> {
    // For each `T`, the compiler removes the branches of other types.
    let mut slot = None::<T>;
    let any: &mut dyn Any = &mut slot;
    if let Some(slot) = any.downcast_mut::<Option<String>>() {
        *slot = raw.string().map(Cow::into_owned);
    } else if let Some(slot) = any.downcast_mut::<Option<i64>>() {
        // `serde_json` reads `-0` as a floating point number and not as an integer, so this function leaves `-0` to it.
        *slot = raw.i64().filter(|_| raw.as_str() != "-0");
    } else if let Some(slot) = any.downcast_mut::<Option<u64>>() {
        *slot = raw.u64();
    } else if let Some(slot) = any.downcast_mut::<Option<bool>>() {
        *slot = raw.bool();
    }
    slot
}

/// Rewords an error of serde for clients. Removes the position in the text, and replaces Rust types with JSON types.
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
    // `before` contains the rejected value, which may be long.
    match shown(before) {
        all if all.len() == before.len() => format!("{before}expected {expected}"),
        start => format!("{start}…, expected {expected}"),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, num::NonZeroU8};

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
            Err("at `[1].qty`: `300` is out of range, at most 255"),
        );
    }

    #[test]
    fn an_integer_may_have_a_fraction_of_zeros_or_an_exponent() {
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Amount {
            Exact(u64),
            Between { least: i32, most: NonZeroU8 },
        }
        check::<i8>("1.0", true, Ok("1"));
        check::<u16>("1e2", true, Ok("100"));
        check::<i64>("-2.50e1", true, Ok("-25"));
        check::<i128>("1e20", true, Ok("100000000000000000000"));
        check::<u128>("3e38", true, Ok("300000000000000000000000000000000000000"));
        check::<i64>("9007199254740993.0", true, Ok("9007199254740993"));
        check::<i64>(r#""1.0""#, false, Ok("1"));
        check::<Option<u8>>("1.0", true, Ok("Some(1)"));
        check::<Vec<(u8, String)>>(
            r#"[[1.0, "a"], [2, "b"]]"#,
            true,
            Ok(r#"[(1, "a"), (2, "b")]"#),
        );
        check::<BTreeMap<i8, usize>>(r#"{"-1": 1.0, "2": 2}"#, true, Ok("{-1: 1, 2: 2}"));
        check::<Amount>(r#"{"Exact": 1e3}"#, true, Ok("Exact(1000)"));
        check::<Amount>(
            r#"{"Between": {"least": -1.0, "most": 2.0}}"#,
            true,
            Ok("Between { least: -1, most: 2 }"),
        );
        check::<f64>("1.0", true, Ok("1.0"));
        check::<u8>(
            "1.5",
            true,
            Err("invalid type: floating point `1.5`, expected an integer from 0 to 255"),
        );
    }

    #[test]
    fn an_integer_out_of_range_is_rejected_with_the_bound() {
        check::<i64>("1e30", true, Err("`1e30` is out of range, at most 9223372036854775807"));
        check::<i64>(
            "10000000000000000000",
            true,
            Err("`10000000000000000000` is out of range, at most 9223372036854775807"),
        );
        check::<i64>("-1e19", true, Err("`-1e19` is out of range, at least -9223372036854775808"));
        check::<u32>("-1", true, Err("`-1` is out of range, at least 0"));
        check::<u128>(
            "1e39",
            true,
            Err("`1e39` is out of range, at most 340282366920938463463374607431768211455"),
        );
        let error = read::<u8>(Raw::trusted(&"9".repeat(300)), true).expect_err("too large");
        assert!(error.len() < 200, "{error}");
    }

    /// Serde buffers the content of these types before it knows whether to read an integer. The reader accepts `2.0` as an integer there
    /// too.
    #[test]
    fn integers_with_a_fraction_or_an_exponent_are_read_from_buffered_values() {
        #[derive(serde::Deserialize, Debug)]
        #[serde(tag = "kind")]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Shape {
            Square { side: u8 },
        }
        #[derive(serde::Deserialize, Debug)]
        #[serde(untagged)]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Either {
            Count(u8),
            Name(String),
        }
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Page {
            size: u8,
        }
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Search {
            #[serde(flatten)]
            page: Page,
        }
        check::<Shape>(r#"{"kind": "Square", "side": 2.0}"#, true, Ok("Square { side: 2 }"));
        check::<Either>("2.0", true, Ok("Count(2)"));
        check::<Search>(r#"{"size": 2e1}"#, true, Ok("Search { page: Page { size: 20 } }"));
    }

    #[test]
    fn null_counts_as_missing_for_a_field_with_a_default() {
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Page {
            #[serde(default)]
            offset: u8,
            #[serde(default = "ten")]
            size: u8,
            #[serde(default = "some_ten")]
            most: Option<u8>,
            name: String,
        }
        fn ten() -> u8 {
            10
        }
        fn some_ten() -> Option<u8> {
            Some(10)
        }
        check::<Vec<Page>>(
            r#"[{"offset": null, "size": null, "most": null, "name": "a"}, {"offset": 1.0, "name": "b"}]"#,
            true,
            Ok(
                r#"[Page { offset: 0, size: 10, most: None, name: "a" }, Page { offset: 1, size: 10, most: Some(10), name: "b" }]"#,
            ),
        );
        check::<Page>(
            r#"{"offset": null, "name": null}"#,
            true,
            Err("at `name`: invalid type: null, expected a string"),
        );
        check::<Page>(r#"{"offset": null}"#, true, Err("missing field `name`"));
        check::<BTreeMap<String, u8>>(
            r#"{"a": null}"#,
            true,
            Err("at `a`: invalid type: null, expected an integer from 0 to 255"),
        );
    }

    /// The lenient reader and `serde_json` agree on all input that needs no leniency.
    #[test]
    fn the_lenient_reader_agrees_with_serde_json() {
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Both {
            unit: (),
            text: Option<String>,
            float: f32,
            letter: char,
            any: serde_json::Value,
            pair: (u8, bool),
            map: BTreeMap<bool, Vec<Wrapped>>,
            raw: Box<serde_json::value::RawValue>,
        }
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Wrapped(Kind);
        #[derive(serde::Deserialize, Debug)]
        #[serde(rename_all = "lowercase")]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Kind {
            None,
            Pair(u8, String),
        }
        fn agrees<T: DeserializeOwned + std::fmt::Debug>(text: &str) {
            let strictly =
                serde_json::from_str::<T>(text).map_err(|error| wording(&error.to_string()));
            let leniently = lenient::read(Raw::trusted(text), |reader| T::deserialize(reader));
            let leniently = leniently.map_err(|error| wording(&error.to_string()));
            assert_eq!(format!("{leniently:?}"), format!("{strictly:?}"), "{text}");
        }
        let whole = r#"{"unit":null,"text":"\u00e4\n","float":0.1,"letter":"ä","any":[1.5,{"a":null}],"pair":[1,true],"map":{"true":["none",{"pair":[1,"x"]}]},"raw":{ "a" : 1.0 }}"#;
        agrees::<Both>(whole);
        for (of, wrong) in [
            (r#""unit":null"#, r#""unit":1"#),
            (r#""letter":"ä""#, r#""letter":"ab""#),
            ("[1,true]", "[1]"),
            ("[1,true]", "[1,true,2]"),
            (r#""none""#, r#""some""#),
            (r#""none""#, "{}"),
            (r#""none""#, "[]"),
            (r#""text":"\u00e4\n","#, ""),
            (r#""float":0.1,"#, ""),
            ("0.1", r#""0.1""#),
        ] {
            agrees::<Both>(&whole.replace(of, wrong));
        }
        for text in [
            "[]",
            "{}",
            "null",
            "1",
            r#"{"pair":[1,"x"]}"#,
            r#"{"none":null}"#,
            r#"{"pair":1,"none":2}"#,
        ] {
            agrees::<Kind>(text);
            agrees::<Both>(text);
            agrees::<Vec<u8>>(text);
        }
    }
}
