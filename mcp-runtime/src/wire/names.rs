//! Names that an object has twice.
//!
//! Some JSON readers use the first of two members with one name, others the last. A gateway may have checked the member that the server
//! does not use, so a message with such members is rejected.

use std::{borrow::Cow, fmt};

use super::{json::Scanner, raw::Raw};
use crate::error::shown;

/// Name that one object of a message has twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubled<'a> {
    name: Cow<'a, str>,
    /// Place of the object in the message.
    object: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Message,
    Params,
    Arguments,
    Meta,
    Elsewhere,
}

impl<'a> Doubled<'a> {
    pub(super) fn new(name: impl Into<Cow<'a, str>>, object: Place) -> Self {
        Self { name: name.into(), object }
    }

    /// Whether the message has this member twice.
    pub(super) fn is_member(&self, name: &str) -> bool {
        self.object == Place::Message && self.name == name
    }
}

impl fmt::Display for Doubled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let object = match self.object {
            Place::Message => "",
            Place::Params => " in `params`",
            Place::Arguments => " in `params.arguments`",
            Place::Meta => " in `params._meta`",
            Place::Elsewhere => " in one object",
        };
        write!(f, "`{}` appears twice{object}", shown(&self.name))
    }
}

/// Number of names up to which each name is compared with each other. More names are sorted.
const FEW: usize = 8;

/// Names of the members of all objects that are open while a value is read. The innermost object comes last, and the names of each object
/// begin with a `None`.
///
/// Names keep their quotes. A few names need no allocation.
pub(super) struct Names<'a> {
    few: [Option<&'a str>; FEW],
    count: usize,
    /// All names, from the moment when `few` is full until no name is left.
    many: Vec<Option<&'a str>>,
    has_escapes: bool,
}

impl<'a> Names<'a> {
    pub(super) const fn new() -> Self {
        Self { few: [None; FEW], count: 0, many: Vec::new(), has_escapes: false }
    }

    /// Begins an object.
    #[inline]
    pub(super) fn open(&mut self) {
        self.push(None);
    }

    /// Adds a member of the innermost object. `is_plain` says that the name has no escapes.
    #[inline]
    pub(super) fn add(&mut self, name: &'a str, is_plain: bool) {
        self.has_escapes |= !is_plain;
        self.push(Some(name));
    }

    #[inline]
    fn push(&mut self, name: Option<&'a str>) {
        if self.many.is_empty()
            && let Some(place) = self.few.get_mut(self.count)
        {
            *place = name;
            self.count += 1;
        } else {
            self.push_further(name);
        }
    }

    #[cold]
    fn push_further(&mut self, name: Option<&'a str>) {
        if self.many.is_empty() {
            self.many.extend_from_slice(&self.few[..self.count]);
        }
        self.many.push(name);
    }

    /// Ends the innermost object. Returns a name that it has twice.
    #[inline]
    pub(super) fn close(&mut self) -> Option<Cow<'a, str>> {
        let all = match self.many.as_mut_slice() {
            [] => &mut self.few[..self.count],
            many => many,
        };
        let start = all.iter().rposition(Option::is_none).unwrap_or_default();
        let names = &mut all[start + 1..];
        let doubled = if names.len() < FEW && !self.has_escapes {
            let among = |(at, name): (usize, &Option<&'a str>)| {
                names[..at].contains(name).then_some((*name)?)
            };
            names.iter().enumerate().find_map(among).map(decoded)
        } else {
            among_many(names, self.has_escapes)
        };
        if self.many.is_empty() {
            self.count = start;
        } else {
            self.many.truncate(start);
            self.count = 0;
        }
        doubled
    }
}

fn decoded(name: &str) -> Cow<'_, str> {
    Raw::validated(name).string().unwrap_or_default()
}

