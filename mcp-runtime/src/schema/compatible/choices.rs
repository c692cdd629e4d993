//! Rules about choices: between `null` and another type, between types, between branches, and between values.

use mcp_runtime_contract::collect::collect_by_insert;
use serde_json::{Value, json};

use super::keywords::{ApplyAll, is_any_value, keywords_of};
use crate::schema::{
    Map, SchemaSide,
    definitions::{compare_numbers, conjoin, object},
    sentences::{SAID, say, sentences_of},
};

/// Removes OpenAPI's `nullable`. In a result, `null` is added to the type instead. An argument needs no `null`, because clients can omit
/// the argument.
pub(super) fn nullable(map: &mut Map, side: SchemaSide) {
    if map.remove("nullable") == Some(Value::Bool(true)) && side == SchemaSide::Result {
        match map.get_mut("type") {
            Some(Value::Array(types)) if !types.contains(&json!("null")) => {
                types.push(json!("null"));
            }
            Some(Value::String(name)) if name != "null" => {
                let name = std::mem::take(name);
                map.insert("type".into(), json!([name, "null"]));
            }
            _ => {}
        }
    }
}

pub(super) fn null(map: &mut Map) {
    if let Some(Value::Array(types)) = map.get_mut("type")
        && types.len() > 1
    {
        types.retain(|name| name != "null");
    }
    if let Some(Value::Array(values)) = map.get_mut("enum")
        && values.len() > 1
    {
        values.retain(|value| !value.is_null());
    }
    for union in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = map.get_mut(union) else { continue };
        if branches.iter().all(is_null) || is_any_value(branches) {
            continue;
        }
        branches.retain(|branch| !is_null(branch));
        if branches.len() == 1
            && let Some(Value::Array(mut branches)) = map.remove(union)
            && let Some(branch) = branches.pop()
        {
            *map = conjoin(object(branch), std::mem::take(map));
        }
    }
}

fn is_null(schema: &Value) -> bool {
    schema["type"] == "null"
        || schema.get("const").is_some_and(Value::is_null)
        || schema["enum"]
            .as_array()
            .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_null))
}

pub(super) fn null_default(map: &mut Map, _: SchemaSide) {
    if map.get("default") == Some(&Value::Null) && map.get("type") != Some(&json!("null")) {
        map.remove("default");
    }
}

pub(super) fn type_list(map: &mut Map, side: SchemaSide, apply_all: ApplyAll) {
    let Some(Value::Array(types)) = map.get("type") else { return };
    if let [only] = types.as_slice() {
        let only = only.clone();
        map.insert("type".into(), only);
        return;
    }
    if map.contains_key("anyOf") || types.is_empty() {
        return;
    }
    let types = types.clone();
    map.remove("type");
    let values = map.remove("enum");
    let mut branches = Vec::new();
    for name in &types {
        let Some(name) = name.as_str() else { continue };
        let mut branch = collect_by_insert::<Map, _>([("type".to_owned(), json!(name))]);
        for keyword in keywords_of(name) {
            if let Some(value) = map.get(*keyword) {
                branch.insert((*keyword).to_owned(), value.clone());
            }
        }
        match &values {
            Some(Value::Array(values)) if name != "null" => {
                let values: Vec<_> =
                    values.iter().filter(|value| has_type(value, name)).cloned().collect();
                if values.is_empty() {
                    continue;
                }
                branch.insert("enum".into(), Value::Array(values));
            }
            Some(Value::Array(values)) if !values.contains(&Value::Null) => continue,
            _ => {}
        }
        apply_all(&mut branch, side);
        branches.push(Value::Object(branch));
    }
    for keyword in types.iter().filter_map(Value::as_str).flat_map(keywords_of) {
        map.remove(*keyword);
    }
    map.insert("anyOf".into(), Value::Array(branches));
}

fn has_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => name == "number" || name == "integer" && !number.is_f64(),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

pub(super) fn one_of(map: &mut Map, _: SchemaSide) {
    let Some(branches) = map.remove("oneOf") else { return };
    *map =
        conjoin(collect_by_insert::<Map, _>([("anyOf".to_owned(), branches)]), std::mem::take(map));
}

/// Replaces a list of one schema with the schema. A result keeps its choices, because clients that validate results need no other form.
pub(super) fn single(map: &mut Map, side: SchemaSide) {
    let keywords: &[&str] = match side {
        SchemaSide::Argument => &["allOf", "anyOf", "oneOf"],
        SchemaSide::Result => &["allOf"],
    };
    for keyword in keywords {
        if let Some(Value::Array(schemas)) = map.get_mut(*keyword)
            && schemas.len() == 1
            && let Some(schema) = schemas.pop()
        {
            map.remove(*keyword);
            *map = conjoin(object(schema), std::mem::take(map));
        }
    }
}

