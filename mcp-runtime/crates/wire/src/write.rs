//! Writing JSON into the outgoing buffer.
//!
//! Only the serialization of a user's type can fail. The buffer then keeps its earlier content. Only [`end_line`] writes a raw newline,
//! because a message is one line on stdio and one `data:` field in an event stream (rule STDIO-01).

use serde::Serialize;

use crate::search::plain_until;

/// Writes a string with its quotes.
pub fn string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut written = 0;
    loop {
        let plain = plain_until(bytes, written);
        out.extend_from_slice(&bytes[written..plain]);
        let Some(&special) = bytes.get(plain) else { break };
        escape(out, special);
        written = plain + 1;
    }
    out.push(b'"');
}

#[cold]
fn escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Writes text that is one JSON value. Newlines between its tokens become spaces.
pub fn raw(out: &mut Vec<u8>, text: &str) {
    let start = out.len();
    out.extend_from_slice(text.as_bytes());
    one_line(&mut out[start..]);
}

/// Ends the line of a message, which begins at the index `start`, with a newline. The characters U+0085, U+2028 and U+2029 become escapes,
/// because some clients end a line at each of them.
pub fn end_line(out: &mut Vec<u8>, start: usize) {
    if !out[start..].is_ascii() {
        escape_line_breaks(out, start);
    }
    out.push(b'\n');
}

/// Replaces the line breaks that are not ASCII. In JSON, they occur only in strings, where an escape means the same.
#[inline(never)]
fn escape_line_breaks(out: &mut Vec<u8>, start: usize) {
    let Some((first, ..)) = next_line_break(out, start) else { return };
    let text = out.split_off(first);
    let mut rest = 0;
    while let Some((at, escape, length)) = next_line_break(&text, rest) {
        out.extend_from_slice(&text[rest..at]);
        out.extend_from_slice(escape);
        rest = at + length;
    }
    out.extend_from_slice(&text[rest..]);
}

/// Returns the index of the first line break from `at` on that is not ASCII, its escape, and its length in UTF-8.
fn next_line_break(text: &[u8], mut at: usize) -> Option<(usize, &'static [u8], usize)> {
    while let Some(found) = text[at..].iter().position(|byte| matches!(byte, 0xc2 | 0xe2)) {
        at += found;
        if let Some((escape, length)) = line_break(&text[at..]) {
            return Some((at, escape, length));
        }
        at += 1;
    }
    None
}

/// Returns the escape of the line break that these bytes begin with, and its length in UTF-8.
fn line_break(bytes: &[u8]) -> Option<(&'static [u8], usize)> {
    match bytes {
        [0xc2, 0x85, ..] => Some((br"\u0085", 2)),
        [0xe2, 0x80, 0xa8, ..] => Some((br"\u2028", 3)),
        [0xe2, 0x80, 0xa9, ..] => Some((br"\u2029", 3)),
        _ => None,
    }
}

/// Writes a whole number.
pub fn u64(out: &mut Vec<u8>, number: u64) {
    let _ = serde_json::to_writer(out, &number);
}

/// Writes a whole number.
pub fn i64(out: &mut Vec<u8>, number: i64) {
    let _ = serde_json::to_writer(out, &number);
}

/// Writes whole numbers as integers and other numbers in their shortest form. NaN and the infinities become null.
pub fn f64(out: &mut Vec<u8>, number: f64) {
    // From 1e17 on, the shortest form has an exponent and no `.0`, so no special case is needed.
    if number.fract() == 0.0 && number.abs() < 1e17 {
        i64(out, number as i64);
    } else {
        let _ = serde_json::to_writer(out, &number);
    }
}

