//! Valid JSON values as text, which is read in place.

use std::borrow::Cow;
use std::fmt;

use crate::search::{plain_until, space_until};

/// Text of one valid JSON value, without whitespace around it.
///
/// The methods do not validate the text again. If an invalid text was passed to [`Raw::trusted`], they may return wrong values, but they
/// neither panic nor run forever.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

/// Type of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A number, with or without a fraction.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl<'a> Raw<'a> {
    /// The value `null`.
    pub const NULL: Raw<'static> = Raw("null");
    /// An object without members.
    pub const EMPTY_OBJECT: Raw<'static> = Raw("{}");
    /// Value of `jsonrpc` in every message.
    pub(crate) const VERSION: Raw<'static> = Raw("\"2.0\"");

    /// Wraps text that a scanner has validated.
    #[inline]
    pub(crate) fn validated(text: &'a str) -> Self {
        Raw(text)
    }

    /// Returns the value at the beginning of a valid text.
    #[inline]
    pub fn first_of(text: &'a str) -> Self {
        Raw(&text[..end_of_value(text.as_bytes(), 0)])
    }

    /// Returns the text.
    #[inline]
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Returns the type of the value, which follows from its first byte.
    #[inline]
    pub fn kind(self) -> JsonKind {
        match self.0.as_bytes().first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't' | b'f') => JsonKind::Bool,
            Some(b'-' | b'0'..=b'9') => JsonKind::Number,
            _ => JsonKind::Null,
        }
    }

    /// Returns the members of an object, in the order of the text. Other values have no members.
    #[inline]
    pub fn members(self) -> Members<'a> {
        Members(ValueCursor::inside(self, JsonKind::Object))
    }

    /// Returns the elements of an array. Other values have no elements.
    #[inline]
    pub fn elements(self) -> Elements<'a> {
        Elements(ValueCursor::inside(self, JsonKind::Array))
    }

    /// Returns the member called `name`, the last one if there are several.
    pub fn get(self, name: &str) -> Option<Raw<'a>> {
        self.members().filter(|(key, _)| key == name).last().map(|(_, value)| value)
    }

    /// Returns the members with these names, found in one pass. If several members have the same name, the last member counts.
    pub fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Raw<'a>>; N] {
        let mut found = [None; N];
        for (key, value) in self.members() {
            if let Some(at) = names.iter().position(|name| key == *name) {
                found[at] = Some(value);
            }
        }
        found
    }

    /// Returns the decoded text of a string. The text is borrowed unless the string has escapes.
    #[inline]
    pub fn string(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        let plain = plain_until(inner.as_bytes(), 0);
        Some(if plain == inner.len() {
            Cow::Borrowed(inner)
        } else {
            Cow::Owned(unescape(inner, plain))
        })
    }

    /// Whether the value is `null`.
    #[inline]
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Returns the value of a boolean.
    #[inline]
    pub fn bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns the number if it is written as an integer, without fraction and exponent, and fits the type.
    pub fn u64(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// Returns the number if it is written as an integer, without fraction and exponent, and fits the type.
    pub fn i64(self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// Returns the number, rounded to the nearest `f64`.
    pub fn f64(self) -> Option<f64> {
        if self.kind() == JsonKind::Number { self.0.parse().ok() } else { None }
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({})", self.0)
    }
}

/// The members of an object: see [`Raw::members`].
#[derive(Debug, Clone)]
pub struct Members<'a>(ValueCursor<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let name = match self.0.plain_string() {
            Some(name) => Cow::Borrowed(name),
            None => self.0.value()?.string()?,
        };
        Some((name, self.0.value()?))
    }
}

/// The elements of an array: see [`Raw::elements`].
#[derive(Debug, Clone)]
pub struct Elements<'a>(ValueCursor<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.value()
    }
}

