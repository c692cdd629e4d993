//! Validation of JSON: one value per text, as RFC 8259 defines it.
//!
//! Apart from the depth limit, the scanner accepts exactly the texts that `serde_json` reads as a `Value`. Therefore a later
//! deserialization into a type can fail only because of the value's shape. As in `serde_json`, two checks go beyond the grammar: escapes of
//! unpaired surrogates and numbers beyond the range of `f64` are rejected.

use std::{borrow::Cow, fmt};

use crate::{
    duplicates::{DuplicateName, ObjectPlace, OpenNames},
    raw::Raw,
    search::{plain_until, space_until},
};

/// Reason why a text is not valid JSON. Every variant carries the offset of the first byte that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The bytes are not UTF-8.
    Utf8 {
        /// Offset of the first byte that is wrong.
        at: usize,
    },
    /// The text breaks the grammar.
    Syntax {
        /// Offset of the first byte that is wrong.
        at: usize,
        /// Description of what the grammar expects at this offset.
        expected: &'static str,
    },
    /// Arrays and objects are nested deeper than allowed.
    TooDeep {
        /// Offset of the first byte that is wrong.
        at: usize,
    },
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Utf8 { at } => write!(f, "invalid UTF-8 at byte {at}"),
            Malformed::Syntax { at, expected } => write!(f, "expected {expected} at byte {at}"),
            Malformed::TooDeep { at } => write!(f, "nested too deeply at byte {at}"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Checks that `bytes` hold exactly one JSON value, with at most `max_depth` arrays and objects inside one another.
///
/// # Errors
///
/// Returns [`Malformed`] with the offset of the first offending byte. Invalid UTF-8 anywhere in the text is reported first.
pub fn validate(bytes: &[u8], max_depth: usize) -> Result<Raw<'_>, Malformed> {
    let mut scanner = Scanner::new(bytes, max_depth)?;
    let value = scanner.value();
    scanner.finish(value)
}

/// A cursor that only moves over valid JSON.
///
/// The open containers of a value are kept on a stack of bits. The thread's stack does not grow with the depth of the value, so it cannot
/// overflow, however high the depth limit is.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Number of containers that the caller has opened through [`Scanner::object`] or [`Scanner::array`].
    outside: usize,
    max_depth: usize,
    /// Reason of the last [`ScanFailed`].
    why: Option<Malformed>,
    /// First name that occurs twice in one object. Such a text is valid JSON, but the message is rejected.
    duplicate: Option<DuplicateName<'a>>,
}

/// Error for a text that is not valid JSON. Every step may return this type, so it is kept small, and the scanner stores the reason.
#[derive(Debug)]
pub(crate) struct ScanFailed;

pub(crate) type Scanned<T> = Result<T, ScanFailed>;

