//! Run-time schemas of types that constants describe only in part. The constant part is used unchanged, and schemars describes the rest.

use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    facts::MOST_NODES,
    node::{Member, Node, NodeShape, Object, SchemarsAnswer},
    notes::{Notes, SchemaDefault},
    render,
};
use crate::schema::{
    Map, SchemaSide, const_text::Out, definitions::object, required::correct_required,
};

/// Returns the schema of a type that constants describe only in part. Returns `None` if schemars must describe the whole type, for example
/// a type that contains itself, whose recursion schemars detects.
pub(crate) fn partial_schema(
    node: &Node,
    side: SchemaSide,
    generator: &mut SchemaGenerator,
) -> Option<Value> {
    if node.room_after(MOST_NODES) == 0 {
        return None;
    }
    match node.shape {
        // Without its `null`, the schema of the value keeps its keywords.
        NodeShape::Optional(_) if node.is_constant() && matches!(side, SchemaSide::Argument) => {
            let notes = Notes { in_keywords: true, can_be_absent: true, ..Notes::NONE };
            Some(constant(node, side, &notes))
        }
        _ => part(node, side, generator),
    }
}

fn part(node: &Node, side: SchemaSide, generator: &mut SchemaGenerator) -> Option<Value> {
    if node.is_constant() {
        return Some(constant(node, side, &Notes { in_keywords: true, ..Notes::NONE }));
    }
    let mut value = match node.shape {
        NodeShape::Optional(inner) => {
            json!({ "anyOf": [part(inner, side, generator)?, { "type": "null" }] })
        }
        NodeShape::Array { items, least, most, unique } => {
            let mut list = json!({ "type": "array", "items": part(items, side, generator)? });
            for (keyword, length) in [("minItems", least), ("maxItems", most)] {
                if let Some(length) = length {
                    list[keyword] = json!(length);
                }
            }
            if unique {
                list["uniqueItems"] = json!(true);
            }
            list
        }
        NodeShape::Tuple(parts) => {
            let parts: Option<Vec<_>> =
                parts.iter().map(|element| part(element, side, generator)).collect();
            let parts = parts?;
            let len = parts.len();
            json!({ "type": "array", "prefixItems": parts, "minItems": len, "maxItems": len })
        }
        NodeShape::Map(values) => {
            json!({ "type": "object", "additionalProperties": part(values, side, generator)? })
        }
        NodeShape::Object(object) => struct_value(object, side, generator)?,
        NodeShape::Tagged { tag, name, object } => {
            let mut value = struct_value(object, side, generator)?;
            value["properties"][tag] = json!({ "type": "string", "enum": [name] });
            match &mut value["required"] {
                Value::Array(required) => required.push(tag.into()),
                required => *required = json!([tag]),
            }
            value
        }
        NodeShape::OneOf(branches) => {
            let mut made = Vec::new();
            for branch in branches {
                if branch.node.is_constant() {
                    let notes = Notes { description: branch.description, ..Notes::NONE };
                    made.push(constant(&branch.node, side, &notes));
                    continue;
                }
                let mut value = part(&branch.node, side, generator)?;
                describe(&mut value, branch.description);
                made.push(value);
            }
            json!({ "oneOf": made })
        }
        _ => return None,
    };
    describe(&mut value, node.description);
    Some(value)
}

fn struct_value(
    object: &Object,
    side: SchemaSide,
    generator: &mut SchemaGenerator,
) -> Option<Value> {
    let mut properties = Map::new();
    let mut optional = Vec::new();
    for member in object.members {
        let (value, is_optional) = member_value(member, side, generator)?;
        properties.insert(member.name.to_owned(), value);
        optional.extend(is_optional.then_some(member.name));
    }
    let declared = object.declared.iter().map(|at| &object.members[*at]);
    let required = declared.filter(|member| member.is_required(side)).map(|member| member.name);
    let required: Vec<_> = required.filter(|name| !optional.contains(name)).collect();
    let mut value = json!({ "type": "object" });
    if !properties.is_empty() {
        value["properties"] = properties.into();
    }
    if !required.is_empty() {
        value["required"] = json!(required);
    }
    Some(value)
}

