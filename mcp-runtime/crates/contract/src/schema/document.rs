//! Schema documents: lookup of definitions, validation of single values, and comparison of the text of two schemas without their
//! annotations.

use std::cell::Cell;

use serde_json::Value;

use super::value::{JsonNumber, TypeSet, are_equal};
use crate::{JsonObject, percent};

/// Maximum nesting depth of one evaluation, chosen well above the depth of real schemas. Stops the evaluation of a schema that refers only
/// to itself.
const DEEPEST: u8 = 64;

/// Maximum number of steps of one evaluation. The depth limit is not enough, because a schema that refers to itself twice doubles the work
/// at each level.
const MOST_STEPS: u32 = 20_000;

#[derive(Clone, Copy)]
pub(super) struct SchemaDocument<'a> {
    root: &'a Value,
}

impl<'a> SchemaDocument<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root }
    }

    /// Returns the schema that a local reference names.
    pub(super) fn resolve(self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(&percent::decode(reference.strip_prefix('#')?)?)
    }

    /// Returns the objects that hold definitions.
    pub(super) fn definitions(self) -> [Option<&'a Value>; 2] {
        ["$defs", "definitions"].map(|keyword| self.root.get(keyword))
    }

    /// Whether the value is valid for the schema. Returns `None` if the validity cannot be decided.
    pub(super) fn accepts(self, schema: &Value, value: &Value) -> Option<bool> {
        self.judge(schema, value, (&Cell::new(MOST_STEPS), 0))
    }

    fn judge(
        self,
        schema: &Value,
        value: &Value,
        (steps, depth): (&Cell<u32>, u8),
    ) -> Option<bool> {
        steps.set(steps.get().checked_sub(1)?);
        let map = match schema {
            Value::Bool(all) => return Some(*all),
            Value::Object(map) if depth < DEEPEST => map,
            _ => return None,
        };
        // A value that one keyword rejects is rejected, even if the verdict of another keyword is unknown.
        let mut known = Some(true);
        for (keyword, said) in map {
            match self.keyword(keyword, said, map, value, (steps, depth)) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => known = None,
            }
        }
        known
    }

    fn keyword(
        self,
        keyword: &str,
        said: &Value,
        schema: &JsonObject,
        value: &Value,
        (steps, depth): (&Cell<u32>, u8),
    ) -> Option<bool> {
        if is_annotation(keyword) || matches!(keyword, "$defs" | "definitions") {
            return Some(true);
        }
        let all = |verdicts: &mut dyn Iterator<Item = Option<bool>>| {
            let mut all = Some(true);
            for verdict in verdicts {
                match verdict {
                    Some(true) => {}
                    Some(false) => return Some(false),
                    None => all = None,
                }
            }
            all
        };
        let inner = |schema: &Value, value: &Value| self.judge(schema, value, (steps, depth + 1));
        let list = || said.as_array().map(Vec::as_slice);
        match (keyword, value) {
            ("$ref", _) => inner(self.resolve(said.as_str()?)?, value),
            ("type", _) => TypeSet::parse(said).map(|types| TypeSet::of(value).within(types)),
            ("enum", _) => Some(list()?.iter().any(|listed| are_equal(listed, value))),
            ("const", _) => Some(are_equal(said, value)),
            ("allOf", _) => all(&mut list()?.iter().map(|schema| inner(schema, value))),
            ("anyOf" | "oneOf", _) => {
                let verdicts: Vec<_> = list()?.iter().map(|schema| inner(schema, value)).collect();
                let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
                match (count(Some(true)), count(None)) {
                    (0, 0) => Some(false),
                    (0, _) => None,
                    (_, _) if keyword == "anyOf" => Some(true),
                    (1, 0) => Some(true),
                    (1, _) => None,
                    (_, _) => Some(false),
                }
            }
            ("not", _) => inner(said, value).map(|verdict| !verdict),
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) => {
                let ordering = JsonNumber::of(value)?.cmp(JsonNumber::of(said)?);
                Some(match keyword {
                    "minimum" => ordering.is_ge(),
                    "maximum" => ordering.is_le(),
                    "exclusiveMinimum" => ordering.is_gt(),
                    _ => ordering.is_lt(),
                })
            }
            ("multipleOf", Value::Number(_)) => {
                JsonNumber::of(value)?.is_multiple_of(JsonNumber::of(said)?)
            }
            ("minLength" | "maxLength", Value::String(text)) => {
                count(keyword, text.chars().count(), said)
            }
            ("minItems" | "maxItems", Value::Array(items)) => count(keyword, items.len(), said),
            ("minProperties" | "maxProperties", Value::Object(members)) => {
                count(keyword, members.len(), said)
            }
            ("pattern", Value::String(text)) => {
                regex_lite::Regex::new(said.as_str()?).ok().map(|regex| regex.is_match(text))
            }
            // `format` is an annotation for most validators, and an assertion for some. So the result is unknown.
            ("format", Value::String(_) | Value::Number(_)) => None,
            ("prefixItems", Value::Array(items)) => {
                let schemas = list()?;
                all(&mut items.iter().zip(schemas).map(|(item, schema)| inner(schema, item)))
            }
            ("items", Value::Array(items)) => {
                let before =
                    schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                all(&mut items.iter().skip(before).map(|item| inner(said, item)))
            }
            ("properties", Value::Object(members)) => {
                let schemas = said.as_object()?;
                all(&mut members
                    .iter()
                    .filter_map(|(name, member)| Some(inner(schemas.get(name)?, member))))
            }
            ("required", Value::Object(members)) => Some(
                list()?.iter().filter_map(Value::as_str).all(|name| members.contains_key(name)),
            ),
            ("additionalProperties", Value::Object(members)) => {
                if schema.contains_key("patternProperties") {
                    return None;
                }
                let declared = schema.get("properties").and_then(Value::as_object);
                let is_declared =
                    |name: &str| declared.is_some_and(|properties| properties.contains_key(name));
                all(&mut members
                    .iter()
                    .filter(|(name, _)| !is_declared(name))
                    .map(|(_, member)| inner(said, member)))
            }
            (
                "minimum"
                | "maximum"
                | "exclusiveMinimum"
                | "exclusiveMaximum"
                | "multipleOf"
                | "minLength"
                | "maxLength"
                | "minItems"
                | "maxItems"
                | "minProperties"
                | "maxProperties"
                | "pattern"
                | "format"
                | "prefixItems"
                | "items"
                | "properties"
                | "required"
                | "additionalProperties",
                _,
            ) => Some(true),
            _ => None,
        }
    }
}

