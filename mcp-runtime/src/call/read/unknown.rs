//! Members of an argument that its type has no field for, and paths to values inside an argument.

use std::{borrow::Cow, fmt::Write as _};

use mcp_runtime_contract::suggest::nearest;
use mcp_runtime_wire::{JsonKind, Raw};

use crate::error::shown;

/// Step from a value to a value inside it.
#[derive(Debug)]
pub(crate) enum Step {
    Member(String),
    Element(usize),
}

/// Returns the path that leads from `base` along `steps`, such as `stops[1].name`.
pub(crate) fn path<'a>(base: &str, steps: impl Iterator<Item = &'a Step>) -> String {
    let mut path = base.to_owned();
    for step in steps {
        match step {
            Step::Member(name) if path.is_empty() => path.push_str(name),
            Step::Member(name) => {
                let _ = write!(path, ".{name}");
            }
            Step::Element(index) => {
                let _ = write!(path, "[{index}]");
            }
        }
    }
    path
}

/// Member that a struct has no field for.
#[derive(Clone, Copy, Debug)]
struct UnknownMember {
    /// Index of the member's name in the text.
    at: usize,
    /// Names of the struct's fields, if they are known.
    fields: Option<&'static [&'static str]>,
}

/// Unknown members of one argument.
#[derive(Debug, Default)]
pub(crate) struct UnknownMembers(Option<Box<Lists>>);

#[derive(Debug, Default)]
struct Lists {
    /// Members of the argument itself.
    outer: Vec<UnknownMember>,
    /// Members of values inside the argument. If several structs of a type have the same unknown member, only the first is listed.
    inner: Vec<UnknownMember>,
    /// Number of members of values inside the argument that were met after the list was full.
    more: usize,
}

/// Maximum number of unknown members in values inside an argument whose paths are known.
const MOST_INNER: usize = 16;

impl UnknownMembers {
    /// Adds the member of a struct that the reader skips. `depth` is 1 for a member of the argument itself.
    #[cold]
    pub(super) fn note(
        &mut self,
        text: &str,
        at: usize,
        fields: Option<&'static [&'static str]>,
        depth: usize,
    ) {
        let lists = self.0.get_or_insert_default();
        let member = UnknownMember { at, fields };
        if depth == 1 {
            lists.outer.push(member);
        } else if lists.inner.len() >= MOST_INNER {
            lists.more += 1;
        } else {
            let name = name_at(text, at);
            let is_same =
                |known: &UnknownMember| known.fields == fields && name_at(text, known.at) == name;
            if !lists.inner.iter().any(is_same) {
                lists.inner.push(member);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Takes the names of the unknown members of the argument itself. `text` is the text that was read.
    pub(crate) fn take_outer<'a>(&mut self, text: &'a str) -> Vec<Cow<'a, str>> {
        let Some(lists) = &mut self.0 else { return Vec::new() };
        let outer = std::mem::take(&mut lists.outer);
        if lists.inner.is_empty() {
            self.0 = None;
        }
        outer.iter().map(|member| name_at(text, member.at)).collect()
    }

    /// Returns the number of unknown members, and an iterator over their descriptions. `base` is the name of the argument, and `text` the
    /// text that was read.
    pub(crate) fn described<'a>(
        &'a self,
        base: &'a str,
        text: &'a str,
    ) -> (usize, impl Iterator<Item = String>) {
        let all = self.0.iter().flat_map(|lists| lists.outer.iter().chain(&lists.inner));
        let count = all.clone().count() + self.0.as_ref().map_or(0, |lists| lists.more);
        let described = all.map(move |member| {
            let steps = steps_to(Raw::trusted(text), member.at);
            let path = path(base, steps.iter());
            match member.fields {
                Some(fields) => unknown_argument(&path, &name_at(text, member.at), fields),
                None => format!("unknown argument `{}`", shown(&path)),
            }
        });
        (count, described)
    }
}

/// Returns the name of a member from the index at which it begins.
fn name_at(text: &str, at: usize) -> Cow<'_, str> {
    text.get(at..).and_then(|rest| Raw::first_of(rest).string()).unwrap_or_default()
}

/// Returns the index in `raw` at which a value inside it begins.
pub(super) fn index_in(raw: Raw<'_>, value: Raw<'_>) -> usize {
    value.as_str().as_ptr().addr() - raw.as_str().as_ptr().addr()
}

/// Returns the steps to the member whose name begins at the index.
fn steps_to(raw: Raw<'_>, at: usize) -> Vec<Step> {
    let ends_after = |value: &Raw<'_>| index_in(raw, *value) + value.as_str().len() > at;
    let mut steps = Vec::new();
    let mut value = raw;
    loop {
        let next = match value.kind() {
            JsonKind::Object => value
                .members()
                .find(|(_, value)| ends_after(value))
                .map(|(name, value)| (Step::Member(name.into_owned()), value)),
            JsonKind::Array => value
                .elements()
                .enumerate()
                .find(|(_, value)| ends_after(value))
                .map(|(index, value)| (Step::Element(index), value)),
            _ => None,
        };
        let Some((step, inner)) = next else { return steps };
        steps.push(step);
        if index_in(raw, inner) > at {
            return steps;
        }
        value = inner;
    }
}

/// Describes an unknown argument, or an unknown member inside an argument. `path` ends with `name`.
pub(crate) fn unknown_argument(path: &str, name: &str, known: &[&str]) -> String {
    let path = shown(path);
    match nearest(shown(name), known.iter().copied()) {
        _ if known.is_empty() => format!("unknown argument `{path}`: there are none"),
        Some(near) => format!("unknown argument `{path}`; did you mean `{near}`?"),
        None => format!("unknown argument `{path}`; there are {}", quoted(known)),
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
