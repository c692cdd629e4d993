//! The pattern of an argument: `#[arg(pattern = "^[a-z]+$")]`.

use std::sync::OnceLock;

use regex_lite::Regex;

/// A pattern, with a reference to its compiled form. Constants read the constraints, so the compiled form, which is created at run time, is
/// stored outside of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pattern {
    pub(super) text: &'static str,
    regex: &'static CompiledPattern,
}

/// Regular expression that is compiled at its first use. The cell contains `None` if the expression does not compile, but the macro has
/// already rejected such an expression.
#[derive(Debug, Default)]
pub struct CompiledPattern(OnceLock<Option<Regex>>);

impl CompiledPattern {
    #[allow(missing_docs, reason = "public only for generated code")]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }
}

impl Pattern {
    pub(super) const fn new(text: &'static str, regex: &'static CompiledPattern) -> Self {
        Self { text, regex }
    }

    /// Whether the pattern occurs in `string`. A pattern that does not compile matches every string.
    pub(super) fn matches(&self, string: &str) -> bool {
        let regex = self.regex.0.get_or_init(|| Regex::new(self.text).ok());
        regex.as_ref().is_none_or(|regex| regex.is_match(string))
    }

    /// Whether ECMA 262, in its `u` mode, interprets the pattern as regex-lite does. ECMA 262 has no flags in the pattern, no `\A` and `\z`
    /// and no named POSIX classes. It also rejects escapes without a meaning.
    pub(super) const fn is_portable(&self) -> bool {
        is_portable(self.text)
    }
}

pub(super) const fn is_portable(pattern: &str) -> bool {
    let mut rest = pattern.as_bytes();
    let mut in_class = false;
    while let [c, after @ ..] = rest {
        rest = after;
        match c {
            b'\\' => {
                let [escaped, after @ ..] = rest else { return false };
                rest = after;
                if !means_the_same(*escaped, in_class) {
                    return false;
                }
                if matches!((escaped, rest), (b'b', [b'{', ..])) {
                    return false;
                }
            }
            b'[' if in_class => return false,
            b'[' => in_class = true,
            b']' if in_class => in_class = false,
            b']' => return false,
            b'{' if !in_class => match after_count(rest) {
                Some(after) => rest = after,
                None => return false,
            },
            b'}' if !in_class => return false,
            b'&' | b'~' if in_class => {
                if let [next, ..] = rest
                    && *next == *c
                {
                    return false;
                }
            }
            b'(' if !in_class => {
                if let [b'?', after @ ..] = rest
                    && !matches!(after, [b':' | b'<', ..])
                {
                    return false;
                }
            }
            _ => {}
        }
    }
    !in_class
}

const fn means_the_same(escaped: u8, in_class: bool) -> bool {
    match escaped {
        b'-' => in_class,
        b'b' | b'B' => !in_class,
        b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'n' | b'r' | b't' | b'f' | b'v' => true,
        b'^' | b'$' | b'\\' | b'.' | b'*' | b'+' | b'?' | b'(' | b')' | b'[' | b']' | b'{'
        | b'}' | b'|' | b'/' => true,
        _ => false,
    }
}

/// Returns the text after a count such as `2,3}`.
const fn after_count(mut rest: &[u8]) -> Option<&[u8]> {
    if !matches!(rest, [b'0'..=b'9', ..]) {
        return None;
    }
    while let [c, after @ ..] = rest {
        rest = after;
        match c {
            b'}' => return Some(rest),
            b'0'..=b'9' | b',' => {}
            _ => return None,
        }
    }
    // A pattern with an unfinished count does not compile, so the returned text does not matter.
    Some(rest)
}
