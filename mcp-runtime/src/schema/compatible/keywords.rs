//! Rules about single keywords: bounds, formats, schemas without a type, and keywords that Gemini's API has no field for. Gemini rejects a
//! request with such a keyword, so a sentence in the description replaces the keyword.

use mcp_runtime_contract::collect::collect_by_insert;
use serde_json::{Value, json};

use crate::schema::{
    Map, SchemaSide,
    definitions::conjoin,
    sentences::{format_in_words, is_published_format, listed, quoted, say},
};

/// Function that applies all rules to a schema that a rule has created. A rule gets this function as a parameter, so that it does not have
/// to refer to the table of rules, which contains the rule.
pub(super) type ApplyAll = fn(&mut Map, SchemaSide);

/// Returns the keywords that apply only to values of the type `name`.
pub(super) fn keywords_of(name: &str) -> &'static [&'static str] {
    match name {
        "integer" | "number" => {
            &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"]
        }
        "string" => {
            &["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"]
        }
        "array" => &[
            "items",
            "prefixItems",
            "contains",
            "minContains",
            "maxContains",
            "minItems",
            "maxItems",
            "uniqueItems",
            "unevaluatedItems",
        ],
        "object" => OBJECT_KEYWORDS,
        _ => &[],
    }
}

static OBJECT_KEYWORDS: &[&str] = &[
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
];

/// Replaces forms of older drafts of JSON Schema with those of 2020-12.
pub(super) fn older_draft(map: &mut Map) {
    let others = map.remove("additionalItems");
    if map.get("items").is_some_and(Value::is_array)
        && let Some(parts) = map.remove("items")
    {
        map.entry("prefixItems").or_insert(parts);
        map.extend(others.map(|others| ("items".to_owned(), others)));
    }
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")]
    {
        if map.get(exclusive).is_some_and(Value::is_boolean) {
            let is_exclusive = map.remove(exclusive) == Some(Value::Bool(true));
            if let Some(bound) = map.remove(inclusive) {
                let keyword = if is_exclusive { exclusive } else { inclusive };
                map.insert(keyword.to_owned(), bound);
            }
        }
    }
    if let Some(Value::Object(dependencies)) = map.remove("dependencies") {
        for (name, dependency) in dependencies {
            let keyword =
                if dependency.is_array() { "dependentRequired" } else { "dependentSchemas" };
            let all = map.entry(keyword).or_insert_with(|| json!({}));
            if let Value::Object(all) = all {
                all.entry(name).or_insert(dependency);
            }
        }
    }
}

pub(super) fn exclusive_bounds(map: &mut Map, _: SchemaSide) {
    for (exclusive, inclusive, step) in
        [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)]
    {
        let Some(bound) = map.get(exclusive).filter(|bound| bound.is_number()).cloned() else {
            continue;
        };
        map.remove(exclusive);
        let bound = match bound.as_i64().and_then(|bound| bound.checked_add(step)) {
            Some(bound) if map.get("type") == Some(&json!("integer")) => json!(bound),
            _ => bound,
        };
        *map = conjoin(
            collect_by_insert::<Map, _>([(inclusive.to_owned(), bound)]),
            std::mem::take(map),
        );
    }
}

pub(super) fn pattern(map: &mut Map, _: SchemaSide) {
    if map.get("pattern").and_then(Value::as_str).is_some_and(looks_around) {
        map.remove("pattern");
    }
}

/// Whether a pattern has lookahead or lookbehind.
fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| pattern.contains(group))
}

pub(super) fn format(map: &mut Map, side: SchemaSide) {
    let Some(name) = map.get("format").and_then(Value::as_str) else { return };
    if is_published_format(name, side) {
        return;
    }
    let sentence = match format_in_words(name) {
        Some(sentence) => sentence.to_owned(),
        None => format!("In the format `{name}`."),
    };
    map.remove("format");
    // Only arguments get the sentence, because models do not read the schemas of results. Only strings get it, because the formats that
    // schemars writes for numbers, such as `int32`, just name the Rust type.
    if side == SchemaSide::Argument && map.get("type") == Some(&json!("string")) {
        say(map, sentence);
    }
}

pub(super) fn items(map: &mut Map, _: SchemaSide) {
    if map.get("type") != Some(&json!("array")) {
        return;
    }
    if map.get("items") == Some(&Value::Bool(false)) {
        map.remove("items");
        let bound = collect_by_insert::<Map, _>([("maxItems".to_owned(), json!(0))]);
        *map = conjoin(bound, std::mem::take(map));
    }
    map.entry("items").or_insert_with(|| any_value_of(LIST_LEVELS - 1));
}

