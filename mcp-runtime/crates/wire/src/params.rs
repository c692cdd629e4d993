//! Parameters of a message. The pass that validates the message also records the members of `params`, and of `arguments` and `_meta` inside
//! it.

use std::borrow::Cow;

use crate::{
    duplicates::{ObjectPlace, duplicate_member},
    raw::{JsonKind, Raw},
    scanner::{Scanned, Scanner},
};

/// Maximum number of parameters that are recorded. Most methods have no more.
const MOST_PARAMS: usize = 5;
/// Maximum number of members that are recorded for `arguments`, and for `_meta`. Most calls have no more in either object.
const MOST_NESTED: usize = 6;

/// Parameters of a message: the text of `params`, which is an object or an array. For an object, the members are also recorded, including
/// the members of `arguments` and `_meta` inside it.
#[derive(Clone, Copy, Debug)]
pub struct RpcParams<'a> {
    all: MemberIndex<'a, MOST_PARAMS>,
    arguments: Option<MemberIndex<'a, MOST_NESTED>>,
    meta: Option<MemberIndex<'a, MOST_NESTED>>,
}

/// Members of `_meta` that each request under protocol revision 2026-07-28 or later has, in the order of the specification's examples.
pub const USUAL_META: [&str; 3] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
];

impl<'a> RpcParams<'a> {
    /// Parameters of a message without `params`: an empty object.
    pub const NONE: RpcParams<'static> = RpcParams::none();

    /// Creates parameters without recorded members.
    #[cfg(test)]
    pub(crate) fn text(whole: Raw<'a>) -> Self {
        let mut params = RpcParams::NONE;
        params.all.set(whole);
        params
    }

    #[inline(always)]
    pub(crate) const fn none() -> Self {
        RpcParams { all: MemberIndex::empty(), arguments: None, meta: None }
    }

    /// Returns the text with the recorded members.
    #[cfg(test)]
    pub(crate) fn object(&self) -> IndexedObject<'_> {
        self.all.object()
    }

    /// Returns the length of the text, in bytes.
    #[inline]
    pub fn size(&self) -> usize {
        self.all.whole().as_str().len()
    }

    /// Reads the value at the cursor.
    #[inline]
    pub(crate) fn read(&mut self, scanner: &mut Scanner<'a>) -> Scanned<()> {
        if scanner.peek() != Some(b'{') {
            let value = scanner.value()?;
            // Some clients send `null` for no parameters, although JSON-RPC 2.0 allows only objects and arrays.
            if value.kind() != JsonKind::Null {
                self.all.set(value);
            }
            return Ok(());
        }
        let start = scanner.at();
        scanner.object(|scanner| {
            // Most serializers write these two names in exactly this form, and comparing is cheaper than scanning a name.
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
                "arguments" => self.arguments.insert(MemberIndex::empty()).read(
                    scanner,
                    ObjectPlace::Arguments,
                    &[],
                )?,
                "_meta" => self.meta.insert(MemberIndex::empty()).read(
                    scanner,
                    ObjectPlace::Meta,
                    &USUAL_META,
                )?,
                _ => scanner.value()?,
            };
            self.all.add(name, value, scanner, ObjectPlace::Params);
            Ok(())
        })?;
        self.all.end(start, scanner, ObjectPlace::Params);
        Ok(())
    }

    /// Returns the type of the value.
    #[inline]
    pub(crate) fn kind(&self) -> JsonKind {
        self.all.whole().kind()
    }

    /// Returns the member called `name`, the last one if there are several. An array has no members.
    #[inline]
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.all.get(name)
    }

    /// Returns the members with these names, like [`get`](Self::get).
    pub fn pick<const N: usize>(&self, names: [&str; N]) -> [Option<Raw<'a>>; N] {
        self.all.pick(names)
    }

    /// Returns the member `arguments`.
    #[inline]
    pub fn arguments(&self) -> Option<IndexedObject<'_>> {
        self.arguments.as_ref().map(MemberIndex::object)
    }

    /// Returns the member `_meta`.
    #[inline]
    pub fn meta(&self) -> Option<IndexedObject<'_>> {
        self.meta.as_ref().map(MemberIndex::object)
    }
}

impl PartialEq for RpcParams<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.all.whole() == other.all.whole()
    }
}

/// A member's name, which has no escapes, and its value.
pub type IndexedMember<'a> = (&'a str, Raw<'a>);

/// Members of an object, recorded in the pass that validated it.
///
/// The members are recorded if the object has at most `N` members, and no name has escapes. For other objects, each lookup searches the
/// text.
#[derive(Clone, Copy, Debug)]
struct MemberIndex<'a, const N: usize> {
    /// Text of the object, or of another value in its place.
    whole: Raw<'a>,
    /// Members in the order of the text. The unused rest is `None`.
    members: [Option<IndexedMember<'a>>; N],
    /// Number of members, or [`UNKNOWN`](Self::UNKNOWN) if `members` does not hold them all.
    known: usize,
}

/// An object, and its members if they have been recorded.
#[derive(Clone, Copy, Debug)]
pub struct IndexedObject<'a> {
    /// Text of the object, or of another value in its place.
    pub whole: Raw<'a>,
    /// All members in the order of the text, and a `None` for each unused place. `None` if they have not been recorded.
    pub members: Option<&'a [Option<IndexedMember<'a>>]>,
}

impl<'a, const N: usize> MemberIndex<'a, N> {
    const UNKNOWN: usize = usize::MAX;

    /// Creates an object without members. This is an inlined function, because a constant would be copied into place.
    #[inline(always)]
    const fn empty() -> Self {
        Self { whole: Raw::EMPTY_OBJECT, members: [None; N], known: 0 }
    }

