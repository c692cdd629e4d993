//! Schemas of a tool. They are generated at compile time, or from the types of the parameters and of the result when the entry is created.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::{
    call::extract::{ArgumentField, ArgumentSource},
    call::reply::OutputSchemaSource,
    item::Param,
    registry::{Constant, ToolDef},
    schema::{
        InputField, InputObject, ResultSchema, SchemaProfile, SchemaSide,
        constant::{ANY_RESULT, Node, partial_schema},
        generator, given_input_text,
    },
    unwind::catch_message,
};

/// The schemas of a tool as JSON text.
pub(crate) struct ToolSchemas {
    pub(crate) input: ToolSchema,
    pub(crate) output: Option<ToolOutputSchema>,
}

/// Text of a schema, and whether the text was generated at compile time.
#[derive(Debug)]
pub(crate) struct ToolSchema {
    pub(crate) text: Cow<'static, str>,
    pub(crate) is_static: bool,
}

impl From<Box<str>> for ToolSchema {
    fn from(text: Box<str>) -> Self {
        Self { text: Cow::Owned(text.into()), is_static: false }
    }
}

/// The output schema of a tool.
pub(crate) struct ToolOutputSchema {
    pub(crate) schema: ToolSchema,
    /// Whether the root is an object. Protocol revisions before 2026-07-28 allow no other root.
    pub(crate) root_is_object: bool,
}

impl From<ResultSchema> for ToolOutputSchema {
    fn from(made: ResultSchema) -> Self {
        Self { root_is_object: made.root_is_object, schema: made.text.into() }
    }
}

/// Makes the schemas of an annotated function. This happens before the server starts, because code of the author takes part in it:
/// `JsonSchema` impls, and functions that return a schema or a default. Adds the problems, and each panic, to a list. A schema with a
/// problem stays empty.
pub(super) fn of_tool(
    tool: &ToolDef,
    fields: &[ArgumentField],
    profile: SchemaProfile,
    problems: &mut Vec<String>,
) -> ToolSchemas {
    let input = match tool.input_schema {
        Some(given) => made("its `input_schema`", || given().map(Into::into).map_err(single)),
        None => made("the schema of its parameters", || {
            input(fields, &tool.constant, tool.lenient, profile)
        }),
    };
    let output = match (tool.output_schema, (tool.output)()) {
        (Some(_), None) => Err(single(
            "`output_schema` describes a structured result, and the function returns none: return `Json<…>`, or remove the key".to_owned(),
        )),
        (Some(given), Some(_)) => made("its `output_schema`", || {
            given().map(|schema| Some(schema.into())).map_err(single)
        }),
        (None, source) => made("the schema of its result", || {
            Ok(source.and_then(|source| output(source, &tool.constant, profile)))
        }),
    };
    ToolSchemas {
        input: input.unwrap_or_else(|found| {
            problems.extend(found);
            Box::<str>::from("{}").into()
        }),
        output: output.unwrap_or_else(|found| {
            problems.extend(found);
            None
        }),
    }
}

fn single(problem: String) -> Vec<String> {
    vec![problem]
}

/// Makes a part of a tool. A panic is a problem of this part.
fn made<T>(part: &str, make: impl FnOnce() -> Result<T, Vec<String>>) -> Result<T, Vec<String>> {
    catch_message(make).unwrap_or_else(|panicked| Err(single(format!("{part} {panicked}"))))
}

/// Function that generates the input schema of a tool that is added at run time, or returns the problems of the schema.
pub(super) type SchemaMaker =
    Box<dyn Fn(SchemaProfile) -> Result<ToolSchema, Vec<String>> + Send + Sync>;

/// Makes the schemas of a tool that is added at run time. A schema that the author has given takes precedence.
///
/// # Errors
/// Returns the problems of the input schema.
pub(super) fn of_added_tool(
    make_input: SchemaMaker,
    given_input: Option<Value>,
    source: Option<OutputSchemaSource>,
    given_output: Option<Value>,
    profile: SchemaProfile,
) -> Result<ToolSchemas, Vec<String>> {
    let input = match given_input {
        Some(schema) => given_input_text(&schema, profile).into(),
        None => make_input(profile)?,
    };
    let output = match given_output {
        Some(schema) => Some(written_output(schema, profile)),
        None => source.and_then(|source| output(source, &Constant::NONE, profile)),
    };
    Ok(ToolSchemas { input, output })
}

