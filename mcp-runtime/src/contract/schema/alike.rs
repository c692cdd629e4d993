//! Compares two schemas as they are written, apart from annotations.

use serde_json::Value;

/// Keywords whose value is one schema.
static SCHEMAS: [&str; 11] = [
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Whether two schemas are written the same, apart from annotations. Then they mean the same, even if the comparison does not know what
/// that is.
pub(super) fn are_alike(a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return a == b };
    let says = |it: &&String| !super::is_annotation(it);
    a.keys().filter(says).count() == b.keys().filter(says).count()
        && a.iter()
            .filter(|it| says(&it.0))
            .all(|(keyword, a)| b.get(keyword).is_some_and(|b| say_the_same(keyword, a, b)))
}

/// Whether two values of a keyword are the same, apart from annotations.
pub(super) fn say_the_same(keyword: &str, a: &Value, b: &Value) -> bool {
    match (keyword, a, b) {
        (
            "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
            Value::Object(a),
            Value::Object(b),
        ) => {
            a.len() == b.len()
                && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| are_alike(a, b)))
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_alike(a, b))
        }
        _ if SCHEMAS.contains(&keyword) => are_alike(a, b),
        _ => a == b,
    }
}
