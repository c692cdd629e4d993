//! Lenient reader for the JSON of an argument that `serde_json` has rejected.
//!
//! The reader accepts an integer with a fraction or an exponent (`1.0`, `1e2`), and `null` for a field with a default of its own.
//! `serde_json` rejects both. See [`read`] for the treatment of `null`.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    fmt,
};

use mcp_runtime_wire::{Integer, Raw};
use serde::{
    Deserializer,
    de::{
        self, DeserializeSeed, Error as _, IntoDeserializer as _, Unexpected, Visitor,
        value::{BorrowedStrDeserializer, StrDeserializer},
    },
    forward_to_deserialize_any,
};

use crate::error::shown;

/// Maximum number of bytes read for one argument, summed over all readings.
const MOST_BYTES: usize = 16 << 20;

/// Number of readings that are always allowed, even if they exceed [`MOST_BYTES`].
const LEAST_READINGS: usize = 4;

/// Reads `raw` several times, each time more leniently, until `read` succeeds or no further leniency would help. There is one reading for
/// each field that rejects `null`, and at most three more.
///
/// If the type of a field rejects `null`, but the field has a default, then `null` counts as a missing member.
pub(crate) fn read<R>(
    raw: Raw<'_>,
    mut read: impl FnMut(&mut ArgumentReader<'_, '_>) -> Result<R, ReadError>,
) -> Result<R, ReadError> {
    let mut leniency = Leniency::default();
    // Fields without a default. A `null` for one of them remains an error.
    let mut required: Vec<NullField> = Vec::new();
    let most = LEAST_READINGS.max(MOST_BYTES / raw.as_str().len().max(1));
    let mut readings = 0;
    loop {
        readings += 1;
        let error = match read(&mut ArgumentReader::new(raw, &leniency)) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let refused = leniency.refused.take().filter(|field| !required.contains(field));
        let missing = leniency.skipped.iter().position(|field| error.missing == Some(&*field.name));
        if readings >= most {
            return Err(error);
        } else if let Some(refused) = refused {
            leniency.skipped.push(refused);
        } else if let Some(missing) = missing {
            required.push(leniency.skipped.swap_remove(missing));
        } else if leniency.has_met_integer.get() && !leniency.integers_everywhere {
            leniency.integers_everywhere = true;
        } else {
            return Err(error);
        }
    }
}

/// Maximum nesting depth, the same as in `serde_json`.
const DEPTH: usize = 127;

/// Error of an argument that could not be read.
#[derive(Debug)]
pub(crate) struct ReadError {
    text: String,
    /// Name of the missing field, if a missing field caused the error.
    missing: Option<&'static str>,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { text: message.to_string(), missing: None }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        match unexpected {
            Unexpected::Unit => {
                Self::custom(format_args!("invalid type: null, expected {expected}"))
            }
            other => Self::custom(format_args!("invalid type: {other}, expected {expected}")),
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self { missing: Some(field), ..Self::custom(format_args!("missing field `{field}`")) }
    }
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        Self::custom(error)
    }
}

/// Field of a struct that the client sent as `null`. Structs and fields are compared by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NullField {
    owner: &'static str,
    fields: &'static [&'static str],
    name: String,
}

/// Leniency of one reading.
#[derive(Debug, Default)]
struct Leniency {
    /// Fields whose `null` counts as a missing member.
    skipped: Vec<NullField>,
    /// Whether integers with a fraction or an exponent are also accepted where the type did not ask for an integer. Serde buffers the
    /// values of untagged and internally tagged enums, and of flattened structs, before it knows their types.
    integers_everywhere: bool,
    /// Field at which the last reading failed, because its type does not accept `null`.
    refused: RefCell<Option<NullField>>,
    /// Whether the last reading met an integer with a fraction or an exponent where the type did not ask for one.
    has_met_integer: Cell<bool>,
}

/// Deserializer for JSON text that is known to be valid. It reads each byte once.
#[derive(Debug)]
pub(crate) struct ArgumentReader<'de, 'a> {
    text: &'de str,
    at: usize,
    depth: usize,
    leniency: &'a Leniency,
}

