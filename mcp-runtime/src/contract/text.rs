//! JSON text that changes only with its meaning.

use serde_json::Value;

/// Formats a value with its members sorted by name and one member a line, so that a change of one member is a change of one line.
pub(super) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text.push('\n');
    text
}

fn write(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_unstable_by_key(|it| it.0);
            text.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                next_line(text, at > 0, depth + 1);
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push_str(": ");
                write(text, value, depth + 1);
            }
            next_line(text, false, depth);
            text.push('}');
        }
        Value::Array(list) if !list.is_empty() => {
            text.push('[');
            for (at, value) in list.iter().enumerate() {
                next_line(text, at > 0, depth + 1);
                write(text, value, depth + 1);
            }
            next_line(text, false, depth);
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

fn next_line(text: &mut String, after_another: bool, depth: usize) {
    text.push_str(if after_another { ",\n" } else { "\n" });
    text.push_str(&"  ".repeat(depth));
}

/// Sorts the parts of a schema that have no order: `required`, and a `type` that is a list. So parameters can change places.
pub(super) fn settle(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for (keyword, said) in map {
        match (keyword.as_str(), said) {
            ("required" | "type", Value::Array(names)) => {
                names.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            }
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => schemas.values_mut().for_each(settle),
            // Values of these keywords are no schemas.
            ("const" | "default" | "enum" | "examples", _) => {}
            (_, Value::Array(schemas)) => schemas.iter_mut().for_each(settle),
            (_, other) => settle(other),
        }
    }
}
