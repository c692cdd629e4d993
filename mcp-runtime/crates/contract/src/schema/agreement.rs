//! Property tests of the comparison. They check its results with a validator that shares no code with it.

use std::cell::Cell;

use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};

use super::{SchemaUse, compare, difference::SchemaFinding};
use crate::{JsonObject, change::ChangeClass, validator::accepts};

fn leaf() -> impl Strategy<Value = Value> {
    let bound = || proptest::option::of(-3i64..4);
    let with = |mut schema: Value, keywords: [(&str, Option<i64>); 2]| {
        for (keyword, said) in keywords {
            if let Some(said) = said {
                schema[keyword] = json!(said);
            }
        }
        schema
    };
    let number = (select(vec!["integer", "number"]), bound(), bound(), any::<bool>()).prop_map(
        move |(name, least, most, exclusive)| {
            let least_is = if exclusive { "exclusiveMinimum" } else { "minimum" };
            with(json!({ "type": name }), [(least_is, least), ("maximum", most)])
        },
    );
    // Numbers so large that several integers share the nearest floating-point number.
    let large = (
        select(vec![json!(1e300), json!(-1e300), json!(1e38), json!(1e19)]),
        select(vec!["const", "minimum", "exclusiveMinimum", "exclusiveMaximum"]),
        proptest::option::of(select(vec![1, 2])),
    );
    let large = large.prop_map(|(number, keyword, unit)| {
        let mut schema = json!({ "type": "integer", keyword: number });
        if let Some(unit) = unit {
            schema["multipleOf"] = json!(unit);
        }
        schema
    });
    let length = || proptest::option::of(0i64..4);
    let text = (length(), length()).prop_map(move |(least, most)| {
        with(json!({"type": "string"}), [("minLength", least), ("maxLength", most)])
    });
    let values =
        || select(vec![json!("a"), json!("b"), json!(1), json!(2), json!(true), json!(null)]);
    prop_oneof![
        3 => number,
        1 => large,
        3 => text,
        1 => select(vec![json!(true), json!({}), json!({"type": "null"}), json!({"type": "boolean"})]),
        1 => Just(json!({"type": ["string", "integer"]})),
        1 => Just(json!({"type": "string", "pattern": "^a"})),
        1 => Just(json!({"$ref": "#/$defs/Tree"})),
        2 => proptest::collection::vec(values(), 1..4).prop_map(|values| json!({ "enum": values })),
        1 => values().prop_map(|value| json!({ "const": value })),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 3, |inner| {
        let others = prop_oneof![
            3 => Just(None),
            2 => Just(Some(json!(false))),
            1 => Just(Some(json!(true))),
            1 => inner.clone().prop_map(Some),
        ];
        let names = select(vec!["a", "b", "c"]);
        let properties = proptest::collection::btree_map(names.clone(), inner.clone(), 0..3);
        let required = proptest::collection::btree_set(names, 0..2);
        let object = (properties, required, others).prop_map(|(properties, required, others)| {
            let mut schema =
                json!({"type": "object", "properties": properties, "required": required});
            if let Some(others) = others {
                schema["additionalProperties"] = others;
            }
            schema
        });
        let branches = || proptest::collection::vec(inner.clone(), 1..3);
        let list = (inner.clone(), branches(), proptest::option::of(0usize..3), 0..3u8);
        let list = list.prop_map(|(items, places, most, form)| {
            let mut schema = json!({"type": "array"});
            if form > 0 {
                schema["items"] = items;
            }
            if form > 1 {
                schema["prefixItems"] = json!(places);
            }
            if let Some(most) = most {
                schema["maxItems"] = json!(most);
            }
            schema
        });
        prop_oneof![
            4 => object,
            2 => list,
            2 => branches().prop_map(|branches| json!({ "anyOf": branches })),
            1 => branches().prop_map(|branches| json!({ "oneOf": branches })),
            1 => branches().prop_map(|branches| json!({ "allOf": branches })),
        ]
    })
}

/// Adds the definitions that generated schemas refer to.
fn rooted(mut schema: Value) -> Value {
    if let Value::Object(map) = &mut schema {
        let tree = json!({
            "type": "object", "required": ["a"],
            "properties": {
                "a": {"type": "integer"},
                "b": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            },
        });
        map.insert("$defs".to_owned(), json!({ "Tree": tree }));
    }
    schema
}

