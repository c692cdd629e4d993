use mcp_runtime_contract::validator::accepts;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{
    compatible, compatible_result, full,
    rewrite::{rewrite, rewrite_by},
    rules::{RULES, RewriteRule},
};
use crate::schema::{SchemaSide, definitions::object};

const ARGUMENT: &[SchemaSide] = &[SchemaSide::Argument];
const RESULT: &[SchemaSide] = &[SchemaSide::Result];
const BOTH: &[SchemaSide] = &[SchemaSide::Argument, SchemaSide::Result];

fn any_argument() -> Value {
    let mut all = any_member()["anyOf"].take();
    let object = json!({"type": "object", "additionalProperties": any_element()});
    all.as_array_mut().unwrap().push(object);
    all
}

/// Schema of the members of an object with arbitrary members.
fn any_member() -> Value {
    any_or_list_of(any_element())
}

/// Schema of the elements of a list with arbitrary elements.
fn any_element() -> Value {
    any_or_list_of(json!({ "anyOf": no_list() }))
}

fn any_or_list_of(items: Value) -> Value {
    let mut all = no_list();
    all.push(json!({"type": "array", "items": items}));
    json!({ "anyOf": all })
}

fn no_list() -> Vec<Value> {
    ["string", "number", "boolean", "object", "null"].map(|name| json!({ "type": name })).to_vec()
}

fn any_result() -> Value {
    let mut all = no_list();
    all.push(json!({"type": "array"}));
    all.into()
}

