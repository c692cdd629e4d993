//! Reading of an argument from its JSON text.

use std::{any::Any, borrow::Cow};

use mcp_runtime_wire::{JsonKind, Raw, validate};
use serde::de::{DeserializeOwned, Error as _};

use super::{
    error::ReadError,
    locate::located,
    reader::{ArgumentReader, DEPTH, Leniency, NullField},
    unknown::UnknownMembers,
    unskipped,
};

/// Value of an argument, and the notes of its reading if there are any.
pub(crate) type Reading<T> = (T, Option<Box<ReadNotes>>);

/// Facts about a reading that the caller rarely needs.
#[derive(Debug)]
pub(crate) struct ReadNotes {
    /// Content of a string, if it was read in place of the string.
    reread: Option<String>,
    pub(crate) unknown: UnknownMembers,
}

impl ReadNotes {
    /// Returns the text that was read.
    pub(crate) fn text<'a>(&'a self, raw: Raw<'a>) -> &'a str {
        self.reread.as_deref().unwrap_or(raw.as_str())
    }
}

/// Argument that could not be read.
#[derive(Debug)]
pub(crate) struct ReadFailure {
    pub(crate) error: ReadError,
    pub(crate) notes: ReadNotes,
}

/// Reads `raw` as a `T`. A value that `serde_json` rejects, or of which the type skips a part, is read once more,
/// [leniently](read_leniently). If a string such as `"5"` or `"[1,2]"` still does not fit the type, the content of the string is read as
/// JSON, because many models quote arguments. `strict` turns this last step off.
///
/// The caller checks the constraints against the text that was read, which is in the notes if it is not `raw`.
///
/// # Errors
/// Fails if neither the value nor the content of the string fits the type.
pub(crate) fn read<T: DeserializeOwned + 'static>(
    raw: Raw<'_>,
    strict: bool,
) -> Result<Reading<T>, Box<ReadFailure>> {
    if let Some(value) = usual(raw) {
        return Ok((value, None));
    }
    if let Some(value) = unskipped::read(raw.as_str()) {
        return Ok((value, None));
    }
    let mut bytes = MOST_BYTES;
    let failure = match read_text(raw, None, &mut bytes) {
        Ok(reading) => return Ok(reading),
        Err(failure) => failure,
    };
    if strict { Err(failure) } else { read_quoted(raw, failure, &mut bytes) }
}

/// Reads the content of a string as JSON. If that is impossible, returns `failure`, the error of the string itself.
#[cold]
fn read_quoted<T: DeserializeOwned>(
    raw: Raw<'_>,
    failure: Box<ReadFailure>,
    bytes: &mut usize,
) -> Result<Reading<T>, Box<ReadFailure>> {
    let Some(text) = raw.string().map(Cow::into_owned) else { return Err(failure) };
    let Ok(inner) = validate(text.as_bytes(), DEPTH) else { return Err(failure) };
    let is_composed = matches!(inner.kind(), JsonKind::Object | JsonKind::Array);
    // JSON inside a string must obey the same rule as a message: no object has a duplicate name.
    if let Some(doubled) = inner.duplicate_name() {
        return Err(Box::new(ReadFailure { error: ReadError::custom(doubled), ..*failure }));
    }
    read_text(inner, Some(inner.as_str().to_owned()), bytes)
        .map_err(|of_content| if is_composed { of_content } else { failure })
}

fn read_text<T: DeserializeOwned>(
    raw: Raw<'_>,
    reread: Option<String>,
    bytes: &mut usize,
) -> Result<Reading<T>, Box<ReadFailure>> {
    let (result, unknown) = read_leniently(raw, bytes);
    match result {
        Ok(value) if unknown.is_empty() && reread.is_none() => Ok((value, None)),
        Ok(value) => Ok((value, Some(Box::new(ReadNotes { reread, unknown })))),
        Err(error) => Err(Box::new(ReadFailure { error, notes: ReadNotes { reread, unknown } })),
    }
}

/// Maximum number of bytes read for one argument, summed over all readings.
pub(crate) const MOST_BYTES: usize = 16 << 20;

/// Maximum number of readings that only find the value to which an error belongs. There is one for each member, and each costs as much as the
/// call that the error answers.
const MOST_SEARCHES: usize = 64;

/// Number of readings that are always allowed, even if they exceed [`MOST_BYTES`].
const LEAST_READINGS: usize = 4;

