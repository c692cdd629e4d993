//! Reader for the JSON of an argument. It knows the path to a value that does not fit, and notes the members that a struct has no field for.
//!
//! Unlike `serde_json`, the reader accepts an integer with a fraction or an exponent (`1.0`, `1e2`), and `null` for a field with a default
//! of its own. The function `read_leniently` describes the treatment of `null`.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    collections::BTreeSet,
};

use mcp_runtime_wire::{Integer, Raw};
use serde::{
    Deserializer,
    de::{
        self, DeserializeSeed, Error as _, IntoDeserializer as _, Unexpected, Visitor,
        value::StrDeserializer,
    },
};

use super::{
    error::{ReadError, mark},
    key::KeyReader,
    unknown::{Step, UnknownMembers},
    unskipped,
};
use crate::error::shown;
/// Maximum nesting depth that is read, the same as in `serde_json`.
pub(crate) const DEPTH: usize = 127;

/// Field of a struct that the client sent as `null`. Structs and fields are compared by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NullField {
    owner: Owner,
    pub(super) name: String,
}

/// Struct that the members of an object are read into: its name, and the names of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    name: &'static str,
    fields: &'static [&'static str],
}

/// Type that the members of an object are read into.
#[derive(Clone, Copy, Debug)]
enum ObjectTarget {
    Struct(Owner),
    Map,
    /// Content of an adjacently tagged enum: a struct variant, whose fields are not known here.
    Content,
}

/// Leniency of one reading.
#[derive(Debug, Default)]
pub(super) struct Leniency {
    /// Fields whose `null` counts as a missing member.
    pub(super) skipped: Vec<NullField>,
    /// Whether a number is passed as an integer or a float where the type did not ask for one. An integer may then have a fraction of zeros or
    /// an exponent. Serde buffers the values of untagged and internally tagged enums, and of flattened structs, before it knows their types.
    /// With the feature `arbitrary_precision`, `serde_json` would give it an object with the text of the number.
    pub(super) plain_numbers: bool,
    /// Field at which the last reading failed, because its type does not accept `null`.
    pub(super) refused: RefCell<Option<NullField>>,
    /// Whether the last reading met a number where the type did not ask for one.
    pub(super) has_met_number: Cell<bool>,
    /// Indexes of the values that are replaced with marks where serde buffers them. See `locate`.
    pub(super) marked: BTreeSet<usize>,
}

/// Deserializer for JSON text that is known to be valid.
#[derive(Debug)]
pub(crate) struct ArgumentReader<'de, 'a> {
    text: &'de str,
    at: usize,
    depth: usize,
    leniency: &'a Leniency,
    /// Index of the content of an adjacently tagged enum, while the content is read.
    content_at: Option<usize>,
    /// Index of the value that a type skipped last.
    skipped: Option<usize>,
    pub(super) unknown: UnknownMembers,
}

impl<'de, 'a> ArgumentReader<'de, 'a> {
    pub(super) fn new(raw: Raw<'de>, leniency: &'a Leniency) -> Self {
        Self {
            text: raw.as_str(),
            at: 0,
            depth: 0,
            leniency,
            skipped: None,
            content_at: None,
            unknown: UnknownMembers::default(),
        }
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

    /// Returns the next value, which must be a string, and moves past it.
    fn string(&mut self) -> Cow<'de, str> {
        self.value().string().unwrap_or_default()
    }

    /// Returns the name that begins at the index.
    #[cold]
    fn name_at(&self, at: usize) -> String {
        Raw::first_of(&self.text[at..]).string().unwrap_or_default().into_owned()
    }