    /// Reads the value at the cursor. `place` is the position of the value in the message.
    ///
    /// `usual` contains the names that most such objects begin with, in their usual order. The text is first compared with the name that is
    /// expected next, because this is cheaper than scanning a name.
    fn read(
        &mut self,
        scanner: &mut Scanner<'a>,
        place: ObjectPlace,
        usual: &[&'static str],
    ) -> Scanned<Raw<'a>> {
        let start = scanner.at();
        if scanner.peek() != Some(b'{') {
            self.set(scanner.value()?);
        } else {
            scanner.object(|scanner| {
                let expected = usual.get(self.known);
                let name = match expected.filter(|name| scanner.passes_key(name)) {
                    Some(name) => Cow::Borrowed(*name),
                    None => scanner.key()?,
                };
                let value = scanner.value()?;
                self.add(name, value, scanner, place);
                Ok(())
            })?;
            self.end(start, scanner, place);
        }
        Ok(self.whole)
    }

    /// Sets a value without recorded members.
    fn set(&mut self, whole: Raw<'a>) {
        (self.whole, self.known) = (whole, Self::UNKNOWN);
    }

    /// Adds the next member of the object that is being read.
    #[inline]
    fn add(
        &mut self,
        name: Cow<'a, str>,
        value: Raw<'a>,
        scanner: &mut Scanner<'a>,
        place: ObjectPlace,
    ) {
        let Some((earlier, rest)) = self.members.split_at_mut_checked(self.known) else { return };
        let (Cow::Borrowed(name), Some(member)) = (name, rest.first_mut()) else {
            self.known = Self::UNKNOWN;
            return;
        };
        if earlier.iter().flatten().any(|member| member.0 == name) {
            scanner.note_duplicate(name.into(), place);
        }
        *member = Some((name, value));
        self.known += 1;
    }

    /// Ends the object that began at `start`.
    fn end(&mut self, start: usize, scanner: &mut Scanner<'a>, place: ObjectPlace) {
        self.whole = scanner.since(start, scanner.at());
        // If a name has escapes, or there are more members than `N`, `add` has not compared all names, so the text is searched for
        // duplicates.
        if self.known == Self::UNKNOWN
            && let Some(name) = duplicate_member(self.whole)
        {
            scanner.note_duplicate(name, place);
        }
    }

    #[inline]
    fn whole(&self) -> Raw<'a> {
        self.whole
    }

    #[inline]
    fn get(&self, name: &str) -> Option<Raw<'a>> {
        match self.members() {
            Some(members) => find(members, name),
            None => self.whole.get(name),
        }
    }

    fn pick<const M: usize>(&self, names: [&str; M]) -> [Option<Raw<'a>>; M] {
        match self.members() {
            Some(members) => find_each(members, names),
            None => self.whole.pick(names),
        }
    }

    #[inline]
    fn object(&self) -> IndexedObject<'_> {
        IndexedObject { whole: self.whole, members: self.members() }
    }

    #[inline]
    fn members(&self) -> Option<&[Option<IndexedMember<'a>>]> {
        self.members.get(..self.known)
    }
}

impl<'a> IndexedObject<'a> {
    /// Returns the members with these names, found in one pass. If several members have the same name, the last member counts.
    pub fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Raw<'a>>; N] {
        match self.members {
            Some(members) => find_each(members, names),
            None => self.whole.pick(names),
        }
    }
}

#[inline]
fn find<'a>(members: &[Option<IndexedMember<'a>>], name: &str) -> Option<Raw<'a>> {
    members.iter().rev().flatten().find(|member| member.0 == name).map(|member| member.1)
}

fn find_each<'a, const N: usize>(
    members: &[Option<IndexedMember<'a>>],
    names: [&str; N],
) -> [Option<Raw<'a>>; N] {
    let mut found = [None; N];
    for (name, value) in members.iter().flatten() {
        if let Some(at) = names.iter().position(|wanted| wanted == name) {
            found[at] = Some(*value);
        }
    }
    found
}

impl<'a> From<Raw<'a>> for IndexedObject<'a> {
    #[inline]
    fn from(whole: Raw<'a>) -> Self {
        Self { whole, members: None }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Incoming, ParseLimits, Parsed, Raw, RpcMessage, parse};

    fn check(params: &str) {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#);
        let (limits, mut parsed) = (ParseLimits { depth: 10, batch: 1 }, Parsed::default());
        let Ok(Incoming::One(Ok(RpcMessage::Notification { params: Some(found), .. }))) =
            parse(text.as_bytes(), limits, &mut parsed)
        else {
            panic!("{text}")
        };
        let raw = Raw::trusted(params);
        assert_eq!(found.object().whole, raw);
        for name in ["a", "b", "c", "", "5", "arguments", "_meta", "name"] {
            assert_eq!(found.get(name), raw.get(name), "{name} of {params}");
        }
        assert_eq!(found.pick(["b", "a", "x"]), raw.pick(["b", "a", "x"]), "{params}");
        for (name, known) in [("arguments", found.arguments()), ("_meta", found.meta())] {
            assert_eq!(known.map(|object| object.whole), raw.get(name), "{name} of {params}");
            let Some(known) = known else { continue };
            let names = ["b", "a", "name", "_meta"];
            assert_eq!(known.pick(names), known.whole.pick(names), "{name} of {params}");
            let found: Option<Vec<_>> =
                known.members.map(|all| all.iter().flatten().map(|member| member.1).collect());
            let values: Vec<_> = known.whole.members().map(|member| member.1).collect();
            assert!(found.is_none_or(|found| found == values), "{name} of {params}");
        }
    }

    /// The recorded members are equal to the members of the text.
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
