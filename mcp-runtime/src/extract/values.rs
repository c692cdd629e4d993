//! The values a type allows, when it is an enum or `bool`: found by asking its `Deserialize` what it would read.

use serde::{
    Deserialize, Deserializer,
    de::{self, value::Error},
    forward_to_deserialize_any,
};

/// The names of a unit enum as serde spells them, `true` and `false` of a `bool`, else nothing.
pub(crate) fn of<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    let mut found = Vec::new();
    let _ = T::deserialize(Asking(&mut found));
    found
}

struct Asking<'a>(&'a mut Vec<&'static str>);

impl<'de> Deserializer<'de> for Asking<'_> {
    type Error = Error;

    fn deserialize_any<V: de::Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(de::Error::custom("only asking"))
    }

    fn deserialize_bool<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.extend(["true", "false"]);
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.extend(variants);
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
        tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::of;

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
}
