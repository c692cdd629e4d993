//! Validating JSON: one value per text, as RFC 8259 defines it.
//!
//! A text is accepted exactly if `serde_json` reads it as a `Value`, so a later read into a type can only fail because of the value's
//! shape. Two checks go beyond the grammar: escapes of unpaired surrogates and numbers beyond the range of `f64` are rejected. Only the
//! depth limit is our own.

use std::borrow::Cow;

use super::malformed::Malformed;
use super::names::{Doubled, Names, Place};
use super::nesting::Nesting;
use super::raw::Raw;
use super::scan::{plain_until, space_until};

/// Checks that `bytes` hold exactly one JSON value, with at most `max_depth` arrays and objects inside one another.
///
/// # Errors
///
/// Returns [`Malformed`] with the offset of the first offending byte. Invalid UTF-8 anywhere in the text is reported first.
pub(crate) fn validate(bytes: &[u8], max_depth: usize) -> Result<Raw<'_>, Malformed> {
    let mut scanner = Scanner::new(bytes, max_depth)?;
    let value = scanner.value();
    scanner.finish(value)
}

/// A cursor that only moves over valid JSON.
///
/// The containers that are open in a value are kept on a stack of bits. The thread's stack does not grow with the depth, so no depth limit
/// can overflow it.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Containers that the caller has opened through [`Scanner::object`] or [`Scanner::array`].
    outside: usize,
    max_depth: usize,
    /// Reason of the last [`Broken`].
    why: Option<Malformed>,
    /// First name that an object has twice. This is valid JSON, but rejected in a message.
    pub(super) doubled: Option<Doubled<'a>>,
}

/// Error for a text that is no JSON. The reason stays in the scanner, so that the error, which every step may return, is small.
#[derive(Debug)]
pub(super) struct Broken;

pub(super) type Step<T> = Result<T, Broken>;

