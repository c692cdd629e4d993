//! The parameters of a message, with the members that were passed while the message was read.

use std::borrow::Cow;

use super::raw::{Kind, Raw};

/// Most methods have no more members than this; of the others all are looked for in the text.
const MOST: usize = 5;

/// The text of a message's `params`, an object or an array, and where the members of an object are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params<'a> {
    whole: Raw<'a>,
    /// In their order, as far as `known` goes.
    members: [(&'a str, Raw<'a>); MOST],
    /// How many there are, or `None` where they have to be looked for.
    known: Option<usize>,
}

impl<'a> Params<'a> {
    /// Those of a message that has none: an empty object.
    pub(crate) const NONE: Params<'static> =
        Params { whole: Raw::EMPTY_OBJECT, members: [("", Raw::NULL); MOST], known: Some(0) };

    /// With nothing known but the text.
    #[cfg(test)]
    pub(super) fn new(whole: Raw<'a>) -> Self {
        let mut params = Params::NONE;
        params.set(whole);
        params
    }

    /// Takes in what is no object.
    pub(super) fn set(&mut self, whole: Raw<'a>) {
        (self.whole, self.known) = (whole, None);
    }

    /// Takes in the next member of the object that is being read.
    pub(super) fn add(&mut self, name: Cow<'a, str>, value: Raw<'a>) {
        let Some(known) = self.known else { return };
        self.known = match (name, self.members.get_mut(known)) {
            (Cow::Borrowed(name), Some(member)) => {
                *member = (name, value);
                Some(known + 1)
            }
            _ => None,
        };
    }

    /// The object has been read.
    pub(super) fn end(&mut self, whole: Raw<'a>) {
        self.whole = whole;
    }

    pub(super) fn kind(&self) -> Kind {
        self.whole.kind()
    }

    /// The member called `name`; of several the last one. None in an array.
    pub(crate) fn get(&self, name: &str) -> Option<Raw<'a>> {
        let Some(known) = self.known else { return self.whole.get(name) };
        self.members[..known].iter().rfind(|it| it.0 == name).map(|it| it.1)
    }

    /// The members of these names, like [`get`](Self::get).
    pub(crate) fn pick<const N: usize>(&self, names: [&str; N]) -> [Option<Raw<'a>>; N] {
        let Some(known) = self.known else { return self.whole.pick(names) };
        let mut found = [None; N];
        for (name, value) in &self.members[..known] {
            if let Some(at) = names.iter().position(|it| it == name) {
                found[at] = Some(*value);
            }
        }
        found
    }
}

impl PartialEq for Params<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.whole == other.whole
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::{Incoming, Limits, Message, Raw, parse};

    /// What is known of the members is what is in the text.
    #[test]
    fn members_are_those_of_the_text() {
        for params in [
            "{}",
            "[1,{\"a\":2}]",
            r#"{"a":1}"#,
            r#"{ "a" : 1 , "b":{"a":2}, "a":[3] }"#,
            r#"{"\u0061":1,"b":2}"#,
            r#"{"b":2,"\u0061":1,"a":0}"#,
            r#"{"1":1,"2":2,"3":3,"4":4,"a":5}"#,
            r#"{"1":1,"2":2,"3":3,"4":4,"a":5,"b":6}"#,
            r#"{"a":0,"1":1,"2":2,"3":3,"4":4,"5":5,"a":6,"":7}"#,
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#);
            let limits = Limits { depth: 10, batch: 1 };
            let Ok(Incoming::One(Ok(Message::Notification { params: Some(found), .. }))) =
                parse(text.as_bytes(), limits)
            else {
                panic!("{text}")
            };
            let raw = Raw::trusted(params);
            assert_eq!(found.whole, raw);
            for name in ["a", "b", "c", "", "5"] {
                assert_eq!(found.get(name), raw.get(name), "{name} of {params}");
            }
            assert_eq!(found.pick(["b", "a", "x"]), raw.pick(["b", "a", "x"]), "{params}");
        }
    }
}
