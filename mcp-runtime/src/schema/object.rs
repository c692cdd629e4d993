//! The input schema of a tool: one object made of the tool's parameters.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::compatible::{DIALECT, compatible};
use super::definitions::{Definitions, conjoin, object};
use super::header::KEYWORD;
use super::{Constraints, Kind, Map, SchemaProfile};
use crate::collect::collect_by_insert;

/// A parameter that is an argument of its own.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: Option<&'a str>,
    pub(crate) description: Option<&'a str>,
    pub(crate) required: bool,
    /// Schema as schemars made it, with its references.
    pub(crate) schema: Value,
    pub(crate) constraints: Option<&'a Constraints>,
    pub(crate) default: Option<Value>,
    /// JSON text.
    pub(crate) example: Option<&'a str>,
    /// The `X` of `Mcp-Param-X`.
    pub(crate) header: Option<&'a str>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(name: &'a str, schema: Value) -> Self {
        Self {
            name,
            title: None,
            description: None,
            required: false,
            schema,
            constraints: None,
            default: None,
            example: None,
            header: None,
        }
    }
}

/// Collects the parameters of one tool. They are published in the order in which they are declared.
///
/// A tool without arguments has `"properties":{}` all the same: OpenAI's API refuses an object schema without them
/// (openai/openai-agents-python#454, unclecode/crawl4ai#2207). An empty `required` is left out: validators of draft 4 refuse it, and the
/// strict modes that ask for the keyword have nothing to check in a call without arguments.
#[derive(Debug, Default)]
pub(crate) struct InputObject {
    order: Vec<String>,
    properties: Map,
    required: Vec<String>,
    /// Declaration of each property, for the message about a second one.
    owners: BTreeMap<String, String>,
    definitions: Map,
    /// Whether the schema leaves further properties open. Otherwise it forbids them, unless a spread struct collects them (`others`).
    lenient: bool,
    others: Option<Value>,
    problems: Vec<String>,
}

impl InputObject {
    /// `definitions` are those of the schemars generator that made the schemas of all parameters.
    pub(crate) fn new(definitions: Map, lenient: bool) -> Self {
        Self { definitions, lenient, ..Self::default() }
    }