impl<'a> Scanner<'a> {
    /// Starts at the first byte that is not whitespace.
    pub(super) fn new(bytes: &'a [u8], max_depth: usize) -> Result<Self, Malformed> {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let at = space_until(bytes, 0);
                Ok(Scanner { text, at, outside: 0, max_depth, why: None, doubled: None })
            }
            Err(error) => Err(Malformed::Utf8 { at: error.valid_up_to() }),
        }
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Ends the scan. Only whitespace may follow the value that was read.
    pub(super) fn finish<T>(mut self, read: Step<T>) -> Result<T, Malformed> {
        let finished = read.and_then(|read| {
            self.space();
            if self.at == self.text.len() { Ok(read) } else { self.expected("the end of the text") }
        });
        let nothing = Malformed::Syntax { at: self.at, expected: "a value" };
        finished.map_err(|Broken| self.why.unwrap_or(nothing))
    }

    /// Reads the object at the cursor. `member` reads one member, from the name to the end of its value.
    #[inline]
    pub(super) fn object(&mut self, mut member: impl FnMut(&mut Self) -> Step<()>) -> Step<()> {
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
    pub(super) fn key(&mut self) -> Step<Cow<'a, str>> {
        let start = self.at;
        let is_plain = self.name()?;
        let name = match is_plain {
            true => Cow::Borrowed(&self.text[start + 1..self.at - 1]),
            false => self.since(start, self.at).string().unwrap_or_default(),
        };
        self.colon()?;
        Ok(name)
    }

    /// Skips `text` if it comes next. Comparing a known text is cheaper than scanning it.
    #[inline(always)]
    pub(super) fn passes(&mut self, text: &str) -> bool {
        let next = self.text.as_bytes().get(self.at..self.at + text.len());
        let is_next = next == Some(text.as_bytes());
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    /// Skips the name of a member, up to its value, if the name is `name`.
    #[inline]
    pub(super) fn passes_key(&mut self, name: &str) -> bool {
        let start = self.at;
        let passed = self.passes("\"") && self.passes(name) && self.passes("\":");
        if passed {
            self.space();
        } else {
            self.at = start;
        }
        passed
    }

    /// Reads the array at the cursor; `element` must read one value.
    pub(super) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Step<()>) -> Step<()> {
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
    pub(super) fn value(&mut self) -> Step<Raw<'a>> {
        if self.peek() == Some(b'"') {
            let start = self.at;
            self.string()?;
            return Ok(self.since(start, self.at));
        }
        self.any_value()
    }

    fn any_value(&mut self) -> Step<Raw<'a>> {
        // Most ids are numbers, and a number needs no stack of containers.
        let Some(b'-' | b'0'..=b'9') = self.peek() else { return self.container() };
        let start = self.at;
        self.number()?;
        Ok(self.since(start, self.at))
    }

    /// Reads the value at the cursor, with all values inside it.
    #[inline(never)]
    fn container(&mut self) -> Step<Raw<'a>> {
        let start = self.at;
        let mut open = Nesting::default();
        // Created for the first object that has members.
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
                        let names = names.get_or_insert_with(Names::new);
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
                        let names = names.get_or_insert_with(Names::new);
                        if self.another(b'}', "`,` or `}`")? {
                            self.named(names)?;
                            break;
                        }
                        if let Some(name) = names.close() {
                            self.note_doubled(name, Place::Elsewhere);
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

    /// Steps over an opening bracket. `inside` containers of the value that is being read are open around it.
    fn enter(&mut self, inside: usize) -> Step<()> {
        if self.outside + inside >= self.max_depth {
            self.why = Some(Malformed::TooDeep { at: self.at });
            return Err(Broken);
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

    /// Reads the separator after a value in a container. Returns true for a comma, and false if `close` ends the container.
    #[inline]
    fn another(&mut self, close: u8, expected: &'static str) -> Step<bool> {
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
    fn name(&mut self) -> Step<bool> {
        if self.peek() == Some(b'"') { self.string() } else { self.expected("a member's name") }
    }

    /// Reads the name of a member into `names` and moves to the member's value.
    #[inline]
    fn named(&mut self, names: &mut Names<'a>) -> Step<()> {
        let start = self.at;
        let is_plain = self.name()?;
        names.add(&self.text[start..self.at], is_plain);
        self.colon()
    }

    #[inline]
    fn colon(&mut self) -> Step<()> {
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
    fn string(&mut self) -> Step<bool> {
        let bytes = self.text.as_bytes();
        let end = plain_until(bytes, self.at + 1);
        if bytes.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(true);
        }
        self.at = end;
        self.rest_of_string().map(|()| false)
    }

    /// Steps over the rest of a string, from the first byte that does not stand for itself.
    #[cold]
    fn rest_of_string(&mut self) -> Step<()> {
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

    fn escape(&mut self) -> Step<()> {
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

    fn number(&mut self) -> Step<()> {
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

    fn digits(&mut self) -> Step<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { self.expected("a digit") } else { Ok(()) }
    }

    fn literal(&mut self, literal: &'static str) -> Step<()> {
        if !self.text.as_bytes()[self.at..].starts_with(literal.as_bytes()) {
            return self.expected(literal);
        }
        self.at += literal.len();
        Ok(())
    }

    #[inline]
    pub(super) fn space(&mut self) {
        // Most messages have no whitespace.
        if let Some(..=b' ') = self.peek() {
            self.at = space_until(self.text.as_bytes(), self.at);
        }
    }

    #[inline]
    pub(super) fn since(&self, start: usize, end: usize) -> Raw<'a> {
        Raw::validated(&self.text[start..end])
    }

    #[cold]
    fn expected<T>(&mut self, expected: &'static str) -> Step<T> {
        self.why = Some(Malformed::Syntax { at: self.at, expected });
        Err(Broken)
    }
}

#[cold]
fn in_range(number: &str) -> bool {
    serde_json::from_str::<f64>(number).is_ok()
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