impl<'a> Scanner<'a> {
    /// Creates a scanner whose cursor is at the first byte that is not whitespace.
    pub(crate) fn new(bytes: &'a [u8], max_depth: usize) -> Result<Self, Malformed> {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let at = space_until(bytes, 0);
                Ok(Scanner { text, at, outside: 0, max_depth, why: None, duplicate: None })
            }
            Err(error) => Err(Malformed::Utf8 { at: error.valid_up_to() }),
        }
    }

    /// Returns the byte at the cursor.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the offset of the cursor.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Ends the scan. Only whitespace may follow the value that was read.
    pub(crate) fn finish<T>(mut self, read: Scanned<T>) -> Result<T, Malformed> {
        let finished = read.and_then(|read| {
            self.space();
            if self.at == self.text.len() { Ok(read) } else { self.expected("the end of the text") }
        });
        let nothing = Malformed::Syntax { at: self.at, expected: "a value" };
        finished.map_err(|ScanFailed| self.why.unwrap_or(nothing))
    }

    /// Reads the object at the cursor. `member` reads one member, from the name to the end of its value.
    #[inline]
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self) -> Scanned<()>,
    ) -> Scanned<()> {
        self.enter(0)?;
        self.outside += 1;
        if !self.opens_empty(b'}') {
            loop {
                member(self)?;
                if !self.another(b'}', "`,` or `}`")? {
                    break;
                }
            }
        }
        self.outside -= 1;
        Ok(())
    }

    /// Reads the name of a member and moves to its value.
    pub(crate) fn key(&mut self) -> Scanned<Cow<'a, str>> {
        let start = self.at;
        let is_plain = self.name()?;
        let name = match is_plain {
            true => Cow::Borrowed(&self.text[start + 1..self.at - 1]),
            false => self.since(start, self.at).string().unwrap_or_default(),
        };
        self.colon()?;
        Ok(name)
    }

    /// Skips `text` if it comes next. Returns whether the text was skipped. Comparing with a known text is cheaper than scanning.
    #[inline(always)]
    pub(crate) fn passes(&mut self, text: &str) -> bool {
        let next = self.text.as_bytes().get(self.at..self.at + text.len());
        let is_next = next == Some(text.as_bytes());
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    /// Skips the name of a member, up to the member's value, if the name is `name`. Returns whether the name was skipped.
    #[inline]
    pub(crate) fn passes_key(&mut self, name: &str) -> bool {
        let start = self.at;
        let passed = self.passes("\"") && self.passes(name) && self.passes("\":");
        if passed {
            self.space();
        } else {
            self.at = start;
        }
        passed
    }

    /// Reads the array at the cursor. `element` reads one element.
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Scanned<()>,
    ) -> Scanned<()> {
        self.enter(0)?;
        self.outside += 1;
        if !self.opens_empty(b']') {
            loop {
                element(self)?;
                if !self.another(b']', "`,` or `]`")? {
                    break;
                }
            }
        }
        self.outside -= 1;
        Ok(())
    }

    /// Reads the value at the cursor.
    #[inline]
    pub(crate) fn value(&mut self) -> Scanned<Raw<'a>> {
        if self.peek() == Some(b'"') {
            let start = self.at;
            self.string()?;
            return Ok(self.since(start, self.at));
        }
        self.any_value()
    }

    fn any_value(&mut self) -> Scanned<Raw<'a>> {
        // Most ids are numbers. A number needs no stack of containers, so it is read without one.
        let Some(b'-' | b'0'..=b'9') = self.peek() else { return self.container() };
        let start = self.at;
        self.number()?;
        Ok(self.since(start, self.at))
    }

    /// Reads the value at the cursor, with all values inside it.
    #[inline(never)]
    fn container(&mut self) -> Scanned<Raw<'a>> {
        let start = self.at;
        let mut open = BracketStack::default();
        // The list of names is created only for the first object that has members.
        let mut names = None;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{') => {
                    self.enter(open.depth())?;
                    if !self.opens_empty(b'}') {
                        open.push(true);
                        let names = names.get_or_insert_with(OpenNames::new);
                        names.open();
                        self.named(names)?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.enter(open.depth())?;
                    if !self.opens_empty(b']') {
                        open.push(false);
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.literal("true")?,
                Some(b'f') => self.literal("false")?,
                Some(b'n') => self.literal("null")?,
                _ => return self.expected("a value"),
            }
            loop {
                match open.top() {
                    None => return Ok(self.since(start, self.at)),
                    Some(true) => {
                        let names = names.get_or_insert_with(OpenNames::new);
                        if self.another(b'}', "`,` or `}`")? {
                            self.named(names)?;
                            break;
                        }
                        if let Some(name) = names.close() {
                            self.note_duplicate(name, ObjectPlace::Elsewhere);
                        }
                    }
                    Some(false) => {
                        if self.another(b']', "`,` or `]`")? {
                            break;
                        }
                    }
                }
                open.pop();
            }
        }
    }

    /// Steps over an opening bracket. `inside` is the number of open containers around the bracket, within the value that is being read.
    fn enter(&mut self, inside: usize) -> Scanned<()> {
        if self.outside + inside >= self.max_depth {
            self.why = Some(Malformed::TooDeep { at: self.at });
            return Err(ScanFailed);
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    fn opens_empty(&mut self, close: u8) -> bool {
        let empty = self.peek() == Some(close);
        self.at += usize::from(empty);
        empty
    }

    /// Reads the separator after a value in a container. Returns `true` for a comma, and `false` if `close` ends the container.
    #[inline]
    fn another(&mut self, close: u8, expected: &'static str) -> Scanned<bool> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.space();
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => self.expected(expected),
        }
    }

    #[inline]
    fn name(&mut self) -> Scanned<bool> {
        if self.peek() == Some(b'"') { self.string() } else { self.expected("a member's name") }
    }

    /// Reads the name of a member into `names` and moves to the member's value.
    #[inline]
    fn named(&mut self, names: &mut OpenNames<'a>) -> Scanned<()> {
        let start = self.at;
        let is_plain = self.name()?;
        names.add(&self.text[start..self.at], is_plain);
        self.colon()
    }

    #[inline]
    fn colon(&mut self) -> Scanned<()> {
        self.space();
        if self.peek() != Some(b':') {
            return self.expected("`:`");
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    /// Steps over a string. Returns whether the string has no escapes.
    #[inline(always)]
    fn string(&mut self) -> Scanned<bool> {
        let bytes = self.text.as_bytes();
        let end = plain_until(bytes, self.at + 1);
        if bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(true);
        }
        self.at = end;
        self.rest_of_string().map(|()| false)
    }

    /// Steps over the rest of a string. The cursor must be at the first byte that is an escape, a control character or the end of the text.
    #[cold]
    fn rest_of_string(&mut self) -> Scanned<()> {
        let bytes = self.text.as_bytes();
        loop {
            self.at = plain_until(bytes, self.at);
            match bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return self.expected("an escaped control character"),
                None => return self.expected("the end of the string"),
            }
        }
    }

    fn escape(&mut self) -> Scanned<()> {
        match self.text.as_bytes().get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => match self.unit(self.at) {
                Some(0xd800..=0xdbff) => match self.unit(self.at + 6) {
                    Some(0xdc00..=0xdfff) => {
                        self.at += 12;
                        Ok(())
                    }
                    _ => self.expected("a pair of surrogates"),
                },
                Some(0xdc00..=0xdfff) => self.expected("a pair of surrogates"),
                Some(_) => {
                    self.at += 6;
                    Ok(())
                }
                None => self.expected("four hexadecimal digits"),
            },
            _ => self.expected("an escape"),
        }
    }

    /// Returns the UTF-16 unit that the `\uXXXX` at `at` stands for.
    fn unit(&self, at: usize) -> Option<u32> {
        match self.text.as_bytes().get(at..at + 6)? {
            [b'\\', b'u', digits @ ..] => digits
                .iter()
                .try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?)),
            _ => None,
        }
    }

    fn number(&mut self) -> Scanned<()> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        let mut exponent = false;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            exponent = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        // The largest `f64` has 309 digits, so a shorter number without an exponent is always in range.
        if (exponent || self.at - start > 300) && !in_range(&self.text[start..self.at]) {
            self.at = start;
            return self.expected("a number in range");
        }
        Ok(())
    }

    fn digits(&mut self) -> Scanned<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { self.expected("a digit") } else { Ok(()) }
    }

    fn literal(&mut self, literal: &'static str) -> Scanned<()> {
        if !self.text.as_bytes()[self.at..].starts_with(literal.as_bytes()) {
            return self.expected(literal);
        }
        self.at += literal.len();
        Ok(())
    }

    /// Skips whitespace.
    #[inline]
    pub(crate) fn space(&mut self) {
        // Most messages have no whitespace, and this check is cheaper than the search.
        if let Some(..=b' ') = self.peek() {
            self.at = space_until(self.text.as_bytes(), self.at);
        }
    }

    /// Returns the value between two offsets.
    #[inline]
    pub(crate) fn since(&self, start: usize, end: usize) -> Raw<'a> {
        Raw::validated(&self.text[start..end])
    }

    /// Records a name that occurs twice in an object. Only the first such name of a text is recorded.
    #[cold]
    pub(crate) fn note_duplicate(&mut self, name: Cow<'a, str>, object: ObjectPlace) {
        self.duplicate.get_or_insert_with(|| DuplicateName::new(name, object));
    }

    /// Removes and returns the recorded name.
    pub(crate) fn take_duplicate(&mut self) -> Option<DuplicateName<'a>> {
        self.duplicate.take()
    }

    #[cold]
    fn expected<T>(&mut self, expected: &'static str) -> Scanned<T> {
        self.why = Some(Malformed::Syntax { at: self.at, expected });
        Err(ScanFailed)
    }
}