    fn enter(&mut self) -> Result<(), ReadError> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEPTH { Err(ReadError::custom("recursion limit exceeded")) } else { Ok(()) }
    }

    /// Moves past the end of a list or an object, which must have no more elements.
    fn leave(&mut self, end: u8) -> Result<(), ReadError> {
        if self.peek() != end {
            let parts = if end == b']' { "elements" } else { "members" };
            return Err(ReadError::custom(format_args!("more {parts} than expected")));
        }
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    fn list<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, ReadError> {
        self.enter()?;
        let value = visitor.visit_seq(ListAccess { reader: self, index: 0 })?;
        self.leave(b']')?;
        Ok(value)
    }

    fn object<V: Visitor<'de>>(
        &mut self,
        target: ObjectTarget,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.enter()?;
        let value = visitor.visit_map(ObjectAccess::new(self, target))?;
        self.leave(b'}')?;
        Ok(value)
    }

    /// Reads a value of any type.
    fn any<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, ReadError> {
        match self.peek() {
            b'{' if self.content_at == Some(self.at) => self.object(ObjectTarget::Content, visitor),
            b'{' => self.object(ObjectTarget::Map, visitor),
            b'[' if unskipped::is_of_tagged_enum::<V>() => {
                Err(ReadError::invalid_type(Unexpected::Seq, &visitor))
            }
            b'[' => self.list(visitor),
            b'"' => match self.string() {
                Cow::Borrowed(text) => {
                    visitor.visit_borrowed_str(text).map_err(|error: ReadError| error.of_text(text))
                }
                Cow::Owned(text) => {
                    visitor.visit_str(&text).map_err(|error: ReadError| error.of_text(&text))
                }
            },
            b't' | b'f' => visitor.visit_bool(self.value().bool() == Some(true)),
            b'-' | b'0'..=b'9' => {
                let number = self.value();
                self.leniency.has_met_number.set(true);
                if !self.leniency.plain_numbers {
                    let mut json = serde_json::Deserializer::from_str(number.as_str());
                    return Ok(json.deserialize_any(visitor)?);
                }
                if let Some(integer) = Integer::parse(number.as_str())
                    && integer.as_i128().is_some_and(|number| i64::try_from(number).is_ok())
                {
                    return visit_integer(integer, visitor)
                        .unwrap_or_else(|| Err(ReadError::custom("number out of range")));
                }
                ArgumentReader::number(number, visitor)
            }
            _ => {
                self.value();
                visitor.visit_unit()
            }
        }
    }

    /// Reads a number for a type that asks for a number. `deserialize_any` of `serde_json` does not always give one: with its feature
    /// `arbitrary_precision`, which any crate of the program can turn on, it gives an object.
    fn number<V: Visitor<'de>>(number: Raw<'de>, visitor: V) -> Result<V::Value, ReadError> {
        Ok(serde_json::Deserializer::from_str(number.as_str()).deserialize_f64(visitor)?)
    }

    /// Reads a number for an integer type with values from `least` to `most`.
    fn integer<V: Visitor<'de>>(
        &mut self,
        (least, most): (i128, u128),
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if !matches!(self.peek(), b'-' | b'0'..=b'9') {
            return self.any(visitor);
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

/// Declares methods for types that the value itself shows.
macro_rules! any {
    ($($method:ident($($ty:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $ty,)* visitor: V) -> Result<V::Value, ReadError> {
            self.any(visitor)
        }
    )*};
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
        self.peek();
        if self.leniency.marked.contains(&self.at) {
            let mark = mark(self.at);
            self.value();
            return visitor.visit_bytes(&mark);
        }
        self.any(visitor)
    }

    any! {
        deserialize_bool() deserialize_char() deserialize_str() deserialize_string() deserialize_unit() deserialize_identifier()
        deserialize_unit_struct(&'static str) deserialize_seq() deserialize_tuple(usize)
        deserialize_tuple_struct(&'static str, usize)
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
            _ => self.any(visitor),
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
            _ => self.any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.peek() {
            b'{' => self.object(ObjectTarget::Map, visitor),
            _ => self.any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.peek() {
            b'{' => self.object(ObjectTarget::Struct(Owner { name, fields }), visitor),
            // The schema of a struct says `object`, but serde would also read the fields from an array, by their positions.
            b'[' => Err(ReadError::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if self.peek() == b'"' {
            let variant = self.string();
            let reader: StrDeserializer<'_, ReadError> = (*variant).into_deserializer();
            let value = reader.deserialize_enum(name, variants, visitor);
            return value.map_err(|error| error.of_name_alone(&variant));
        }
        let value = Raw::first_of(&self.text[self.at..]);
        if value.members().take(2).count() != 1 {
            return Err(ReadError::no_variant(value, variants));
        }
        self.enter()?;
        let value = visitor.visit_enum(VariantReader { reader: self, name, variant_at: 0 })?;
        self.leave(b'}')?;
        Ok(value)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.peek();
        self.skipped = Some(self.at);
        self.value();
        visitor.visit_unit()
    }
}

/// Elements of a list.
struct ListAccess<'r, 'de, 'a> {
    reader: &'r mut ArgumentReader<'de, 'a>,
    index: usize,
}

impl<'de> de::SeqAccess<'de> for ListAccess<'_, 'de, '_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        if self.reader.peek() == b']' {
            return Ok(None);
        }
        match seed.deserialize(&mut *self.reader) {
            Ok(value) => {
                self.index += 1;
                Ok(Some(value))
            }
            Err(error) => Err(error.inside(Step::Element(self.index))),
        }
    }
}

/// Members of an object.
struct ObjectAccess<'r, 'de, 'a> {
    reader: &'r mut ArgumentReader<'de, 'a>,
    target: ObjectTarget,
    /// Index of the name of the member whose value is next.
    name_at: usize,
    /// Index of the name of a member that is passed last.
    postponed: Option<usize>,
    /// Index of the end of the object, while the postponed member is read.
    end: Option<usize>,
}

impl<'r, 'de, 'a> ObjectAccess<'r, 'de, 'a> {
    fn new(reader: &'r mut ArgumentReader<'de, 'a>, target: ObjectTarget) -> Self {
        Self { reader, target, name_at: 0, postponed: None, end: None }
    }

