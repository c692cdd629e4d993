//! Id of a request, kept as the JSON text that the peer wrote.
//!
//! A response must carry the id of its request with the same JSON type (rule RPC-02), so an id is never turned into a number or a decoded
//! string. `7`, `"7"` and `"\u0037"` are three different ids, and each response repeats the id as its request wrote it, but
//! for line breaks that are not ASCII, which become escapes.

use std::borrow::Borrow;
use std::fmt;

use crate::raw::{JsonKind, Raw};

/// Id of a request: the JSON text of a string or of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id<'a>(&'a str);

impl<'a> Id<'a> {
    /// Reads a string, or an integer without fraction or exponent that fits `i64` or `u64`. Other values are not valid ids.
    pub fn parse(raw: Raw<'a>) -> Option<Self> {
        // An id is a string or an integer (rule RPC-01).
        let valid = match raw.kind() {
            JsonKind::String => true,
            // A number of fewer than 19 digits always fits `i64`.
            JsonKind::Number => {
                let text = raw.as_str().as_bytes();
                (text.len() < 19 && text.iter().all(u8::is_ascii_digit))
                    || raw.i64().is_some()
                    || raw.u64().is_some()
            }
            _ => false,
        };
        valid.then_some(Id(raw.as_str()))
    }

    /// Returns the JSON text, as the peer wrote it.
    #[inline]
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Returns an owned copy.
    #[inline]
    pub fn to_owned(self) -> IdBuf {
        IdBuf(self.0.into())
    }
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An owned [`Id`]. A map with `IdBuf` keys can be searched with the text from [`Id::as_str`], so a lookup does not allocate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdBuf(Box<str>);

impl IdBuf {
    /// Returns the id, borrowed.
    #[inline]
    pub fn as_id(&self) -> Id<'_> {
        Id(&self.0)
    }
}

impl From<u64> for IdBuf {
    fn from(number: u64) -> Self {
        IdBuf(number.to_string().into())
    }
}

impl Borrow<str> for IdBuf {
    #[inline]
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn check(text: &str, valid: bool) {
        assert_eq!(Id::parse(Raw::trusted(text)).map(Id::as_str), valid.then_some(text));
    }

    #[test]
    fn strings_and_integers_are_ids() {
        check("\"\"", true);
        check(r#""\u0037""#, true);
        check("0", true);
        check("-9223372036854775808", true);
        check("18446744073709551615", true);
        check("18446744073709551616", false);
        check("-9223372036854775809", false);
        check("1.0", false);
        check("1e0", false);
        check("null", false);
        check("true", false);
        check("[1]", false);
        check("{}", false);
    }

    #[test]
    fn a_map_of_ids_tells_a_number_from_a_string() {
        let id = |text| Id::parse(Raw::trusted(text)).unwrap();
        let map = HashMap::from([(IdBuf::from(7), 'n'), (id("\"7\"").to_owned(), 's')]);
        assert_eq!(map.get(id("7").as_str()), Some(&'n'));
        assert_eq!(map.get(id("\"7\"").as_str()), Some(&'s'));
        assert_eq!(id(r#""a\"b""#).to_owned().to_string(), r#""a\"b""#);
    }
}
