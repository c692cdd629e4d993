//! Reads JSON with `serde_json`, as long as the type takes all of it.

use serde::{
    Deserializer,
    de::{self, DeserializeOwned, DeserializeSeed, Error as _, Unexpected, Visitor},
};

/// Reads a value with `serde_json`. Returns `None` if `serde_json` rejects the value, or if the type skips a part of the value, as a struct
/// does with a member that it has no field for.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Unskipped(&mut reader)).ok()?;
    // For a 128-bit integer, `serde_json` reads only the first digits of `1e20`.
    reader.end().ok()?;
    Some(value)
}

/// Part of a deserializer that fails when the type skips a value. It costs nothing at run time, because it holds no value of its own.
struct Unskipped<I>(I);

macro_rules! forward {
    ($($method:ident($($name:ident: $ty:ty),*))*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($name: $ty,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* Unskipped(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Unskipped<D> {
    type Error = D::Error;

    forward! {
        deserialize_any() deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64() deserialize_char() deserialize_str() deserialize_string()
        deserialize_bytes() deserialize_byte_buf() deserialize_option() deserialize_unit()
        deserialize_unit_struct(name: &'static str) deserialize_newtype_struct(name: &'static str)
        deserialize_seq() deserialize_tuple(len: usize) deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_map() deserialize_enum(name: &'static str, variants: &'static [&'static str]) deserialize_identifier()
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Members(visitor))
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, D::Error> {
        Err(D::Error::custom("skipped"))
    }
}

macro_rules! visits {
    ($($method:ident $ty:ty;)*) => {$(
        #[inline]
        fn $method<E: de::Error>(self, value: $ty) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Unskipped<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.expecting(f)
    }

    visits! {
        visit_bool bool; visit_i8 i8; visit_i16 i16; visit_i32 i32; visit_i64 i64; visit_i128 i128;
        visit_u8 u8; visit_u16 u16; visit_u32 u32; visit_u64 u64; visit_u128 u128; visit_f32 f32; visit_f64 f64;
        visit_char char; visit_str &str; visit_borrowed_str &'de str; visit_string String;
        visit_bytes &[u8]; visit_borrowed_bytes &'de [u8]; visit_byte_buf Vec<u8>;
    }

    #[inline]
    fn visit_none<E: de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    #[inline]
    fn visit_unit<E: de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Unskipped(deserializer))
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Unskipped(deserializer))
    }

    #[inline]
    fn visit_seq<A: de::SeqAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        if is_of_tagged_enum::<V>() {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        self.0.visit_seq(Unskipped(access))
    }

    #[inline]
    fn visit_map<A: de::MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Unskipped(access))
    }

    #[inline]
    fn visit_enum<A: de::EnumAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Unskipped(access))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Unskipped<S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Unskipped(deserializer))
    }
}

impl<'de, A: de::SeqAccess<'de>> de::SeqAccess<'de> for Unskipped<A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Unskipped(seed))
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: de::MapAccess<'de>> de::MapAccess<'de> for Unskipped<A> {
    type Error = A::Error;

    /// The name is passed on as it is, because a name has no parts.
    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Unskipped(seed))
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: de::EnumAccess<'de>> de::EnumAccess<'de> for Unskipped<A> {
    type Error = A::Error;
    type Variant = Unskipped<A::Variant>;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (value, content) = self.0.variant_seed(seed)?;
        Ok((value, Unskipped(content)))
    }
}

impl<'de, A: de::VariantAccess<'de>> de::VariantAccess<'de> for Unskipped<A> {
    type Error = A::Error;

    #[inline]
    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Unskipped(seed))
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Unskipped(visitor))
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Members(visitor))
    }
}

/// Whether `V` is serde's visitor of an internally tagged enum, which would also read an array that begins with the tag. Such an enum asks for
/// any value, so only the name of the visitor tells it apart. The compiler folds the comparison to a constant. If another version of serde
/// gives the visitor another name, the array is read.
pub(super) fn is_of_tagged_enum<V>() -> bool {
    std::any::type_name::<V>().starts_with("serde::private::de::content::TaggedContentVisitor<")
}

/// Visitor of a struct, and access to the members of its object. The visitor accepts only an object, as the schema of a struct says. Serde would
/// also read the fields from an array, by their positions.
struct Members<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Members<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.expecting(f)
    }

    #[inline]
    fn visit_map<A: de::MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Members(access))
    }
}

impl<'de, A: de::MapAccess<'de>> de::MapAccess<'de> for Members<A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    /// Of all types that ask for a struct, only an adjacently tagged enum buffers a member: the content, if it precedes the tag. Unknown
    /// members in it would be lost. The lenient reader passes the tag first. The compiler folds the comparison to a constant.
    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        if std::any::type_name::<S::Value>().starts_with("serde_core::private::content::Content") {
            return Err(A::Error::custom("buffered"));
        }
        self.0.next_value_seed(Unskipped(seed))
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}