/// Returns the schema of a member. The flag is true if the schema comes from schemars, and schemars marks the member as optional in an
/// argument.
fn member_value(
    member: &Member,
    side: SchemaSide,
    generator: &mut SchemaGenerator,
) -> Option<(Value, bool)> {
    let notes = member.notes();
    if notes.default.is_unknown() {
        return None;
    }
    if member.node.is_constant() {
        return Some((constant(&member.node, side, &notes), false));
    }
    let mut is_optional = false;
    let mut made = match part(&member.node, side, generator) {
        Some(value) => value,
        None => {
            let asked = member.lazy?(generator)?;
            is_optional = side == SchemaSide::Argument && !member.always && asked.is_optional;
            asked.schema
        }
    };
    describe(&mut made, member.description);
    let default = match notes.default {
        SchemaDefault::Null => Some(Value::Null),
        SchemaDefault::Json(json) => serde_json::from_str(json).ok(),
        SchemaDefault::Text(text) => Some(text.into()),
        SchemaDefault::None | SchemaDefault::Unknown => None,
    };
    let mut map = object(made);
    map.extend(default.map(|value| ("default".to_owned(), value)));
    map.extend(member.title.map(|title| ("title".to_owned(), title.into())));
    made = map.into();
    Some((made, is_optional))
}

/// Returns the schema of a node that constants describe completely. Unless `notes` keeps keywords, the schema is already in the compatible
/// form, so the rules of `schema/compatible`, which later run on the whole schema, do not change it.
fn constant(node: &Node, side: SchemaSide, notes: &Notes<'_>) -> Value {
    let mut text = vec![0; len(node, side, notes)];
    render::write(&mut Out::new(&mut text), node, side, notes);
    serde_json::from_slice(&text).unwrap_or_default()
}

fn len(node: &Node, side: SchemaSide, notes: &Notes<'_>) -> usize {
    let mut out = Out::new(&mut []);
    render::write(&mut out, node, side, notes);
    out.len()
}

fn describe(schema: &mut Value, description: Option<&str>) {
    if let Some(text) = description {
        let mut map = object(schema.take());
        map.insert("description".to_owned(), text.into());
        *schema = map.into();
    }
}

/// Probe for the schema of a type from schemars.
#[derive(Debug)]
pub struct OfSchemars<T: ?Sized>(PhantomData<fn() -> PhantomData<T>>);

impl<T: ?Sized> OfSchemars<T> {
    pub const NEW: Self = Self(PhantomData);
}

/// Struct with `T` as its only member. It is needed because schemars says only of members, and not of types, whether they are required.
#[derive(Deserialize, JsonSchema)]
struct Holder<T> {
    #[allow(dead_code, reason = "only described")]
    member: T,
}

pub trait LazyLevel {
    fn ask(&self, generator: &mut SchemaGenerator) -> Option<SchemarsAnswer>;
}
impl<T: JsonSchema> LazyLevel for &OfSchemars<T> {
    fn ask(&self, generator: &mut SchemaGenerator) -> Option<SchemarsAnswer> {
        Some(answer(Holder::<T>::json_schema(generator)))
    }
}

/// Types whose `required` members serde can correct. A result needs no correction, because it has all members that are serialized.
pub trait LazyArgumentLevel {
    fn ask(&self, generator: &mut SchemaGenerator) -> Option<SchemarsAnswer>;
}
impl<T: JsonSchema + DeserializeOwned> LazyArgumentLevel for &&OfSchemars<T> {
    fn ask(&self, generator: &mut SchemaGenerator) -> Option<SchemarsAnswer> {
        let mut holder = Holder::<T>::json_schema(generator);
        if generator.contract().is_deserialize() {
            correct_required::<Holder<T>>(&mut holder, generator);
        }
        Some(answer(holder))
    }
}

fn answer(holder: Schema) -> SchemarsAnswer {
    let mut holder = holder.to_value();
    let schema = holder["properties"]["member"].take();
    SchemarsAnswer { schema, is_optional: holder.get("required").is_none() }
}

/// Fallback for a type for which the compiler cannot see that it implements `JsonSchema`, as in a generic struct. In this case schemars
/// describes the whole type that contains it.
pub trait UnfitLazyLevel {
    fn ask(&self, _: &mut SchemaGenerator) -> Option<SchemarsAnswer> {
        None
    }
}
impl<T: ?Sized> UnfitLazyLevel for OfSchemars<T> {}