#[cold]
fn in_range(number: &str) -> bool {
    serde_json::from_str::<f64>(number).is_ok()
}

/// Stack of the open containers, with one bit for each: 1 for an object, 0 for an array.
#[derive(Default)]
struct BracketStack {
    depth: usize,
    /// Bits of the innermost containers, up to 64.
    word: u64,
    /// Bits of the outer containers, 64 to a word. Allocated only for a text that is nested deeper than 64.
    full: Vec<u64>,
}

impl BracketStack {
    #[inline]
    fn depth(&self) -> usize {
        self.depth
    }

    #[inline]
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.full.push(self.word);
            self.word = 0;
        }
        self.word = self.word << 1 | u64::from(object);
        self.depth += 1;
    }

    #[inline]
    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.word & 1 == 1)
    }

    #[inline]
    fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.word = self.full.pop().unwrap_or_default();
        }
    }
}

/// Methods that need the scanner.
impl<'a> Raw<'a> {
    /// Wraps text that this process has written itself. The text must be exactly one valid value, without whitespace around it.
    #[inline]
    pub fn trusted(text: &'a str) -> Self {
        debug_assert_eq!(
            validate(text.as_bytes(), usize::MAX).map(Raw::as_str),
            Ok(text),
            "trusted text is one JSON value"
        );
        Raw::validated(text)
    }