/// Returns the test cases: the name of a rule, the sides, the schema as schemars or a user writes it, and the published schema.
fn cases() -> Vec<(&'static str, &'static [SchemaSide], Value, Value)> {
    vec![
        (
            "older draft",
            RESULT,
            json!({"type": "array", "items": [{"type": "string"}], "additionalItems": false}),
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
        ),
        (
            "older draft",
            ARGUMENT,
            json!({"type": "array", "items": [{"type": "string"}, {"type": "boolean"}], "additionalItems": {"type": "string"}}),
            json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "boolean"}]}, "description": "In this order: string, boolean."}),
        ),
        (
            "older draft",
            BOTH,
            json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false}),
            json!({"type": "integer", "minimum": 1, "maximum": 9}),
        ),
        (
            "older draft",
            ARGUMENT,
            json!({"type": "object", "dependencies": {"a": ["b"]}}),
            json!({"type": "object", "description": "`a` only together with `b`."}),
        ),
        (
            "nullable",
            ARGUMENT,
            json!({"type": "string", "nullable": true}),
            json!({"type": "string"}),
        ),
        (
            "nullable",
            RESULT,
            json!({"type": "string", "nullable": true}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
        (
            "single schema",
            BOTH,
            json!({"allOf": [{"type": "string", "description": "inner"}], "description": "outer"}),
            json!({"type": "string", "description": "outer"}),
        ),
        (
            "null",
            ARGUMENT,
            json!({"type": ["string", "null"], "description": "x"}),
            json!({"type": "string", "description": "x"}),
        ),
        (
            "null",
            ARGUMENT,
            json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "description": "inner"}, {"type": "null"}], "description": "outer"}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "description": "outer"}),
        ),
        (
            "null",
            ARGUMENT,
            json!({"type": ["string", "null"], "enum": ["a", "b", null]}),
            json!({"type": "string", "enum": ["a", "b"]}),
        ),
        ("null", ARGUMENT, json!({"type": "null"}), json!({"type": "null"})),
        (
            "type list",
            RESULT,
            json!({"type": ["string", "null"], "description": "x", "minLength": 1}),
            json!({"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}], "description": "x"}),
        ),
        (
            "type list",
            RESULT,
            json!({"type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255}),
            json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "null"}]}),
        ),
        (
            "type list",
            RESULT,
            json!({"type": ["string", "null"], "enum": ["a", null]}),
            json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
        ),
        (
            "type list",
            ARGUMENT,
            json!({"type": ["string", "integer", "null"], "minimum": 1, "pattern": "x"}),
            json!({"anyOf": [{"type": "string", "pattern": "x"}, {"type": "integer", "minimum": 1}]}),
        ),
        ("const", BOTH, json!({"const": "a"}), json!({"type": "string", "enum": ["a"]})),
        ("const", RESULT, json!({"const": 1}), json!({"const": 1})),
        (
            "values",
            ARGUMENT,
            json!({"type": "integer", "enum": [3, 1, 7], "description": "How loud."}),
            json!({"type": "integer", "minimum": 1, "maximum": 7, "description": "How loud.\n\nOne of `3`, `1`, `7`."}),
        ),
        (
            "values",
            ARGUMENT,
            json!({"const": 1.5}),
            json!({"type": "number", "minimum": 1.5, "maximum": 1.5, "description": "Always `1.5`."}),
        ),
        (
            "values",
            ARGUMENT,
            json!({"const": true}),
            json!({"type": "boolean", "description": "Always `true`."}),
        ),
        (
            "values",
            ARGUMENT,
            json!({"type": "string", "enum": ["", "a"]}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        ("values", BOTH, json!({"enum": ["a", 1]}), json!({"enum": ["a", 1]})),
        ("values", RESULT, json!({"enum": [1, 2]}), json!({"enum": [1, 2]})),
        (
            "pattern",
            BOTH,
            json!({"type": "string", "pattern": "^(?!undefined$)"}),
            json!({"type": "string"}),
        ),
        (
            "pattern",
            BOTH,
            json!({"type": "string", "pattern": "^(?:a|b)$"}),
            json!({"type": "string", "pattern": "^(?:a|b)$"}),
        ),
        (
            "enum",
            BOTH,
            json!({"description": "How loud.", "oneOf": [
                {"type": "string", "enum": ["plain", "odd"]},
                {"type": "string", "const": "loud", "description": "Very\n  loud."},
            ]}),
            json!({"type": "string", "enum": ["plain", "odd", "loud"], "description": "How loud.\n\n- `loud`: Very loud."}),
        ),
        (
            "enum",
            BOTH,
            json!({"oneOf": [{"const": "a", "description": "A."}, {"const": "b", "title": "B."}]}),
            json!({"type": "string", "enum": ["a", "b"], "description": "- `a`: A.\n- `b`: B."}),
        ),
        (
            "oneOf",
            BOTH,
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (
            "oneOf",
            BOTH,
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}], "anyOf": [{"type": "string"}, {"type": "boolean"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "boolean"}], "allOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}]}),
        ),
        (
            "exclusive bounds",
            BOTH,
            json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10, "maximum": 5}),
            json!({"type": "integer", "minimum": 1, "maximum": 5}),
        ),
        (
            "exclusive bounds",
            BOTH,
            json!({"type": "number", "exclusiveMaximum": 1.5}),
            json!({"type": "number", "maximum": 1.5}),
        ),
        (
            "format",
            BOTH,
            json!({"type": "integer", "format": "uint32", "minimum": 0}),
            json!({"type": "integer", "minimum": 0}),
        ),
        ("format", RESULT, json!({"type": "string", "format": "uri"}), json!({"type": "string"})),
        (
            "format",
            BOTH,
            json!({"type": "string", "format": "date-time"}),
            json!({"type": "string", "format": "date-time"}),
        ),
        (
            "format",
            ARGUMENT,
            json!({"type": ["string", "null"], "format": "uuid", "description": "Whose."}),
            json!({"type": "string", "description": "Whose.\n\nA UUID."}),
        ),
        (
            "format",
            ARGUMENT,
            json!({"type": "string", "format": "uri"}),
            json!({"type": "string", "description": "A URI."}),
        ),
        (
            "format",
            ARGUMENT,
            json!({"type": "string", "format": "semver"}),
            json!({"type": "string", "description": "In the format `semver`."}),
        ),
        (
            "format",
            RESULT,
            json!({"type": "string", "format": "uuid"}),
            json!({"type": "string", "format": "uuid"}),
        ),
        (
            "format",
            ARGUMENT,
            // The sentence that replaces `format` in a definition is added to the description of the argument that refers to it.
            json!({"$ref": "#/$defs/Id", "description": "Whose.", "$defs": {
                "Id": {"type": "string", "format": "uuid", "description": "An id."}}}),
            json!({"type": "string", "description": "Whose.\n\nA UUID."}),
        ),
        (
            "tuple",
            ARGUMENT,
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}, {"type": "string"}], "minItems": 3, "maxItems": 3}),
            json!({"type": "array", "minItems": 3, "maxItems": 3, "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "description": "In this order: string, integer, string."}),
        ),
        (
            "tuple",
            ARGUMENT,
            json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2, "maxItems": 2}),
            json!({"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}),
        ),
        (
            "tuple",
            ARGUMENT,
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
            json!({"type": "array", "maxItems": 1, "items": {"type": "string"}}),
        ),
        (
            "tuple",
            ARGUMENT,
            json!({"prefixItems": [{"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b"]}], "items": {"type": "integer"}}),
            json!({"type": "array", "description": "In this order: string, string.", "items": {"anyOf": [
                {"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["b"]}, {"type": "integer"}]}}),
        ),
        (
            "tuple",
            RESULT,
            json!({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1, "maxItems": 1}),
            json!({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1, "maxItems": 1}),
        ),
        (
            "items",
            ARGUMENT,
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
            json!({"type": "array", "items": any_element()}),
        ),
        (
            "items",
            ARGUMENT,
            json!({"type": "array", "items": false}),
            json!({"type": "array", "maxItems": 0, "items": any_element()}),
        ),
        (
            "uniqueItems",
            ARGUMENT,
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
            json!({"type": "array", "items": {"type": "string"}, "description": "No value twice."}),
        ),
        (
            "uniqueItems",
            RESULT,
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
        ),
        (
            "names of members",
            ARGUMENT,
            json!({"type": "object", "patternProperties": {"^\\d+$": {"type": "string"}}, "additionalProperties": false}),
            json!({"type": "object", "additionalProperties": {"type": "string"}, "description": "Its names match `^\\d+$`."}),
        ),
        (
            "names of members",
            ARGUMENT,
            json!({"properties": {"a": {"type": "string"}}, "patternProperties": {"^b": {"type": "string"}, "^c": {"type": "boolean"}}, "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "boolean"}]},
                "description": "Other names match `^b` or `^c`."}),
        ),
        (
            "names of members",
            ARGUMENT,
            json!({"type": "object", "patternProperties": {"^b": {"type": "string"}}}),
            json!({"type": "object"}),
        ),
        (
            "names of members",
            ARGUMENT,
            json!({"type": "object", "propertyNames": {"pattern": "^b"}, "dependentRequired": {"a": ["b", "c"]}}),
            json!({"type": "object", "description": "Its names match `^b`. `a` only together with `b`, `c`."}),
        ),
        (
            "unevaluated",
            ARGUMENT,
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "unevaluatedProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ),
        (
            "further members",
            BOTH,
            json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": false}}, "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
        ),
        (
            "further members",
            ARGUMENT,
            json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {}}}, "additionalProperties": true}),
            json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": any_member()}}, "additionalProperties": any_member()}),
        ),
        (
            "further members",
            RESULT,
            json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": {}}}, "additionalProperties": true}),
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
        ),
        (
            "further members",
            BOTH,
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        ),
        (
            "unevaluated",
            ARGUMENT,
            json!({"type": "object", "anyOf": [{"type": "object"}, {"type": "object", "required": ["a"]}], "unevaluatedProperties": false}),
            json!({"type": "object", "anyOf": [{"type": "object"}, {"type": "object", "required": ["a"]}]}),
        ),
        (
            "not",
            ARGUMENT,
            json!({"type": "integer", "not": {"const": 0}}),
            json!({"type": "integer", "description": "Not `0`."}),
        ),
        (
            "not",
            ARGUMENT,
            json!({"type": "string", "not": {"enum": ["a", "b"]}}),
            json!({"type": "string", "description": "None of `a`, `b`."}),
        ),
        (
            "multipleOf",
            ARGUMENT,
            json!({"type": "integer", "multipleOf": 5}),
            json!({"type": "integer", "description": "A multiple of `5`."}),
        ),
        (
            "content",
            ARGUMENT,
            json!({"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png", "contentSchema": true}),
            json!({"type": "string", "description": "Encoded as `base64`. Of the media type `image/png`."}),
        ),
        (
            "annotations",
            ARGUMENT,
            json!({"type": "string", "deprecated": true, "writeOnly": true, "$comment": "x"}),
            json!({"type": "string", "description": "Deprecated."}),
        ),
        (
            "annotations",
            ARGUMENT,
            json!({"oneOf": [{"type": "string", "const": "a", "deprecated": true}, {"type": "string", "const": "b", "description": "B."}]}),
            json!({"type": "string", "enum": ["a", "b"], "description": "- `a`: Deprecated.\n- `b`: B."}),
        ),
        (
            "examples",
            ARGUMENT,
            json!({"type": "string", "examples": ["a", "b"], "description": "A letter."}),
            json!({"type": "string", "description": "A letter.\n\nFor example `a`, `b`."}),
        ),
        (
            "examples",
            ARGUMENT,
            json!({"type": ["integer", "null"], "format": "int8", "examples": [{"x": 1}]}),
            json!({"type": "integer", "description": "For example `{\"x\":1}`."}),
        ),
        (
            "examples",
            RESULT,
            json!({"type": "string", "examples": ["a"]}),
            json!({"type": "string", "examples": ["a"]}),
        ),
        ("items", RESULT, json!({"type": "array"}), json!({"type": "array"})),
        ("any value", ARGUMENT, json!(true), json!({"anyOf": any_argument()})),
        ("any value", RESULT, json!(true), json!({"anyOf": any_result()})),
        (
            "any value",
            ARGUMENT,
            json!({"description": "Anything."}),
            json!({"description": "Anything.", "anyOf": any_argument()}),
        ),
        (
            "any value",
            ARGUMENT,
            json!({"properties": {"a": true}, "additionalProperties": {}}),
            json!({"type": "object", "properties": {"a": {"anyOf": any_argument()}}, "additionalProperties": any_member()}),
        ),
        ("any value", BOTH, json!(false), json!({"not": {}})),
        (
            "null default",
            ARGUMENT,
            json!({"type": ["integer", "null"], "default": null}),
            json!({"type": "integer"}),
        ),
        (
            "null default",
            RESULT,
            json!({"type": "integer", "default": null}),
            json!({"type": "integer", "default": null}),
        ),
        ("$schema", BOTH, json!({"$schema": "x", "type": "string"}), json!({"type": "string"})),
        (
            "title",
            BOTH,
            json!({"title": "Array_of_Point", "type": "boolean"}),
            json!({"type": "boolean"}),
        ),
        (
            "title",
            BOTH,
            json!({"title": "A good title", "type": "string"}),
            json!({"title": "A good title", "type": "string"}),
        ),
        (
            "references",
            BOTH,
            json!({"type": "array", "items": {"$ref": "#/$defs/A~1B%20C"},
                "$defs": {"A/B C": {"$ref": "#/$defs/D"}, "D": {"type": "boolean"}}}),
            json!({"type": "array", "items": {"type": "boolean"}}),
        ),
        (
            "references",
            BOTH,
            // An internally tagged variant: the definition and the schema that refers to it both have properties.
            json!({"$ref": "#/$defs/A", "type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"],
                "$defs": {"A": {"type": "object", "properties": {"x": {"type": "boolean"}}, "required": ["x"], "description": "A."}}}),
            json!({"type": "object", "properties": {"kind": {"type": "string", "enum": ["a"]}, "x": {"type": "boolean"}},
                "required": ["x", "kind"], "description": "A."}),
        ),
        (
            "recursion",
            BOTH,
            json!({"$ref": "#/definitions/Tree", "definitions": {
                "Tree": {"type": "object", "properties": {"leaf": {"$ref": "#/definitions/Leaf"}, "more": {"$ref": "#/definitions/Tree"}}},
                "Leaf": {"type": "boolean"}, "Unused": {"$ref": "#/definitions/Unused"}}}),
            json!({"type": "object", "properties": {"leaf": {"type": "boolean"},
                "more": {"type": "object", "description": "Again `Tree`, as around it."}}}),
        ),
        (
            "recursion",
            RESULT,
            // Two definitions contain each other, and a `null` stays where it was.
            json!({"$ref": "#/$defs/A", "$defs": {
                "A": {"type": "object", "properties": {"b": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "null"}]}}},
                "B": {"oneOf": [{"type": "object", "properties": {"a": {"$ref": "#/$defs/A", "description": "The owner."}}}, {"$ref": "#/$defs/C"}]},
                "C": {"type": "object"}}}),
            json!({"type": "object", "properties": {"b": {"anyOf": [
                {"anyOf": [
                    {"type": "object", "properties": {"a": {"type": "object", "description": "The owner.\n\nAgain `A`, as around it."}}},
                    {"type": "object"},
                ]},
                {"type": "null"}]}}}),
        ),
        (
            "recursion",
            ARGUMENT,
            // If a recursive definition has no single type, its inner occurrence accepts any value.
            json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/A"}}]}}}),
            json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "array", "items": {
                "anyOf": any_argument(), "description": "Again `A`, as around it."}}]}}}),
        ),
        // Schemas that cannot share an object stay apart, and a schema below `not` stays as it is.
        (
            "",
            BOTH,
            json!({"$ref": "#/$defs/A", "anyOf": [{"type": "string"}, {"type": "boolean"}],
                "$defs": {"A": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}),
            json!({"anyOf": [{"type": "string"}, {"type": "boolean"}], "allOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}]}),
        ),
        (
            "",
            BOTH,
            json!({"type": "string", "not": {"type": ["string", "null"], "format": "uri"}}),
            json!({"type": "string", "not": {"type": ["string", "null"], "format": "uri"}}),
        ),
    ]
}

#[test]
fn table() {
    for (rule, sides, schema, expected) in cases() {
        for side in sides {
            assert_eq!(rewrite(schema.clone(), *side), expected, "{rule} {side:?}: {schema}");
        }
    }
}

#[test]
fn every_rule_has_a_reason() {
    for rule in RULES {
        let is_thread = |thread: &&str| {
            thread.split_once('#').is_some_and(|(repository, number)| {
                repository.contains('/') && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        assert!(rule.because.iter().all(is_thread), "{}", rule.name);
        assert!(!rule.because.is_empty(), "{} has no reason", rule.name);
    }
}

/// Checks that every rule has a case with a different published schema if the rule is left out.
#[test]
fn every_rule_has_a_case_that_fails_without_it() {
    for (at, rule) in RULES.iter().enumerate() {
        let others: Vec<RewriteRule> = RULES
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, rule)| rule.clone())
            .collect();
        let is_missed = cases().into_iter().filter(|case| case.0 == rule.name).any(
            |(_, sides, schema, expected)| {
                sides.iter().any(|side| rewrite_by(&others, schema.clone(), *side) != expected)
            },
        );
        assert!(is_missed, "nothing fails without the rule `{}`", rule.name);
    }
}

/// Checks that every rule can complain about a schema that is published unchanged, and that no rule complains about a rewritten schema.
#[cfg(feature = "stdio")]
#[test]
fn every_rule_is_a_complaint() {
    use super::complaint::complaints;

    for rule in RULES {
        let is_said = cases().into_iter().filter(|case| case.0 == rule.name).any(
            |(_, sides, schema, published)| {
                sides.iter().any(|side| {
                    // A schema that the rules have rewritten gets no complaint.
                    let left = complaints(&published, *side);
                    assert!(left.is_empty(), "{left:?}: {published}");
                    complaints(&schema, *side).iter().any(|complaint| complaint.rule == rule.name)
                })
            },
        );
        assert!(is_said, "nothing is said against `{}`", rule.name);
    }
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
struct Query {
    /// How many.
    count: Option<u32>,
    filter: Option<Filter>,
    #[serde(default)]
    level: Level,
    extra: Option<Value>,
    pair: (u8, String),
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only the schema is used")]
struct Filter {
    and: Vec<Filter>,
    level: Level,
}

/// How loud.
#[derive(JsonSchema, serde::Serialize, Default)]
enum Level {
    #[default]
    Low,
    /// Hurts.
    #[allow(dead_code, reason = "only the schema is used")]
    High,
}

#[test]
fn a_schema_that_schemars_generates_is_made_compatible() {
    let level = json!({"type": "string", "enum": ["Low", "High"], "description": "How loud.\n\n- `High`: Hurts."});
    let mut level_with_default = level.clone();
    level_with_default["default"] = json!("Low");
    let again = json!({"type": "object", "description": "Again `Filter`, as around it."});
    let filter = json!({"type": "object", "required": ["and", "level"], "properties": {
        "and": {"type": "array", "items": again}, "level": level}});
    let expected = json!({
        "type": "object",
        "required": ["pair"],
        "properties": {
            "count": {"type": "integer", "minimum": 0, "description": "How many."},
            "filter": filter,
            "level": level_with_default,
            "extra": {"anyOf": any_argument()},
            "pair": {"type": "array", "minItems": 2, "maxItems": 2, "description": "In this order: integer, string.",
                "items": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "string"}]}},
        },
    });
    assert_eq!(compatible(schemars::schema_for!(Query).to_value()), expected);
}

#[test]
fn a_doc_comment_keeps_the_sentence_about_recursion() {
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code, reason = "only the schema is used")]
    struct Node {
        /// Node behind this one.
        next: Option<Box<Self>>,
        /// Nodes below.
        below: Option<Vec<Self>>,
        twin: Option<Box<Self>>,
    }
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code, reason = "only the schema is used")]
    struct List {
        first: Node,
    }
    let schema = compatible(schemars::schema_for!(List).to_value());
    let node = &schema["properties"]["first"]["properties"];
    let again = "Again `Node`, as around it.";
    assert_eq!(
        node["next"],
        json!({"type": "object", "description": format!("Node behind this one.\n\n{again}")})
    );
    assert_eq!(
        node["below"],
        json!({"type": "array", "items": {"type": "object", "description": again}, "description": "Nodes below."})
    );
    assert_eq!(node["twin"], json!({"type": "object", "description": again}));
}