impl<'de, 'a> ArgumentReader<'de, 'a> {
    fn new(raw: Raw<'de>, leniency: &'a Leniency) -> Self {
        Self { text: raw.as_str(), at: 0, depth: 0, leniency }
    }

    /// Returns the next byte after whitespace and separators, which valid text has in the right places.
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b':') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or_default()
    }

    /// Returns the next value and moves past it.
    fn value(&mut self) -> Raw<'de> {
        self.peek();
        let value = Raw::first_of(&self.text[self.at..]);
        self.at += value.as_str().len();
        value
    }

    fn enter(&mut self) -> Result<(), ReadError> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEPTH { Err(ReadError::custom("recursion limit exceeded")) } else { Ok(()) }
    }

    /// Moves past the end of a list or an object, which must have no more elements.
    fn leave(&mut self, end: u8) -> Result<(), ReadError> {
        if self.peek() != end {
            return Err(ReadError::custom("trailing characters"));
        }
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    fn list<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, ReadError> {
        self.enter()?;
        let value = visitor.visit_seq(ListAccess(self))?;
        self.leave(b']')?;
        Ok(value)
    }

    fn object<V: Visitor<'de>>(
        &mut self,
        owner: Option<(&'static str, &'static [&'static str])>,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.enter()?;
        let value = visitor.visit_map(ObjectAccess { reader: self, owner, name: String::new() })?;
        self.leave(b'}')?;
        Ok(value)
    }

    /// Reads a number as `serde_json` does.
    fn number<V: Visitor<'de>>(number: Raw<'de>, visitor: V) -> Result<V::Value, ReadError> {
        Ok(serde_json::Deserializer::from_str(number.as_str()).deserialize_any(visitor)?)
    }

    /// Reads a number for an integer type with values from `least` to `most`.
    fn integer<V: Visitor<'de>>(
        &mut self,
        (least, most): (i128, u128),
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if !matches!(self.peek(), b'-' | b'0'..=b'9') {
            return self.deserialize_any(visitor);
        }
        let number = self.value();
        let Some(integer) = Integer::parse(number.as_str()) else {
            return Self::number(number, visitor);
        };
        let out_of_range = || {
            let number = shown(number.as_str());
            if integer.is_negative() {
                ReadError::custom(format_args!("`{number}` is out of range, at least {least}"))
            } else {
                ReadError::custom(format_args!("`{number}` is out of range, at most {most}"))
            }
        };
        let fits = match (integer.as_u128(), integer.as_i128()) {
            (Some(number), _) => number <= most,
            (None, Some(number)) => number >= least,
            (None, None) => false,
        };
        // A type may accept numbers outside the range of the integer type that it requests. So the range only decides which error is
        // returned.
        visit_integer(integer, visitor)
            .unwrap_or_else(|| Err(out_of_range()))
            .map_err(|error| if fits { error } else { out_of_range() })
    }
}

/// Passes an integer to a visitor. Returns `None` if the integer fits no integer type of Rust.
fn visit_integer<'de, V: Visitor<'de>>(
    integer: Integer,
    visitor: V,
) -> Option<Result<V::Value, ReadError>> {
    Some(match (integer.as_u128(), integer.as_i128()) {
        (Some(number), _) => match u64::try_from(number) {
            Ok(number) => visitor.visit_u64(number),
            Err(_) => visitor.visit_u128(number),
        },
        (None, Some(number)) => match i64::try_from(number) {
            Ok(number) => visitor.visit_i64(number),
            Err(_) => visitor.visit_i128(number),
        },
        (None, None) => return None,
    })
}

