//! Applies the rules of the compatible form to a schema and to all schemas inside it.

use mcp_runtime_contract::collect::collect_by_insert;
use serde_json::Value;

use super::rules::{self, RULES, RewriteRule, RewriteStage};
use crate::schema::{
    Map, SchemaSide,
    definitions::{Definitions, Inlined, conjoin, object},
    sentences,
};

/// Value of `$schema` in a full schema.
pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Returns the client-compatible form of the schema of arguments.
pub(crate) fn compatible(schema: Value) -> Value {
    rewrite(schema, SchemaSide::Argument)
}

/// Returns the client-compatible form of the schema of a result. The returned schema accepts every value that `schema` accepts.
pub(crate) fn compatible_result(schema: Value) -> Value {
    rewrite(schema, SchemaSide::Result)
}

/// Returns the schema with all of its keywords, and adds `$schema` with the 2020-12 dialect if it is missing.
pub(crate) fn full(schema: Value) -> Value {
    let mut root = object(schema);
    root.entry("$schema").or_insert_with(|| DIALECT.into());
    Value::Object(root)
}

pub(super) fn rewrite(schema: Value, side: SchemaSide) -> Value {
    rewrite_by(RULES, schema, side)
}

pub(super) fn rewrite_by(rules: &[RewriteRule], schema: Value, side: SchemaSide) -> Value {
    let mut root = object(schema);
    if rules::has(rules, RewriteStage::Dialect) {
        root.remove("$schema");
    }
    let rewriter = Rewriter { rules, side, definitions: Definitions::take(&mut root) };

    let mut root = rewriter.schema(root, SchemaPlace::ROOT, &mut Vec::new());

    // Clients expect the type `object` at the root, so a reference that was kept there is replaced with the schema that it refers to.
    let mut steps = 0..16;
    while let Some(Value::String(reference)) = root.get("$ref")
        && let Some(meaning) = rewriter.definitions.meaning(reference)
        && steps.next().is_some()
    {
        let meaning = rewriter.schema(object(meaning.clone()), SchemaPlace::ROOT, &mut Vec::new());
        root.remove("$ref");
        root = conjoin(meaning, root);
        rules::apply(rules, &mut root, side, true);
    }
    if rules::has(rules, RewriteStage::Title)
        && root.get("title").and_then(Value::as_str).is_some_and(is_type_name)
    {
        root.remove("title");
    }

    let plain = side == SchemaSide::Argument || rewriter.definitions.are_too_large();
    let place = SchemaPlace { is_plain: plain, is_omissible: false };
    let publish = |schema| rewriter.schema(schema, place, &mut Vec::new());
    let definitions = rewriter.definitions.needed(&root, publish);
    if !definitions.is_empty() {
        root.insert("$defs".into(), Value::Object(definitions));
    }
    let mut schema = Value::Object(root);
    sentences::finish(&mut schema);
    schema
}

/// Whether a title is the name of a type, as schemars writes it: `Profile`, `Array_of_Profile`.
fn is_type_name(title: &str) -> bool {
    title.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && title.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Place of a schema.
#[derive(Clone, Copy)]
struct SchemaPlace {
    /// False below `not`, `if` and similar keywords.
    is_plain: bool,
    /// Whether a client can leave out the value: the root, or a member of an object that is not required.
    is_omissible: bool,
}

impl SchemaPlace {
    const ROOT: Self = Self { is_plain: true, is_omissible: true };
}

/// Visits every subschema, children first, and applies the rules to each.
struct Rewriter<'a> {
    rules: &'a [RewriteRule],
    side: SchemaSide,
    definitions: Definitions,
}