/// Returns the compile-time schema, if there is one with the requested profile.
fn constant_schema(text: &'static [u8], profile: SchemaProfile) -> Option<ToolSchema> {
    let text = std::str::from_utf8(text).ok().filter(|text| !text.is_empty())?;
    (profile == SchemaProfile::Compatible)
        .then_some(ToolSchema { text: Cow::Borrowed(text), is_static: true })
}

/// Generates the input schema of a tool from all of its parameters. They share one generator, and so share definitions.
///
/// # Errors
/// Returns the problems of the parameters, such as a length on a number.
pub(crate) fn input(
    fields: &[ArgumentField],
    known: &Constant,
    lenient: bool,
    profile: SchemaProfile,
) -> Result<ToolSchema, Vec<String>> {
    if let Some(made) = constant_schema(known.input_text, profile) {
        return Ok(made);
    }
    let mut generator = generator(SchemaSettings::draft2020_12());
    let mut made: Vec<Option<Value>> = Vec::with_capacity(fields.len());
    for field in fields {
        made.push(match field.source {
            ArgumentSource::Json { schema, .. } | ArgumentSource::Spread { schema } => {
                let known =
                    constant_node(field, known).filter(|_| profile == SchemaProfile::Compatible);
                let known = known
                    .and_then(|node| partial_schema(&node, SchemaSide::Argument, &mut generator));
                Some(known.unwrap_or_else(|| schema(&mut generator).to_value()))
            }
            ArgumentSource::Text { .. } => None,
        });
    }
    let mut object = InputObject::new(generator.take_definitions(true), lenient);
    for (field, schema) in fields.iter().zip(made) {
        let Some(schema) = schema else { continue };
        match field.source {
            ArgumentSource::Spread { .. } => {
                object.spread(field.def.name, field.def.header, schema)
            }
            ArgumentSource::Json { required, .. } => object.field(InputField {
                title: field.def.title,
                description: field.def.description,
                required: !field.has_default && required(),
                constraints: Some(&field.def.constraints),
                default: field.default.clone(),
                example: field.def.example,
                header: field.def.header,
                ..InputField::new(field.def.name, schema)
            }),
            ArgumentSource::Text { .. } => {}
        }
    }
    object.render(profile).map(ToolSchema::from)
}

/// Returns the compile-time schema of one argument. It is used for a tool without a complete compile-time schema, where another argument
/// has no compile-time schema.
fn constant_node(field: &ArgumentField, known: &Constant) -> Option<Node> {
    let properties = known.input?.properties;
    match properties.iter().find(|property| std::ptr::eq(property.arg, field.def))?.param {
        Param::Argument(node) | Param::Spread(node) => Some(node),
        Param::Server | Param::Unknown(_) => None,
    }
}

/// Returns the compile-time output schema if it has the requested profile. Otherwise generates a schema from the type of the result. Returns
/// `None` if every value is a result, as for `Json<Value>`, because such a schema tells a client nothing.
fn output(
    output: OutputSchemaSource,
    known: &Constant,
    profile: SchemaProfile,
) -> Option<ToolOutputSchema> {
    if let Some(made) = constant_schema(known.output_text, profile) {
        let made = ToolOutputSchema { schema: made, root_is_object: known.output_is_object };
        return Some(made).filter(|made| made.schema.text != ANY_RESULT);
    }
    // Clients check results with this schema, so it describes the serialized form of the type, which can differ from the deserialized form.
    let mut generator = generator(SchemaSettings::draft2020_12().for_serialize());
    let schema = (output.schema)(&mut generator);
    let mut root = schema.to_value();
    if root == Value::Bool(true) {
        return None;
    }
    let definitions = generator.take_definitions(true);
    if let (Some(root), false) = (root.as_object_mut(), definitions.is_empty()) {
        root.insert("$defs".to_owned(), definitions.into());
    }
    Some(written_output(root, profile))
}

/// Returns the published form of an output schema.
fn written_output(schema: Value, profile: SchemaProfile) -> ToolOutputSchema {
    ResultSchema::render(schema, profile).into()
}