    /// Returns a name that occurs twice in one object of this value, if there is one.
    pub fn duplicate_name(self) -> Option<DuplicateName<'a>> {
        let mut scanner = Scanner::new(self.as_str().as_bytes(), usize::MAX).ok()?;
        scanner.value().ok()?;
        scanner.take_duplicate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, Malformed>) {
        assert_eq!(validate(text.as_bytes(), 128).map(Raw::as_str), expected, "{text}");
    }

    fn syntax(at: usize, expected: &'static str) -> Result<&'static str, Malformed> {
        Err(Malformed::Syntax { at, expected })
    }

    #[test]
    fn surrounding_whitespace_is_no_part_of_the_value() {
        check(" \r\n\t{ \"a\" : [ 1 , 2 ] } \n", Ok("{ \"a\" : [ 1 , 2 ] }"));
        check(" true ", Ok("true"));
    }

    #[test]
    fn errors_say_where_and_what() {
        check("", syntax(0, "a value"));
        check("{\"a\":1,}", syntax(7, "a member's name"));
        check("[1 2]", syntax(3, "`,` or `]`"));
        check("{} x", syntax(3, "the end of the text"));
        check("\"\\ud800x\"", syntax(1, "a pair of surrogates"));
        check("\"a\nb\"", syntax(2, "an escaped control character"));
        check("nul", syntax(0, "null"));
        check("[1e999]", syntax(1, "a number in range"));
        assert_eq!(validate(b"\"\xff\"", 1).unwrap_err(), Malformed::Utf8 { at: 1 });
        assert_eq!(validate(b"[1 2", 1).unwrap_err().to_string(), "expected `,` or `]` at byte 3");
    }

    #[test]
    fn depth_counts_arrays_and_objects_together() {
        for depth in [1, 2, 63, 64, 65, 128, 129, 1000] {
            let text = (0..depth).map(|n| if n % 3 == 0 { "{\"k\":" } else { "[0," });
            let close = (0..depth).rev().map(|n| if n % 3 == 0 { "}" } else { "]" });
            let text = text.chain(["1"]).chain(close).collect::<String>();
            assert!(validate(text.as_bytes(), depth).is_ok(), "{depth}");
            let error = validate(text.as_bytes(), depth - 1).unwrap_err();
            assert!(matches!(error, Malformed::TooDeep { .. }), "{depth}");
        }
        assert!(validate(b"1", 0).is_ok());
    }

    #[test]
    fn brackets_must_match_beyond_a_word_of_them() {
        let text =
            ["[".repeat(64), "{\"a\":".to_owned(), "1}".to_owned(), "]".repeat(63), "}".to_owned()];
        let text = text.concat();
        let last = text.len() - 1;
        assert_eq!(
            validate(text.as_bytes(), 128).unwrap_err(),
            Malformed::Syntax { at: last, expected: "`,` or `]`" }
        );
    }
}
