//! The input schema of a tool whose arguments are the fields of one type.

use schemars::{JsonSchema, generate::SchemaSettings};

use super::{SchemaProfile, generator, object::InputObject};

/// Makes the input schema of a tool from the fields of `T`.
///
/// # Errors
/// Returns what is wrong with the type, for example that it is not an object.
pub(crate) fn input_of<T: JsonSchema>(profile: SchemaProfile) -> Result<Box<str>, Vec<String>> {
    let mut generator = generator(SchemaSettings::draft2020_12());
    let schema = generator.subschema_for::<T>().to_value();
    let mut object = InputObject::new(generator.take_definitions(true), false);
    object.spread("arguments", None, schema);
    object.render(profile)
}
