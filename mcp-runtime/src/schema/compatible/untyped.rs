//! Rules about schemas that do not say what they describe.

use serde_json::{Value, json};

use super::keywords::keywords_of;
use super::rules::{RULES, apply};
use super::{Map, Side, conjoin, object};

pub(super) fn items(map: &mut Map, side: Side) {
    if map.get("type") != Some(&json!("array")) {
        return;
    }
    let prefix = map.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
    if map.get("items") == Some(&Value::Bool(false)) {
        map.remove("items");
        let bound = Map::from_iter([("maxItems".to_owned(), json!(prefix.len()))]);
        *map = conjoin(bound, std::mem::take(map));
    }
    if map.contains_key("items") {
        return;
    }
    let closed =
        map.get("maxItems").and_then(Value::as_u64).is_some_and(|most| most <= prefix.len() as u64);
    let mut branches: Vec<Value> = Vec::new();
    for schema in prefix.into_iter().filter(|_| closed) {
        if !branches.contains(&schema) {
            branches.push(schema);
        }
    }
    let items = match branches.len() {
        0 => json!({ "anyOf": scalars_and_objects() }),
        1 => branches.remove(0),
        _ => json!({ "anyOf": branches }),
    };
    let mut items = object(items);
    apply(RULES, &mut items, side);
    map.insert("items".into(), Value::Object(items));
}

pub(super) fn any_value(map: &mut Map, side: Side) {
    const TELLING: [&str; 10] =
        ["type", "enum", "const", "$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if"];
    if TELLING.iter().any(|keyword| map.contains_key(*keyword)) {
        return;
    }
    if side == Side::Argument {
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
    let mut branches = scalars_and_objects();
    branches.push(match side {
        Side::Argument => json!({ "type": "array", "items": { "anyOf": scalars_and_objects() } }),
        Side::Result => json!({ "type": "array" }),
    });
    if side == Side::Result {
        branches.push(json!({ "type": "null" }));
    }
    map.insert("anyOf".into(), Value::Array(branches));
}

fn scalars_and_objects() -> Vec<Value> {
    vec![
        json!({ "type": "string" }),
        json!({ "type": "number" }),
        json!({ "type": "boolean" }),
        json!({ "type": "object", "additionalProperties": true }),
    ]
}
