//! The form of a schema that all known clients read.
//!
//! schemars writes valid JSON Schema 2020-12, but much of it makes some client drop a tool, or all tools of a server: the dialects of model
//! providers know only a fraction of it. [`RULES`] lists what is rewritten and why.
//!
//! **Arguments and results differ.** The published schema of an argument may be narrower than what the server accepts: no client needs the
//! `null` of an `Option`. The published schema of a result must hold for every result, because clients check results against it and refuse
//! the call otherwise (TheGreenCedar/CodeStory#1971, xberg-io/xberg#1372). Hence [`compatible`] for arguments and [`compatible_result`] for
//! results. Models read the schemas of arguments, so a keyword that is removed there may become a sentence of the description ([`said`]).
//! The type of the argument still checks it.
//!
//! Elicitation forms have a dialect of their own and are not rewritten here.

use serde_json::Value;

use super::Map;
use super::definitions::{Definitions, Inlined, conjoin, object};

#[cfg(feature = "stdio")]
pub(crate) mod complaint;
pub(super) mod format;
mod keywords;
mod null;
mod rules;
mod said;
mod union;
mod untyped;
mod values;
mod words;

use self::rules::{RULES, Rule, Work};
pub(super) use self::said::SAID;
use crate::collect::collect_by_insert;

/// Dialect that a full schema names.
pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The part of a tool that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Argument,
    Result,
}

/// Returns the client-compatible form of the schema of arguments.
pub(crate) fn compatible(schema: Value) -> Value {
    rewrite(schema, Side::Argument)
}

/// Returns the client-compatible form of the schema of a result. Its meaning stays the same or becomes wider.
pub(crate) fn compatible_result(schema: Value) -> Value {
    rewrite(schema, Side::Result)
}

/// Returns the schema in all of 2020-12, with the name of that dialect.
pub(crate) fn full(schema: Value) -> Value {
    let mut root = object(schema);
    root.entry("$schema").or_insert_with(|| DIALECT.into());
    Value::Object(root)
}

fn rewrite(schema: Value, side: Side) -> Value {
    rewrite_by(RULES, schema, side)
}

fn rewrite_by(rules: &[Rule], schema: Value, side: Side) -> Value {
    let mut root = object(schema);
    if rules::has(rules, Work::Dialect) {
        root.remove("$schema");
    }
    let walk = Walk { rules, side, definitions: Definitions::take(&mut root) };

    let mut root = walk.schema(root, true, &mut Vec::new());

    // The root must show that it is an object, even if it is only a reference that was kept.
    let mut steps = 0..16;
    while let Some(Value::String(reference)) = root.get("$ref")
        && let Some(meaning) = walk.definitions.meaning(reference)
        && steps.next().is_some()
    {
        let meaning = walk.schema(object(meaning.clone()), true, &mut Vec::new());
        root.remove("$ref");
        root = conjoin(meaning, root);
        rules::apply(rules, &mut root, side);
    }
    if rules::has(rules, Work::Title)
        && root.get("title").and_then(Value::as_str).is_some_and(is_type_name)
    {
        root.remove("title");
    }

    let plain = side == Side::Argument || walk.definitions.are_too_large();
    let publish = |schema| walk.schema(schema, plain, &mut Vec::new());
    let definitions = walk.definitions.needed(&root, publish);
    if !definitions.is_empty() {
        root.insert("$defs".into(), Value::Object(definitions));
    }
    let mut schema = Value::Object(root);
    said::finish(&mut schema);
    schema
}

/// Whether a title is a type's name as schemars writes it: `Profile`, `Array_of_Profile`.
fn is_type_name(title: &str) -> bool {
    title.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && title.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Visits every subschema, children first, and applies the rules to each.
struct Walk<'a> {
    rules: &'a [Rule],
    side: Side,
    definitions: Definitions,
}

impl Walk<'_> {
    /// `plain` is false below `not`, `if` and the like. Schemas there are conditions and not descriptions: narrowing one would widen the
    /// whole. So only references and bare booleans are rewritten there. `path` names the definitions that enclose this schema.
    fn schema(&self, mut map: Map, plain: bool, path: &mut Vec<String>) -> Map {
        let meaning = self.meaning(&mut map, plain, path);
        for (keyword, value) in &mut map {
            self.keyword(keyword, value, plain, path);
        }
        if let Some(meaning) = meaning {
            map = conjoin(meaning, map);
        }
        if plain {
            rules::apply(self.rules, &mut map, self.side);
        }
        map
    }

    /// Takes the reference out of a schema and returns its replacement. A reference that must stay is written as `#/$defs/…`.
    fn meaning(&self, map: &mut Map, plain: bool, path: &mut Vec<String>) -> Option<Map> {
        let Some(Value::String(reference)) = map.get_mut("$ref") else { return None };
        // Cutting a type off widens it. Below `not`, that would make the schema of a result narrower.
        let must_stay = !plain && self.side == Side::Result;
        let inlined = self.definitions.inlined(reference, path, !must_stay);
        let meaning = match inlined.filter(|_| rules::has(self.rules, Work::References)) {
            Some(Inlined::Meaning(name, meaning)) => {
                path.push(name.to_owned());
                let meaning = self.schema(object(meaning.clone()), plain, path);
                path.pop();
                meaning
            }
            Some(Inlined::Again(name)) if rules::has(self.rules, Work::Recursion) => {
                again(name, self.definitions.type_of(name), map)
            }
            _ => {
                if let Some(name) = reference.strip_prefix("#/definitions/") {
                    *reference = format!("#/$defs/{name}");
                }
                return None;
            }
        };
        map.remove("$ref");
        Some(meaning)
    }

    fn keyword(&self, keyword: &str, value: &mut Value, plain: bool, path: &mut Vec<String>) {
        let mut visit = |schema: &mut Value, plain| {
            *schema = Value::Object(self.schema(object(schema.take()), plain, path));
        };
        match (keyword, value) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
                Value::Object(schemas),
            ) => schemas.values_mut().for_each(|schema| visit(schema, plain)),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| visit(schema, plain));
            }
            // The rule "further members" of the outer object handles a boolean and an empty schema.
            ("additionalProperties", schema)
                if schema.as_object().is_some_and(|it| !it.is_empty()) =>
            {
                visit(schema, plain);
            }
            ("unevaluatedProperties" | "unevaluatedItems", schema) => {
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

/// Returns the replacement for a type inside itself: its `type`, and a sentence about the rest.
fn again(name: &str, kind: Option<&str>, beside: &mut Map) -> Map {
    let word = format!("Again `{name}`, as around it.");
    match beside.get_mut("description") {
        Some(Value::String(text)) => *text = format!("{text}\n\n{word}"),
        _ => {
            beside.insert("description".to_owned(), word.into());
        }
    }
    collect_by_insert(kind.map(|kind| ("type".to_owned(), kind.into())))
}

#[cfg(test)]
mod tests;
