//! Differences between two manifests, and the report about them.

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
};

use super::place::Place;

/// Effect of a change on clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// A client that worked before fails now, or receives a value that it was not promised.
    Breaking,
    /// The server offers more than before.
    Additive,
    /// Only words changed.
    Cosmetic,
}

/// Difference between two manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) class: Class,
    /// Place in the sources.
    pub(crate) place: Place,
    /// Part that has changed, as in "tool `add`: argument `b`".
    pub(crate) subject: String,
    /// Description of the change, as in "must be given now".
    pub(crate) text: String,
    /// Way to avoid the break.
    pub(crate) advice: Option<String>,
    /// Key that the same difference of the same type shares in all places.
    pub(super) kin: Option<String>,
}

impl Change {
    /// Returns the text for a further place of the same difference.
    fn also(&self) -> String {
        match &self.place {
            Place::Nowhere => self.subject.clone(),
            place => format!("{} ({place})", self.subject),
        }
    }

    fn is_kin_of(&self, other: &Self) -> bool {
        let same = self.class == other.class && self.text == other.text;
        same && self.advice == other.advice && self.kin.is_some() && self.kin == other.kin
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Nowhere => {}
            place => write!(f, "{place}: ")?,
        }
        write!(f, "{} {}", self.subject, self.text)
    }
}

/// All differences between a manifest that was committed and what is published now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    changes: Vec<Change>,
}

impl Report {
    pub(super) fn new(mut changes: Vec<Change>) -> Self {
        // The sort is stable, so the changes of one line stay in the order in which they were found.
        changes.sort_by(|a, b| (a.class, &a.place).cmp(&(b.class, &b.place)));
        Self { changes }
    }

    #[cfg(test)]
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether a change breaks clients.
    pub(crate) fn breaks(&self) -> bool {
        self.changes.iter().any(|it| it.class == Class::Breaking)
    }

    /// Whether the lock contains all that is published, and nothing else.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the report as text. `regenerate` is the command that writes the lock again.
    pub(crate) fn told(&self, file: &str, regenerate: &str) -> String {
        if self.is_empty() {
            return format!("{file}: what is published is what was promised\n");
        }
        let mut text = String::new();
        for class in [Class::Breaking, Class::Additive, Class::Cosmetic] {
            let told = one_of_kin(self.changes.iter().filter(|it| it.class == class));
            if told.is_empty() {
                continue;
            }
            let count = told.len();
            let changes = if count == 1 { "change" } else { "changes" };
            let what = match class {
                Class::Breaking => "breaking",
                Class::Additive => "additive",
                Class::Cosmetic => "cosmetic",
            };
            let _ = writeln!(text, "{count} {what} {changes}");
            for (change, others) in told {
                let _ = writeln!(text, "  {change}");
                if !others.is_empty() {
                    let others: Vec<_> = others.into_iter().map(Change::also).collect();
                    let _ = writeln!(text, "      also {}", others.join(", "));
                }
                if let Some(advice) = &change.advice {
                    let _ = writeln!(text, "      {advice}");
                }
            }
        }
        let _ = match self.breaks() {
            true => writeln!(text, "If clients may break, write {file} again: `{regenerate}`"),
            false => writeln!(text, "Nothing breaks. Write {file} again: `{regenerate}`"),
        };
        text
    }
}

/// Groups the changes that are one difference in several places. Returns the first change of each group with the others.
fn one_of_kin<'a>(all: impl Iterator<Item = &'a Change>) -> Vec<(&'a Change, Vec<&'a Change>)> {
    let mut told: Vec<(&Change, Vec<&Change>)> = Vec::new();
    let mut families: HashMap<&str, Vec<usize>> = HashMap::new();
    for change in all {
        let family = families.entry(change.kin.as_deref().unwrap_or_default()).or_default();
        match family.iter().find(|at| told[**at].0.is_kin_of(change)) {
            Some(at) => told[*at].1.push(change),
            None => {
                family.extend(change.kin.is_some().then_some(told.len()));
                told.push((change, Vec::new()));
            }
        }
    }
    told
}