#[test]
fn a_recursive_root_is_plain() {
    let schema = compatible(schemars::schema_for!(Filter).to_value());
    assert_eq!(schema["type"], "object");
    assert!(schema["properties"]["and"].is_object());
}

#[test]
fn references_to_other_places_than_definitions_are_followed() {
    let schema = json!({"type": "object", "properties": {
        "b": {"$anchor": "text", "type": "string", "minLength": 1},
        "place": {"$ref": "#/properties/b"},
        "anchor": {"$ref": "#text", "description": "beside"},
        "escaped": {"$ref": "#/$defs/an%20a~1b/properties/x"},
        "again": {"$ref": "#"},
        "data": {"type": "object", "default": {"$ref": "#/nowhere"}}},
        "$defs": {"an a/b": {"properties": {"x": {"type": "boolean"}}}}});
    let mut published = compatible(schema);
    let properties = published["properties"].take();
    let text = json!({"type": "string", "minLength": 1});
    assert_eq!(properties["place"], text);
    assert_eq!(properties["anchor"]["minLength"], 1);
    assert_eq!(properties["escaped"], json!({"type": "boolean"}));
    assert_eq!(properties["again"]["properties"]["place"], text);
    let innermost = &properties["again"]["properties"]["again"];
    assert_eq!(innermost, &json!({"type": "object", "description": "Again `root`, as around it."}));
    assert_eq!(properties["data"]["default"], json!({"$ref": "#/nowhere"}));
    assert_eq!(published, json!({"type": "object", "properties": null}));
}

