//! The schema of an argument, without `required` members that serde does not need.
//!
//! schemars marks a member as required although serde reads the type without it, if the member is an `Option` with a schema of its own
//! (`schema_with`), or the content of a variant that is an `Option`. A client that follows such a schema sends a value where it could send
//! none. So the member is read from a `null` alone: if its type takes the `null` as a missing `Option`, the member is not required.
//!
//! A definition is corrected for the first place that refers to it. Other places have the same type, unless an author has given a type the
//! schema of another (`#[schemars(with = "…")]`).

use std::{any::type_name, cell::Cell, collections::BTreeSet};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserializer,
    de::{
        self, DeserializeOwned, DeserializeSeed, IntoDeserializer as _, Visitor,
        value::{Error, StrDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::Value;

use super::{Map, definitions::definition_name};
use crate::unwind::catch;

/// Returns the schema of an argument type, as [`SchemaGenerator::subschema_for`] does, and corrects the `required` members in it and in the
/// definitions that it refers to.
///
/// A member of an internally tagged or untagged enum, or of a flattened struct, stays required, because serde buffers such a value before
/// it reads the member.
pub(crate) fn argument_schema<T: DeserializeOwned + JsonSchema>(
    generator: &mut SchemaGenerator,
) -> Schema {
    let mut schema = generator.subschema_for::<T>();
    correct_required::<T>(&mut schema, generator);
    schema
}

/// Corrects the `required` members of a schema of `T`.
pub(super) fn correct_required<T: DeserializeOwned>(
    schema: &mut Schema,
    generator: &mut SchemaGenerator,
) {
    let mut visit = Visit {
        definitions: generator.definitions_mut(),
        corrected: BTreeSet::new(),
        can_be_absent: can_be_absent::<T>,
    };
    if let Some(map) = schema.as_object_mut() {
        visit.map(map, &mut Vec::new());
    }
}

/// Step from a value to a value inside it.
#[derive(Clone, Debug)]
enum PathStep {
    /// Member of an object with this name, behind the tags of the object. Serde reads the content of an adjacently tagged enum only behind
    /// the tag.
    Member { name: String, tags: Vec<(String, String)> },
    /// First element of a list.
    Element,
}

struct Visit<'a> {
    definitions: &'a mut Map,
    /// Names of the definitions that were corrected.
    corrected: BTreeSet<String>,
    can_be_absent: fn(&[PathStep]) -> bool,
}

impl Visit<'_> {
    /// Corrects a schema and the schemas inside it. `path` leads to a value with this schema.
    fn map(&mut self, schema: &mut Map, path: &mut Vec<PathStep>) {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(definition_name)
            && self.corrected.insert(name.to_string())
            && let Some(Value::Object(meaning)) = self.definitions.get_mut(&*name)
        {
            // The definitions in the meaning may refer back to this one, which is not visited again.
            let mut meaning = std::mem::take(meaning);
            self.map(&mut meaning, path);
            self.definitions.insert(name.into_owned(), meaning.into());
        }
        let tags = tags_of(schema);
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|name| {
                path.push(member(name.as_str().unwrap_or_default(), &tags));
                let can_be_absent = (self.can_be_absent)(path);
                path.pop();
                !can_be_absent
            });
            if required.is_empty() {
                schema.remove("required");
            }
        }
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        self.inside(member(name, &tags), property, path);
                    }
                }
                ("additionalProperties", values) => {
                    self.inside(member("0", &[]), values, path);
                }
                ("items", elements) => self.inside(PathStep::Element, elements, path),
                ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                    for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
                        self.map(branch, path);
                    }
                }
                _ => {}
            }
        }
    }

    fn inside(&mut self, step: PathStep, schema: &mut Value, path: &mut Vec<PathStep>) {
        if let Value::Object(schema) = schema {
            path.push(step);
            self.map(schema, path);
            path.pop();
        }
    }
}

/// Returns the members with a single value, which tell the variants of an enum apart.
fn tags_of(schema: &Map) -> Vec<(String, String)> {
    let only = |property: &Value| match (&property["const"], property["enum"].as_array()) {
        (Value::String(value), _) => Some(value.clone()),
        (_, Some(values)) if values.len() == 1 => values[0].as_str().map(str::to_owned),
        _ => None,
    };
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter_map(|(name, property)| Some((name.clone(), only(property)?))).collect()
}

fn member(name: &str, tags: &[(String, String)]) -> PathStep {
    let others = tags.iter().filter(|(tag, _)| tag != name);
    PathStep::Member { name: name.to_owned(), tags: others.cloned().collect() }
}

