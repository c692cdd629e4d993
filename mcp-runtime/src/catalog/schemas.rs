//! The schemas of a tool, from what its parameters and its result say of themselves.

use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};

use crate::{
    extract::{Field, Source},
    reply::OutputSchema,
    schema::{self, Form},
};

/// The output schema of a tool.
pub(crate) struct Output {
    pub(crate) text: Box<str>,
    /// Revisions before 2026-07-28 allow no other.
    pub(crate) root_is_object: bool,
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

/// The input schema made of all parameters by one generator, so that their definitions meet.
///
/// # Errors
/// What is wrong with the parameters as a whole, such as a length on a number.
pub(crate) fn input(fields: &[Field], lenient: bool, form: Form) -> Result<Box<str>, Vec<String>> {
    let mut generator = generator();
    let mut made: Vec<Option<Schema>> = Vec::with_capacity(fields.len());
    for field in fields {
        made.push(match field.source {
            Source::Json { schema, .. } | Source::Spread { schema } => Some(schema(&mut generator)),
            Source::Text { .. } => None,
        });
    }
    let mut object = schema::object::InputObject::new(generator.take_definitions(true), lenient);
    for (field, schema) in fields.iter().zip(made) {
        let Some(schema) = schema.map(Schema::to_value) else { continue };
        match field.source {
            Source::Spread { .. } => object.spread(field.def.name, field.def.header, schema),
            Source::Json { required, .. } => object.field(schema::object::Field {
                title: field.def.title,
                description: field.def.description,
                required: !field.has_default && required(),
                constraints: Some(&field.def.constraints),
                default: field.default.clone(),
                example: field.def.example,
                header: field.def.header,
                ..schema::object::Field::new(field.def.name, schema)
            }),
            Source::Text { .. } => {}
        }
    }
    object.render(form)
}

pub(crate) fn output(output: OutputSchema, form: Form) -> Output {
    // What is written can differ from what is read, and clients check results with it.
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = (output.0)(&mut generator);
    let mut root = schema.to_value();
    let definitions = generator.take_definitions(true);
    if let (Some(root), false) = (root.as_object_mut(), definitions.is_empty()) {
        root.insert("$defs".to_owned(), definitions.into());
    }
    let rendered = schema::output::OutputSchema::render(root, form);
    Output { root_is_object: rendered.root_is_object, text: rendered.text }
}
