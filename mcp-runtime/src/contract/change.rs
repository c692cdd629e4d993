//! What has changed, and how it is told.

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
};

use super::place::Place;

/// What a change means for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Some client that was right before is wrong now, or is told what it was not promised.
    Breaking,
    /// There is more than before.
    Additive,
    /// Only words changed.
    Cosmetic,
}

/// One difference between two manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) class: Class,
    /// Where it comes from in the sources.
    pub(crate) place: Place,
    /// Of what, as in "tool `add`: argument `b`".
    pub(crate) subject: String,
    /// What, as in "must be given now".
    pub(crate) text: String,
    /// How not to break anything.
    pub(crate) advice: Option<String>,
    /// What it has in common with the same difference of the same type elsewhere.
    pub(super) kin: Option<String>,
}

impl Change {
    /// Where else the same is told.
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
        // Stable, so that the changes of one line stay in the order in which they were found.
        changes.sort_by(|a, b| (a.class, &a.place).cmp(&(b.class, &b.place)));
        Self { changes }
    }

    #[cfg(test)]
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether some client breaks.
    pub(crate) fn breaks(&self) -> bool {
        self.changes.iter().any(|it| it.class == Class::Breaking)
    }

    /// Whether the lock says all that is published, and nothing else.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The report for people. `regenerate` is the command that writes the lock again.
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

/// One of each family, the first, and the others with it.
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