fn count(keyword: &str, count: usize, said: &Value) -> Option<bool> {
    let bound = JsonNumber::of(said)?;
    let ordering = JsonNumber::whole(count).cmp(bound);
    Some(if keyword.starts_with("min") { ordering.is_ge() } else { ordering.is_le() })
}

/// Keywords that inform people and models, and do not affect the accepted values.
pub(super) static ANNOTATIONS: [&str; 7] =
    ["title", "description", "examples", "deprecated", "readOnly", "writeOnly", "$comment"];

/// Whether a keyword is an annotation, which does not affect the accepted values. Keywords that begin with `x-` are annotations too (JSON
/// Schema Core, 6.5).
pub(super) fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword)
        || matches!(keyword, "$schema" | "default")
        || keyword.starts_with("x-")
}

/// Returns a schema without its own annotations. Those of its subschemas stay.
pub(super) fn without_annotations(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    map.iter()
        .filter(|member| !is_annotation(member.0))
        .map(|(keyword, said)| (keyword.clone(), said.clone()))
        .collect::<JsonObject>()
        .into()
}

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

/// Whether two schemas are equal as written, apart from annotations. Such schemas mean the same, even if they contain keywords that the
/// comparison does not know.
pub(super) fn are_equally_written(a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return a == b };
    let says = |keyword: &&String| !is_annotation(keyword);
    a.keys().filter(says).count() == b.keys().filter(says).count()
        && a.iter()
            .filter(|member| says(&member.0))
            .all(|(keyword, a)| b.get(keyword).is_some_and(|b| have_equal_meaning(keyword, a, b)))
}

/// Whether two values of a keyword are equal, apart from annotations.
pub(super) fn have_equal_meaning(keyword: &str, a: &Value, b: &Value) -> bool {
    match (keyword, a, b) {
        (
            "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
            Value::Object(a),
            Value::Object(b),
        ) => {
            a.len() == b.len()
                && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| are_equally_written(a, b)))
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_equally_written(a, b))
        }
        _ if SCHEMAS.contains(&keyword) => are_equally_written(a, b),
        _ => a == b,
    }
}