#[cold]
fn among_many<'a>(names: &mut [Option<&'a str>], have_escapes: bool) -> Option<Cow<'a, str>> {
    if have_escapes {
        return twice(names.iter().flatten().map(|it| decoded(it)).collect());
    }
    // Sorted in place, because the caller removes all of them after this.
    names.sort_unstable();
    let pair = names.windows(2).find(|it| it[0] == it[1])?;
    pair[0].map(decoded)
}

fn twice(mut names: Vec<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    names.sort_unstable();
    let at = names.windows(2).position(|it| it[0] == it[1])?;
    Some(names.swap_remove(at))
}

impl<'a> Scanner<'a> {
    /// Records that an object has a name twice, unless another name was recorded before.
    #[cold]
    pub(super) fn note_doubled(&mut self, name: Cow<'a, str>, object: Place) {
        self.doubled.get_or_insert_with(|| Doubled::new(name, object));
    }

    /// Takes the recorded name.
    pub(super) fn take_doubled(&mut self) -> Option<Doubled<'a>> {
        self.doubled.take()
    }
}

impl<'a> Raw<'a> {
    /// Returns a name that this object itself has twice.
    pub(super) fn doubled_member(self) -> Option<Cow<'a, str>> {
        twice(self.members().map(|it| it.0).collect())
    }

    /// Returns a name that some object in this value has twice.
    pub(crate) fn doubled(self) -> Option<Doubled<'a>> {
        let mut scanner = Scanner::new(self.as_str().as_bytes(), usize::MAX).ok()?;
        scanner.value().ok()?;
        scanner.take_doubled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let doubled = Raw::trusted(text).doubled();
        let object = Place::Elsewhere;
        let expected = expected.map(|name| Doubled::new(name, object));
        assert_eq!(doubled, expected, "{text}");
    }

    #[test]
    fn an_object_with_a_name_twice_is_found_at_any_depth() {
        check(r#"{"a":1,"b":2}"#, None);
        check(r#"{"a":1,"a":1}"#, Some("a"));
        check(r#"{"a":{"a":1},"b":{"a":[{"a":1}]}}"#, None);
        check(r#"[{"a":1},{"a":2}]"#, None);
        check(r#"{"x":[{"b":{"c":0,"d":[{}],"c":0}}]}"#, Some("c"));
        check(r#"{"x":{"y":1},"z":0,"x":0}"#, Some("x"));
        check(r#"{"a":1,"\u0061":2}"#, Some("a"));
        check(r#"{"\n":1,"\\n":2}"#, None);
        check(r#"{"":1,"":2}"#, Some(""));
    }

    #[test]
    fn objects_of_many_members_and_many_objects_are_looked_through() {
        for count in [6, 7, 8, 9, 100] {
            let names = || (0..count).map(|it| format!(r#""n{it}":{{"n{it}":{it}}}"#));
            let members: Vec<String> = names().collect();
            check(&format!("{{{}}}", members.join(",")), None);
            for again in [0, count / 2, count - 1] {
                let text = format!(r#"{{{},"n{again}":[]}}"#, members.join(","));
                check(&text, Some(&format!("n{again}")));
                // The names of outer objects are compared after the inner object has ended.
                check(&format!(r#"{{"n0":{text},"b":1}}"#), Some(&format!("n{again}")));
                check(&format!(r#"{{"b":{{{}}},"b":1}}"#, members.join(",")), Some("b"));
            }
        }
        let deep = format!(r#"{}{{"b":1}}{}"#, r#"{"a":"#.repeat(50), ",\"c\":0}".repeat(50));
        check(&deep, None);
        let deep = format!(r#"{}{{"b":1}}{}"#, r#"{"a":"#.repeat(50), ",\"a\":0}".repeat(50));
        check(&deep, Some("a"));
    }

    #[test]
    fn long_names_are_cut_where_they_are_told() {
        let name = "x".repeat(1_000_000);
        let doubled = Doubled::new(name, Place::Arguments).to_string();
        assert_eq!(doubled, format!("`{}` appears twice in `params.arguments`", "x".repeat(100)));
    }
}
