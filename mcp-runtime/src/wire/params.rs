//! The parameters of a message.

use std::borrow::Cow;

use super::{
    json::{Scanner, Step},
    names::Place,
    noted::{Known, Noted},
    raw::{Kind, Raw},
};

/// Number of parameters that are recorded. Most methods have no more than this.
const MOST: usize = 5;
/// Number of members that are recorded of `arguments` and of `_meta`. Most calls have no more than this in either.
const MOST_INSIDE: usize = 6;

/// Text of a message's `params`, an object or an array, with the members of the object and of the two objects in it that nearly every call
/// has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params<'a> {
    pub(super) all: Noted<'a, MOST>,
    pub(super) arguments: Option<Noted<'a, MOST_INSIDE>>,
    pub(super) meta: Option<Noted<'a, MOST_INSIDE>>,
}

/// Members of `_meta` that each request of the modern era has, in the order of the specification's examples.
pub(crate) const USUAL_META: [&str; 3] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
];

impl<'a> Params<'a> {
    /// Parameters of a message without `params`: an empty object.
    pub(crate) const NONE: Params<'static> = Params::none();

    /// Makes parameters of which only the text is known.
    #[cfg(test)]
    pub(super) fn text(whole: Raw<'a>) -> Self {
        let mut params = Params::NONE;
        params.all.set(whole);
        params
    }

    #[inline(always)]
    pub(super) const fn none() -> Self {
        Params { all: Noted::empty(), arguments: None, meta: None }
    }

    /// Returns the length of the text, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.all.whole().as_str().len()
    }

    /// Reads the value at the cursor.
    #[inline]
    pub(super) fn read(&mut self, scanner: &mut Scanner<'a>) -> Step<()> {
        if scanner.peek() != Some(b'{') {
            self.all.set(scanner.value()?);
            return Ok(());
        }
        let start = scanner.at();
        scanner.object(|scanner| {
            // The form in which most serializers write these two names.
            let name = if scanner.passes(r#""name":"#) {
                scanner.space();
                Cow::Borrowed("name")
            } else if scanner.passes(r#""arguments":"#) {
                scanner.space();
                Cow::Borrowed("arguments")
            } else {
                scanner.key()?
            };
            let value = match &*name {
                "arguments" => {
                    self.arguments.insert(Noted::empty()).read(scanner, Place::Arguments, &[])?
                }
                "_meta" => {
                    self.meta.insert(Noted::empty()).read(scanner, Place::Meta, &USUAL_META)?
                }
                _ => scanner.value()?,
            };
            self.all.add(name, value, scanner, Place::Params);
            Ok(())
        })?;
        self.all.end(start, scanner, Place::Params);
        Ok(())
    }

    pub(super) fn kind(&self) -> Kind {
        self.all.whole().kind()
    }

    /// Returns the member called `name`, the last one if there are several. An array has no members.
    pub(crate) fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.all.get(name)
    }

    /// Returns the members with these names, like [`get`](Self::get).
    pub(crate) fn pick<const N: usize>(&self, names: [&str; N]) -> [Option<Raw<'a>>; N] {
        self.all.pick(names)
    }

    /// The member `arguments`.
    pub(crate) fn arguments(&self) -> Option<Known<'_>> {
        self.arguments.as_ref().map(Noted::known)
    }

    /// The member `_meta`.
    pub(crate) fn meta(&self) -> Option<Known<'_>> {
        self.meta.as_ref().map(Noted::known)
    }
}

impl PartialEq for Params<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.all.whole() == other.all.whole()
    }
}

#[cfg(test)]
mod tests {
    use mcp_runtime_wire::{Incoming, ParseLimits, RpcMessage, Parsed, Raw, parse};

    fn check(params: &str) {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#);
        let (limits, mut parsed) = (ParseLimits { depth: 10, batch: 1 }, Parsed::default());
        let Ok(Incoming::One(Ok(RpcMessage::Notification { params: Some(found), .. }))) =
            parse(text.as_bytes(), limits, &mut parsed)
        else {
            panic!("{text}")
        };
        let raw = Raw::trusted(params);
        assert_eq!(found.all.whole(), raw);
        for name in ["a", "b", "c", "", "5", "arguments", "_meta", "name"] {
            assert_eq!(found.get(name), raw.get(name), "{name} of {params}");
        }
        assert_eq!(found.pick(["b", "a", "x"]), raw.pick(["b", "a", "x"]), "{params}");
        for (name, known) in [("arguments", found.arguments()), ("_meta", found.meta())] {
            assert_eq!(known.map(|it| it.whole), raw.get(name), "{name} of {params}");
            let Some(known) = known else { continue };
            let names = ["b", "a", "name", "_meta"];
            assert_eq!(known.pick(names), known.whole.pick(names), "{name} of {params}");
            let found: Option<Vec<_>> =
                known.members.map(|it| it.iter().flatten().map(|it| it.1).collect());
            let values: Vec<_> = known.whole.members().map(|it| it.1).collect();
            assert!(found.is_none_or(|it| it == values), "{name} of {params}");
        }
    }

    /// The recorded members are those of the text.
    #[test]
    fn members_are_those_of_the_text() {
        for params in [
            "{}",
            "[1,{\"a\":2}]",
            r#"{"a":1}"#,
            r#"{ "a" : 1 , "b":{"a":2}, "c":[3] }"#,
            r#"{"\u0061":1,"b":2}"#,
            r#"{"b":2,"\u0061":1,"c":0}"#,
            r#"{"1":1,"2":2,"3":3,"4":4,"a":5}"#,
            r#"{"1":1,"2":2,"3":3,"4":4,"a":5,"b":6}"#,
            r#"{"b":0,"1":1,"2":2,"3":3,"4":4,"5":5,"a":6,"":7}"#,
        ] {
            check(params);
        }
    }

    #[test]
    fn the_recorded_members_of_nested_objects_match_the_text() {
        for params in [
            r#"{"name":"a","arguments":{"a":1,"b":"2"},"_meta":{"name":3}}"#,
            r#"{ "arguments" : { "a" : 1 , "_meta":{"a":2} } , "name" :"b"}"#,
            r#"{"arguments":{},"_meta":[{"a":1}]}"#,
            r#"{"arguments":null,"_meta":"x"}"#,
            r#"{"argument\u0073":{"b":2},"a":{"a":1}}"#,
            r#"{"_met\u0061":{"a":1}}"#,
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientInfo" : {},"a":2}}"#,
            r#"{"_meta":{"io.modelcontextprotocol/clientInfo":1,"io.modelcontextprotocol/protocolVersion":{},"a":2}}"#,
            r#"{"_meta":{ "io.modelcontextprotocol/protocolVersion": [1], "io.modelcontextprotocol/clientInfo2":3}}"#,
            r#"{"arguments":{"1":1,"2":2,"3":3,"4":4,"5":5,"a":6,"b":7}}"#,
            r#"{"arguments":{"1":1,"2":2,"3":3,"4":4,"a":5,"\u0062":6}}"#,
            r#"{"1":1,"2":2,"3":3,"4":4,"5":5,"arguments":{"a":1},"_meta":{"a":1}}"#,
        ] {
            check(params);
        }
    }
}