/// Whether serde reads a `T` without the member at the end of `path`.
///
/// The type reads a value that consists of the members and elements on the path, and of a `null` at its end. Serde reads the `null` before
/// it looks for missing members, so the value need not be complete. Code of the author that panics says nothing about the member.
fn can_be_absent<T: DeserializeOwned>(path: &[PathStep]) -> bool {
    let null = NullAt { path, in_object: false, taken: &Cell::new(false) };
    let _ = catch(|| T::deserialize(null).map(drop));
    null.taken.get()
}

/// Deserializer of a value with a `null` at the end of a path.
#[derive(Clone, Copy)]
struct NullAt<'a> {
    path: &'a [PathStep],
    /// Whether the value is a member of an object that is no variant of an enum.
    in_object: bool,
    /// Set when a member is read from the `null` as a missing `Option`.
    taken: &'a Cell<bool>,
}

impl<'a> NullAt<'a> {
    /// Returns the member that the path leads to, with its tags.
    fn member(self, in_object: bool) -> Option<PathMember<'a>> {
        let Some((PathStep::Member { name, tags }, path)) = self.path.split_first() else {
            return None;
        };
        Some(PathMember { tags, name, value: Self { path, in_object, ..self } })
    }

    fn object<'de, V: Visitor<'de>>(self, in_object: bool, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(PathMembers { rest: self.member(in_object), next: None })
    }
}

impl<'de> Deserializer<'de> for NullAt<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.path.split_first() {
            Some((PathStep::Member { .. }, _)) => self.object(false, visitor),
            Some((PathStep::Element, path)) => {
                visitor.visit_seq(OneElement(Some(Self { path, in_object: false, ..self })))
            }
            None => visitor.visit_unit(),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.object(true, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if !self.path.is_empty() {
            return visitor.visit_some(self);
        }
        self.taken.set(self.in_object);
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        // Serde does not take a newtype around an `Option` for a missing member.
        visitor.visit_newtype_struct(Self {
            in_object: self.in_object && !self.path.is_empty(),
            ..self
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.member(false) {
            Some(PathMember { name, value, .. }) => {
                visitor.visit_enum(Variant { name, content: value })
            }
            None => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct identifier ignored_any
    }
}

struct PathMember<'a> {
    tags: &'a [(String, String)],
    name: &'a str,
    value: NullAt<'a>,
}

/// Object with tags and a member.
struct PathMembers<'a> {
    rest: Option<PathMember<'a>>,
    next: Option<MemberValue<'a>>,
}

enum MemberValue<'a> {
    Tag(&'a str),
    Null(NullAt<'a>),
}

impl<'de> de::MapAccess<'de> for PathMembers<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(member) = &mut self.rest else { return Ok(None) };
        let name = match member.tags.split_first() {
            Some(((name, value), tags)) => {
                member.tags = tags;
                self.next = Some(MemberValue::Tag(value));
                name.as_str()
            }
            None => {
                let name = member.name;
                self.next = Some(MemberValue::Null(member.value));
                self.rest = None;
                name
            }
        };
        let name: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let value = match self.next.take() {
            Some(MemberValue::Null(value)) => value,
            Some(MemberValue::Tag(tag)) => {
                let tag: StrDeserializer<'_, Error> = tag.into_deserializer();
                return seed.deserialize(tag);
            }
            None => return Err(de::Error::custom("a value comes after its name")),
        };
        let result = seed.deserialize(value);
        // Serde needs a field with `deserialize_with` even if it is an `Option`. Its derive reads such a field by a type of this name.
        let is_needed = || type_name::<V>().contains("__DeserializeWith");
        if value.path.is_empty() && (result.is_err() || is_needed()) {
            value.taken.set(false);
        }
        result
    }
}

struct OneElement<'a>(Option<NullAt<'a>>);

impl<'de> de::SeqAccess<'de> for OneElement<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.0.take().map(|value| seed.deserialize(value)).transpose()
    }
}

struct Variant<'a> {
    name: &'a str,
    content: NullAt<'a>,
}

impl<'de, 'a> de::EnumAccess<'de> for Variant<'a> {
    type Error = Error;
    type Variant = NullAt<'a>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, NullAt<'a>), Error> {
        let name: StrDeserializer<'_, Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.content))
    }
}

