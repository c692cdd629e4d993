//! Differences between two manifests, and the report about them.

use std::{
    collections::HashMap,
    fmt::{self, Write as _},
};

use serde_json::{Value, json};

use crate::place::SourcePlace;

/// Effect of a change on clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChangeClass {
    /// A client that worked before fails now, or receives a value that the old contract excludes.
    Breaking,
    /// The server offers more than before.
    Additive,
    /// Only titles, descriptions, other annotations, the order or the spelling have changed.
    Cosmetic,
}

/// Difference between two manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContractChange {
    pub(crate) class: ChangeClass,
    /// Place of the changed part in the sources.
    pub(crate) place: SourcePlace,
    /// Part of the server that has changed, as in "tool `add`: argument `b`".
    pub(crate) subject: String,
    /// Description of the change, as in "must be given now".
    pub(crate) text: String,
    /// Advice on how to avoid the breaking change.
    pub(crate) advice: Option<String>,
    /// Key that is shared by all places at which the same type has the same change. `None` for a change that is not inside a type.
    pub(crate) type_key: Option<String>,
}

impl ChangeClass {
    fn name(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Additive => "additive",
            Self::Cosmetic => "cosmetic",
        }
    }
}

impl ContractChange {
    /// Returns this change as an entry in the list of further places: the subject, and the place if it is known.
    fn as_further_place(&self) -> String {
        match &self.place {
            SourcePlace::Nowhere => self.subject.clone(),
            place => format!("{} ({place})", self.subject),
        }
    }

    fn is_same_difference_as(&self, other: &Self) -> bool {
        let same = self.class == other.class && self.text == other.text;
        same && self.advice == other.advice
            && self.type_key.is_some()
            && self.type_key == other.type_key
    }
}

impl fmt::Display for ContractChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            SourcePlace::Nowhere => {}
            place => write!(f, "{place}: ")?,
        }
        write!(f, "{} {}", self.subject, self.text)
    }
}

/// All differences between the manifest in a lock file and the manifest that the server publishes now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractReport {
    changes: Vec<ContractChange>,
}

impl ContractReport {
    pub(crate) fn new(mut changes: Vec<ContractChange>) -> Self {
        // The sort is stable, so changes with the same class and place stay in the order in which they were found.
        changes.sort_by(|a, b| (a.class, &a.place).cmp(&(b.class, &b.place)));
        Self { changes }
    }

    #[cfg(test)]
    pub(crate) fn changes(&self) -> &[ContractChange] {
        &self.changes
    }

    /// Whether any change breaks clients.
    pub fn breaks(&self) -> bool {
        self.changes.iter().any(|change| change.class == ChangeClass::Breaking)
    }

    /// Whether there are no changes, so that the lock is up to date.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the changes as JSON: a list of objects with `class` (`breaking`, `additive` or `cosmetic`), `subject`, `change`, `place` and
    /// `advice`. `place` and `advice` are left out where there are
    /// none.
    pub fn json(&self) -> Value {
        let changes = self.changes.iter().map(|change| {
            let mut object = json!({
                "class": change.class.name(),
                "subject": change.subject,
                "change": change.text,
            });
            if change.place != SourcePlace::Nowhere {
                object["place"] = change.place.to_string().into();
            }
            if let Some(advice) = &change.advice {
                object["advice"] = advice.as_str().into();
            }
            object
        });
        changes.collect::<Vec<_>>().into()
    }

    /// Returns the report as text. `file` is the path of the lock file, and `regenerate` is the command that writes a new one.
    pub fn text(&self, file: &str, regenerate: &str) -> String {
        if self.is_empty() {
            return format!("{file}: up to date\n");
        }
        let mut text = String::new();
        for class in [ChangeClass::Breaking, ChangeClass::Additive, ChangeClass::Cosmetic] {
            let told = group_by_type(self.changes.iter().filter(|change| change.class == class));
            if told.is_empty() {
                continue;
            }
            let count = told.len();
            let changes = if count == 1 { "change" } else { "changes" };
            let _ = writeln!(text, "{count} {} {changes}", class.name());
            for (change, others) in told {
                let _ = writeln!(text, "  {change}");
                if !others.is_empty() {
                    let others: Vec<_> =
                        others.into_iter().map(ContractChange::as_further_place).collect();
                    let _ = writeln!(text, "      also {}", others.join(", "));
                }
                if let Some(advice) = &change.advice {
                    let _ = writeln!(text, "      {advice}");
                }
            }
        }
        let _ = match self.breaks() {
            true => writeln!(
                text,
                "If it is acceptable to break clients, write {file} again: `{regenerate}`"
            ),
            false => writeln!(text, "Nothing breaks. Write {file} again: `{regenerate}`"),
        };
        text
    }
}

/// Groups the changes that report the same difference at several places. Returns the first change of each group, with the other changes of
/// the group.
fn group_by_type<'a>(
    all: impl Iterator<Item = &'a ContractChange>,
) -> Vec<(&'a ContractChange, Vec<&'a ContractChange>)> {
    let mut told: Vec<(&ContractChange, Vec<&ContractChange>)> = Vec::new();
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for change in all {
        let group = groups.entry(change.type_key.as_deref().unwrap_or_default()).or_default();
        match group.iter().find(|at| told[**at].0.is_same_difference_as(change)) {
            Some(at) => told[*at].1.push(change),
            None => {
                group.extend(change.type_key.is_some().then_some(told.len()));
                told.push((change, Vec::new()));
            }
        }
    }
    told
}