/// Writes the JSON that `value` serializes to.
///
/// # Errors
///
/// Returns an error if the type's own `Serialize` fails, or if a map key is not a string. In both cases the buffer stays unchanged.
pub fn value<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), serde_json::Error> {
    let start = out.len();
    match serde_json::to_writer(&mut *out, value) {
        Ok(()) => {
            one_line(&mut out[start..]);
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// Replaces raw newlines with spaces. In valid JSON, raw newlines occur only between tokens, where a space means the same. They come from
/// text that a client has sent, or from a `RawValue` inside a user's type.
fn one_line(json: &mut [u8]) {
    for byte in json {
        *byte = if matches!(*byte, b'\n' | b'\r') { b' ' } else { *byte };
    }
}

/// An object that is being written. The object is closed by [`ObjectWriter::end`] or when the writer is dropped, so it cannot stay open.
#[derive(Debug)]
pub struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    /// Length of the buffer while the object is empty.
    start: usize,
}

impl<'o> ObjectWriter<'o> {
    /// Writes the opening brace.
    #[inline]
    pub fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        ObjectWriter { start: out.len(), out }
    }

    /// Writes a fixed name, which must need no escapes. The caller writes exactly one value into the returned buffer.
    #[inline]
    pub fn key(&mut self, name: &'static str) -> &mut Vec<u8> {
        debug_assert_eq!(plain_until(name.as_bytes(), 0), name.len(), "`{name}` has no escapes");
        self.comma();
        self.out.reserve(name.len() + 3);
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// Like [`key`](Self::key), for a name that may need escapes.
    #[inline]
    pub fn given_key(&mut self, name: &str) -> &mut Vec<u8> {
        self.comma();
        string(self.out, name);
        self.out.push(b':');
        self.out
    }

    #[inline]
    fn comma(&mut self) {
        if self.out.len() > self.start {
            self.out.push(b',');
        }
    }

    /// Writes a member whose value is a fixed text, which must need no escapes.
    #[inline]
    pub fn word(&mut self, name: &'static str, word: &'static str) -> &mut Self {
        debug_assert_eq!(plain_until(word.as_bytes(), 0), word.len(), "`{word}` has no escapes");
        let out = self.key(name);
        out.push(b'"');
        out.extend_from_slice(word.as_bytes());
        out.push(b'"');
        self
    }

    /// Writes a member whose value is a string.
    #[inline]
    pub fn str(&mut self, name: &'static str, text: &str) -> &mut Self {
        string(self.key(name), text);
        self
    }

    /// Writes a member whose value is a string. `None` writes nothing.
    #[inline]
    pub fn opt_str(&mut self, name: &'static str, text: Option<&str>) -> &mut Self {
        if let Some(text) = text {
            self.str(name, text);
        }
        self
    }

    /// Writes a member whose value is given as JSON text.
    #[inline]
    pub fn raw(&mut self, name: &'static str, text: &str) -> &mut Self {
        raw(self.key(name), text);
        self
    }

    /// Writes a member whose value is a whole number.
    #[inline]
    pub fn u64(&mut self, name: &'static str, number: u64) -> &mut Self {
        u64(self.key(name), number);
        self
    }

    /// Writes a member whose value is a whole number.
    #[inline]
    pub fn i64(&mut self, name: &'static str, number: i64) -> &mut Self {
        i64(self.key(name), number);
        self
    }

    /// Writes a member whose value is a number. NaN and the infinities become null.
    #[inline]
    pub fn f64(&mut self, name: &'static str, number: f64) -> &mut Self {
        f64(self.key(name), number);
        self
    }

    /// Writes a member whose value is `true` or `false`.
    #[inline]
    pub fn bool(&mut self, name: &'static str, value: bool) -> &mut Self {
        self.key(name).extend_from_slice(if value { b"true" } else { b"false" });
        self
    }

    /// Writes a member whose value is null.
    #[inline]
    pub fn null(&mut self, name: &'static str) -> &mut Self {
        self.key(name).extend_from_slice(b"null");
        self
    }

    /// Begins a member whose value is an object.
    #[inline]
    pub fn object(&mut self, name: &'static str) -> ObjectWriter<'_> {
        ObjectWriter::begin(self.key(name))
    }

    /// Begins a member whose value is an array.
    #[inline]
    pub fn array(&mut self, name: &'static str) -> ArrayWriter<'_> {
        ArrayWriter::begin(self.key(name))
    }

    /// Whether the object has no member yet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.out.len() == self.start
    }

    /// Returns the current position in the buffer, for [`ObjectWriter::back_to`].
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.out.len()
    }

    /// Removes the members that were written since `position`.
    #[inline]
    pub(crate) fn back_to(&mut self, position: usize) {
        self.out.truncate(position);
    }

    /// Writes the closing brace.
    #[inline]
    pub fn end(self) {}
}

impl Drop for ObjectWriter<'_> {
    #[inline]
    fn drop(&mut self) {
        self.out.push(b'}');
    }
}

/// An array that is being written. The array is closed by [`ArrayWriter::end`] or when the writer is dropped.
#[derive(Debug)]
pub struct ArrayWriter<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
}

impl<'o> ArrayWriter<'o> {
    /// Writes the opening bracket.
    #[inline]
    pub fn begin(out: &'o mut Vec<u8>) -> Self {
        out.push(b'[');
        ArrayWriter { start: out.len(), out }
    }

