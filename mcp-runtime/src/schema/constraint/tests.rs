use mcp_runtime_contract::validator::accepts;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::pattern::{CompiledPattern, is_portable};
use super::super::{Map, Range};
use super::{Constraints, SchemaKind};

fn constraints(
    range: Option<Range>,
    len: (Option<usize>, Option<usize>),
    pattern: Option<&'static str>,
) -> Constraints {
    let mut constraints = Constraints::new();
    if let Some(range) = range {
        constraints.set_range(range);
    }
    constraints.set_len(len.0, len.1);
    if let Some(pattern) = pattern {
        constraints.set_pattern(pattern, Box::leak(Box::default()));
    }
    constraints
}

#[test]
fn usable_in_a_static() {
    static CONSTRAINTS: Constraints = {
        let mut constraints = Constraints::new();
        constraints.set_range(Range::new().min_int(1).max_int(10));
        constraints.set_pattern("^[a-z]+$", {
            static REGEX: CompiledPattern = CompiledPattern::new();
            &REGEX
        });
        constraints
    };
    assert_eq!(CONSTRAINTS.check("11").as_deref(), Some("11 is not in 1..=10"));
    assert_eq!(CONSTRAINTS.check("\"A\"").as_deref(), Some("\"A\" does not match ^[a-z]+$"));
}

#[test]
fn ranges() {
    fn check(range: Range, json_text: &str, expected: Option<&str>) {
        let found = constraints(Some(range), (None, None), None).check(json_text);
        assert_eq!(found.as_deref(), expected, "{range}: {json_text}");
    }
    let whole = Range::new().min_int(1).max_int(10);
    check(whole, "1", None);
    check(whole, " 10\n", None);
    check(whole, "0", Some("0 is not in 1..=10"));
    check(whole, "11", Some("11 is not in 1..=10"));
    check(whole, "10.5", Some("10.5 is not in 1..=10"));
    check(whole, "1e1", None);
    check(whole, "-1e400", Some("-1e400 is not in 1..=10"));
    check(whole, "null", None);
    check(whole, "\"0\"", None);
    check(whole, "[0]", None);
    check(whole, "", None);
    check(whole, "nonsense", None);
    check(
        Range::new().min_int(1).below_int(10),
        "10",
        Some("10 is not at least 1 and less than 10"),
    );
    check(Range::new().min_int(0), "-3", Some("-3 is not at least 0"));
    check(Range::new().max_int(0), "1", Some("1 is not at most 0"));
    check(Range::new().above_float(0.5), "0.5", Some("0.5 is not more than 0.5"));
    check(Range::new().above_float(0.5).max_float(1.0), "1.0", None);
    check(Range::new().below_float(1.0), "1", Some("1 is not less than 1"));
    check(
        Range::new().max_int(u64::MAX.into()),
        "18446744073709551616",
        Some("18446744073709551616 is not at most 18446744073709551615"),
    );
}