/// Cursor that steps from value to value inside an array or an object. The text is valid, so the separators need no check.
#[derive(Debug, Clone)]
struct ValueCursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> ValueCursor<'a> {
    #[inline]
    fn inside(raw: Raw<'a>, kind: JsonKind) -> Self {
        let text = if raw.kind() == kind { raw.0.get(1..raw.0.len() - 1) } else { None };
        ValueCursor { text: text.unwrap_or_default(), at: 0 }
    }

    /// Returns the index at which the next value begins.
    #[inline]
    fn start(&self) -> usize {
        let bytes = self.text.as_bytes();
        let start = space_until(bytes, self.at);
        match bytes.get(start) {
            Some(b',' | b':') => space_until(bytes, start + 1),
            _ => start,
        }
    }

    /// Reads the next value if it is a string without escapes, and returns the text between the quotes. Otherwise returns `None` and does
    /// not move the cursor.
    #[inline]
    fn plain_string(&mut self) -> Option<&'a str> {
        let (bytes, start) = (self.text.as_bytes(), self.start());
        if bytes.get(start) != Some(&b'"') {
            return None;
        }
        let end = plain_until(bytes, start + 1);
        if bytes.get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start + 1..end)
    }

    /// Reads the next value.
    #[inline]
    fn value(&mut self) -> Option<Raw<'a>> {
        let (bytes, start) = (self.text.as_bytes(), self.start());
        self.at = end_of_value(bytes, start);
        match self.text.get(start..self.at) {
            Some("") | None => None,
            Some(text) => Some(Raw(text)),
        }
    }
}