pub(super) fn any_value(map: &mut Map, side: SchemaSide) {
    static TELLING: [&str; 10] =
        ["type", "enum", "const", "$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if"];
    if TELLING.iter().any(|keyword| map.contains_key(*keyword)) {
        return;
    }
    if side == SchemaSide::Argument {
        for name in ["object", "array"] {
            if keywords_of(name).iter().any(|keyword| map.contains_key(*keyword)) {
                map.insert("type".into(), json!(name));
                if name == "array" {
                    items(map, side);
                }
                return;
            }
        }
    }
    let branches = match side {
        SchemaSide::Argument => {
            let mut branches = branches_of_any_value(LIST_LEVELS);
            // Tells clients that an object may have members. The other branch with an object accepts members that this branch rejects.
            branches.push(json!({ "type": "object", "additionalProperties": any_value_of(1) }));
            branches
        }
        SchemaSide::Result => {
            let mut branches = branches_of_any_value(0);
            branches.push(json!({ "type": "array" }));
            branches
        }
    };
    map.insert("anyOf".into(), Value::Array(branches));
}

/// Whether a choice allows every type but lists, as the rule "any value" writes it. Its `null` stays.
pub(super) fn is_any_value(branches: &[Value]) -> bool {
    let names = |name: &str| branches.iter().any(|branch| branch["type"] == name);
    TYPES.into_iter().all(names)
}

/// Replaces an `additionalProperties` that only allows or forbids further members.
///
/// google-genai expects `additionalProperties` to be an object, and drops all tools of a request that has a boolean there. The keyword is
/// therefore removed, unless an argument accepts arbitrary members. In that case its value becomes a schema that allows every type: without
/// the keyword, pydantic-ai would treat the object as closed, and with `{}`, LlamaIndex would read the members as strings.
pub(super) fn further_members(map: &mut Map, side: SchemaSide) {
    let is_open = match map.get("additionalProperties") {
        Some(Value::Bool(is_open)) => *is_open,
        Some(Value::Object(schema)) if schema.is_empty() => true,
        _ => return,
    };
    match side {
        SchemaSide::Argument if is_open => {
            map.insert("additionalProperties".to_owned(), any_value_of(LIST_LEVELS));
        }
        _ => {
            map.remove("additionalProperties");
        }
    }
}

/// Number of lists that may be nested directly in each other in an argument with any value. Each list needs an `items`, and each `items` a
/// type, so the schema has to end somewhere. A deeper schema would exceed the limit of Moonshot's API, which rejects every request that has
/// a schema with more than 10 levels (anomalyco/opencode#25495).
pub(in crate::schema) const LIST_LEVELS: usize = 2;

const TYPES: [&str; 5] = ["string", "number", "boolean", "object", "null"];

/// Returns the schema of any value in which at most `levels` lists are nested directly in each other.
fn any_value_of(levels: usize) -> Value {
    json!({ "anyOf": branches_of_any_value(levels) })
}

fn branches_of_any_value(levels: usize) -> Vec<Value> {
    let mut branches = TYPES.map(|name| json!({ "type": name })).to_vec();
    if levels > 0 {
        branches.push(json!({ "type": "array", "items": any_value_of(levels - 1) }));
    }
    branches
}

pub(super) fn annotations(map: &mut Map, _: SchemaSide) {
    if map.remove("deprecated") == Some(Value::Bool(true)) {
        say(map, "Deprecated.".to_owned());
    }
    for keyword in ["readOnly", "writeOnly", "$comment", "$id", "id"] {
        map.remove(keyword);
    }
}

pub(super) fn multiple_of(map: &mut Map, _: SchemaSide) {
    if let Some(number) = map.remove("multipleOf") {
        say(map, format!("A multiple of {}.", quoted(&number)));
    }
}

pub(super) fn content(map: &mut Map, _: SchemaSide) {
    if let Some(encoding) = map.remove("contentEncoding") {
        say(map, format!("Encoded as {}.", quoted(&encoding)));
    }
    if let Some(media_type) = map.remove("contentMediaType") {
        say(map, format!("Of the media type {}.", quoted(&media_type)));
    }
    map.remove("contentSchema");
}

/// Replaces a `not` that excludes single values with a sentence. For example, the schema of `NonZeroI64` excludes 0. Any other `not` stays,
/// because no short sentence can describe it.
pub(super) fn not(map: &mut Map, _: SchemaSide) {
    let Some(Value::Object(ruled_out)) = map.get("not").filter(|_| map.contains_key("type")) else {
        return;
    };
    let alone = |keyword| ruled_out.get(keyword).filter(|_| ruled_out.len() == 1);
    let sentence = match (alone("const"), alone("enum").and_then(Value::as_array)) {
        (Some(only), _) => format!("Not {}.", quoted(only)),
        (_, Some(values)) => format!("None of {}.", listed(values)),
        _ => return,
    };
    map.remove("not");
    say(map, sentence);
}

