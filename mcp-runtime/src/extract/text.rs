//! A value from a bare text, for arguments of prompts and variables of templates whose type has no `FromStr`.

use serde::{
    Deserialize, Deserializer,
    de::{self, IntoDeserializer, value::Error},
    forward_to_deserialize_any,
};

/// Reads a text as serde would read a JSON string, a number or a bool, whichever the type asks for.
pub(crate) fn read<'de, T: Deserialize<'de>>(text: &str) -> Result<T, String> {
    T::deserialize(Text(text)).map_err(|error| super::json::wording(&error.to_string()))
}

struct Text<'a>(&'a str);

macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_str(self.0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Text<'_> {
    type Error = Error;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
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

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let deserializer: de::value::StrDeserializer<'_, Error> = self.0.into_deserializer();
        deserializer.deserialize_enum(name, variants, visitor)
    }

    parsed! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i64 deserialize_i16 visit_i64 deserialize_i32 visit_i64 deserialize_i64 visit_i64
        deserialize_u8 visit_u64 deserialize_u16 visit_u64 deserialize_u32 visit_u64 deserialize_u64 visit_u64
        deserialize_f32 visit_f64 deserialize_f64 visit_f64
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_text_is_what_the_type_asks_for() {
        #[derive(serde::Deserialize, Debug, PartialEq)]
        #[serde(rename_all = "lowercase")]
        enum Tone {
            Warm,
        }
        assert_eq!(read::<Tone>("warm"), Ok(Tone::Warm));
        assert_eq!(read::<Option<u8>>("7"), Ok(Some(7)));
        assert_eq!(read::<Tone>("hot").unwrap_err(), "unknown variant `hot`, expected `warm`");
        assert_eq!(
            read::<u8>("x").unwrap_err(),
            "invalid type: string \"x\", expected an integer from 0 to 255"
        );
    }
}