#[test]
fn lengths() {
    fn check(len: (Option<usize>, Option<usize>), json_text: &str, expected: Option<&str>) {
        let found = constraints(None, len, None).check(json_text);
        assert_eq!(found.as_deref(), expected, "{json_text}");
    }
    let few = (Some(1), Some(2));
    check(few, r#""ab""#, None);
    check(few, r#""abc""#, Some("3 characters, at most 2"));
    check(few, r#""""#, Some("0 characters, at least 1"));
    check(few, r#""\u00e9é""#, None);
    check(few, r#""\ud83d\ude00\n""#, None);
    check(few, r#""\ud83d""#, None);
    check(few, "[]", Some("0 elements, at least 1"));
    check(few, "[[1,2,3], [\"]\"]]", None);
    check(few, "[1,{},3]", Some("3 elements, at most 2"));
    check(few, "[1,", None);
    check(few, r#"{"a":1,"a":2,"b":3}"#, None);
    check(few, r#"{"a":1,"b":2,"c":3}"#, Some("3 entries, at most 2"));
    check(few, "{}", Some("0 entries, at least 1"));
    check(few, "7", None);
    check(few, "null", None);
    check((Some(3), Some(3)), r#""a""#, Some("1 character, exactly 3"));
    check((None, Some(0)), "[1]", Some("1 element, at most 0"));
    check((Some(2), None), "{\"a\":1}", Some("1 entry, at least 2"));
}

#[test]
fn patterns() {
    fn check(pattern: &'static str, json_text: &str, expected: Option<&str>) {
        assert_eq!(
            constraints(None, (None, None), Some(pattern)).check(json_text).as_deref(),
            expected,
            "{json_text}"
        );
    }
    check("b", r#""abc""#, None);
    check("^b", r#""abc""#, Some(r#""abc" does not match ^b"#));
    check("^é$", r#""\u00e9""#, None);
    check("^a$", r#""a\n""#, Some(r#""a\n" does not match ^a$"#));
    check("^a$", "1", None);
    let long = format!("\"{}\"", "x".repeat(200));
    let expected = format!("\"{}… does not match ^a$", "x".repeat(59));
    check("^a$", &long, Some(&expected));
}

#[test]
fn text_of_prompts_and_templates() {
    fn check(constraints: &Constraints, text: &str, expected: Option<&str>) {
        assert_eq!(constraints.check_text(text).as_deref(), expected, "{text}");
    }
    let number = constraints(Some(Range::new().min_int(1).max_int(10)), (None, None), None);
    check(&number, "7", None);
    check(&number, "70", Some("70 is not in 1..=10"));
    check(&number, "nan", Some("nan is not in 1..=10"));
    check(&number, "seven", None);
    let text = constraints(None, (None, Some(3)), Some("^[a-z]*$"));
    check(&text, "abc", None);
    check(&text, "abcd", Some("4 characters, at most 3"));
    check(&text, "123", Some("\"123\" does not match ^[a-z]*$"));
}

#[test]
fn schemas() {
    fn check(constraints: &Constraints, schema: Value, expected: impl Into<Value>) {
        let kind = SchemaKind::of(&schema, &|_| None);
        let Value::Object(mut map) = schema else { unreachable!() };
        constraints.apply(&mut map, kind);
        assert_eq!(Value::Object(map), expected.into());
    }
    let range = |range| constraints(Some(range), (None, None), None);
    let len = constraints(None, (Some(1), Some(2)), None);
    let pattern = |pattern| constraints(None, (None, None), Some(pattern));

    // The tighter of the type's bounds and the argument's bounds stays.
    check(
        &range(Range::new().min_int(1).max_int(300)),
        json!({"type": "integer", "minimum": 0, "maximum": 255}),
        json!({"type": "integer", "minimum": 1, "maximum": 255}),
    );
    check(
        &range(Range::new().below_int(10)),
        json!({"type": "integer"}),
        json!({"type": "integer", "maximum": 9}),
    );
    check(
        &range(Range::new().below_int(10)),
        json!({"type": ["number", "null"]}),
        json!({"type": ["number", "null"], "exclusiveMaximum": 10}),
    );
    check(
        &range(Range::new().above_float(0.5).max_float(1.5)),
        json!({"type": "number"}),
        json!({"type": "number", "exclusiveMinimum": 0.5, "maximum": 1.5}),
    );
    check(
        &len,
        json!({"type": "string"}),
        json!({"type": "string", "minLength": 1, "maxLength": 2}),
    );
    check(
        &len,
        json!({"type": ["array", "null"]}),
        json!({"type": ["array", "null"], "minItems": 1, "maxItems": 2}),
    );
    check(
        &len,
        json!({"type": "object"}),
        json!({"type": "object", "minProperties": 1, "maxProperties": 2}),
    );
    check(
        &len,
        json!({}),
        json!({"minLength": 1, "maxLength": 2, "minItems": 1, "maxItems": 2, "minProperties": 1, "maxProperties": 2}),
    );
    check(&pattern("^a"), json!({"type": "string"}), json!({"type": "string", "pattern": "^a"}));
    check(&pattern("(?i)^a"), json!({"type": "string"}), json!({"type": "string"}));
}

#[test]
fn kinds() {
    let definitions =
        json!({"E": {"oneOf": [{"const": "a"}, {"enum": ["b"]}]}, "Loop": {"$ref": "Loop"}});
    let check = |schema: Value, expected: SchemaKind| {
        assert_eq!(SchemaKind::of(&schema, &|name| definitions.get(name)), expected, "{schema}");
    };
    check(json!({"type": "string"}), SchemaKind::String);
    check(json!({"type": ["null", "integer"]}), SchemaKind::Integer);
    check(json!({"type": ["string", "integer"]}), SchemaKind::Other);
    check(json!({"$ref": "E"}), SchemaKind::String);
    check(json!({"anyOf": [{"$ref": "E"}, {"type": "null"}]}), SchemaKind::String);
    check(json!({"anyOf": [{"$ref": "E"}, {"type": "object"}]}), SchemaKind::Other);
    check(json!({"$ref": "Loop"}), SchemaKind::Other);
    check(json!(true), SchemaKind::Other);
}

#[test]
fn misplaced() {
    let range = constraints(Some(Range::new().max_int(1)), (None, None), None);
    assert_eq!(range.misplaced(SchemaKind::Integer), None);
    assert_eq!(range.misplaced(SchemaKind::Other), None);
    assert_eq!(
        range.misplaced(SchemaKind::String),
        Some("a range applies only to numbers: remove `range`")
    );
    assert!(constraints(None, (None, Some(1)), None).misplaced(SchemaKind::Boolean).is_some());
    assert!(constraints(None, (None, None), Some("a")).misplaced(SchemaKind::Array).is_some());
}

#[test]
fn portable_patterns() {
    for pattern in
        [r"^[a-z\-]+$", r"(?:a|b)\d{2,3}\.", r"(?<year>\d+)", r"\bword\b", r"[^\]]", r"\{\}", "é"]
    {
        assert!(is_portable(pattern), "{pattern}");
        assert!(regex_lite::Regex::new(pattern).is_ok(), "{pattern}");
    }
    for pattern in [
        "(?i)a",
        "(?P<a>b)",
        r"\Aa\z",
        "[[:alpha:]]",
        r"\x{41}",
        r"a\-b",
        r"\a",
        "a}",
        "]",
        r"[a\b]",
    ] {
        assert!(!is_portable(pattern), "{pattern}");
    }
}

proptest! {
    /// The schema accepts exactly the values that the check accepts.
    #[test]
    fn schema_and_check_agree(
        range in prop::option::of((0..8_u8, -3..4_i8, -3..4_i8)),
        least in prop::option::of(0..4_usize),
        most in prop::option::of(0..4_usize),
        pattern in prop::option::of(prop_oneof![Just("^a"), Just("b$"), Just("[ab]{2}"), Just("é|1")]),
        value in prop_oneof![
            (-5..6_i32).prop_map(|number| json!(number)),
            (-10..11_i32).prop_map(|number| json!(f64::from(number) / 2.0)),
            "[abé1\n\"]{0,4}".prop_map(Value::from),
            prop::collection::vec(0..3_i32, 0..5).prop_map(|list| json!(list)),
            prop::collection::btree_map("[a-e]", 0..3_i32, 0..5).prop_map(|map| json!(map)),
            Just(Value::Null),
            Just(json!(true)),
        ],
    ) {
        let range = range.map(|(form, a, b)| {
            let (int, float) = (i128::from(a), f64::from(b) + 0.5);
            match form {
                0 => Range::new().min_int(int),
                1 => Range::new().max_int(int),
                2 => Range::new().below_int(int),
                3 => Range::new().min_float(float),
                4 => Range::new().max_float(float),
                5 => Range::new().above_float(float),
                6 => Range::new().below_float(float),
                _ => Range::new().min_int(int).below_float(float),
            }
        });
        let constraints = constraints(range, (least, most), pattern);
        let mut schema = Map::new();
        constraints.apply(&mut schema, SchemaKind::Other);
        let schema = Value::Object(schema);
        let text = value.to_string();
        prop_assert_eq!(accepts(&schema, &value, &schema), constraints.check(&text).is_none(), "{} {}", schema, text);

        // The bounds of an integer are written differently, but mean the same.
        if value.is_i64() {
            let mut whole = Map::from_iter([("type".to_owned(), json!("integer"))]);
            constraints.apply(&mut whole, SchemaKind::Integer);
            let whole = Value::Object(whole);
            prop_assert_eq!(accepts(&whole, &value, &whole), constraints.check(&text).is_none(), "{} {}", whole, text);
        }
    }

    #[test]
    fn nothing_panics(text in "\\PC*", constrained in any::<bool>()) {
        let range = constrained.then(|| Range::new().min_int(1));
        let constraints = constraints(range, (Some(1), Some(1)), Some("^a$"));
        let _ = constraints.check(&text);
        let _ = constraints.check_text(&text);
    }
}