pub(super) fn unique_items(map: &mut Map, _: SchemaSide) {
    if map.remove("uniqueItems") == Some(Value::Bool(true)) {
        say(map, "No value twice.".to_owned());
    }
}

/// Replaces the schema of a tuple with the schema of a list, and adds a sentence about the order of the elements.
pub(super) fn tuple(map: &mut Map, side: SchemaSide, apply_all: ApplyAll) {
    let Some(Value::Array(parts)) = map.remove("prefixItems") else { return };
    let mut distinct: Vec<Value> = Vec::new();
    for part in &parts {
        if !distinct.contains(part) {
            distinct.push(part.clone());
        }
    }
    if distinct.len() > 1 {
        let words: Vec<_> = parts.iter().map(word).collect();
        say(map, format!("In this order: {}.", words.join(", ")));
    }
    if map.get("items") == Some(&json!(false)) {
        map.remove("items");
        let bound = collect_by_insert::<Map, _>([("maxItems".to_owned(), json!(parts.len()))]);
        *map = conjoin(bound, std::mem::take(map));
    }
    let most = map.get("maxItems").and_then(Value::as_u64);
    match map.get("items") {
        Some(others) if others.is_object() => {
            if !distinct.contains(others) {
                distinct.push(others.clone());
            }
        }
        None if most.is_some_and(|most| most <= parts.len() as u64) => {}
        // Further elements may have any type, so `items` is not restricted to the types of the parts.
        _ => return,
    }
    if !distinct.is_empty() {
        map.insert("items".to_owned(), one_of_these(distinct, side, apply_all));
    }
}

/// Returns the type of a tuple's part in words.
fn word(part: &Value) -> String {
    if let Some([one, other]) = part["anyOf"].as_array().map(Vec::as_slice)
        && let (Some(name), true) = (one["type"].as_str(), other["type"] == "null")
    {
        return format!("{name} or null");
    }
    part["type"].as_str().unwrap_or("anything").to_owned()
}

fn one_of_these(mut schemas: Vec<Value>, side: SchemaSide, apply_all: ApplyAll) -> Value {
    if schemas.len() == 1 {
        return schemas.remove(0);
    }
    let mut choice = collect_by_insert::<Map, _>([("anyOf".to_owned(), Value::Array(schemas))]);
    apply_all(&mut choice, side);
    Value::Object(choice)
}

/// Replaces the keywords that restrict the names of an object's members, such as `patternProperties`.
pub(super) fn names(map: &mut Map, side: SchemaSide, apply_all: ApplyAll) {
    if let Some(Value::Object(patterns)) = map.remove("patternProperties") {
        let mut values: Vec<Value> = Vec::new();
        let others = map.get("additionalProperties").filter(|schema| schema.is_object());
        for schema in patterns.values().chain(others) {
            if !values.contains(schema) {
                values.push(schema.clone());
            }
        }
        let is_closed = map.get("additionalProperties") == Some(&json!(false));
        if is_closed && !patterns.is_empty() {
            let names = patterns.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>();
            let others = if map.contains_key("properties") { "Other names" } else { "Its names" };
            say(map, format!("{others} match {}.", names.join(" or ")));
        }
        if (is_closed || others_are_described(map)) && !values.is_empty() {
            map.insert("additionalProperties".to_owned(), one_of_these(values, side, apply_all));
        }
    }
    if let Some(names) = map.remove("propertyNames") {
        if let Some(pattern) = names.get("pattern") {
            say(map, format!("Its names match {}.", quoted(pattern)));
        }
        if let Some(values) = names["enum"].as_array() {
            say(map, format!("Its names are among {}.", listed(values)));
        }
    }
    if let Some(Value::Object(together)) = map.remove("dependentRequired") {
        for (name, needed) in &together {
            if let Some(needed) = needed.as_array().filter(|names| !names.is_empty()) {
                say(map, format!("`{name}` only together with {}.", listed(needed)));
            }
        }
    }
}

fn others_are_described(map: &Map) -> bool {
    map.get("additionalProperties").is_some_and(Value::is_object)
}

/// Replaces `unevaluatedProperties` with the older `additionalProperties`. The references in the schema have been replaced already, so both
/// keywords almost always mean the same.
pub(super) fn unevaluated(map: &mut Map, _: SchemaSide) {
    map.remove("unevaluatedItems");
    let Some(others) = map.remove("unevaluatedProperties") else { return };
    let elsewhere = ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"];
    if !elsewhere.iter().any(|keyword| map.contains_key(*keyword)) {
        map.entry("additionalProperties").or_insert(others);
    }
}

pub(super) fn examples(map: &mut Map, _: SchemaSide) {
    let Some(Value::Array(examples)) = map.remove("examples") else { return };
    if !examples.is_empty() {
        say(map, format!("For example {}.", listed(&examples)));
    }
}