#[cfg(feature = "stdio")]
#[test]
fn a_complaint_names_the_keywords_that_the_author_wrote() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string", "$comment": "x"}, "b": {"type": "array", "items": [{"type": "string"}], "additionalItems": false}}});
    let found: Vec<_> = super::complaint::complaints(&schema, SchemaSide::Argument)
        .into_iter()
        .map(|complaint| format!("{} {}", complaint.place, complaint.says))
        .collect();
    assert_eq!(
        found,
        [
            "b has a form of an older JSON Schema: `items`, `additionalItems`",
            "b describes the elements of a list one by one: `items`",
            "a has an annotation: `$comment`",
        ]
    );
}

#[test]
fn definitions_that_multiply_are_kept() {
    let mut definitions = serde_json::Map::new();
    for depth in 0..40 {
        let below = format!("#/$defs/D{}", depth + 1);
        definitions.insert(
            format!("D{depth}"),
            json!({"properties": {"a": {"$ref": below}, "b": {"$ref": below}}}),
        );
    }
    definitions.insert("D40".into(), json!({"type": "string"}));
    let schema = compatible(json!({"$ref": "#/$defs/D0", "$defs": definitions}));
    assert_eq!(schema["$defs"].as_object().map(serde_json::Map::len), Some(40));
}

