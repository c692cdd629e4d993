use std::fmt;

/// Reason why a text is no JSON. Every variant carries the offset of the first byte that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// The bytes are not UTF-8.
    Utf8 { at: usize },
    /// The text breaks the grammar.
    Syntax { at: usize, expected: &'static str },
    /// Arrays and objects are nested deeper than allowed.
    TooDeep { at: usize },
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
