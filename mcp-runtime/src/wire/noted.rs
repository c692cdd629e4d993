//! Objects whose members were recorded in the pass that validated them.

use std::borrow::Cow;

use super::{
    json::{Scanner, Step},
    names::Place,
    raw::Raw,
};

/// A member's name, which has no escapes, and its value.
pub(crate) type Member<'a> = (&'a str, Raw<'a>);

/// Text of a value and, if the value is an object of at most `N` members whose names have no escapes, all of its members. The members of
/// other objects are searched for in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noted<'a, const N: usize> {
    whole: Raw<'a>,
    /// Members in the order of the text. The unused rest is `None`.
    members: [Option<Member<'a>>; N],
    /// Number of members, or [`UNKNOWN`](Self::UNKNOWN) if `members` does not hold them all.
    known: usize,
}

/// An object, and its members if they have been recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) whole: Raw<'a>,
    pub(crate) members: Option<&'a [Option<Member<'a>>]>,
}

impl<'a, const N: usize> Noted<'a, N> {
    const UNKNOWN: usize = usize::MAX;

    /// Makes an object without members. It is a function, because a constant would be copied to its place.
    #[inline(always)]
    pub(super) const fn empty() -> Self {
        Self { whole: Raw::EMPTY_OBJECT, members: [None; N], known: 0 }
    }

    /// Reads the value at the cursor. `place` is its place in the message.
    ///
    /// `usual` are the names that most such objects begin with, in their order. A name that is expected next is compared as a whole.
    pub(super) fn read(
        &mut self,
        scanner: &mut Scanner<'a>,
        place: Place,
        usual: &[&'static str],
    ) -> Step<Raw<'a>> {
        let start = scanner.at();
        if scanner.peek() != Some(b'{') {
            self.set(scanner.value()?);
        } else {
            scanner.object(|scanner| {
                let expected = usual.get(self.known);
                let name = match expected.filter(|it| scanner.passes_key(it)) {
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

    /// Sets a value of which only the text is known.
    pub(super) fn set(&mut self, whole: Raw<'a>) {
        (self.whole, self.known) = (whole, Self::UNKNOWN);
    }

    /// Adds the next member of the object that is being read.
    #[inline]
    pub(super) fn add(
        &mut self,
        name: Cow<'a, str>,
        value: Raw<'a>,
        scanner: &mut Scanner<'a>,
        place: Place,
    ) {
        let Some((earlier, rest)) = self.members.split_at_mut_checked(self.known) else { return };
        let (Cow::Borrowed(name), Some(member)) = (name, rest.first_mut()) else {
            self.known = Self::UNKNOWN;
            return;
        };
        if earlier.iter().flatten().any(|it| it.0 == name) {
            scanner.note_doubled(name.into(), place);
        }
        *member = Some((name, value));
        self.known += 1;
    }

    /// Ends the object that began at `start`.
    pub(super) fn end(&mut self, start: usize, scanner: &mut Scanner<'a>, place: Place) {
        self.whole = scanner.since(start, scanner.at());
        // If a name has escapes, or there are more members than `N`, the names have not all been compared yet.
        if self.known == Self::UNKNOWN
            && let Some(name) = self.whole.doubled_member()
        {
            scanner.note_doubled(name, place);
        }
    }

    pub(super) fn whole(&self) -> Raw<'a> {
        self.whole
    }

    pub(super) fn get(&self, name: &str) -> Option<Raw<'a>> {
        match self.members() {
            Some(members) => find(members, name),
            None => self.whole.get(name),
        }
    }

    pub(super) fn pick<const M: usize>(&self, names: [&str; M]) -> [Option<Raw<'a>>; M] {
        match self.members() {
            Some(members) => find_each(members, names),
            None => self.whole.pick(names),
        }
    }

    pub(super) fn known(&self) -> Known<'_> {
        Known { whole: self.whole, members: self.members() }
    }

    fn members(&self) -> Option<&[Option<Member<'a>>]> {
        self.members.get(..self.known)
    }
}

impl<'a> Known<'a> {
    /// Returns the members with these names, found in one pass. If several have one name, the last one counts.
    pub(crate) fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Raw<'a>>; N] {
        match self.members {
            Some(members) => find_each(members, names),
            None => self.whole.pick(names),
        }
    }
}

fn find<'a>(members: &[Option<Member<'a>>], name: &str) -> Option<Raw<'a>> {
    members.iter().rev().flatten().find(|it| it.0 == name).map(|it| it.1)
}

fn find_each<'a, const N: usize>(
    members: &[Option<Member<'a>>],
    names: [&str; N],
) -> [Option<Raw<'a>>; N] {
    let mut found = [None; N];
    for (name, value) in members.iter().flatten() {
        if let Some(at) = names.iter().position(|it| it == name) {
            found[at] = Some(*value);
        }
    }
    found
}

impl<'a> From<Raw<'a>> for Known<'a> {
    fn from(whole: Raw<'a>) -> Self {
        Self { whole, members: None }
    }
}