#[test]
fn full_keeps_everything() {
    let schema = schemars::schema_for!(Query).to_value();
    assert_eq!(full(schema.clone()), schema);
    assert_eq!(full(json!(true)), json!({"$schema": super::DIALECT}));
    assert_eq!(full(json!(false)), json!({"$schema": super::DIALECT, "not": {}}));
}

/// Generates schemas as schema generators and users write them, including unusual ones.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({})),
        Just(json!({"$ref": "#/$defs/A"})),
        Just(json!({"$ref": "#/$defs/Tree", "description": "beside"})),
        Just(json!({"$ref": "#/$defs/E", "minLength": 1})),
        Just(json!({"type": "null"})),
        Just(json!({"type": ["string", "null"], "minLength": 1, "default": null})),
        Just(
            json!({"type": ["integer", "string"], "format": "uint8", "minimum": 0, "nullable": true})
        ),
        Just(json!({"type": ["string", "null"], "enum": ["a", null]})),
        Just(json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 3})),
        Just(json!({"type": "number", "exclusiveMaximum": 2.5})),
        Just(json!({"type": "array"})),
        Just(json!({"type": "string", "const": "a", "description": "doc"})),
        Just(json!({"enum": ["a", "b"]})),
        Just(json!({"const": null})),
        Just(json!({"required": ["a"]})),
        Just(
            json!({"type": "string", "format": "ipv4", "examples": ["1.2.3.4"], "description": "doc"})
        ),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let few = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            few.clone().prop_map(|list| json!({"anyOf": list, "description": "outer"})),
            few.clone().prop_map(|list| json!({"oneOf": list})),
            few.clone().prop_map(|list| json!({"allOf": list, "type": "object"})),
            few.clone().prop_map(|list| json!({"type": "array", "prefixItems": list, "maxItems": list.len()})),
            few.prop_map(|list| json!({"$ref": "#/$defs/A", "anyOf": list, "oneOf": list})),
            inner.clone().prop_map(|inner| json!({"type": "array", "items": inner, "maxItems": 2, "uniqueItems": true})),
            inner.clone().prop_map(|inner| json!({"not": inner})),
            (inner.clone(), inner).prop_map(|(a, b)| {
                json!({"type": ["object", "null"], "properties": {"a": a, "b": b}, "required": ["a"], "additionalProperties": false})
            }),
        ]
    })
    .prop_map(|schema| {
        let mut schema = object(schema);
        schema.insert(
            "$defs".into(),
            json!({
                "A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/E"}}},
                "E": {"oneOf": [{"const": "a", "description": "A."}, {"const": "b"}]},
                "Tree": {"type": "object", "properties": {"a": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}, "b": {"$ref": "#/$defs/E"}}},
            }),
        );
        Value::Object(schema)
    })
}

