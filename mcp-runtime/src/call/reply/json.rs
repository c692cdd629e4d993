//! JSON text of a result, without numbers that JSON cannot express.

use std::{
    cell::Cell,
    fmt::{self, Write as _},
    io,
};

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::ser::Formatter;

use crate::error::Error;

/// Writes a result as JSON.
///
/// # Errors
/// Fails if the type's own `Serialize` fails, if a map key is neither a string nor a number, or if a number is NaN or infinite. `serde_json`
/// would write `null` for such a number, although the published schema says `number`.
pub(super) fn to_json<T: Serialize>(value: &T) -> Result<String, Error> {
    let (mut text, has_null) = (Vec::with_capacity(128), Cell::new(false));
    let mut json = serde_json::Serializer::with_formatter(&mut text, NoticesNull(&has_null));
    value.serialize(&mut json).map_err(|error| unwritable(&error))?;
    if has_null.get() {
        let mut search = NonFiniteSearch::default();
        if value.serialize(&mut search).is_err()
            && let Some(number) = search.found
        {
            let place = search.path.trim_start_matches('.');
            let place = if place.is_empty() { "the result" } else { place };
            return Err(Error::msg(format_args!(
                "`{place}` is {number}, but JSON has no such number: return an `Option` that is `None`, or a text"
            )));
        }
    }
    String::from_utf8(text).map_err(|error| unwritable(&error))
}

fn unwritable(error: &dyn fmt::Display) -> Error {
    Error::internal(format_args!("the result cannot be written as JSON: {error}"))
}

/// Compact form of JSON that notices whether a `null` is written.
struct NoticesNull<'a>(&'a Cell<bool>);

impl Formatter for NoticesNull<'_> {
    fn write_null<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.set(true);
        writer.write_all(b"null")
    }
}

/// Search for a number that is NaN or infinite. It runs only for a result with a `null`, and writes nothing.
#[derive(Default)]
struct NonFiniteSearch {
    /// Path of the value that is being examined, such as `.rows[2].mean`.
    path: String,
    found: Option<f64>,
}

impl NonFiniteSearch {
    /// Examines a part of the current value. After a failure the path still names the part.
    fn part<T: Serialize + ?Sized>(&mut self, step: fmt::Arguments<'_>, part: &T) -> fmt::Result {
        let length = self.path.len();
        self.path.write_fmt(step)?;
        part.serialize(&mut *self)?;
        self.path.truncate(length);
        Ok(())
    }
}

macro_rules! skip {
    ($($method:ident($($ty:ty),*))*) => {$(
        fn $method(self, $(_: $ty),*) -> fmt::Result {
            Ok(())
        }
    )*};
}

macro_rules! enter {
    ($($method:ident($($ty:ty),*): $part:ident)*) => {$(
        fn $method(self, $(_: $ty),*) -> Result<Self::$part, fmt::Error> {
            Ok(Parts { search: self, index: 0, key: String::new() })
        }
    )*};
}

