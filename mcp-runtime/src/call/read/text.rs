//! Reading of plain text, for arguments of prompts and variables of templates whose type has no `FromStr`.

use serde::{
    Deserialize, Deserializer,
    de::{self, IntoDeserializer},
    forward_to_deserialize_any,
};

use super::error::ReadError;

/// Reads a text as the kind of value that the type requests: a string, a number or a `bool`. A list is split at `separator`.
pub(crate) fn read<'de, T: Deserialize<'de>>(text: &str, separator: char) -> Result<T, String> {
    T::deserialize(ArgumentText { text, separator }).map_err(|error| error.to_string())
}

#[derive(Clone, Copy)]
struct ArgumentText<'a> {
    text: &'a str,
    separator: char,
}

impl<'de> IntoDeserializer<'de, ReadError> for ArgumentText<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match self.text.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => visitor.visit_str(self.text),
            }
        }
    )*};
}

impl<'de, 'a> Deserializer<'de> for ArgumentText<'a> {
    type Error = ReadError;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_str(self.text).map_err(|error: ReadError| error.of_text(self.text))
    }

    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: de::Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let deserializer: de::value::StrDeserializer<'_, ReadError> = self.text.into_deserializer();
        deserializer.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_seq<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        // Segments of a path are not trimmed. Otherwise ` ..`, which is a name, would become `..`, which leads to the parent directory.
        let trimmed = |part: &'a str| if self.separator == '/' { part } else { part.trim() };
        let parts = self.text.split(self.separator).map(trimmed).filter(|part| !part.is_empty());
        let parts = parts.map(|text| ArgumentText { text, ..self });
        visitor.visit_seq(de::value::SeqDeserializer::new(parts))
    }

    parsed! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i64 deserialize_i16 visit_i64 deserialize_i32 visit_i64 deserialize_i64 visit_i64
        deserialize_u8 visit_u64 deserialize_u16 visit_u64 deserialize_u32 visit_u64 deserialize_u64 visit_u64
        deserialize_f32 visit_f64 deserialize_f64 visit_f64
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
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
        assert_eq!(read::<Tone>("warm", ','), Ok(Tone::Warm));
        assert_eq!(read::<Option<u8>>("7", ','), Ok(Some(7)));
        assert_eq!(read::<Vec<u8>>("1/2/3", '/'), Ok(vec![1, 2, 3]));
        assert_eq!(read::<Vec<Tone>>("warm, warm", ','), Ok(vec![Tone::Warm, Tone::Warm]));
        let segments = [" ..".to_owned(), "a ".to_owned()];
        assert_eq!(read::<Vec<String>>(" ../a /", '/'), Ok(segments.to_vec()));
        assert_eq!(
            read::<std::net::IpAddr>("x", ',').unwrap_err(),
            "`x` is not valid: invalid IP address syntax"
        );
        assert_eq!(read::<Tone>("hot", ',').unwrap_err(), "unknown variant `hot`, expected `warm`");
        assert_eq!(
            read::<u8>("x", ',').unwrap_err(),
            "invalid type: string \"x\", expected an integer from 0 to 255"
        );
    }
}
