//! Access to the elements of lists, the members of objects and the data of variants.

use serde::{
    Deserializer,
    de::{self, DeserializeSeed, Visitor},
};

use super::{ArgumentReader, NullField, ReadError, key::KeyReader};

/// Elements of a list.
pub(super) struct ListAccess<'r, 'de, 'a>(pub(super) &'r mut ArgumentReader<'de, 'a>);

impl<'de> de::SeqAccess<'de> for ListAccess<'_, 'de, '_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        match self.0.peek() {
            b']' => Ok(None),
            _ => seed.deserialize(&mut *self.0).map(Some),
        }
    }
}

/// Members of an object. `owner` is the struct that they are read into, if there is one.
pub(super) struct ObjectAccess<'r, 'de, 'a> {
    pub(super) reader: &'r mut ArgumentReader<'de, 'a>,
    pub(super) owner: Option<(&'static str, &'static [&'static str])>,
    /// Name of the member whose value is next.
    pub(super) name: String,
}

impl ObjectAccess<'_, '_, '_> {
    fn null_field(&self) -> Option<NullField> {
        let (owner, fields) =
            self.owner.filter(|_| self.reader.text[self.reader.at..].starts_with("null"))?;
        Some(NullField { owner, fields, name: self.name.clone() })
    }
}

impl<'de> de::MapAccess<'de> for ObjectAccess<'_, 'de, '_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        loop {
            if self.reader.peek() == b'}' {
                return Ok(None);
            }
            let name = self.reader.value().string().unwrap_or_default();
            if self.owner.is_some() {
                self.name.clear();
                self.name.push_str(&name);
                self.reader.peek();
                let skipped = &self.reader.leniency.skipped;
                if !skipped.is_empty() && self.null_field().is_some_and(|it| skipped.contains(&it))
                {
                    self.reader.value();
                    continue;
                }
            }
            return seed.deserialize(KeyReader(name)).map(Some);
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        self.reader.peek();
        let null = self.null_field();
        let value = seed.deserialize(&mut *self.reader);
        if value.is_err() && null.is_some() {
            *self.reader.leniency.refused.borrow_mut() = null;
        }
        value
    }
}

/// Variant with data, which is the only member of an object.
pub(super) struct VariantReader<'r, 'de, 'a> {
    pub(super) reader: &'r mut ArgumentReader<'de, 'a>,
    /// Name of the enum.
    pub(super) name: &'static str,
}

impl<'de> de::EnumAccess<'de> for VariantReader<'_, 'de, '_> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), ReadError> {
        self.reader.peek();
        let variant = KeyReader(self.reader.value().string().unwrap_or_default());
        Ok((seed.deserialize(variant)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for VariantReader<'_, 'de, '_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        de::Deserialize::deserialize(self.reader)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ReadError> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.reader.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.reader.deserialize_struct(self.name, fields, visitor)
    }
}
