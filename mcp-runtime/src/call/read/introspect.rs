//! Properties of a type, derived from its `Deserialize` impl: the values of an enum or `bool`, the fields of a struct, and whether serde
//! needs a value at all.
//!
//! Serde decides what a missing argument means: `Option` becomes `None`, and every other type reports the value that it expects.

use std::mem::discriminant;

use serde::{
    Deserialize, Deserializer,
    de::{
        self, DeserializeOwned, IntoDeserializer,
        value::{Error, StrDeserializer},
    },
    forward_to_deserialize_any,
};

/// Returns the names of a unit enum as serde spells them, `true` and `false` for a `bool`, and an empty list for other types.
pub(crate) fn values_of<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    let mut found = Vec::new();
    let _ = T::deserialize(NameCollector { found: &mut found, of_struct: false });
    found
}

/// Returns the names of a struct's fields as serde spells them.
pub(crate) fn fields_of<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    let mut found = Vec::new();
    let _ = T::deserialize(NameCollector { found: &mut found, of_struct: true });
    found
}

/// Returns the name that clients use for this value of an enum without fields. To find it, the function deserializes every name, and
/// compares the resulting variant with that of the value. Returns `None` if two names stand for one variant, or if fewer than two names can
/// be read, because the name found could then stand for a different value.
pub(crate) fn name_of<T: DeserializeOwned>(value: &T) -> Option<&'static str> {
    let names = values_of::<T>();
    let read = |name: &&'static str| {
        let text: StrDeserializer<'_, Error> = name.into_deserializer();
        T::deserialize(text).ok().map(|found| discriminant(&found))
    };
    let variants: Vec<_> = names.iter().map(read).collect();
    let known: Vec<_> = variants.iter().flatten().collect();
    let is_repeated = |at: usize| known[..at].contains(&known[at]);
    if known.len() < 2 || (0..known.len()).any(is_repeated) {
        return None;
    }
    let at = variants.iter().position(|variant| *variant == Some(discriminant(value)))?;
    names.get(at).copied()
}

/// Deserializer that collects the names that a type asks for, and then fails.
struct NameCollector<'a> {
    found: &'a mut Vec<&'static str>,
    /// Whether to collect the names of fields instead of the values of an enum or `bool`.
    of_struct: bool,
}

impl NameCollector<'_> {
    fn extend(&mut self, names: &[&'static str], of_struct: bool) {
        if self.of_struct == of_struct {
            self.found.extend(names);
        }
    }
}

impl<'de> Deserializer<'de> for NameCollector<'_> {
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

/// Returns the value that serde gives to a missing `T`. If serde requires a value, the error describes the expected value.
pub(crate) fn missing_value<'de, T: Deserialize<'de>>() -> Result<T, Expected> {
    T::deserialize(MissingValue)
}

/// Returns whether a client must send a value for a `T`.
pub(crate) fn is_required<'de, T: Deserialize<'de>>() -> bool {
    missing_value::<T>().is_err()
}

/// Description of the value expected in place of a missing one.
#[derive(Debug)]
pub(crate) struct Expected(pub(crate) String);

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Expected {}

impl de::Error for Expected {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Deserializer of a missing value.
struct MissingValue;

macro_rules! expect {
    ($($method:ident $what:literal)*) => {$(
        fn $method<V: de::Visitor<'de>>(self, _: V) -> Result<V::Value, Expected> {
            Err(Expected($what.to_owned()))
        }
    )*};
}

impl<'de> Deserializer<'de> for MissingValue {
    type Error = Expected;

    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Expected> {
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Expected> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        _: V,
    ) -> Result<V::Value, Expected> {
        Err(Expected("null".to_owned()))
    }

    fn deserialize_tuple<V: de::Visitor<'de>>(
        self,
        len: usize,
        _: V,
    ) -> Result<V::Value, Expected> {
        Err(Expected(format!("an array of {len}")))
    }

    fn deserialize_tuple_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        _: V,
    ) -> Result<V::Value, Expected> {
        Err(Expected(format!("an array of {len}")))
    }

    fn deserialize_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Expected> {
        Err(Expected(format!("an object with {}", fields.join(", "))))
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Expected> {
        Err(Expected(format!("one of {}", variants.join(", "))))
    }

    expect! {
        deserialize_any "a value"
        deserialize_bool "true or false"
        deserialize_i8 "an integer"
        deserialize_i16 "an integer"
        deserialize_i32 "an integer"
        deserialize_i64 "an integer"
        deserialize_i128 "an integer"
        deserialize_u8 "an integer"
        deserialize_u16 "an integer"
        deserialize_u32 "an integer"
        deserialize_u64 "an integer"
        deserialize_u128 "an integer"
        deserialize_f32 "a number"
        deserialize_f64 "a number"
        deserialize_char "a character"
        deserialize_str "a string"
        deserialize_string "a string"
        deserialize_bytes "bytes"
        deserialize_byte_buf "bytes"
        deserialize_unit "null"
        deserialize_seq "an array"
        deserialize_map "an object"
        deserialize_identifier "a name"
        deserialize_ignored_any "a value"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enums_and_bool_know_their_values() {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        enum Tone {
            VeryWarm,
            Cold,
        }
        let _ = (Tone::VeryWarm, Tone::Cold);
        assert_eq!(values_of::<Tone>(), ["very-warm", "cold"]);
        assert_eq!(values_of::<Option<bool>>(), ["true", "false"]);
        assert!(values_of::<String>().is_empty());
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
        assert!(values_of::<Trip>().is_empty());
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

    #[test]
    fn an_option_behind_an_alias_or_a_wrapper_is_not_required() {
        type Maybe = Option<u8>;
        #[derive(serde::Deserialize)]
        #[serde(transparent)]
        struct Wrapped {
            _inner: Maybe,
        }
        assert!(!is_required::<Maybe>());
        assert!(!is_required::<Wrapped>());
        assert!(is_required::<u8>());
    }

    #[test]
    fn the_error_for_a_missing_value_names_the_expected_type() {
        #[derive(serde::Deserialize, Debug)]
        enum Tone {
            Warm,
            Cold,
        }
        assert_eq!(missing_value::<Vec<u8>>().unwrap_err().0, "an array");
        assert_eq!(missing_value::<Tone>().unwrap_err().0, "one of Warm, Cold");
    }
}
