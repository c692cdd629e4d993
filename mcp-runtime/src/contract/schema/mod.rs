//! Comparison of two JSON Schemas, for arguments and for results.

mod alike;
mod alternative;
mod document;
mod elements;
mod gap;
mod inclusion;
mod kin;
mod members;
mod number;
mod scalars;
mod set;
mod types;
mod words;

pub(super) use gap::Path;
pub(super) use kin::kin;
pub(super) use words::differs;

use serde_json::Value;

use self::gap::{Gap, Telling};
use super::change::Class;
use crate::suggest::nearest;

/// Sender of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Clients send the values: all that was accepted must still be accepted.
    Arguments,
    /// The server sends the values: all that it sends must have been promised.
    Result,
}

/// Remedy for a difference that breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    None,
    KeepOldName(String),
    KeepArgument,
    KeepMember,
    MakeOptional,
    LeaveOpen,
    AcceptBoth,
    KeepPromise,
    KeepDefault,
    KeepHeader,
}

/// Difference between two schemas.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) class: Class,
    pub(super) path: Path,
    pub(super) text: String,
    pub(super) remedy: Remedy,
}

/// Returns all differences, breaking ones first, and then by their path in the schema.
pub(super) fn compare(side: Side, old: &Value, new: &Value) -> Vec<Finding> {
    if old == new {
        return Vec::new();
    }
    let is_argument = side == Side::Arguments;
    let forward = inclusion::gaps(old, new);
    let backward = inclusion::gaps(new, old);
    let mut judged: Vec<Judged> = Vec::new();
    judged.extend(forward.into_iter().map(|it| Judged::new(it, true, is_argument)));
    judged.extend(backward.into_iter().map(|it| Judged::new(it, false, is_argument)));
    // A server sends only members that it declares, whether or not its schema excludes others.
    judged.retain(|it| is_argument || it.gap != Gap::Closed);
    let renamed = take_renamed(&mut judged);

    // A place with a breaking difference has no harmless ones, and a member that is gone is not also missing.
    let broken: Vec<(Path, bool)> = judged
        .iter()
        .filter(|it| it.class == Class::Breaking)
        .map(|it| (it.path.clone(), it.is_gone()))
        .collect();
    judged.retain(|it| match it.class {
        Class::Breaking => {
            it.is_gone() || !broken.iter().any(|(path, is_gone)| *is_gone && *path == it.path)
        }
        _ => !broken.iter().any(|it_is| it_is.0 == it.path),
    });
    let mut findings: Vec<Finding> = judged.into_iter().map(Judged::finding).collect();
    findings.extend(renamed);
    words::compare(side, old, new, &mut findings);
    if findings.is_empty() {
        findings.push(Finding {
            class: Class::Cosmetic,
            path: Path::default(),
            text: "is written differently and means the same".to_owned(),
            remedy: Remedy::None,
        });
    }
    findings.sort_by(|a, b| (a.class, &a.path).cmp(&(b.class, &b.path)));
    findings
}

/// Whether a keyword is an annotation, which is compared as words. Keywords that begin with `x-` are annotations too (JSON Schema Core,
/// 6.5).
fn is_annotation(keyword: &str) -> bool {
    words::ANNOTATIONS.contains(&keyword)
        || matches!(keyword, "$schema" | "default")
        || keyword.starts_with("x-")
}

/// Gap with its effect on clients.
struct Judged {
    class: Class,
    path: Path,
    gap: Gap,
    telling: Telling,
}

impl Judged {
    fn new((path, gap): (Path, Gap), forward: bool, is_argument: bool) -> Self {
        let declared = matches!(gap, Gap::Undeclared { .. });
        let class = match (forward, is_argument) {
            (true, true) => Class::Breaking,
            // Clients miss a member that is gone, even if it was optional.
            (true, false) if declared => Class::Breaking,
            (true, false) | (false, true) => Class::Additive,
            (false, false) if matches!(gap, Gap::Undeclared { closed: false, .. }) => {
                Class::Additive
            }
            (false, false) => Class::Breaking,
        };
        Self { class, path, gap, telling: Telling { forward, is_argument } }
    }

    /// Whether the member was declared before, and is not any more.
    fn is_gone(&self) -> bool {
        self.telling.forward && matches!(self.gap, Gap::Undeclared { .. })
    }

    /// Whether the member is declared now, and was not before.
    fn is_new(&self) -> bool {
        !self.telling.forward && matches!(self.gap, Gap::Undeclared { .. })
    }

    fn finding(self) -> Finding {
        let remedy = match (self.class, self.telling.is_argument, &self.gap) {
            (Class::Additive | Class::Cosmetic, ..) => Remedy::None,
            (_, true, Gap::Undeclared { .. }) => Remedy::KeepArgument,
            (_, false, Gap::Undeclared { .. }) if self.telling.forward => Remedy::KeepMember,
            (_, true, Gap::Required | Gap::NewRequired) => Remedy::MakeOptional,
            (_, true, Gap::Closed) => Remedy::LeaveOpen,
            (_, true, _) => Remedy::AcceptBoth,
            (_, false, _) => Remedy::KeepPromise,
        };
        let text = self.gap.text(self.telling);
        Finding { class: self.class, path: self.path, text, remedy }
    }
}

/// Finds members that were renamed: in one object, one is gone, one is new, and they are alike. Removes them from `judged`.
fn take_renamed(judged: &mut Vec<Judged>) -> Vec<Finding> {
    let mut renamed = Vec::new();
    let gone: Vec<Path> =
        judged.iter().filter(|it| it.is_gone()).map(|it| it.path.clone()).collect();
    for path in gone {
        let beside = |it: &&Judged| it.path.parent() == path.parent();
        let new: Vec<&Judged> = judged.iter().filter(|it| it.is_new()).filter(beside).collect();
        let went = judged.iter().filter(|it| it.is_gone()).filter(beside).count();
        let schema = judged.iter().find(|it| it.is_gone() && it.path == path).map(|it| &it.gap);
        let name = path.name().unwrap_or_default();
        let alike = nearest(name, new.iter().filter_map(|it| it.path.name()));
        let other = match (alike, new.as_slice()) {
            (Some(name), _) => new.iter().find(|it| it.path.name() == Some(name)),
            // If one member is gone and one is new, it is enough that both have the same type.
            (None, [one]) if went == 1 && schema.is_some_and(|it| means_the_same(it, &one.gap)) => {
                Some(one)
            }
            _ => None,
        };
        let Some(other) = other.map(|it| it.path.clone()) else { continue };
        renamed.push(Finding {
            class: Class::Breaking,
            text: format!("was `{name}`, it seems: that one is gone, and this one is new"),
            remedy: Remedy::KeepOldName(name.to_owned()),
            path: other.clone(),
        });
        judged.retain(|it| it.path != path && it.path != other);
    }
    renamed
}

/// Whether two members have the same type, apart from their annotations.
fn means_the_same(a: &Gap, b: &Gap) -> bool {
    match (a, b) {
        (Gap::Undeclared { schema: a, .. }, Gap::Undeclared { schema: b, .. }) => {
            bare(a) == bare(b)
        }
        _ => false,
    }
}

/// Returns a schema without the annotations of the value as a whole.
fn bare(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    map.iter()
        .filter(|it| !is_annotation(it.0))
        .map(|(keyword, said)| (keyword.clone(), said.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
