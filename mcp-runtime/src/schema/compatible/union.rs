//! Rules about schemas with branches.

use serde_json::{Value, json};

use super::keywords::keywords_of;
use super::rules::{RULES, apply};
use super::{Map, Side, conjoin, object};
use crate::collect::collect_by_insert;

pub(super) fn type_list(map: &mut Map, side: Side) {
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
        apply(RULES, &mut branch, side);
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

pub(super) fn one_of(map: &mut Map, _: Side) {
    let Some(branches) = map.remove("oneOf") else { return };
    *map =
        conjoin(collect_by_insert::<Map, _>([("anyOf".to_owned(), branches)]), std::mem::take(map));
}

pub(super) fn single_all_of(map: &mut Map, _: Side) {
    if let Some(Value::Array(schemas)) = map.get_mut("allOf")
        && schemas.len() == 1
        && let Some(schema) = schemas.pop()
    {
        map.remove("allOf");
        *map = conjoin(object(schema), std::mem::take(map));
    }
}
