//! Rules about single keywords, and the keywords of each type.

use serde_json::{Value, json};

use super::{Map, Side, conjoin};
use crate::collect::collect_by_insert;

/// Returns the keywords that apply only to values of one type.
pub(super) fn keywords_of(name: &str) -> &'static [&'static str] {
    match name {
        "integer" | "number" => {
            &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"]
        }
        "string" => {
            &["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"]
        }
        "array" => &[
            "items",
            "prefixItems",
            "contains",
            "minContains",
            "maxContains",
            "minItems",
            "maxItems",
            "uniqueItems",
            "unevaluatedItems",
        ],
        "object" => OBJECT_KEYWORDS,
        _ => &[],
    }
}

static OBJECT_KEYWORDS: &[&str] = &[
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
];

pub(super) fn exclusive_bounds(map: &mut Map, _: Side) {
    for (exclusive, inclusive, step) in
        [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)]
    {
        let Some(bound) = map.get(exclusive).filter(|bound| bound.is_number()).cloned() else {
            continue;
        };
        map.remove(exclusive);
        let bound = match bound.as_i64().and_then(|bound| bound.checked_add(step)) {
            Some(bound) if map.get("type") == Some(&json!("integer")) => json!(bound),
            _ => bound,
        };
        *map = conjoin(
            collect_by_insert::<Map, _>([(inclusive.to_owned(), bound)]),
            std::mem::take(map),
        );
    }
}

pub(super) fn pattern(map: &mut Map, _: Side) {
    if map.get("pattern").and_then(Value::as_str).is_some_and(looks_around) {
        map.remove("pattern");
    }
}

/// Whether a pattern has lookahead or lookbehind.
pub(in super::super) fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|it| pattern.contains(it))
}