/// Collects the JSON pointers of the schema and of all its subschemas.
fn places(schema: &Value, at: &str, to: &mut Vec<String>) {
    to.push(at.to_owned());
    for keyword in ["properties", "anyOf", "oneOf", "allOf", "prefixItems"] {
        match &schema[keyword] {
            Value::Object(map) => map
                .iter()
                .for_each(|(name, schema)| places(schema, &format!("{at}/{keyword}/{name}"), to)),
            Value::Array(list) => list
                .iter()
                .enumerate()
                .for_each(|(index, schema)| places(schema, &format!("{at}/{keyword}/{index}"), to)),
            _ => {}
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if schema[keyword].is_object() {
            places(&schema[keyword], &format!("{at}/{keyword}"), to);
        }
    }
}

/// Generates two schemas that differ in one place. The difference is one of the changes that authors typically make to a type.
fn pair() -> impl Strategy<Value = (Value, Value)> {
    (schema(), schema(), any::<prop::sample::Index>(), 0..8u8).prop_map(|(old, other, at, how)| {
        let mut all = Vec::new();
        places(&old, "", &mut all);
        let mut new = old.clone();
        if let Some(place) = new.pointer_mut(&all[at.index(all.len())]) {
            let has = |schema: &Value, keyword: &str| schema.get(keyword).is_some();
            match (how, place) {
                (0, place) => *place = json!({"anyOf": [place.clone(), other]}),
                (1, place) => *place = json!({"allOf": [place.clone(), other]}),
                (2, place) if has(place, "properties") => place["properties"]["a"] = other,
                (3, place) if has(place, "required") => place["required"] = json!([]),
                (4, place) if has(place, "properties") => place["required"] = json!(["a"]),
                (5, place) if has(place, "properties") => place["additionalProperties"] = other,
                (6, Value::Object(map)) => {
                    let bounds =
                        ["minimum", "maximum", "maxLength", "minLength", "maxItems", "type"];
                    bounds.iter().for_each(|keyword| drop(map.remove(*keyword)));
                }
                (_, place) => *place = other,
            }
        }
        (rooted(old), rooted(new))
    })
}

/// Returns the schema of the values that senders are assumed to send: an object has no undeclared members unless the schema has
/// `additionalProperties`.
fn sent(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let mut map: JsonObject =
                map.iter().map(|(name, schema)| (name.clone(), sent(schema))).collect();
            if map.contains_key("properties") && map["properties"].is_object() {
                map.entry("additionalProperties").or_insert(json!(false));
            }
            map.into()
        }
        Value::Array(list) => list.iter().map(sent).collect(),
        other => other.clone(),
    }
}

/// Returns a value that is valid or nearly valid for the schema. `next` makes the choices.
fn sample(schema: &Value, root: &Value, next: &dyn Fn(usize) -> usize, depth: u8) -> Value {
    let any = || {
        let all = [
            json!(null),
            json!(true),
            json!(-2),
            json!(0),
            json!(1),
            json!(2.5),
            json!(3),
            json!(""),
            json!("a"),
            json!("ab"),
            json!("baaaa"),
            json!([]),
            json!([1, "a"]),
            json!({}),
            json!({"a": 1}),
            json!({"a": "a", "c": null}),
        ];
        all[next(all.len())].clone()
    };
    if depth == 0 || next(12) == 0 {
        return any();
    }
    let inner = |schema: &Value| sample(schema, root, next, depth - 1);
    for keyword in ["anyOf", "oneOf", "allOf", "enum"] {
        if let Some(list) = schema[keyword].as_array().filter(|list| !list.is_empty()) {
            let one = &list[next(list.len())];
            return if keyword == "enum" { one.clone() } else { inner(one) };
        }
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if schema.get("$ref").is_some() {
        return inner(&root["$defs"]["Tree"]);
    }
    match schema["type"].as_str() {
        Some("object") => {
            let mut object = JsonObject::new();
            for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                let required = schema["required"].as_array().into_iter().flatten();
                if required.into_iter().any(|required| required == name) || next(2) == 0 {
                    object.insert(name.clone(), inner(schema));
                }
            }
            if next(3) == 0 && schema["additionalProperties"] != json!(false) {
                let name = ["a", "b", "c", "d"][next(4)].to_owned();
                object.insert(name, inner(&schema["additionalProperties"]));
            }
            object.into()
        }
        Some("array") => {
            let places = schema["prefixItems"].as_array().map_or(0, Vec::len);
            let length = next(places + 3);
            let of = |index| match index {
                index if index < places => &schema["prefixItems"][index],
                _ => &schema["items"],
            };
            (0..length).map(|index| inner(of(index))).collect()
        }
        Some("integer") if next(4) == 0 => {
            let all = [1e300, -1e300, 2e300, 1e38, 2e38, 1e19];
            json!(all[next(all.len())])
        }
        Some("integer") => json!(next(9) as i64 - 4),
        Some("number") => json!((next(17) as f64 - 8.0) / 2.0),
        Some("string") => ["", "a", "b", "ab", "abc", "abcde"][next(6)].into(),
        Some("boolean") => json!(next(2) == 0),
        _ => any(),
    }
}

