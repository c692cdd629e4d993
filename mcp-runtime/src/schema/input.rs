//! Input schemas of tools. An input schema is generated from the tool's parameters or from the fields of one type, or is written by the
//! author of the server.

use std::collections::BTreeMap;

use mcp_runtime_contract::collect::collect_by_insert;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    Constraints, Map, SchemaKind, SchemaProfile,
    compatible::{DIALECT, compatible, full},
    definitions::{Definitions, check_references, conjoin, definition_name, object},
    generator,
    header::KEYWORD,
};
use crate::model::SamplingTool;

/// A parameter that becomes one argument of the tool.
#[derive(Debug)]
pub(crate) struct InputField<'a> {
    pub(crate) name: &'a str,
    pub(crate) title: Option<&'a str>,
    pub(crate) description: Option<&'a str>,
    pub(crate) required: bool,
    /// Schema from schemars, with its references.
    pub(crate) schema: Value,
    pub(crate) constraints: Option<&'a Constraints>,
    pub(crate) default: Option<Value>,
    /// JSON text.
    pub(crate) example: Option<&'a str>,
    /// Name of the header without the prefix `Mcp-Param-`.
    pub(crate) header: Option<&'a str>,
}

impl<'a> InputField<'a> {
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

/// Input schema of one tool, collected from the tool's parameters. The arguments are published in the order of their declarations.
///
/// The schema of a tool without arguments still has `"properties":{}`, because OpenAI's API rejects an object schema without this keyword
/// (openai/openai-agents-python#454, unclecode/crawl4ai#2207). An empty `required` is left out, because validators of draft 4 reject it.
/// Strict modes that demand the keyword do not need it for a tool without arguments.
#[derive(Debug, Default)]
pub(crate) struct InputObject {
    order: Vec<String>,
    properties: Map,
    required: Vec<String>,
    /// Declaration of each property, for the error about a property that is declared twice.
    owners: BTreeMap<String, String>,
    definitions: Map,
    /// Whether the tool has the key `lenient`. Its schema then has no `additionalProperties`, so it allows any further properties.
    /// Otherwise `additionalProperties` is the schema in `others` if a spread struct collects further properties, or else `false`.
    lenient: bool,
    others: Option<Value>,
    problems: Vec<String>,
}

impl InputObject {
    /// Creates a schema without arguments. `definitions` come from the schemars generator that has generated the schemas of all parameters.
    pub(crate) fn new(definitions: Map, lenient: bool) -> Self {
        Self { definitions, lenient, ..Self::default() }
    }