/// Replaces a string `const` with an `enum` of one value.
pub(super) fn constant(map: &mut Map, _: SchemaSide) {
    if let Some(Value::String(value)) = map.get("const")
        && !map.contains_key("enum")
    {
        let value = json!([value]);
        map.remove("const");
        map.insert("enum".into(), value);
        map.entry("type").or_insert_with(|| json!("string"));
    }
}

/// Removes empty strings from an `enum`. Replaces an `enum` or `const` of booleans or numbers with the type and the bounds of its values, and
/// a sentence that lists the values.
pub(super) fn other_values(map: &mut Map, _: SchemaSide) {
    let keyword = if map.contains_key("enum") { "enum" } else { "const" };
    let values = match map.get_mut(keyword) {
        Some(Value::Array(values)) => {
            if values.len() > 1 {
                values.retain(|value| value != "");
            }
            values.clone()
        }
        Some(value) => vec![value.clone()],
        None => return,
    };
    let kind = if values.iter().all(Value::is_boolean) {
        "boolean"
    } else if values.iter().all(|value| value.is_i64() || value.is_u64()) {
        "integer"
    } else if values.iter().all(Value::is_number) {
        "number"
    } else {
        return;
    };
    if values.is_empty()
        || map.get("type").is_some_and(|present| present != kind && present != "number")
    {
        return;
    }
    map.remove(keyword);
    map.entry("type").or_insert_with(|| kind.into());
    if kind != "boolean" {
        let order =
            |a: &&Value, b: &&Value| compare_numbers(a, b).unwrap_or(std::cmp::Ordering::Equal);
        for (bound, value) in
            [("minimum", values.iter().min_by(order)), ("maximum", values.iter().max_by(order))]
        {
            let value = collect_by_insert(value.map(|value| (bound.to_owned(), value.clone())));
            *map = conjoin(value, std::mem::take(map));
        }
    }
    let listed: Vec<_> = values.iter().map(|value| format!("`{value}`")).collect();
    let sentence = match listed.as_slice() {
        [only] => format!("Always {only}."),
        several => format!("One of {}.", several.join(", ")),
    };
    say(map, sentence);
}

/// Replaces a `oneOf` or `anyOf` whose branches all list strings with one `enum`. The description of a branch becomes a line for each of
/// its values in the schema's description.
pub(super) fn named_values(map: &mut Map, _: SchemaSide) {
    for union in ["oneOf", "anyOf"] {
        if map.contains_key("enum") || map.contains_key("const") {
            return;
        }
        let Some(Value::Array(branches)) = map.get(union) else { continue };
        let Some(named) = branches.iter().map(NamedValues::read).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let Some(first) = named.first() else { continue };
        let name = first.name.to_owned();
        if named.iter().any(|branch| branch.name != name)
            || map.get("type").is_some_and(|present| *present != json!(name))
        {
            continue;
        }

        let mut values: Vec<Value> = Vec::new();
        let mut lines = Vec::new();
        for branch in &named {
            for value in &branch.values {
                if !values.contains(value) {
                    values.push((*value).clone());
                }
                if let Some(text) = &branch.description {
                    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    lines.push(format!("- `{}`: {text}", value.as_str().unwrap_or_default()));
                }
            }
        }
        let description = match map.get("description").and_then(Value::as_str) {
            Some(text) if !lines.is_empty() => format!("{text}\n\n{}", lines.join("\n")),
            Some(text) => text.to_owned(),
            None => lines.join("\n"),
        };
        map.remove(union);
        map.insert("type".into(), json!(name));
        map.insert("enum".into(), Value::Array(values));
        if !description.is_empty() {
            map.insert("description".into(), description.into());
        }
    }
}

/// A branch that contains only a list of strings.
struct NamedValues<'a> {
    name: &'a str,
    values: Vec<&'a Value>,
    description: Option<String>,
}

impl<'a> NamedValues<'a> {
    fn read(branch: &'a Value) -> Option<Self> {
        let branch = branch.as_object()?;
        let known = ["type", "enum", "description", "title", SAID];
        if !branch.keys().all(|key| known.contains(&key.as_str())) {
            return None;
        }
        let values: Vec<_> = branch.get("enum")?.as_array()?.iter().collect();
        let name = branch.get("type").and_then(Value::as_str).unwrap_or("string");
        if name != "string" || !values.iter().all(|value| value.is_string()) {
            return None;
        }
        let described = branch.get("description").or_else(|| branch.get("title"));
        let described = described.and_then(Value::as_str).map(str::to_owned);
        let texts: Vec<_> = described.into_iter().chain(sentences_of(branch)).collect();
        let description = (!texts.is_empty()).then(|| texts.join(" "));
        Some(Self { name, values, description })
    }
}