    /// Begins an element. The caller writes exactly one value into the returned buffer.
    #[inline]
    pub fn element(&mut self) -> &mut Vec<u8> {
        if self.out.len() > self.start {
            self.out.push(b',');
        }
        self.out
    }

    /// Writes an element that is a string.
    #[inline]
    pub fn str(&mut self, text: &str) -> &mut Self {
        string(self.element(), text);
        self
    }

    /// Begins an element that is an object.
    #[inline]
    pub fn object(&mut self) -> ObjectWriter<'_> {
        ObjectWriter::begin(self.element())
    }

    /// Writes the closing bracket.
    #[inline]
    pub fn end(self) {}
}

impl Drop for ArrayWriter<'_> {
    #[inline]
    fn drop(&mut self) {
        self.out.push(b']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(write: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let mut out = b">".to_vec();
        write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), format!(">{expected}"));
    }

    #[test]
    fn strings() {
        check(|out| string(out, ""), r#""""#);
        check(|out| string(out, "größe 😀 \u{7f}\u{2028}"), "\"größe 😀 \u{7f}\u{2028}\"");
        check(
            |out| string(out, "\"\\/\u{8}\u{c}\n\r\t\u{0}\u{1f}"),
            r#""\"\\/\b\f\n\r\t\u0000\u001f""#,
        );
    }

    #[test]
    fn only_ascii_ends_a_line() {
        let ended = |text: &'static str| {
            move |out: &mut Vec<u8>| {
                out.extend_from_slice("\u{2028}".as_bytes());
                let start = out.len();
                out.extend_from_slice(text.as_bytes());
                end_line(out, start);
            }
        };
        check(ended(""), "\u{2028}\n");
        check(ended(r#"{"a":"plain"}"#), "\u{2028}{\"a\":\"plain\"}\n");
        check(
            ended("\"größe – 😀 \u{84}\u{2027}\u{202a}\""),
            "\u{2028}\"größe – 😀 \u{84}\u{2027}\u{202a}\"\n",
        );
        check(
            ended("\"\u{85}\u{2028}é\u{2029}\u{2029}–\""),
            "\u{2028}\"\\u0085\\u2028é\\u2029\\u2029–\"\n",
        );
    }

    #[test]
    fn numbers_have_the_form_of_json() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (5.0, "5"),
            (-17.0, "-17"),
            (0.1, "0.1"),
            (1e16, "10000000000000000"),
            (9_007_199_254_740_993.0, "9007199254740992"),
            (f64::NAN, "null"),
            (f64::NEG_INFINITY, "null"),
        ] {
            check(|out| f64(out, number), expected);
        }
        for number in [1e17, 1.5e300, 1e-7, f64::MAX, f64::MIN_POSITIVE] {
            let mut out = Vec::new();
            f64(&mut out, number);
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text.parse(), Ok(number));
            assert!(!text.ends_with(".0"), "{text}");
        }
        check(|out| u64(out, u64::MAX), "18446744073709551615");
        check(|out| i64(out, i64::MIN), "-9223372036854775808");
    }

    #[test]
    fn objects_and_arrays_track_commas_and_close_themselves() {
        check(|out| ObjectWriter::begin(out).end(), "{}");
        check(
            |out| {
                let mut object = ObjectWriter::begin(out);
                object
                    .str("a", "x")
                    .opt_str("b", None)
                    .opt_str("c", Some("\n"))
                    .bool("d", true)
                    .null("e");
                let mut array = object.array("f");
                array.str("y");
                array.element().push(b'1');
                array.object().u64("z", 1);
                array.end();
                object.array("g");
                object.object("h").i64("n", -1).f64("m", 0.5);
                object.raw("i", "[\n1,\r\n2]");
            },
            r#"{"a":"x","c":"\n","d":true,"e":null,"f":["y",1,{"z":1}],"g":[],"h":{"n":-1,"m":0.5},"i":[ 1,  2]}"#,
        );
    }

    #[test]
    fn a_failing_serialize_leaves_no_trace() {
        struct Fails;
        impl Serialize for Fails {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::{Error, SerializeSeq};
                let mut seq = serializer.serialize_seq(None)?;
                seq.serialize_element(&1)?;
                Err(S::Error::custom("no"))
            }
        }
        check(|out| assert!(value(out, &Fails).is_err()), "");
    }

    #[test]
    fn raw_values_inside_a_type_lose_their_newlines() {
        let pretty =
            serde_json::value::RawValue::from_string("{\r\n  \"a\": \"\\n\"\n}".to_owned())
                .unwrap();
        check(|out| value(out, &pretty).unwrap(), r#"{    "a": "\n" }"#);
    }
}
