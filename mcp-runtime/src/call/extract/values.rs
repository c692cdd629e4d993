//! The values that an enum or `bool` allows, found out by asking its `Deserialize` for them.

use std::{collections::HashSet, mem::discriminant};

use serde::{
    Deserialize, Deserializer,
    de::{
        self, DeserializeOwned, IntoDeserializer,
        value::{Error, StrDeserializer},
    },
    forward_to_deserialize_any,
};

/// Returns the names of a unit enum as serde spells them, `true` and `false` for a `bool`, and nothing for other types.
pub(crate) fn of<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    let mut found = Vec::new();
    let _ = T::deserialize(Asking { found: &mut found, of_struct: false });
    found
}

/// Returns the names of a struct's fields as serde spells them.
pub(crate) fn fields_of<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    let mut found = Vec::new();
    let _ = T::deserialize(Asking { found: &mut found, of_struct: true });
    found
}

/// Returns the name that clients use for this value of an enum without fields, found by reading each name back. `None` if names and
/// variants are not one to one, because the name could then stand for another value.
pub(crate) fn name_of<T: DeserializeOwned>(value: &T) -> Option<&'static str> {
    let names = of::<T>();
    let read = |name: &&'static str| {
        let text: StrDeserializer<'_, Error> = name.into_deserializer();
        T::deserialize(text).ok().map(|it| discriminant(&it))
    };
    let variants: Vec<_> = names.iter().map(read).collect();
    let known: Vec<_> = variants.iter().flatten().collect();
    let distinct: HashSet<_> = known.iter().collect();
    if known.len() < 2 || distinct.len() < known.len() {
        return None;
    }
    let at = variants.iter().position(|it| *it == Some(discriminant(value)))?;
    names.get(at).copied()
}

struct Asking<'a> {
    found: &'a mut Vec<&'static str>,
    /// Whether to collect the names of fields, and not the values of an enum.
    of_struct: bool,
}

impl Asking<'_> {
    fn extend(&mut self, names: &[&'static str], of_struct: bool) {
        if self.of_struct == of_struct {
            self.found.extend(names);
        }
    }
}

impl<'de> Deserializer<'de> for Asking<'_> {
    type Error = Error;

    fn deserialize_any<V: de::Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(de::Error::custom("only asking"))
    }

    fn deserialize_bool<V: de::Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Error> {
        self.extend(&["true", "false"], false);
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        mut self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.extend(variants, false);
        self.deserialize_any(visitor)
    }

    fn deserialize_struct<V: de::Visitor<'de>>(
        mut self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.extend(fields, true);
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::{fields_of, name_of, of};

    #[test]
    fn enums_and_bool_know_their_values() {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Tone {
            VeryWarm,
            Cold,
        }
        let _ = (Tone::VeryWarm, Tone::Cold);
        assert_eq!(of::<Tone>(), ["very-warm", "cold"]);
        assert_eq!(of::<Option<bool>>(), ["true", "false"]);
        assert!(of::<String>().is_empty());
    }

    #[test]
    fn structs_know_their_fields() {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[expect(dead_code, reason = "only its names are asked for")]
        struct Trip {
            r#type: u8,
            return_date: String,
            #[serde(rename = "x y")]
            other: bool,
        }
        assert_eq!(fields_of::<Trip>(), ["type", "returnDate", "x y"]);
        assert!(of::<Trip>().is_empty());
        assert!(fields_of::<bool>().is_empty());
    }

    #[test]
    fn a_value_has_a_name_when_names_and_variants_are_one_to_one() {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Unit {
            Metre,
            Foot,
            Other(()),
        }
        assert_eq!(name_of(&Unit::Metre), Some("metre"));
        assert_eq!(name_of(&Unit::Foot), Some("foot"));
        assert_eq!(name_of(&Unit::Other(())), None);
        assert_eq!(name_of(&Some(Unit::Foot)), None);
        assert_eq!(name_of(&"metre".to_owned()), None);
    }
}