macro_rules! integers {
    ($($method:ident $ty:ty)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            self.integer((<$ty>::MIN as i128, <$ty>::MAX as u128), visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut ArgumentReader<'de, '_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.peek() {
            b'{' => self.object(None, visitor),
            b'[' => self.list(visitor),
            b'"' => match self.value().string() {
                Some(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
                Some(Cow::Owned(text)) => visitor.visit_string(text),
                None => visitor.visit_unit(),
            },
            b't' | b'f' => visitor.visit_bool(self.value().bool() == Some(true)),
            b'-' | b'0'..=b'9' => {
                let number = self.value();
                let text = number.as_str();
                if let Some(integer) = Integer::parse(text)
                    && text.contains(['.', 'e', 'E'])
                    && integer.as_i128().is_some_and(|number| i64::try_from(number).is_ok())
                {
                    self.leniency.has_met_integer.set(true);
                    if self.leniency.integers_everywhere {
                        return visit_integer(integer, visitor)
                            .unwrap_or_else(|| Err(ReadError::custom("number out of range")));
                    }
                }
                ArgumentReader::number(number, visitor)
            }
            _ => {
                self.value();
                visitor.visit_unit()
            }
        }
    }

    integers! {
        deserialize_i8 i8 deserialize_i16 i16 deserialize_i32 i32 deserialize_i64 i64 deserialize_i128 i128
        deserialize_u8 u8 deserialize_u16 u16 deserialize_u32 u32 deserialize_u64 u64 deserialize_u128 u128
    }

    /// Floating point types accept integers as well.
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.peek() {
            b'-' | b'0'..=b'9' => ArgumentReader::number(self.value(), visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.peek() == b'n' {
            self.value();
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        // `serde_json::value::RawValue` takes the JSON text of the value.
        if name.starts_with("$serde_json::private::") {
            let text = self.value().as_str();
            let mut json = serde_json::Deserializer::from_str(text);
            return Ok(json.deserialize_newtype_struct(name, visitor)?);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.peek() {
            b'"' => {
                let text = self.value().as_str();
                Ok(serde_json::Deserializer::from_str(text).deserialize_bytes(visitor)?)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.peek() {
            b'{' => self.object(Some((name, fields)), visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let is_variant_with_data = self.peek() == b'{' && {
            let mut members = Raw::first_of(&self.text[self.at..]).members();
            members.next().is_some() && members.next().is_none()
        };
        if !is_variant_with_data {
            let text = self.value().as_str();
            let mut json = serde_json::Deserializer::from_str(text);
            return Ok(json.deserialize_enum(name, variants, visitor)?);
        }
        self.enter()?;
        let value = visitor.visit_enum(VariantReader { reader: self, name })?;
        self.leave(b'}')?;
        Ok(value)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.value();
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string unit unit_struct seq tuple tuple_struct map identifier
    }
}

/// Elements of a list.
struct ListAccess<'r, 'de, 'a>(&'r mut ArgumentReader<'de, 'a>);

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
struct ObjectAccess<'r, 'de, 'a> {
    reader: &'r mut ArgumentReader<'de, 'a>,
    owner: Option<(&'static str, &'static [&'static str])>,
    /// Name of the member whose value is next.
    name: String,
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
                if !skipped.is_empty()
                    && self.null_field().is_some_and(|field| skipped.contains(&field))
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

/// Enum variant with data, written as an object with a single member.
struct VariantReader<'r, 'de, 'a> {
    reader: &'r mut ArgumentReader<'de, 'a>,
    /// Name of the enum.
    name: &'static str,
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

/// Name of a member, read as a number or a `bool` if the keys of the map have such a type.
struct KeyReader<'de>(Cow<'de, str>);

macro_rules! keys {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            if matches!(&*self.0, "true" | "false") || Integer::parse(&self.0).is_some() {
                return Ok(serde_json::Deserializer::from_reader(self.0.as_bytes()).$method(visitor)?);
            }
            self.deserialize_any(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for KeyReader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0 {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_string(name),
        }
    }

    keys! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.0 {
            Cow::Borrowed(text) => {
                BorrowedStrDeserializer::new(text).deserialize_enum(name, variants, visitor)
            }
            Cow::Owned(text) => {
                let text: StrDeserializer<'_, ReadError> = text.as_str().into_deserializer();
                text.deserialize_enum(name, variants, visitor)
            }
        }
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
