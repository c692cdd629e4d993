//! What has changed, and how it is told.

use std::fmt::{self, Write as _};

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
            let of_class = || self.changes.iter().filter(move |it| it.class == class);
            let count = of_class().count();
            if count == 0 {
                continue;
            }
            let changes = if count == 1 { "change" } else { "changes" };
            let what = match class {
                Class::Breaking => "breaking",
                Class::Additive => "additive",
                Class::Cosmetic => "cosmetic",
            };
            let _ = writeln!(text, "{count} {what} {changes}");
            for change in of_class() {
                let _ = writeln!(text, "  {change}");
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
