//! The form of a schema that clients read.
//!
//! Everything schemars writes is valid JSON Schema 2020-12, and much of it makes some client drop a tool or
//! all tools of a server: models are fed through provider dialects that know a fraction of it.
//! [`RULES`](rules::RULES) is the list of what is rewritten and why. Beside it, for the root: `$schema` and a
//! `title` that is only the Rust type's name are dropped, and local references are inlined ([`Definitions`])
//! unless the type is recursive.
//!
//! **Arguments and results differ.** What is published of an argument may be narrower than what is accepted: nobody
//! misses the `null` of an `Option`. What is published of a result must hold for every result, because clients check
//! results against it and refuse the call otherwise (TheGreenCedar/CodeStory#1971, xberg-io/xberg#1372). Hence
//! [`compatible`] for arguments and [`compatible_result`] for results.
//!
//! Elicitation forms do not come through here: they have a dialect of their own.

use serde_json::Value;

use super::Map;
use super::definitions::{Definitions, conjoin, object};

mod rules;
mod values;

/// The dialect a full schema names.
pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What the schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Argument,
    Result,
}

/// The client-compatible form of the schema of arguments.
pub(crate) fn compatible(schema: Value) -> Value {
    rewrite(schema, Side::Argument)
}

/// The client-compatible form of the schema of a result: only what leaves its meaning as it was, or wider.
pub(crate) fn compatible_result(schema: Value) -> Value {
    rewrite(schema, Side::Result)
}

/// All of 2020-12, under its name.
pub(crate) fn full(schema: Value) -> Value {
    let mut root = object(schema);
    root.entry("$schema").or_insert_with(|| DIALECT.into());
    Value::Object(root)
}

fn rewrite(schema: Value, side: Side) -> Value {
    let mut root = object(schema);
    root.remove("$schema");
    let walk = Walk { side, definitions: Definitions::take(&mut root) };

    let mut root = walk.schema(root, true);

    // The root must show that it is an object, even where it is a recursive type and nothing but a reference.
    let mut steps = 0..16;
    while let Some(Value::String(reference)) = root.get("$ref")
        && let Some(meaning) = walk.definitions.meaning(reference)
        && steps.next().is_some()
    {
        let meaning = walk.schema(object(meaning.clone()), true);
        root.remove("$ref");
        root = conjoin(meaning, root);
        rules::apply(&mut root, side);
    }
    if root.get("title").and_then(Value::as_str).is_some_and(is_type_name) {
        root.remove("title");
    }

    let definitions = walk.definitions.needed(&root, |schema| walk.schema(schema, true));
    if !definitions.is_empty() {
        root.insert("$defs".into(), Value::Object(definitions));
    }
    Value::Object(root)
}

/// Whether a title is what schemars makes of a type's name: `Profile`, `Array_of_Profile`.
fn is_type_name(title: &str) -> bool {
    title.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && title.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Visits every subschema, children first, and applies the rules to each.
struct Walk {
    side: Side,
    definitions: Definitions,
}

impl Walk {
    /// `plain` is false below `not`, `if` and the like. What they hold is a question, not a description: to narrow it
    /// would widen the whole, so nothing but references and bare booleans is touched there.
    fn schema(&self, mut map: Map, plain: bool) -> Map {
        while let Some(Value::String(reference)) = map.get("$ref")
            && let Some(meaning) = self.definitions.inlined(reference)
        {
            let meaning = object(meaning.clone());
            map.remove("$ref");
            map = conjoin(meaning, map);
        }
        if let Some(Value::String(reference)) = map.get_mut("$ref")
            && let Some(name) = reference.strip_prefix("#/definitions/")
        {
            *reference = format!("#/$defs/{name}");
        }
        for (keyword, value) in &mut map {
            self.keyword(keyword, value, plain);
        }
        if plain {
            rules::apply(&mut map, self.side);
        }
        map
    }

    fn keyword(&self, keyword: &str, value: &mut Value, plain: bool) {
        let visit = |schema: &mut Value, plain| {
            *schema = Value::Object(self.schema(object(schema.take()), plain));
        };
        match (keyword, value) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
                Value::Object(schemas),
            ) => schemas.values_mut().for_each(|schema| visit(schema, plain)),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| visit(schema, plain));
            }
            // Booleans are at home here, and every client reads them.
            ("additionalProperties" | "unevaluatedProperties" | "unevaluatedItems", schema) => {
                if schema.as_object().is_some_and(Map::is_empty) {
                    *schema = Value::Bool(true);
                } else if schema.is_object() {
                    visit(schema, plain);
                }
            }
            ("items", schema) if schema.is_object() || schema == &Value::Bool(true) => {
                visit(schema, plain);
            }
            ("contentSchema", schema) => visit(schema, plain),
            ("not" | "if" | "then" | "else" | "contains" | "propertyNames", schema) => {
                visit(schema, false);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
