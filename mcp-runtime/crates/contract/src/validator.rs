//! A second, independent validator for the part of JSON Schema that published schemas use. Tests use it to compare these schemas with the
//! checks at run time.

use std::collections::BTreeSet;

use serde_json::Value;

/// Whether `instance` is valid for `schema`. References are looked up in `root`.
pub fn accepts(schema: &Value, instance: &Value, root: &Value) -> bool {
    let Value::Object(map) = schema else { return schema != &Value::Bool(false) };
    map.iter().all(|(keyword, value)| keyword_accepts(keyword, value, schema, instance, root))
}

fn keyword_accepts(
    keyword: &str,
    value: &Value,
    schema: &Value,
    instance: &Value,
    root: &Value,
) -> bool {
    let list = || value.as_array().into_iter().flatten();
    let number = |check: fn(f64, f64) -> bool| {
        instance.as_f64().is_none_or(|number| check(number, value.as_f64().unwrap_or_default()))
    };
    let length = |length: Option<usize>, check: fn(usize, usize) -> bool| {
        length.is_none_or(|length| check(length, value.as_u64().unwrap_or_default() as usize))
    };
    let characters = || instance.as_str().map(|text| text.chars().count());
    let elements = || instance.as_array().map(Vec::len);
    let entries = || instance.as_object().map(serde_json::Map::len);
    match keyword {
        "$ref" => {
            let name = value.as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
            name.is_some_and(|name| accepts(&root["$defs"][name], instance, root))
        }
        "type" => match value {
            Value::Array(names) => {
                names.iter().any(|name| has_type(instance, name.as_str().unwrap()))
            }
            name => has_type(instance, name.as_str().unwrap()),
        },
        "enum" => list().any(|value| value == instance),
        "const" => value == instance,
        "minimum" => number(|number, bound| number >= bound),
        "maximum" => number(|number, bound| number <= bound),
        "exclusiveMinimum" => number(|number, bound| number > bound),
        "exclusiveMaximum" => number(|number, bound| number < bound),
        "multipleOf" => number(|number, unit| number % unit == 0.0),
        "minLength" => length(characters(), |length, bound| length >= bound),
        "maxLength" => length(characters(), |length, bound| length <= bound),
        "minItems" => length(elements(), |length, bound| length >= bound),
        "maxItems" => length(elements(), |length, bound| length <= bound),
        "minProperties" => length(entries(), |length, bound| length >= bound),
        "maxProperties" => length(entries(), |length, bound| length <= bound),
        "pattern" => instance.as_str().is_none_or(|text| {
            regex_lite::Regex::new(value.as_str().unwrap()).unwrap().is_match(text)
        }),
        "items" => {
            let before = schema["prefixItems"].as_array().map_or(0, Vec::len);
            instance.as_array().is_none_or(|array| {
                array.iter().skip(before).all(|element| accepts(value, element, root))
            })
        }
        "uniqueItems" => instance.as_array().is_none_or(|array| {
            array.iter().enumerate().all(|(at, element)| !array[..at].contains(element))
        }),
        "prefixItems" => instance.as_array().is_none_or(|array| {
            array.iter().zip(list()).all(|(element, schema)| accepts(schema, element, root))
        }),
        "properties" => instance.as_object().is_none_or(|object| {
            object.iter().all(|(name, inner)| {
                value.get(name).is_none_or(|schema| accepts(schema, inner, root))
            })
        }),
        "required" => instance
            .as_object()
            .is_none_or(|object| list().all(|name| object.contains_key(name.as_str().unwrap()))),
        "additionalProperties" => {
            let known: BTreeSet<&String> =
                schema["properties"].as_object().into_iter().flat_map(|p| p.keys()).collect();
            instance.as_object().is_none_or(|object| {
                object
                    .iter()
                    .filter(|(name, _)| !known.contains(name))
                    .all(|(_, inner)| accepts(value, inner, root))
            })
        }
        "allOf" => list().all(|schema| accepts(schema, instance, root)),
        "anyOf" => list().any(|schema| accepts(schema, instance, root)),
        "oneOf" => list().filter(|schema| accepts(schema, instance, root)).count() == 1,
        "not" => !accepts(value, instance, root),
        "title" | "description" | "default" | "examples" | "format" | "nullable" | "$defs"
        | "$schema" => true,
        other => panic!("the validator does not know `{other}`"),
    }
}

fn has_type(instance: &Value, name: &str) -> bool {
    match instance {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => {
            name == "number" || name == "integer" && number.as_f64().unwrap().fract() == 0.0
        }
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}
