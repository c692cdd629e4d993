//! Rules about schemas that do not say what they describe.

use serde_json::{Value, json};

use super::keywords::keywords_of;
use super::{Map, Side, conjoin};
use crate::collect::collect_by_insert;

pub(super) fn items(map: &mut Map, _: Side) {
    if map.get("type") != Some(&json!("array")) {
        return;
    }
    if map.get("items") == Some(&Value::Bool(false)) {
        map.remove("items");
        let bound = collect_by_insert::<Map, _>([("maxItems".to_owned(), json!(0))]);
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
    match side {
        Side::Argument => {
            branches[OBJECT]["additionalProperties"] = any_member();
            branches.push(any_list());
        }
        Side::Result => {
            branches.extend([json!({ "type": "array" }), json!({ "type": "null" })]);
        }
    }
    map.insert("anyOf".into(), Value::Array(branches));
}

/// Replaces an `additionalProperties` that only allows or forbids further members.
///
/// google-genai reads `additionalProperties` as an object, and a boolean makes it drop all tools of the request. The keyword stays in an
/// argument that takes any members, with a schema: pydantic-ai closes an object without the keyword, and LlamaIndex reads `{}` as a string.
pub(super) fn further_members(map: &mut Map, side: Side) {
    let is_open = match map.get("additionalProperties") {
        Some(Value::Bool(is_open)) => *is_open,
        Some(Value::Object(schema)) if schema.is_empty() => true,
        _ => return,
    };
    match side {
        Side::Argument if is_open => {
            map.insert("additionalProperties".to_owned(), any_member());
        }
        _ => {
            map.remove("additionalProperties");
        }
    }
}

/// Returns the schema of a member of an object that takes any members.
fn any_member() -> Value {
    let mut branches = scalars_and_objects();
    branches.push(any_list());
    json!({ "anyOf": branches })
}

fn any_list() -> Value {
    json!({ "type": "array", "items": { "anyOf": scalars_and_objects() } })
}

/// Index of the object in [`scalars_and_objects`].
const OBJECT: usize = 3;

fn scalars_and_objects() -> Vec<Value> {
    ["string", "number", "boolean", "object"].map(|name| json!({ "type": name })).to_vec()
}
