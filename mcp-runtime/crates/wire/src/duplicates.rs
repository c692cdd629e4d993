//! Detection of names that occur twice in one object.
//!
//! If two members have the same name, some JSON readers use the first member, and others use the last. A gateway may have checked the
//! member that the server does not use, so the server rejects such a message.

use std::{borrow::Cow, fmt};

use crate::raw::Raw;

/// Name that occurs twice in one object of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateName<'a> {
    name: Cow<'a, str>,
    /// Place of the object in the message.
    object: ObjectPlace,
}

/// Place of an object in a message, for the text of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectPlace {
    /// The message itself.
    Message,
    Params,
    Arguments,
    Meta,
    Elsewhere,
}

impl<'a> DuplicateName<'a> {
    pub(crate) fn new(name: impl Into<Cow<'a, str>>, object: ObjectPlace) -> Self {
        Self { name: name.into(), object }
    }

    /// Whether the message has this member twice.
    pub(crate) fn is_member(&self, name: &str) -> bool {
        self.object == ObjectPlace::Message && self.name == name
    }
}

impl fmt::Display for DuplicateName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let object = match self.object {
            ObjectPlace::Message => "",
            ObjectPlace::Params => " in `params`",
            ObjectPlace::Arguments => " in `params.arguments`",
            ObjectPlace::Meta => " in `params._meta`",
            ObjectPlace::Elsewhere => " in one object",
        };
        // The name comes from the client, so only its first 100 characters are shown.
        write!(f, "`{:.100}` appears twice{object}", self.name)
    }
}

/// Number of entries of [`OpenNames`] that need no allocation. In an object with fewer members, each name is compared with every other
/// name. In a larger object, the names are sorted instead.
const FEW: usize = 8;

/// Names of the members of all objects that are open while a value is read. The innermost object comes last, and the names of each object
/// begin with a `None`.
///
/// Names are stored with their quotes. A small number of names needs no allocation.
pub(crate) struct OpenNames<'a> {
    few: [Option<&'a str>; FEW],
    count: usize,
    /// All names, once there are too many for `few`. Becomes empty when no name is left.
    many: Vec<Option<&'a str>>,
    has_escapes: bool,
}

impl<'a> OpenNames<'a> {
    pub(crate) const fn new() -> Self {
        Self { few: [None; FEW], count: 0, many: Vec::new(), has_escapes: false }
    }

    /// Begins an object.
    #[inline]
    pub(crate) fn open(&mut self) {
        self.push(None);
    }

    /// Adds a member of the innermost object. `is_plain` is true if the name has no escapes.
    #[inline]
    pub(crate) fn add(&mut self, name: &'a str, is_plain: bool) {
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

    /// Ends the innermost object. Returns a name that occurs twice in the object, if there is one.
    #[inline]
    pub(crate) fn close(&mut self) -> Option<Cow<'a, str>> {
        let all = match self.many.as_mut_slice() {
            [] => &mut self.few[..self.count],
            many => many,
        };
        let start = all.iter().rposition(Option::is_none).unwrap_or_default();
        let names = &mut all[start + 1..];
        let duplicate = if names.len() < FEW && !self.has_escapes {
            let named_before = |(at, name): (usize, &Option<&'a str>)| {
                names[..at].contains(name).then_some((*name)?)
            };
            names.iter().enumerate().find_map(named_before).map(decoded)
        } else {
            duplicate_among_many(names, self.has_escapes)
        };
        if self.many.is_empty() {
            self.count = start;
        } else {
            self.many.truncate(start);
            self.count = 0;
        }
        duplicate
    }
}

fn decoded(name: &str) -> Cow<'_, str> {
    Raw::validated(name).string().unwrap_or_default()
}

#[cold]
fn duplicate_among_many<'a>(
    names: &mut [Option<&'a str>],
    have_escapes: bool,
) -> Option<Cow<'a, str>> {
    if have_escapes {
        return duplicate_among(names.iter().flatten().map(|name| decoded(name)).collect());
    }
    // The order of the names may change, because the caller removes all of them afterwards.
    names.sort_unstable();
    let pair = names.windows(2).find(|pair| pair[0] == pair[1])?;
    pair[0].map(decoded)
}

fn duplicate_among(mut names: Vec<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    names.sort_unstable();
    let at = names.windows(2).position(|pair| pair[0] == pair[1])?;
    Some(names.swap_remove(at))
}

/// Returns a name that occurs twice in this object, if there is one. Objects inside this object are not checked.
pub(crate) fn duplicate_member(object: Raw<'_>) -> Option<Cow<'_, str>> {
    duplicate_among(object.members().map(|(name, _)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let duplicate = Raw::trusted(text).duplicate_name();
        let object = ObjectPlace::Elsewhere;
        let expected = expected.map(|name| DuplicateName::new(name, object));
        assert_eq!(duplicate, expected, "{text}");
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
            let names = || (0..count).map(|n| format!(r#""n{n}":{{"n{n}":{n}}}"#));
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
    fn long_names_are_truncated_in_messages() {
        let name = "x".repeat(1_000_000);
        let duplicate = DuplicateName::new(name, ObjectPlace::Arguments).to_string();
        assert_eq!(duplicate, format!("`{}` appears twice in `params.arguments`", "x".repeat(100)));
    }
}
