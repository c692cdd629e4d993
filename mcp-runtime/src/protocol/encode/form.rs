//! Forms, as far as a revision can express them (rules ELIC-03 to ELIC-06).

use mcp_runtime_wire::ObjectWriter;

use crate::{
    model::{Choices, FieldKind, FieldSchema, FormSchema, TextFormat},
    protocol::revision::Revision,
};

/// Writes the member `requestedSchema` of a request that asks the user.
///
/// # Errors
/// Fails if the revision cannot express the form. Nothing is written in that case.
pub(super) fn form(
    params: &mut ObjectWriter<'_>,
    revision: Revision,
    schema: &FormSchema,
) -> Result<(), String> {
    let rich = revision.features().rich_forms;
    let several = |it: &&FieldSchema| matches!(it.kind, FieldKind::Several { .. });
    if !rich && let Some(field) = schema.fields.iter().find(several) {
        return Err(format!(
            "the form asks for any of several choices in `{}`, and a client of {revision} can only be asked for one; \
             a `bool` for each choice works with every client",
            field.name
        ));
    }
    let mut object = params.object("requestedSchema");
    object.str("type", "object");
    let mut properties = object.object("properties");
    for field in &schema.fields {
        self::field(&mut ObjectWriter::begin(properties.given_key(field.name)), rich, field);
    }
    properties.end();
    let required: Vec<&FieldSchema> = schema.fields.iter().filter(|it| it.required).collect();
    if !required.is_empty() {
        let mut names = object.array("required");
        for field in required {
            names.str(field.name);
        }
    }
    Ok(())
}

fn field(object: &mut ObjectWriter<'_>, rich: bool, field: &FieldSchema) {
    object.str("type", type_name(&field.kind));
    object.opt_str("title", field.title).opt_str("description", field.description);
    match &field.kind {
        FieldKind::Text { least, most, format } => {
            count(object, "minLength", *least);
            count(object, "maxLength", *most);
            object.opt_str("format", format.map(TextFormat::name));
        }
        FieldKind::Integer { least, most } => {
            for (name, bound) in [("minimum", least), ("maximum", most)] {
                if let Some(bound) = bound {
                    object.raw(name, &bound.to_string());
                }
            }
        }
        FieldKind::Number { least, most } => {
            for (name, bound) in [("minimum", least), ("maximum", most)] {
                if let Some(bound) = bound {
                    object.f64(name, *bound);
                }
            }
        }
        FieldKind::Bool => {}
        FieldKind::Choice(choices) => {
            let named = choices.enum_names || !rich;
            match (choices.is_titled(), named) {
                (true, false) => titled(object, "oneOf", choices),
                (is_titled, _) => {
                    texts(object, "enum", choices.values());
                    if is_titled {
                        texts(object, "enumNames", choices.titles());
                    }
                }
            }
        }
        FieldKind::Several { choices, least, most } => {
            count(object, "minItems", *least);
            count(object, "maxItems", *most);
            let mut items = object.object("items");
            if choices.is_titled() {
                titled(&mut items, "anyOf", choices);
            } else {
                items.str("type", "string");
                texts(&mut items, "enum", choices.values());
            }
        }
    }
    let told = rich || field.kind == FieldKind::Bool;
    if let Some(default) = field.default.as_deref().filter(|_| told) {
        object.raw("default", default);
    }
}

fn type_name(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Text { .. } | FieldKind::Choice(_) => "string",
        FieldKind::Integer { .. } => "integer",
        FieldKind::Number { .. } => "number",
        FieldKind::Bool => "boolean",
        FieldKind::Several { .. } => "array",
    }
}

fn count(object: &mut ObjectWriter<'_>, name: &'static str, count: Option<usize>) {
    if let Some(count) = count {
        object.u64(name, count as u64);
    }
}

fn texts(
    object: &mut ObjectWriter<'_>,
    name: &'static str,
    texts: impl Iterator<Item = &'static str>,
) {
    let mut array = object.array(name);
    for text in texts {
        array.str(text);
    }
}

fn titled(object: &mut ObjectWriter<'_>, name: &'static str, choices: &Choices) {
    let mut array = object.array(name);
    for choice in &choices.all {
        array.object().str("const", choice.value).str("title", choice.title());
    }
}

#[cfg(test)]
mod tests;
