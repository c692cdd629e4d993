//! Rules about `null`: an argument that may be `null` may as well be left out.

use serde_json::{Value, json};

use super::{Map, Side, conjoin, object};

pub(super) fn nullable(map: &mut Map, side: Side) {
    if map.remove("nullable") == Some(Value::Bool(true)) && side == Side::Result {
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

pub(super) fn null(map: &mut Map, _: Side) {
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
        if branches.iter().all(is_null) {
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

pub(super) fn null_default(map: &mut Map, _: Side) {
    if map.get("default") == Some(&Value::Null) && map.get("type") != Some(&json!("null")) {
        map.remove("default");
    }
}