    pub(crate) fn field(&mut self, field: Field<'_>) {
        let kind = Kind::of(&field.schema, &|reference| self.meaning(reference));
        let mut schema = object(field.schema);
        if let Some(constraints) = field.constraints {
            if let Some(phrase) = constraints.misplaced(kind) {
                self.problems
                    .push(format!("the argument `{}` is {kind}, but {phrase}", field.name));
            }
            constraints.apply(&mut schema, kind);
        }
        if let Some(text) = field.description.filter(|text| !text.is_empty()) {
            // An enum may already explain its values here, and `conjoin` keeps these lines.
            let said = collect_by_insert::<Map, _>([("description".to_owned(), text.into())]);
            schema = conjoin(schema, said);
        }
        let mut write = |keyword: &str, value: Option<Value>| {
            schema.extend(value.map(|value| (keyword.to_owned(), value)));
        };
        write("title", field.title.map(Value::from));
        write("default", field.default);
        write(
            "examples",
            field.example.map(|text| {
                json!([serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))])
            }),
        );
        if let Some(header) = field.header {
            schema.insert(KEYWORD.into(), header.into());
            schema = self.in_place(schema);
        }
        self.declare(field.name, schema.into(), field.required, "its own parameter".to_owned());
    }

    /// Merges in the fields of a struct, which is the type of `parameter`. A header of the parameter becomes the header of the only field:
    /// the macro makes such structs of parameters with serde's attributes.
    pub(crate) fn spread(&mut self, parameter: &str, header: Option<&str>, schema: Value) {
        let mut schema = object(schema);
        for _ in 0..16 {
            let Some(meaning) =
                schema.get("$ref").and_then(Value::as_str).and_then(|r| self.meaning(r))
            else {
                break;
            };
            let meaning = object(meaning.clone());
            schema.remove("$ref");
            schema = conjoin(meaning, schema);
        }
        // Providers reject these keywords at the root: eric-tramel/moraine#256, makenotion/notion-mcp-server#340.
        let choice =
            ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|keyword| schema.contains_key(*keyword));
        if choice || schema.get("type") != Some(&json!("object")) {
            self.problems.push(format!(
                "`{parameter}` cannot be spread: only a struct with named fields can, and not one that flattens an enum; \
                 take it as an argument of its own"
            ));
            return;
        }
        let required: Vec<_> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        if let Some(Value::Object(mut properties)) = schema.remove("properties") {
            let mut only = properties.values_mut().filter_map(Value::as_object_mut);
            match (header, only.next(), only.next()) {
                (Some(header), Some(property), None) => {
                    property.insert(KEYWORD.into(), header.into());
                }
                (Some(header), ..) => self.problems.push(format!(
                    "`{parameter}` is spread over several arguments: say which one has the header, with \
                     `#[schemars(extend(\"{KEYWORD}\" = \"{header}\"))]` on the field"
                )),
                (None, ..) => {}
            }
            for (name, property) in properties {
                let is_required = required.contains(&name);
                let property = match property {
                    Value::Object(schema) if schema.contains_key(KEYWORD) => {
                        self.in_place(schema).into()
                    }
                    property => property,
                };
                self.declare(&name, property, is_required, format!("the struct of `{parameter}`"));
            }
        }
        match schema
            .remove("additionalProperties")
            .or_else(|| schema.remove("unevaluatedProperties"))
        {
            None | Some(Value::Bool(false)) => {}
            Some(_) if self.others.is_some() => self.others = Some(Value::Bool(true)),
            others => self.others = others,
        }
    }

    /// Returns the text of the schema, or everything that is wrong with it.
    pub(crate) fn render(mut self, profile: SchemaProfile) -> Result<Box<str>, Vec<String>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let additional = match (self.lenient, self.others.take()) {
            (true, _) => None,
            (false, others) => Some(others.unwrap_or(Value::Bool(false))),
        };
        let mut root: Map = collect_by_insert([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(self.properties)),
            ("$defs".to_owned(), Value::Object(self.definitions)),
        ]);
        root.extend(additional.map(|schema| ("additionalProperties".to_owned(), schema)));
        let root = match profile {
            SchemaProfile::Compatible => object(compatible(Value::Object(root))),
            SchemaProfile::Full => {
                let definitions = Definitions::take(&mut root);
                let needed = definitions.needed(&root, |schema| schema);
                if !needed.is_empty() {
                    root.insert("$defs".into(), Value::Object(needed));
                }
                root
            }
        };
        Ok(write(&root, &self.order, &self.required, profile).into_boxed_str())
    }

    fn declare(&mut self, name: &str, schema: Value, required: bool, owner: String) {
        if let Some(first) = self.owners.get(name) {
            self.problems.push(format!(
                "the argument `{name}` is declared twice: by {first} and by {owner}"
            ));
            return;
        }
        self.owners.insert(name.to_owned(), owner);
        self.order.push(name.to_owned());
        self.properties.insert(name.to_owned(), schema);
        if required {
            self.required.push(name.to_owned());
        }
    }

    /// Writes out the schema of an argument with a header. Clients drop the tool unless the argument is plainly a string, an integer or a
    /// boolean (rule HDR-07). The compatible form spells such a type out in place, so it serves both profiles.
    fn in_place(&self, mut schema: Map) -> Map {
        schema.insert("$defs".into(), Value::Object(self.definitions.clone()));
        let title = schema.remove("title");
        let mut schema = object(compatible(Value::Object(schema)));
        schema.remove("$defs");
        schema.extend(title.map(|title| ("title".to_owned(), title)));
        schema
    }

    fn meaning(&self, reference: &str) -> Option<&Value> {
        let name = super::definitions::target(reference)?;
        self.definitions.get(&*name)
    }
}

/// Writes the text by hand, because `serde_json`'s object sorts its keys.
fn write(root: &Map, order: &[String], required: &[String], profile: SchemaProfile) -> String {
    let mut text = String::from("{");
    if profile == SchemaProfile::Full {
        text.push_str(&format!("\"$schema\":{},", json!(DIALECT)));
    }
    text.push_str("\"type\":\"object\",\"properties\":{");
    for (index, name) in order.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        text.push_str(&format!("{comma}{}:{}", json!(name), root["properties"][name]));
    }
    text.push('}');
    if !required.is_empty() {
        text.push_str(&format!(",\"required\":{}", json!(required)));
    }
    for keyword in ["additionalProperties", "$defs"] {
        if let Some(schema) = root.get(keyword) {
            text.push_str(&format!(",{}:{schema}", json!(keyword)));
        }
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests;