impl Rewriter<'_> {
    /// Rewrites one schema. `path` contains the names of the definitions that enclose the schema.
    ///
    /// A schema below `not`, `if` and similar keywords is a condition. If the condition accepted fewer values, the enclosing schema would accept more. So
    /// only references and bare booleans are rewritten in conditions.
    fn schema(&self, mut map: Map, place: SchemaPlace, path: &mut Vec<String>) -> Map {
        rules::prepare(self.rules, &mut map, self.side);
        let meaning = self.meaning(&mut map, place, path);
        self.properties(&mut map, place, path);
        for (keyword, value) in &mut map {
            self.keyword(keyword, value, place, path);
        }
        if let Some(meaning) = meaning {
            map = conjoin(meaning, map);
        }
        if place.is_plain {
            rules::apply(self.rules, &mut map, self.side, place.is_omissible);
        }
        map
    }

    /// Removes the reference from a schema, and returns its replacement. A reference that must stay is written as `#/$defs/…`.
    fn meaning(&self, map: &mut Map, place: SchemaPlace, path: &mut Vec<String>) -> Option<Map> {
        let Some(Value::String(reference)) = map.get_mut("$ref") else { return None };
        // A recursive type that is cut off accepts more values. Below `not`, the enclosing schema would then accept fewer values, and could
        // reject a valid result.
        let must_stay = !place.is_plain && self.side == SchemaSide::Result;
        let inlined = self.definitions.inlined(reference, path, !must_stay);
        let meaning = match inlined.filter(|_| rules::has(self.rules, RewriteStage::References)) {
            Some(Inlined::Meaning(name, meaning)) => {
                path.push(name.to_owned());
                let meaning = self.schema(object(meaning.clone()), place, path);
                path.pop();
                meaning
            }
            Some(Inlined::Again(name)) if rules::has(self.rules, RewriteStage::Recursion) => {
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

    fn properties(&self, map: &mut Map, place: SchemaPlace, path: &mut Vec<String>) {
        let required = map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(Value::Object(properties)) = map.get_mut("properties") else { return };
        for (name, schema) in properties {
            let is_omissible = !required.iter().any(|required| required == name);
            let place = SchemaPlace { is_omissible, ..place };
            *schema = Value::Object(self.schema(object(schema.take()), place, path));
        }
    }

    fn keyword(
        &self,
        keyword: &str,
        value: &mut Value,
        place: SchemaPlace,
        path: &mut Vec<String>,
    ) {
        let inside = SchemaPlace { is_omissible: false, ..place };
        let mut visit = |schema: &mut Value, place| {
            *schema = Value::Object(self.schema(object(schema.take()), place, path));
        };
        match (keyword, value) {
            (
                "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
                Value::Object(schemas),
            ) => schemas.values_mut().for_each(|schema| visit(schema, inside)),
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| visit(schema, place));
            }
            ("prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| visit(schema, inside));
            }
            // A boolean and an empty schema are not visited, because the rule "further members" rewrites them in the object that contains
            // the keyword.
            ("additionalProperties", schema)
                if schema.as_object().is_some_and(|map| !map.is_empty()) =>
            {
                visit(schema, inside);
            }
            ("unevaluatedProperties" | "unevaluatedItems", schema) => {
                if schema.as_object().is_some_and(Map::is_empty) {
                    *schema = Value::Bool(true);
                } else if schema.is_object() {
                    visit(schema, inside);
                }
            }
            ("items", schema) if schema.is_object() || schema == &Value::Bool(true) => {
                visit(schema, inside);
            }
            ("contentSchema", schema) => visit(schema, inside),
            ("not" | "if" | "then" | "else" | "contains" | "propertyNames", schema) => {
                visit(schema, SchemaPlace { is_plain: false, ..inside });
            }
            _ => {}
        }
    }
}

/// Returns the schema that replaces a recursive occurrence of a type: only the `type` keyword, or nothing if `kind` is `None`. Also adds a
/// sentence with the name of the recursive type to the sentences of `beside`.
fn again(name: &str, kind: Option<&str>, beside: &mut Map) -> Map {
    sentences::say(beside, format!("Again `{name}`, as around it."));
    collect_by_insert(kind.map(|kind| ("type".to_owned(), kind.into())))
}
