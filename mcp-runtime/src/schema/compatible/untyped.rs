//! Rules about schemas that do not say what they describe.

use serde_json::{Value, json};

use super::keywords::keywords_of;
use super::{Map, Side, conjoin};
use crate::gathered::gathered;

pub(super) fn items(map: &mut Map, _: Side) {
    if map.get("type") != Some(&json!("array")) {
        return;
    }
    if map.get("items") == Some(&Value::Bool(false)) {
        map.remove("items");
        let bound = gathered::<Map, _>([("maxItems".to_owned(), json!(0))]);
        *map = conjoin(bound, std::mem::take(map));
    }
    map.entry("items").or_insert_with(|| json!({ "anyOf": scalars_and_objects() }));
}

pub(super) fn any_value(map: &mut Map, side: Side) {
    static TELLING: [&str; 10] =
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