    pub(crate) fn field(&mut self, field: InputField<'_>) {
        let kind = SchemaKind::of(&field.schema, &|reference| self.meaning(reference));
        let mut schema = object(field.schema);
        if let Some(constraints) = field.constraints {
            if let Some(phrase) = constraints.misplaced(kind) {
                self.problems
                    .push(format!("the argument `{}` is {kind}, but {phrase}", field.name));
            }
            constraints.apply(&mut schema, kind);
        }
        if let Some(text) = field.description.filter(|text| !text.is_empty()) {
            // The description of an enum may have a line for each value. `conjoin` keeps these lines.
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

    /// Adds the fields of a struct as arguments. The struct is the type of `parameter`.
    ///
    /// For a parameter with serde attributes, the macro generates a struct with one field. The header of the parameter then becomes the
    /// header of that field.
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
        // Model providers reject these keywords at the root (eric-tramel/moraine#256, makenotion/notion-mcp-server#340), so such a type
        // cannot be spread.
        let choice =
            ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|keyword| schema.contains_key(*keyword));
        if choice || schema.get("type") != Some(&json!("object")) {
            self.problems.push(format!(
                "`{parameter}` cannot be spread: only a struct with named fields that flattens no enum can, or a map such as `Map<String, Value>`; \
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
                    "`{parameter}` is spread over several arguments: set the header on one of them, with \
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

    /// Returns the JSON text of the schema, or the list of its problems.
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
            // Tells the rules of the compatible form which arguments can be left out.
            ("required".to_owned(), json!(self.required)),
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

    /// Returns the schema of an argument with a header, without references. Clients drop the tool unless the schema itself has the type
    /// string, integer or boolean (rule HDR-07). A reference would hide the type, so both profiles use the compatible form for such an
    /// argument.
    fn in_place(&self, mut schema: Map) -> Map {
        schema.insert("$defs".into(), Value::Object(self.definitions.clone()));
        let title = schema.remove("title");
        let mut schema = object(compatible(Value::Object(schema)));
        schema.remove("$defs");
        schema.extend(title.map(|title| ("title".to_owned(), title)));
        schema
    }

    fn meaning(&self, reference: &str) -> Option<&Value> {
        let name = definition_name(reference)?;
        self.definitions.get(&*name)
    }
}

/// Writes the JSON text by hand, because a `serde_json` object would sort the arguments by name.
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

/// Generates the input schema of a tool from the fields of the type whose schema `make` returns.
///
/// # Errors
/// Returns the problems of the type, for example that it is not a struct with named fields.
pub(crate) fn input_of(
    make: impl FnOnce(&mut SchemaGenerator) -> Schema,
    profile: SchemaProfile,
) -> Result<Box<str>, Vec<String>> {
    let mut generator = generator(SchemaSettings::draft2020_12());
    let schema = make(&mut generator).to_value();
    let mut object = InputObject::new(generator.take_definitions(true), false);
    object.spread("arguments", None, schema);
    object.render(profile)
}

/// Reads a schema that the author of the server has written as `input_schema = …`: JSON text, or a value that serializes to the schema. The
/// schema is published unchanged.
///
/// # Errors
///
/// Fails if the text is not JSON, or the schema is not an object schema. The protocol requires an object schema of every tool.
pub fn input_schema(schema: impl Serialize) -> Result<Box<str>, String> {
    object_schema(schema).map(|schema| schema.to_string().into_boxed_str())
}

fn object_schema(schema: impl Serialize) -> Result<Value, String> {
    let schema = given_schema("input_schema", schema)?;
    if schema.get("type").is_none_or(|kind| kind != "object") {
        return Err(not_usable("input_schema", "its root must have `\"type\": \"object\"`"));
    }
    Ok(schema)
}

/// Reads the input schema of a tool that is added at run time. [`given_input_text`] returns its published form.
///
/// # Errors
///
/// Fails if [`input_schema`] does, or if a reference names a definition that the schema does not contain.
pub(crate) fn given_input(schema: impl Serialize) -> Result<Value, String> {
    let schema = object_schema(schema)?;
    check_references("input_schema", &schema)?;
    Ok(schema)
}

/// Returns the JSON text of a given input schema in the form of the profile.
pub(crate) fn given_input_text(schema: &Value, profile: SchemaProfile) -> Box<str> {
    let mut schema = match profile {
        SchemaProfile::Compatible => compatible(schema.clone()),
        SchemaProfile::Full => full(schema.clone()),
    };
    if let Value::Object(root) = &mut schema {
        // Some clients need the keyword, see `InputObject`.
        root.entry("properties").or_insert_with(|| json!({}));
    }
    schema.to_string().into_boxed_str()
}

/// Reads a schema that the author has written for the key `key`: JSON text, or a value that serializes to the schema.
pub(super) fn given_schema(key: &str, schema: impl Serialize) -> Result<Value, String> {
    let wrong = |error: serde_json::Error| not_usable(key, error);
    match serde_json::to_value(&schema).map_err(wrong)? {
        Value::String(text) => serde_json::from_str(&text).map_err(wrong),
        value => Ok(value),
    }
}

pub(crate) fn not_usable(key: &str, problem: impl std::fmt::Display) -> String {
    format!("`{key}` is not usable: {problem}")
}

impl SamplingTool {
    /// Sets the arguments of the tool to the fields of `T`, with their doc comments as descriptions.
    ///
    /// `#[data]` on `T` implements the required traits. [`ToolUse::input`](crate::sampling::ToolUse::input) reads the arguments that the
    /// model has chosen. For a handwritten schema, use [`input_schema`](SamplingTool::input_schema). If `T` is not a struct with named
    /// fields, [`Sampling::check`](crate::sampling::Sampling::check) returns an error.
    ///
    /// ```
    /// use mcp_runtime::{prelude::*, sampling::SamplingTool};
    ///
    /// #[data]
    /// struct Place {
    ///     /// City and country
    ///     city: String,
    /// }
    ///
    /// let weather = SamplingTool::new("weather").schema::<Place>();
    /// let question = Sampling::ask("Is it warm in Lyon?", 300).tool(weather);
    /// assert_eq!(question.check(), Ok(()));
    /// ```
    #[must_use]
    pub fn schema<T: JsonSchema>(mut self) -> Self {
        self.schema = input_of(SchemaGenerator::subschema_for::<T>, SchemaProfile::Compatible)
            .map_err(|problems| problems.join("; "));
        self
    }

    /// Sets the schema of the arguments: JSON text, or a value that serializes to the schema.
    ///
    /// The root must be an object schema, as the protocol requires. If it is not, [`Sampling::check`](crate::sampling::Sampling::check)
    /// returns an error. To generate the schema from a type, use [`schema`](SamplingTool::schema).
    ///
    /// ```
    /// use mcp_runtime::sampling::{Sampling, SamplingTool};
    /// use serde_json::json;
    ///
    /// let schema =
    ///     json!({ "type": "object", "properties": { "sides": { "type": "integer" } } });
    /// let question = Sampling::ask("Roll a die.", 100)
    ///     .tool(SamplingTool::new("roll").input_schema(schema));
    /// assert_eq!(question.check(), Ok(()));
    /// ```
    #[must_use]
    pub fn input_schema(mut self, schema: impl Serialize) -> Self {
        self.schema = input_schema(schema);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Range;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schema is used")]
    enum Region {
        /// Europe.
        Eu,
        Us,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schema is used")]
    struct Page {
        /// Where to start.
        offset: u32,
        limit: Option<u32>,
        region: Option<Region>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schema is used")]
    struct Open {
        #[serde(flatten)]
        others: std::collections::BTreeMap<String, i64>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only the schema is used")]
    enum Choice {
        A { a: u8 },
        B { b: u8 },
    }

    fn generator() -> SchemaGenerator {
        SchemaSettings::draft2020_12().into_generator()
    }

    /// Builds an input schema with one generator, whose definitions are complete only after the last parameter.
    fn input<'a>(
        lenient: bool,
        parts: impl FnOnce(&mut SchemaGenerator) -> Vec<Part<'a>>,
    ) -> InputObject {
        let mut generator = generator();
        let parts = parts(&mut generator);
        let mut object = InputObject::new(generator.take_definitions(true), lenient);
        for part in parts {
            match part {
                Part::InputField(field) => object.field(*field),
                Part::Spread(parameter, schema) => object.spread(parameter, None, schema),
            }
        }
        object
    }

    enum Part<'a> {
        InputField(Box<InputField<'a>>),
        Spread(&'a str, Value),
    }

    fn field<'a, T: JsonSchema>(
        name: &'a str,
        generator: &mut SchemaGenerator,
        edit: impl FnOnce(&mut InputField<'a>),
    ) -> Part<'a> {
        let mut field = InputField::new(name, generator.subschema_for::<T>().to_value());
        edit(&mut field);
        Part::InputField(Box::new(field))
    }

    fn spread<'a, T: JsonSchema>(parameter: &'a str, generator: &mut SchemaGenerator) -> Part<'a> {
        Part::Spread(parameter, generator.subschema_for::<T>().to_value())
    }

    fn check(object: InputObject, profile: SchemaProfile, expected: &str) {
        let text = object.render(profile).unwrap();
        assert_eq!(&*text, expected);
        serde_json::from_str::<Map>(&text).unwrap();
    }

    #[test]
    fn no_arguments() {
        let empty = || InputObject::new(Map::new(), false);
        check(empty(), SchemaProfile::Compatible, r#"{"type":"object","properties":{}}"#);
        check(
            empty(),
            SchemaProfile::Full,
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{},"additionalProperties":false}"#,
        );
        check(
            InputObject::new(Map::new(), true),
            SchemaProfile::Compatible,
            r#"{"type":"object","properties":{}}"#,
        );
    }

    #[test]
    fn fields_in_declaration_order() {
        let mut times = Constraints::new();
        times.set_range(Range::new().min_int(1).max_int(10));
        let parts = |generator: &mut SchemaGenerator| {
            vec![
                field::<String>("name", generator, |field| {
                    field.required = true;
                    field.example = Some("\"Ada\"");
                }),
                field::<Option<Region>>("a \"region\"", generator, |field| {
                    field.description = Some("Which one.");
                }),
                field::<u8>("times", generator, |field| {
                    field.constraints = Some(&times);
                    field.default = Some(json!(1));
                }),
            ]
        };
        check(
            input(false, parts),
            SchemaProfile::Compatible,
            concat!(
                r#"{"type":"object","properties":{"name":{"description":"For example `Ada`.","type":"string"},"#,
                r#""a \"region\"":{"description":"Which one.\n\n- `Eu`: Europe.","enum":["Us","Eu"],"type":"string"},"#,
                r#""times":{"default":1,"maximum":10,"minimum":1,"type":"integer"}},"required":["name"]}"#
            ),
        );
        check(
            input(true, parts),
            SchemaProfile::Full,
            concat!(
                r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"name":{"examples":["Ada"],"type":"string"},"#,
                r##""a \"region\"":{"anyOf":[{"$ref":"#/$defs/Region"},{"type":"null"}],"description":"Which one."},"##,
                r#""times":{"default":1,"format":"uint8","maximum":10,"minimum":1,"type":"integer"}},"required":["name"],"#,
                r#""$defs":{"Region":{"oneOf":[{"enum":["Us"],"type":"string"},{"const":"Eu","description":"Europe.","type":"string"}]}}}"#
            ),
        );
    }

    #[test]
    fn spread_structs() {
        let parts = |generator: &mut SchemaGenerator| {
            vec![
                field::<bool>("verbose", generator, |field| field.required = true),
                spread::<Page>("page", generator),
            ]
        };
        check(
            input(false, parts),
            SchemaProfile::Compatible,
            concat!(
                r#"{"type":"object","properties":{"verbose":{"type":"boolean"},"limit":{"minimum":0,"type":"integer"},"#,
                r#""offset":{"description":"Where to start.","minimum":0,"type":"integer"},"#,
                r#""region":{"description":"- `Eu`: Europe.","enum":["Us","Eu"],"type":"string"}},"#,
                r#""required":["verbose","offset"]}"#
            ),
        );
        let full = input(false, parts).render(SchemaProfile::Full).unwrap();
        assert!(full.contains(r#""$defs":{"Region":{"#), "only what is needed: {full}");
        check(
            input(false, |generator| vec![spread::<Open>("all", generator)]),
            SchemaProfile::Compatible,
            r#"{"type":"object","properties":{},"additionalProperties":{"type":"integer"}}"#,
        );
    }

    #[test]
    fn headers_are_spelled_out_in_place() {
        let parts = |generator: &mut SchemaGenerator| {
            vec![field::<Option<Region>>("region", generator, |field| {
                field.header = Some("Region");
                field.title = Some("Region");
            })]
        };
        let expected = r#""region":{"description":"- `Eu`: Europe.","enum":["Us","Eu"],"title":"Region","type":"string","x-mcp-header":"Region"}"#;
        for form in [SchemaProfile::Compatible, SchemaProfile::Full] {
            let text = input(false, parts).render(form).unwrap();
            assert!(text.contains(expected) && !text.contains("$defs"), "{text}");
        }
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let mut text = Constraints::new();
        text.set_len(None, Some(3));
        let object = input(false, |generator| {
            vec![
                field::<u32>("limit", generator, |field| field.constraints = Some(&text)),
                spread::<Page>("page", generator),
                spread::<Page>("other", generator),
                spread::<Choice>("choice", generator),
                spread::<Vec<u8>>("list", generator),
            ]
        });
        let unspreadable = "cannot be spread: only a struct with named fields that flattens no enum can, or a map such as `Map<String, Value>`; take it as an argument of its own";
        assert_eq!(
        object.render(SchemaProfile::Compatible).unwrap_err(),
        [
            "the argument `limit` is an integer, but a length applies only to text, lists and maps: remove `len`".to_owned(),
            "the argument `limit` is declared twice: by its own parameter and by the struct of `page`".to_owned(),
            "the argument `limit` is declared twice: by its own parameter and by the struct of `other`".to_owned(),
            "the argument `offset` is declared twice: by the struct of `page` and by the struct of `other`".to_owned(),
            "the argument `region` is declared twice: by the struct of `page` and by the struct of `other`".to_owned(),
            format!("`choice` {unspreadable}"),
            format!("`list` {unspreadable}"),
        ]
    );
    }
}
