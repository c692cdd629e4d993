//! Lenient reader for the JSON of an argument that `serde_json` has rejected.
//!
//! The reader accepts an integer with a fraction or an exponent (`1.0`, `1e2`), and `null` for a field with a default of its own.
//! `serde_json` rejects both. [`lenient`](super::lenient) decides about `null`.

mod access;
mod key;

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    fmt,
};

use mcp_runtime_wire::{Integer, Raw};
use serde::{
    Deserializer,
    de::{self, Error as _, Unexpected, Visitor},
    forward_to_deserialize_any,
};

use self::access::{ListAccess, ObjectAccess, VariantReader};
use crate::error::shown;

/// Maximum depth, the same as in `serde_json`.
const DEPTH: usize = 127;

/// Error of an argument that could not be read.
#[derive(Debug)]
pub(super) struct ReadError {
    text: String,
    /// The missing field, if that is the reason.
    pub(super) missing: Option<&'static str>,
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

/// A field of a struct that was sent as `null`. Structs and fields are compared by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NullField {
    pub(super) owner: &'static str,
    pub(super) fields: &'static [&'static str],
    pub(super) name: String,
}

/// Leniency of one reading.
#[derive(Debug, Default)]
pub(super) struct Leniency {
    /// Fields whose `null` counts as a missing member.
    pub(super) skipped: Vec<NullField>,
    /// Whether integers with a fraction or an exponent are also accepted where the type did not ask for an integer. Serde buffers the
    /// values of untagged and internally tagged enums, and of flattened structs, before it knows their types.
    pub(super) integers_everywhere: bool,
    /// Field at which the last reading failed, because its type does not accept `null`.
    pub(super) refused: RefCell<Option<NullField>>,
    /// Whether the last reading met an integer with a fraction or an exponent where the type did not ask for one.
    pub(super) has_met_integer: Cell<bool>,
}

/// Reads JSON text that is known to be valid, each byte once.
#[derive(Debug)]
pub(super) struct ArgumentReader<'de, 'a> {
    text: &'de str,
    at: usize,
    depth: usize,
    leniency: &'a Leniency,
}

impl<'de, 'a> ArgumentReader<'de, 'a> {
    pub(super) fn new(raw: Raw<'de>, leniency: &'a Leniency) -> Self {
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
        // A type of the author may accept numbers beyond the range that it asks for, so the range decides only about the error.
        visit_integer(integer, visitor)
            .unwrap_or_else(|| Err(out_of_range()))
            .map_err(|error| if fits { error } else { out_of_range() })
    }
}

/// Passes an integer to a visitor. `None` if no integer type of Rust has the value.
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
                    && integer.as_i128().is_some_and(|it| i64::try_from(it).is_ok())
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
        // `RawValue` takes the text itself.
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