/// Returns sample values that the schema accepts.
fn values(schema: &Value, seed: u64) -> Vec<Value> {
    let state = Cell::new(seed | 1);
    let next = |most: usize| {
        state.set(
            state
                .get()
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407),
        );
        (state.get() >> 33) as usize % most
    };
    // Keeps the values that are valid for both schemas. `sent` alone is not enough: a value that matches two branches of a `oneOf` in
    // `schema`, and so is invalid, may match only one of the closed branches in `sent`.
    let sent = sent(schema);
    let samples = (0..60).map(|_| sample(schema, schema, &next, 6));
    samples.filter(|value| accepts(&sent, value, &sent) && accepts(schema, value, schema)).collect()
}

fn breaks(findings: &[SchemaFinding]) -> bool {
    findings.iter().any(|finding| finding.class == ChangeClass::Breaking)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn a_schema_has_no_difference_from_itself(schema in schema()) {
        let schema = rooted(schema);
        for usage in [SchemaUse::Arguments, SchemaUse::Result] {
            prop_assert_eq!(compare(usage, &schema, &schema), []);
        }
    }

    /// Checks that a changed description is cosmetic, even in a schema that cannot be compared, such as a `oneOf` whose alternatives
    /// overlap.
    #[test]
    fn a_changed_description_is_cosmetic(schema in schema(), at in any::<prop::sample::Index>()) {
        let old = rooted(schema);
        let mut new = old.clone();
        let mut all = Vec::new();
        places(&old, "", &mut all);
        let Some(Value::Object(place)) = new.pointer_mut(&all[at.index(all.len())]) else {
            return Ok(());
        };
        place.insert("description".to_owned(), json!("other words"));
        for usage in [SchemaUse::Arguments, SchemaUse::Result] {
            for finding in compare(usage, &old, &new) {
                prop_assert_eq!(finding.class, ChangeClass::Cosmetic, "{}: {}", finding.path, finding.text);
            }
        }
    }

    /// The guarantee of this module: a change that is not reported as breaking does not break clients.
    #[test]
    fn a_change_reported_as_compatible_accepts_every_earlier_value((old, new) in pair(), seed in any::<u64>()) {
        for (old, new) in [(&old, &new), (&new, &old)] {
            if !breaks(&compare(SchemaUse::Arguments, old, new)) {
                for value in values(old, seed) {
                    prop_assert!(accepts(new, &value, new), "{value} was accepted by {old}, not by {new}");
                }
            }
            if !breaks(&compare(SchemaUse::Result, old, new)) {
                for value in values(new, seed) {
                    prop_assert!(accepts(old, &value, old), "{value} comes from {new}, not from {old}");
                }
            }
        }
    }

    /// A change of an argument counts like the reverse change of a result. Removed members are an exception, because their absence is
    /// breaking for arguments and for results. Undeclared members are another exception, because their rejection is reported only for
    /// arguments.
    #[test]
    fn a_result_is_an_argument_seen_from_the_other_end((old, new) in pair()) {
        let sent = compare(SchemaUse::Arguments, &old, &new);
        let received = compare(SchemaUse::Result, &new, &old);
        let comes_or_goes = |finding: &SchemaFinding| {
            ["is new", "is gone", "seems to have been `", "refuses undeclared members", "accepts undeclared members"].iter().any(|word| finding.text.starts_with(word))
        };
        let changed: Vec<_> =
            sent.iter().chain(&received).filter(|finding| comes_or_goes(finding)).map(|finding| finding.path.clone()).collect();
        let told = |all: &[SchemaFinding]| -> Vec<_> {
            let kept = all.iter().filter(|finding| !changed.contains(&finding.path));
            kept.map(|finding| (finding.class, finding.path.clone())).collect()
        };
        // The finding "is written differently" is reported only if there is no other finding.
        if changed.is_empty() {
            prop_assert_eq!(told(&sent), told(&received));
        } else {
            let breaking = |all: &[SchemaFinding]| {
                let mut all = told(all);
                all.retain(|finding| finding.0 == ChangeClass::Breaking);
                all
            };
            prop_assert_eq!(breaking(&sent), breaking(&received));
        }
    }
}

/// Checks that enough of the generated pairs are compatible, that enough are breaking, and that enough sample values exist. Otherwise the
/// properties above would prove little.
#[test]
fn the_pairs_include_compatible_and_breaking_changes() {
    use proptest::{strategy::ValueTree as _, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let (mut fine, mut broken, mut tried) = (0, 0, 0);
    for seed in 0..300 {
        let (old, new) = pair().new_tree(&mut runner).expect("a pair").current();
        if old == new {
            continue;
        }
        if breaks(&compare(SchemaUse::Arguments, &old, &new)) {
            broken += 1;
        } else {
            fine += 1;
            tried += values(&old, seed).len();
        }
    }
    assert!(
        fine > 50 && broken > 50 && tried > 500,
        "{fine} fine, {broken} broken, {tried} values"
    );
}