/// Returns the index at which the value that begins at `start` ends. The text must be valid.
fn end_of_value(bytes: &[u8], start: usize) -> usize {
    match bytes.get(start) {
        Some(b'"') => end_of_string(bytes, start),
        Some(b'{' | b'[') => {
            let mut at = start;
            let mut depth = 0usize;
            while let Some(byte) = bytes.get(at) {
                match byte {
                    b'"' => {
                        at = end_of_string(bytes, at);
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth == 1 => return at + 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
            }
            bytes.len()
        }
        _ => {
            let rest = bytes.get(start..).unwrap_or_default();
            let end = rest.iter().position(|b| {
                matches!(b, b',' | b']' | b'}' | b':' | b' ' | b'\n' | b'\r' | b'\t')
            });
            end.map_or(bytes.len(), |end| start + end)
        }
    }
}

#[inline]
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        at = plain_until(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// Decodes the text between the quotes of a string. The first `plain` bytes contain no escape.
#[cold]
fn unescape(inner: &str, plain: usize) -> String {
    let mut decoded = String::with_capacity(inner.len());
    let (head, mut rest) = inner.split_at(plain);
    decoded.push_str(head);
    while let Some(escape) = rest.strip_prefix('\\') {
        let mut chars = escape.chars();
        let char = match chars.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => unescape_unicode(&mut chars),
            Some(char) => char,
            None => char::REPLACEMENT_CHARACTER,
        };
        decoded.push(char);
        let (head, tail) = match chars.as_str().split_once('\\') {
            Some((head, _)) => chars.as_str().split_at(head.len()),
            None => (chars.as_str(), ""),
        };
        decoded.push_str(head);
        rest = tail;
    }
    decoded
}

/// Returns the character of one `\u` escape, or of a surrogate pair of two. `chars` begins after the first `\u`.
fn unescape_unicode(chars: &mut std::str::Chars<'_>) -> char {
    let mut unit =
        || chars.by_ref().take(4).try_fold(0, |unit, digit| Some(unit << 4 | digit.to_digit(16)?));
    let code = match unit() {
        Some(high @ 0xd800..=0xdbff) => {
            chars.next();
            chars.next();
            let low = chars
                .by_ref()
                .take(4)
                .try_fold(0, |unit, digit| Some(unit << 4 | digit.to_digit(16)?));
            low.and_then(|low: u32| {
                Some(0x10000 + ((high - 0xd800) << 10) + low.checked_sub(0xdc00)?)
            })
        }
        code => code,
    };
    code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_members(text: &str, expected: &[(&str, &str)]) {
        let members =
            Raw::trusted(text).members().map(|(name, value)| (name.into_owned(), value.as_str()));
        let expected = expected.iter().map(|(name, value)| ((*name).to_owned(), *value));
        assert_eq!(members.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{text}");
    }

    fn check_elements(text: &str, expected: &[&str]) {
        assert_eq!(
            Raw::trusted(text).elements().map(Raw::as_str).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
    }

    #[test]
    fn members_and_elements_are_found_between_any_whitespace() {
        check_members("{}", &[]);
        check_members("{ }", &[]);
        check_members(
            "{ \"a\" : 1 , \"b\":[\"}\", {\"c\":2}] ,\"c\":null }",
            &[("a", "1"), ("b", "[\"}\", {\"c\":2}]"), ("c", "null")],
        );
        check_members("[1]", &[]);
        check_members("\"{}\"", &[]);
        check_elements("[ ]", &[]);
        check_elements(
            "[1 ,\"a\\\"]\", [ ] ,{\"a\":[]},true]",
            &["1", "\"a\\\"]\"", "[ ]", "{\"a\":[]}", "true"],
        );
        check_elements("{\"a\":1}", &[]);
    }

    #[test]
    fn names_are_decoded_and_the_last_of_several_wins() {
        let raw = Raw::trusted(r#"{"\u0061":1,"b":2,"a":3}"#);
        check_members(raw.as_str(), &[("a", "1"), ("b", "2"), ("a", "3")]);
        assert_eq!(raw.get("a"), Some(Raw::trusted("3")));
        assert_eq!(raw.get("c"), None);
        assert_eq!(
            raw.pick(["c", "b", "a"]),
            [None, Some(Raw::trusted("2")), Some(Raw::trusted("3"))]
        );
    }

    #[test]
    fn strings_borrow_unless_they_have_escapes() {
        assert!(matches!(Raw::trusted("\"grüße\"").string(), Some(Cow::Borrowed("grüße"))));
        let escaped = Raw::trusted(r#""a\"\\\/\b\f\n\r\tz\u00e4\ud83d\ude00!""#);
        assert_eq!(escaped.string().as_deref(), Some("a\"\\/\u{8}\u{c}\n\r\tzä😀!"));
        assert_eq!(Raw::trusted("1").string(), None);
    }

    #[test]
    fn scalars_are_read_by_what_they_are() {
        assert_eq!(Raw::trusted("18446744073709551615").u64(), Some(u64::MAX));
        assert_eq!(Raw::trusted("18446744073709551616").u64(), None);
        assert_eq!(Raw::trusted("-9223372036854775808").i64(), Some(i64::MIN));
        assert_eq!(Raw::trusted("1.0").u64(), None);
        assert_eq!(Raw::trusted("1e2").f64(), Some(100.0));
        assert_eq!(Raw::trusted("\"1\"").f64(), None);
        assert_eq!(Raw::trusted("false").bool(), Some(false));
        assert!(Raw::NULL.is_null());
        for (text, kind) in [
            ("null", JsonKind::Null),
            ("true", JsonKind::Bool),
            ("-1", JsonKind::Number),
            ("\"\"", JsonKind::String),
            ("[]", JsonKind::Array),
            ("{}", JsonKind::Object),
        ] {
            assert_eq!(Raw::trusted(text).kind(), kind);
        }
    }

    #[test]
    fn text_trusted_wrongly_is_nonsense_but_harmless() {
        for text in [
            "",
            "{",
            "[1,",
            "{\"a",
            "\"\\",
            "[\"\\ä\"]",
            "{\"a\"1}",
            "\"\\ud800\"",
            "\"\\u12\"",
            "[]]",
            "[,,]",
        ] {
            let raw = Raw(text);
            let _ = (raw.members().count(), raw.elements().count(), raw.string(), raw.get("a"));
        }
    }
}