    /// Whether the member could be the content of an adjacently tagged enum, whose fields are the tag and the content. Serde buffers the
    /// content if it precedes the tag.
    fn is_content(&self, name: &str) -> bool {
        match self.target {
            ObjectTarget::Struct(Owner { fields: [_, content], .. }) => name == *content,
            _ => false,
        }
    }

    /// Returns to a postponed member after all other members, and to the end of the object after the postponed member. Returns whether
    /// another member follows.
    fn advance(&mut self) -> bool {
        if let Some(end) = self.end.take() {
            self.reader.at = end;
            return false;
        }
        if self.reader.peek() != b'}' {
            return true;
        }
        let Some(at) = self.postponed.take() else { return false };
        self.end = Some(std::mem::replace(&mut self.reader.at, at));
        true
    }

    /// Records a skipped member as an unknown argument. A map skips a member if it needs only the name. `at` is the index of the value.
    ///
    /// A member is known if the struct has a field of this name. It is also known if its value is the name of the struct: with
    /// `#[serde(tag = "…")]`, serde writes this name into the tag, and skips the tag when it reads the struct.
    #[cold]
    fn note_skipped(&mut self, at: usize) {
        let (text, depth) = (self.reader.text, self.reader.depth);
        let fields = match self.target {
            ObjectTarget::Struct(Owner { name, fields }) => {
                let value = Raw::first_of(&text[at..]).string();
                if fields.contains(&&*self.reader.name_at(self.name_at))
                    || value.as_deref() == Some(name)
                {
                    return;
                }
                Some(fields)
            }
            ObjectTarget::Map => return,
            ObjectTarget::Content => None,
        };
        self.reader.unknown.note(text, self.name_at, fields, depth);
    }

    /// Returns the field whose value begins at the index, if the value is `null`.
    #[cold]
    fn null_field(&self, at: usize) -> Option<NullField> {
        let is_null = self.reader.text.as_bytes().get(at) == Some(&b'n');
        let ObjectTarget::Struct(owner) = self.target else { return None };
        is_null.then(|| NullField { owner, name: self.reader.name_at(self.name_at) })
    }
}

impl<'de> de::MapAccess<'de> for ObjectAccess<'_, 'de, '_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        while self.advance() {
            self.name_at = self.reader.at;
            let name = self.reader.string();
            if self.end.is_none() && self.is_content(&name) {
                self.postponed = Some(self.name_at);
                self.reader.value();
                continue;
            }
            let skipped = &self.reader.leniency.skipped;
            if !skipped.is_empty() {
                self.reader.peek();
                let field = self.null_field(self.reader.at);
                if field.is_some_and(|field| skipped.contains(&field)) {
                    self.reader.value();
                    continue;
                }
            }
            return seed.deserialize(KeyReader(name)).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        self.reader.peek();
        let at = self.reader.at;
        if self.is_content(&self.reader.name_at(self.name_at)) {
            self.reader.content_at = Some(at);
        }
        match seed.deserialize(&mut *self.reader) {
            Ok(value) => {
                if self.reader.skipped == Some(at) {
                    self.note_skipped(at);
                }
                Ok(value)
            }
            Err(error) => {
                if let Some(field) = self.null_field(at) {
                    *self.reader.leniency.refused.borrow_mut() = Some(field);
                }
                Err(error.inside(Step::Member(self.reader.name_at(self.name_at))))
            }
        }
    }
}

/// Enum variant with data, written as an object with a single member.
struct VariantReader<'r, 'de, 'a> {
    reader: &'r mut ArgumentReader<'de, 'a>,
    /// Name of the enum.
    name: &'static str,
    /// Index of the name of the variant.
    variant_at: usize,
}

impl<'de, 'a> VariantReader<'_, 'de, 'a> {
    /// Reads the content of the variant.
    fn content<R>(
        self,
        read: impl FnOnce(&mut ArgumentReader<'de, 'a>) -> Result<R, ReadError>,
    ) -> Result<R, ReadError> {
        read(self.reader)
            .map_err(|error| error.inside(Step::Member(self.reader.name_at(self.variant_at))))
    }
}

impl<'de> de::EnumAccess<'de> for VariantReader<'_, 'de, '_> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        mut self,
        seed: V,
    ) -> Result<(V::Value, Self), ReadError> {
        self.reader.peek();
        self.variant_at = self.reader.at;
        let variant = KeyReader(self.reader.string());
        Ok((seed.deserialize(variant)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for VariantReader<'_, 'de, '_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        self.content(|reader| de::Deserialize::deserialize(reader))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ReadError> {
        self.content(|reader| seed.deserialize(reader))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.content(|reader| reader.deserialize_tuple(len, visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let name = self.name;
        self.content(|reader| reader.deserialize_struct(name, fields, visitor))
    }
}