fn instances() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        prop_oneof![
            Just(json!(0)),
            Just(json!(1)),
            Just(json!(3)),
            Just(json!(2.5)),
            Just(json!(-1))
        ],
        prop_oneof![Just(json!("")), Just(json!("a")), Just(json!("b")), Just(json!("c"))],
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn idempotent(schema in schemas()) {
        let once = compatible(schema.clone());
        prop_assert_eq!(compatible(once.clone()), once);
        let once = compatible_result(schema);
        prop_assert_eq!(compatible_result(once.clone()), once);
    }

    /// Checks that the published schema accepts every result that the original schema accepts, because clients validate results.
    #[test]
    fn results_stay_valid(schema in schemas(), instances in prop::collection::vec(instances(), 16)) {
        let published = compatible_result(schema.clone());
        for instance in instances.iter().filter(|instance| accepts(&schema, instance, &schema)) {
            prop_assert!(accepts(&published, instance, &published), "{instance} in {published}");
        }
    }

    /// Published schemas have no boolean schemas, lists of types, unknown formats, foreign keywords or empty schemas: these are what
    /// Inspector's `--strict` and the issue threads in the table complain about.
    #[test]
    fn nothing_to_complain_about(schema in schemas()) {
        complain(&compatible(schema))?;
    }
}