/// Reads `raw` several times, each time more leniently, until the reading succeeds or no further leniency would help. There is one reading
/// for each field that rejects `null`, and at most three more. Then at most [`MOST_SEARCHES`] readings find the value to which the error belongs. Also returns the unknown members that the last reading met.
///
/// Each reading takes its length from `bytes`, which is [`MOST_BYTES`] before the first one.
///
/// If the type of a field rejects `null`, but the field has a default, then `null` counts as a missing member.
pub(crate) fn read_leniently<T: DeserializeOwned>(
    raw: Raw<'_>,
    bytes: &mut usize,
) -> (Result<T, ReadError>, UnknownMembers) {
    let mut leniency = Leniency::default();
    // Fields without a default. A `null` for one of them remains an error.
    let mut required: Vec<NullField> = Vec::new();
    let mut readings = 0;
    let mut may_read = || {
        let left = bytes.checked_sub(raw.as_str().len());
        *bytes = left.unwrap_or(*bytes);
        readings += 1;
        left.is_some() || readings <= LEAST_READINGS
    };
    may_read();
    loop {
        let mut reader = ArgumentReader::new(raw, &leniency);
        let result = T::deserialize(&mut reader);
        let unknown = reader.unknown;
        let error = match result {
            Ok(value) => return (Ok(value), unknown),
            Err(error) => error,
        };
        let refused = leniency.refused.take().filter(|field| !required.contains(field));
        let missing = error.missing_field_name();
        let missing = leniency.skipped.iter().position(|field| missing == Some(&*field.name));
        if let Some(refused) = refused {
            leniency.skipped.push(refused);
        } else if let Some(missing) = missing {
            required.push(leniency.skipped.swap_remove(missing));
        } else if leniency.has_met_number.get() && !leniency.plain_numbers {
            leniency.plain_numbers = true;
        } else {
            let mut searches = 0..MOST_SEARCHES;
            let mut may_search = || searches.next().is_some() && may_read();
            return (Err(located::<T>(raw, &mut leniency, error, &mut may_search)), unknown);
        }
        if !may_read() {
            return (Err(error), unknown);
        }
    }
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, num::NonZeroU8};

    use super::*;

    fn check<T: DeserializeOwned + std::fmt::Debug + 'static>(
        text: &str,
        strict: bool,
        expected: Result<&str, &str>,
    ) {
        let found = read::<T>(Raw::trusted(text), strict);
        let found = found.map(|(value, _)| format!("{value:?}"));
        let found = found.map_err(|failure| failure.error.describe(""));
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
    fn an_error_of_a_parser_shows_the_text() {
        let error = "`10.0.0` is not valid: invalid IP address syntax";
        check::<std::net::IpAddr>(r#""10.0.0""#, true, Err(error));
        check::<std::net::IpAddr>(r#""10.0\u002e0""#, true, Err(error));
        check::<std::net::IpAddr>(r#""""#, true, Err("`` is not valid: invalid IP address syntax"));
        check::<Vec<std::net::IpAddr>>(
            r#"["::1","x"]"#,
            true,
            Err("`[1]`: `x` is not valid: invalid IP address syntax"),
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
            Err("`[1].qty`: `300` is out of range, at most 255"),
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
        let failure = read::<u8>(Raw::trusted(&"9".repeat(300)), true).expect_err("too large");
        let error = failure.error.describe("");
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

    /// Also with the feature `arbitrary_precision` of `serde_json`, with which `.ci/full` runs this test.
    #[test]
    fn a_float_is_read_from_a_string_and_from_buffered_values() {
        #[derive(serde::Deserialize, Debug)]
        #[serde(untagged)]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Either {
            Exact(f64),
            Name(String),
        }
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Place {
            name: String,
            #[serde(flatten)]
            at: Point,
        }
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Point {
            x: f32,
            y: Option<i64>,
        }
        check::<f64>(r#""1.5""#, false, Ok("1.5"));
        check::<f32>(r#""-2""#, false, Ok("-2.0"));
        check::<Vec<f64>>(r#""[1e2, 0.5]""#, false, Ok("[100.0, 0.5]"));
        check::<Either>("-1.5e1", true, Ok("Exact(-15.0)"));
        check::<Place>(
            r#"{"name": "a", "x": 0.5, "y": -7}"#,
            true,
            Ok(r#"Place { name: "a", at: Point { x: 0.5, y: Some(-7) } }"#),
        );
        check::<serde_json::Value>(r#"[1.5, -7]"#, true, Ok("Array [Number(1.5), Number(-7)]"));
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
            Err("`name`: invalid type: null, expected a string"),
        );
        check::<Page>(r#"{"offset": null}"#, true, Err("missing field `name`"));
        check::<BTreeMap<String, u8>>(
            r#"{"a": null}"#,
            true,
            Err("`a`: invalid type: null, expected an integer from 0 to 255"),
        );
    }

    /// The lenient reader and `serde_json` agree on all input that needs no leniency and fits the schema.
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
            let strictly = serde_json::from_str::<T>(text).map_err(|error| {
                let error = ReadError::from(error).to_string();
                error.replace("type: map", "type: object").replace("type: sequence", "type: array")
            });
            let (leniently, _) = read_leniently::<T>(Raw::trusted(text), &mut { MOST_BYTES });
            let leniently = leniently.map_err(|error| error.to_string());
            assert_eq!(format!("{leniently:?}"), format!("{strictly:?}"), "{text}");
        }
        let whole = r#"{"unit":null,"text":"\u00e4\n","float":0.1,"letter":"ä","any":[1.5,{"a":null}],"pair":[1,true],"map":{"true":["none",{"pair":[1,"x"]}]},"raw":{ "a" : 1.0 }}"#;
        agrees::<Both>(whole);
        for (of, wrong) in [
            (r#""unit":null"#, r#""unit":1"#),
            (r#""letter":"ä""#, r#""letter":"ab""#),
            ("[1,true]", "[1]"),
            (r#""none""#, r#""some""#),
            (r#""text":"\u00e4\n","#, ""),
            (r#""float":0.1,"#, ""),
            ("0.1", r#""0.1""#),
        ] {
            agrees::<Both>(&whole.replace(of, wrong));
        }
        for text in ["[]", "{}", "null", "1", r#"{"pair":[1,"x"]}"#, r#"{"none":null}"#] {
            // serde_json would read a struct from an array.
            if text != "[]" {
                agrees::<Both>(text);
            }
            agrees::<Vec<u8>>(text);
        }
        agrees::<Kind>(r#"{"pair":[1,"x"]}"#);
        agrees::<Kind>(r#"{"none":null}"#);
    }

    #[test]
    fn a_value_that_is_no_variant_is_an_error_that_names_the_variants() {
        #[derive(serde::Deserialize, Debug)]
        #[serde(rename_all = "lowercase")]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Kind {
            None,
            Pair(u8, String),
        }
        for (text, error) in [
            ("1", "invalid type: `1`, expected `none` or `pair`"),
            ("[]", "invalid type: array, expected `none` or `pair`"),
            ("{}", "an object with 0 members, expected `none` or `pair`"),
            (
                r#"{"pair": [1, "a"], "none": null}"#,
                "an object with 2 members, expected `none` or `pair`",
            ),
            (r#""pair""#, r#"`pair` alone is not enough, expected an object such as {"pair": …}"#),
            (r#"{"none": 1}"#, "`none`: invalid type: integer `1`, expected null"),
            (r#"{"pair": [1]}"#, "`pair`: invalid length 1, expected an array of 2"),
            (r#"{"pair": [1, "a", 2]}"#, "`pair`: more elements than expected"),
        ] {
            check::<Kind>(text, true, Err(error));
        }
    }

    #[test]
    fn a_struct_is_not_read_from_an_array() {
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Point {
            x: u8,
            y: u8,
        }
        #[derive(serde::Deserialize, Debug)]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Shape {
            Circle { at: Point, radius: u8 },
            Dot(Point),
        }
        #[derive(serde::Deserialize, Debug)]
        #[serde(tag = "type", content = "content")]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Adjacent {
            Dot(Point),
        }
        #[derive(serde::Deserialize, Debug)]
        #[serde(tag = "type")]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Internal {
            Dot { x: u8 },
        }
        let array = "invalid type: array, expected an object";
        check::<Point>("[1, 2]", false, Err(array));
        check::<Point>(r#""[1, 2]""#, false, Err(array));
        check::<Vec<Point>>("[[1, 2]]", false, Err(&format!("`[0]`: {array}")));
        check::<Shape>(r#"{"Dot": [1, 2]}"#, false, Err(&format!("`Dot`: {array}")));
        check::<Shape>(
            r#"{"Circle": [{"x": 1, "y": 2}, 3]}"#,
            false,
            Err(&format!("`Circle`: {array}")),
        );
        check::<Adjacent>(r#"["Dot", {"x": 1, "y": 2}]"#, false, Err(array));
        check::<Adjacent>(
            r#"{"type": "Dot", "content": [1, 2]}"#,
            false,
            Err(&format!("`content`: {array}")),
        );
        check::<Internal>(r#"["Dot", 1]"#, false, Err(array));
        check::<std::time::Duration>("[1, 2]", false, Err(array));
        check::<(u8, u8)>("[1, 2]", false, Ok("(1, 2)"));
    }

    /// The tag of a struct, and members that the type takes in order to ignore them, are known.
    #[test]
    fn only_members_without_a_field_are_unknown() {
        #[derive(serde::Deserialize)]
        #[serde(tag = "type")]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Circle {
            radius: u8,
            #[serde(alias = "ballast")]
            load: Option<serde::de::IgnoredAny>,
            list: Option<Vec<serde::de::IgnoredAny>>,
        }
        fn unknown(text: &str) -> Vec<String> {
            let (circle, notes) = read::<Vec<Circle>>(Raw::trusted(text), true).expect("readable");
            assert_eq!(circle.len(), 1);
            notes.map_or_else(Vec::new, |notes| notes.unknown.described("all", text).1.collect())
        }
        let known = r#"[{"type": "Circle", "radius": 1, "load": {"a": 1}, "list": [1, {"b": 2}]}]"#;
        assert_eq!(unknown(known), Vec::<String>::new());
        assert_eq!(unknown(r#"[{"radius": 1, "ballast": 1}]"#), Vec::<String>::new());
        assert_eq!(
            unknown(r#"[ { "radius" : 1 , "type" : "circle" , "\u006coad\u0073" : [ 1 ] } ]"#),
            [
                "unknown argument `all[0].type`; there are `radius`, `ballast`, `load`, `list`",
                "unknown argument `all[0].loads`; did you mean `load`?",
            ]
        );
    }

    /// The variants of an adjacently tagged enum ask for any value, so the reader does not know their fields.
    #[test]
    fn members_without_a_field_are_unknown_in_adjacently_tagged_content() {
        #[derive(serde::Deserialize)]
        #[serde(tag = "type", content = "content")]
        #[expect(dead_code, reason = "only reading it is tested")]
        enum Shape {
            Circle { radius: u8 },
            Square(Square),
        }
        #[derive(serde::Deserialize)]
        #[expect(dead_code, reason = "only reading it is tested")]
        struct Square {
            side: u8,
        }
        fn unknown<T: DeserializeOwned + 'static>(text: &str) -> Vec<String> {
            let Ok((_, notes)) = read::<T>(Raw::trusted(text), true) else { panic!("{text}") };
            notes.map_or_else(Vec::new, |notes| notes.unknown.described("all", text).1.collect())
        }
        assert_eq!(
            unknown::<Vec<Shape>>(
                r#"[{"type": "Circle", "content": {"radius": 1, "colour": ""}, "extra": 1}]"#
            ),
            [
                "unknown argument `all[0].extra`; there are `type`, `content`",
                "unknown argument `all[0].content.colour`",
            ]
        );
        assert_eq!(
            unknown::<Vec<Shape>>(
                r#"[{"content": {"radius": 1, "a": 2}, "type": "Circle", "b": 3}, {"type": "Square", "content": {"side": 1}}]"#
            ),
            [
                "unknown argument `all[0].b`; there are `type`, `content`",
                "unknown argument `all[0].content.a`"
            ]
        );
        assert_eq!(
            unknown::<Shape>(r#"{"type": "Square", "content": {"side": 1, "sides": 2}}"#),
            ["unknown argument `all.content.sides`; did you mean `side`?"]
        );
        let none: [&str; 0] = [];
        assert_eq!(unknown::<Shape>(r#"{"type": "Circle", "content": {"radius": 1}}"#), none);
        assert_eq!(unknown::<BTreeMap<String, serde::de::IgnoredAny>>(r#"{"a": 1}"#), none);
        assert_eq!(unknown::<serde_json::Value>(r#"{"a": {"b": 1}}"#), none);
    }
}
