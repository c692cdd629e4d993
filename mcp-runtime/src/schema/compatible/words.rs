//! Rules about keywords that Gemini's API has no field for: it rejects the request for any of them. Sentences say the same.

use serde_json::{Value, json};

use super::rules::{RULES, apply};
use super::said::{quoted, say};
use super::{Map, Side, conjoin};
use crate::collect::collect_by_insert;

pub(super) fn annotations(map: &mut Map, _: Side) {
    if map.remove("deprecated") == Some(Value::Bool(true)) {
        say(map, "Deprecated.".to_owned());
    }
    for keyword in ["readOnly", "writeOnly", "$comment", "$id", "id"] {
        map.remove(keyword);
    }
}

pub(super) fn multiple_of(map: &mut Map, _: Side) {
    if let Some(number) = map.remove("multipleOf") {
        say(map, format!("A multiple of {}.", quoted(&number)));
    }
}

pub(super) fn content(map: &mut Map, _: Side) {
    if let Some(encoding) = map.remove("contentEncoding") {
        say(map, format!("Encoded as {}.", quoted(&encoding)));
    }
    if let Some(media_type) = map.remove("contentMediaType") {
        say(map, format!("Of the media type {}.", quoted(&media_type)));
    }
    map.remove("contentSchema");
}

/// Replaces a `not` that excludes single values, such as the 0 of a `NonZeroI64`. Any other `not` has no short description.
pub(super) fn not(map: &mut Map, _: Side) {
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

pub(super) fn unique_items(map: &mut Map, _: Side) {
    if map.remove("uniqueItems") == Some(Value::Bool(true)) {
        say(map, "No value twice.".to_owned());
    }
}

/// Replaces a tuple by a list of the values that it may hold, with a sentence about their order.
pub(super) fn tuple(map: &mut Map, side: Side) {
    let Some(Value::Array(parts)) = map.remove("prefixItems") else { return };
    let mut distinct: Vec<Value> = Vec::new();
    for part in &parts {
        if !distinct.contains(part) {
            distinct.push(part.clone());
        }
    }
    if distinct.len() > 1 {
        let words: Vec<_> =
            parts.iter().map(|it| it["type"].as_str().unwrap_or("anything")).collect();
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
        // Further elements may have any type.
        _ => return,
    }
    if !distinct.is_empty() {
        map.insert("items".to_owned(), one_of_these(distinct, side));
    }
}

fn one_of_these(mut schemas: Vec<Value>, side: Side) -> Value {
    if schemas.len() == 1 {
        return schemas.remove(0);
    }
    let mut choice = collect_by_insert::<Map, _>([("anyOf".to_owned(), Value::Array(schemas))]);
    apply(RULES, &mut choice, side);
    Value::Object(choice)
}

/// Replaces the keywords about the names of an object's members.
pub(super) fn names(map: &mut Map, side: Side) {
    if let Some(Value::Object(patterns)) = map.remove("patternProperties") {
        let mut values: Vec<Value> = Vec::new();
        let others = map.get("additionalProperties").filter(|it| it.is_object());
        for schema in patterns.values().chain(others) {
            if !values.contains(schema) {
                values.push(schema.clone());
            }
        }
        let is_closed = map.get("additionalProperties") == Some(&json!(false));
        if is_closed && !patterns.is_empty() {
            let names = patterns.keys().map(|it| format!("`{it}`")).collect::<Vec<_>>();
            let others = if map.contains_key("properties") { "Other names" } else { "Its names" };
            say(map, format!("{others} match {}.", names.join(" or ")));
        }
        if (is_closed || others_are_described(map)) && !values.is_empty() {
            map.insert("additionalProperties".to_owned(), one_of_these(values, side));
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
            if let Some(needed) = needed.as_array().filter(|it| !it.is_empty()) {
                say(map, format!("`{name}` only together with {}.", listed(needed)));
            }
        }
    }
}

fn others_are_described(map: &Map) -> bool {
    map.get("additionalProperties").is_some_and(Value::is_object)
}

/// Replaces `unevaluatedProperties` by the older keyword. References are written out by now, so both almost always mean the same.
pub(super) fn unevaluated(map: &mut Map, _: Side) {
    map.remove("unevaluatedItems");
    let Some(others) = map.remove("unevaluatedProperties") else { return };
    let elsewhere = ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"];
    if !elsewhere.iter().any(|it| map.contains_key(*it)) {
        map.entry("additionalProperties").or_insert(others);
    }
}

pub(super) fn examples(map: &mut Map, _: Side) {
    let Some(Value::Array(examples)) = map.remove("examples") else { return };
    if !examples.is_empty() {
        say(map, format!("For example {}.", listed(&examples)));
    }
}

fn listed(values: &[Value]) -> String {
    values.iter().map(quoted).collect::<Vec<_>>().join(", ")
}