fn complain(schema: &Value) -> Result<(), TestCaseError> {
    let Value::Object(map) = schema else {
        return Err(TestCaseError::fail(format!("a bare {schema}")));
    };
    prop_assert!(!map.contains_key("$schema") && !map.contains_key("nullable"));
    prop_assert!(!map.contains_key("$ref") && !map.contains_key("$defs"));
    prop_assert!(!map.contains_key("exclusiveMinimum") && !map.contains_key("exclusiveMaximum"));
    prop_assert!(!map.contains_key("prefixItems") && !map.contains_key("uniqueItems"));
    prop_assert!(
        !map.contains_key("examples") && !map.contains_key(crate::schema::sentences::SAID)
    );
    prop_assert!(map.get("format").is_none_or(|format| format == "date-time"));
    prop_assert!(
        map.keys()
            .any(|key| !["title", "description", "default", "format"].contains(&key.as_str())),
        "{schema}"
    );
    if let Some(types) = map.get("type").and_then(Value::as_array) {
        prop_assert!(map.contains_key("anyOf"), "{types:?}");
    }
    if map.get("type") == Some(&json!("array")) {
        prop_assert!(map.contains_key("items"), "{schema}");
    }
    for keyword in ["properties", "$defs"] {
        for schema in
            map.get(keyword).and_then(Value::as_object).into_iter().flat_map(|map| map.values())
        {
            complain(schema)?;
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for schema in map.get(keyword).and_then(Value::as_array).into_iter().flatten() {
            complain(schema)?;
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(schema) = map.get(keyword) {
            complain(schema)?;
        }
    }
    Ok(())
}