impl<'de> de::VariantAccess<'de> for NullAt<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        de::Deserialize::deserialize(self)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use schemars::{Schema, generate::SchemaSettings, json_schema};
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    fn whole(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Search {
        query: String,
        #[schemars(schema_with = "whole")]
        max_depth: Option<u32>,
        #[schemars(schema_with = "whole")]
        limit: u32,
        newtype: Maybe,
        any: Value,
        unit: (),
    }

    #[derive(Deserialize, JsonSchema)]
    struct Maybe(#[allow(dead_code, reason = "only its schema is used")] Option<u8>);

    fn required<T: DeserializeOwned + JsonSchema>(pointer: &str) -> Value {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let mut root = argument_schema::<T>(&mut generator).to_value();
        root["$defs"] = generator.take_definitions(true).into();
        let found = root.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {root:#}"));
        found["required"].clone()
    }

    #[test]
    fn an_option_with_a_schema_of_its_own_is_not_required() {
        assert_eq!(
            required::<Search>("/$defs/Search"),
            json!(["query", "limit", "newtype", "any", "unit"])
        );
    }

    #[test]
    fn members_at_every_depth_are_looked_at() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code, reason = "only its schema is used")]
        struct Outer {
            lists: Vec<Option<Box<Inner>>>,
            #[schemars(schema_with = "whole")]
            own: Option<u8>,
        }
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code, reason = "only its schema is used")]
        struct Inner {
            map: BTreeMap<String, Choice>,
            again: Option<Box<Outer>>,
            #[schemars(schema_with = "whole")]
            own: Option<u8>,
            adjacent: Adjacent,
        }
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code, reason = "only its schema is used")]
        enum Choice {
            One {
                #[schemars(schema_with = "whole")]
                own: Option<u8>,
                name: String,
            },
            Two(Option<u8>),
            Three(Last),
        }
        #[derive(Deserialize, JsonSchema)]
        #[serde(tag = "tag", content = "content")]
        #[allow(dead_code, reason = "only its schema is used")]
        enum Adjacent {
            One(Option<u8>),
            Two(u8),
        }
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code, reason = "only its schema is used")]
        struct Last {
            #[schemars(schema_with = "whole")]
            own: Option<u8>,
        }
        assert_eq!(required::<Outer>("/$defs/Outer"), json!(["lists"]));
        assert_eq!(required::<Outer>("/$defs/Inner"), json!(["map", "adjacent"]));
        assert_eq!(required::<Outer>("/$defs/Adjacent/oneOf/0"), json!(["tag"]));
        assert_eq!(required::<Outer>("/$defs/Adjacent/oneOf/1"), json!(["tag", "content"]));
        assert_eq!(required::<Outer>("/$defs/Last"), Value::Null);
        let variant = |at: usize| format!("/$defs/Choice/oneOf/{at}");
        assert_eq!(required::<Outer>(&variant(0)), json!(["One"]));
        assert_eq!(required::<Outer>(&(variant(0) + "/properties/One")), json!(["name"]));
        assert_eq!(required::<Outer>(&variant(1)), json!(["Two"]));
        assert_eq!(required::<Outer>(&variant(2)), json!(["Three"]));
    }

    #[test]
    fn a_definition_without_keywords_stays() {
        #[derive(Deserialize)]
        struct Anything(#[allow(dead_code, reason = "only its schema is used")] Value);
        impl JsonSchema for Anything {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "Anything".into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                true.into()
            }
        }
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        argument_schema::<Vec<Anything>>(&mut generator);
        assert_eq!(generator.take_definitions(true)["Anything"], true);
    }

    #[test]
    fn a_field_that_serde_needs_stays_required() {
        fn plain<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<u8>, D::Error> {
            Option::deserialize(reader)
        }
        fn panics<'de, D: Deserializer<'de>>(_: D) -> Result<u8, D::Error> {
            panic!("a panic of the author's code")
        }
        fn not_none<'de, D: Deserializer<'de>>(reader: D) -> Result<u8, D::Error> {
            Option::deserialize(reader)?.ok_or_else(|| de::Error::custom("needed"))
        }
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code, reason = "only its schema is used")]
        struct Needed {
            #[serde(deserialize_with = "plain")]
            #[schemars(schema_with = "whole")]
            plain: Option<u8>,
            #[serde(deserialize_with = "panics")]
            #[schemars(schema_with = "whole")]
            panics: u8,
            #[serde(deserialize_with = "not_none")]
            #[schemars(schema_with = "whole")]
            not_none: u8,
        }
        assert_eq!(required::<Needed>("/$defs/Needed"), json!(["plain", "panics", "not_none"]));
    }
}