impl<'a> Serializer for &'a mut NonFiniteSearch {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    skip! {
        serialize_bool(bool) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_none() serialize_unit() serialize_unit_struct(&'static str)
        serialize_unit_variant(&'static str, u32, &'static str)
    }
    enter! {
        serialize_seq(Option<usize>): SerializeSeq
        serialize_tuple(usize): SerializeTuple
        serialize_tuple_struct(&'static str, usize): SerializeTupleStruct
        serialize_map(Option<usize>): SerializeMap
        serialize_struct(&'static str, usize): SerializeStruct
    }

    fn serialize_f32(self, number: f32) -> fmt::Result {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> fmt::Result {
        if number.is_finite() {
            return Ok(());
        }
        self.found = Some(number);
        Err(fmt::Error)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> fmt::Result {
        self.part(format_args!(".{variant}"), value)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Parts<'a>, fmt::Error> {
        write!(self.path, ".{variant}")?;
        self.serialize_tuple(length)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Parts<'a>, fmt::Error> {
        write!(self.path, ".{variant}")?;
        self.serialize_struct(name, length)
    }
}

/// Members or elements of a value.
struct Parts<'a> {
    search: &'a mut NonFiniteSearch,
    index: usize,
    /// JSON text of the key of the next value of a map.
    key: String,
}

impl Parts<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, element: &T) -> fmt::Result {
        let index = self.index;
        self.index += 1;
        self.search.part(format_args!("[{index}]"), element)
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, member: &T) -> fmt::Result {
        self.search.part(format_args!(".{name}"), member)
    }
}

macro_rules! parts {
    ($($kind:ident.$method:ident($($name:ident: $ty:ty)?) = $part:ident)*) => {$(
        impl $kind for Parts<'_> {
            type Ok = ();
            type Error = fmt::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $($name: $ty,)? part: &T) -> fmt::Result {
                self.$part($($name,)? part)
            }

            fn end(self) -> fmt::Result {
                Ok(())
            }
        }
    )*};
}
parts! {
    SerializeSeq.serialize_element() = element
    SerializeTuple.serialize_element() = element
    SerializeTupleStruct.serialize_field() = element
    SerializeTupleVariant.serialize_field() = element
    SerializeStruct.serialize_field(name: &'static str) = member
    SerializeStructVariant.serialize_field(name: &'static str) = member
}

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> fmt::Result {
        self.key = serde_json::to_string(key).map_err(|_| fmt::Error)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        self.search.part(format_args!("[{}]", self.key), value)
    }

    fn end(self) -> fmt::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::json;

    use super::*;

    #[derive(Serialize)]
    struct Row {
        name: Option<&'static str>,
        mean: f64,
        most: Option<f32>,
    }

    #[derive(Serialize)]
    enum Shape {
        None,
        Circle { radius: f64 },
        Box(f64, f64),
        Line(f64),
    }

    fn row(mean: f64, most: Option<f32>) -> Row {
        Row { name: None, mean, most }
    }

    #[track_caller]
    fn check_refused(value: &impl Serialize, expected: &str) {
        let error = to_json(value).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn a_number_that_json_lacks_is_an_error_with_its_path() {
        const NAN: f64 = f64::NAN;
        check_refused(&NAN, "`the result` is NaN, but JSON has no such number: ");
        check_refused(&row(NAN, None), "`mean` is NaN, ");
        check_refused(&row(1.0, Some(f32::INFINITY)), "`most` is inf, ");
        check_refused(&[row(1.0, None), row(f64::NEG_INFINITY, None)], "`[1].mean` is -inf, ");
        check_refused(&json!({ "a": null }).as_object().map(|_| (1, [NAN])), "`[1][0]` is NaN, ");
        check_refused(&BTreeMap::from([("a b", 0.5), ("c", NAN)]), "`[\"c\"]` is NaN, ");
        check_refused(&BTreeMap::from([(7, Some(NAN))]), "`[7]` is NaN, ");
        check_refused(&Shape::Circle { radius: NAN }, "`Circle.radius` is NaN, ");
        check_refused(&(Shape::None, Shape::Box(1.0, NAN)), "`[1].Box[1]` is NaN, ");
        check_refused(&[Shape::Box(1.0, 1.0), Shape::Line(NAN)], "`[1].Line` is NaN, ");
    }

    #[test]
    fn other_values_are_written_as_serde_json_writes_them() {
        let values = [Shape::None, Shape::Circle { radius: 0.1 }, Shape::Box(1.0, -0.0)];
        let value = (row(1e300, None), (), values, Shape::Line(f64::MIN_POSITIVE), "\u{2028}é\n");
        assert_eq!(to_json(&value).unwrap(), serde_json::to_string(&value).unwrap());
    }

    #[test]
    fn a_type_that_fails_to_serialize_is_an_internal_error() {
        let error = to_json(&BTreeMap::from([([0], 0)])).unwrap_err();
        assert!(error.to_string().contains("key must be a string"), "{error}");
    }
}
