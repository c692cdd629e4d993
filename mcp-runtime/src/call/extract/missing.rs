//! Serde's treatment of a missing argument: `Option` becomes `None`, and every other type reports the value that it expects.

use serde::{Deserialize, Deserializer, de};

/// Returns the value of a `T` that was not sent, as serde's own `missing_field` decides, or the value that was expected.
pub(crate) fn value<'de, T: Deserialize<'de>>() -> Result<T, Expected> {
    T::deserialize(Nothing)
}

/// Returns whether a `T` must be sent.
pub(crate) fn is_required<'de, T: Deserialize<'de>>() -> bool {
    value::<T>().is_err()
}

/// Description of the value that is missing.
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

struct Nothing;

macro_rules! expect {
    ($($method:ident $what:literal)*) => {$(
        fn $method<V: de::Visitor<'de>>(self, _: V) -> Result<V::Value, Expected> {
            Err(Expected($what.to_owned()))
        }
    )*};
}

impl<'de> Deserializer<'de> for Nothing {
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
        assert_eq!(value::<Vec<u8>>().unwrap_err().0, "an array");
        assert_eq!(value::<Tone>().unwrap_err().0, "one of Warm, Cold");
    }
}
