//! File of the findings that the author accepts. Its entries name an item, a severity and a rule, and count the findings, because the texts
//! of findings contain sizes and names of arguments, which change.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::finding::{CheckFinding, FindingGroup, Severity};
use crate::cli::exit::CommandError;

/// The file, and its content.
pub(super) struct Baseline {
    file: PathBuf,
    entries: Vec<BaselineEntry>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct BaselineContent {
    accepted: Vec<BaselineEntry>,
}

/// Accepted findings of one rule about one item.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct BaselineEntry {
    item: String,
    /// Some rules have findings of both severities.
    severity: Severity,
    rule: String,
    #[serde(default = "one")]
    count: usize,
    /// Reason of the author, for readers of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn one() -> usize {
    1
}

impl BaselineEntry {
    fn is_about(&self, item: &str, finding: &CheckFinding) -> bool {
        self.item == item && self.is_of(finding)
    }

    fn is_of(&self, finding: &CheckFinding) -> bool {
        self.rule == finding.rule && self.severity == finding.severity
    }
}

impl Baseline {
    /// Reads the file.
    ///
    /// # Errors
    /// Fails if the file does not exist, cannot be read, is no baseline, or has two entries for one item and rule.
    pub(super) fn read(file: &Path) -> Result<Self, CommandError> {
        Self::read_if_exists(file)?.ok_or_else(|| {
            let file = file.display();
            CommandError::failure(format!(
                "{file} does not exist: create it with `check --write-baseline {file}`, then commit it"
            ))
        })
    }

    fn read_if_exists(file: &Path) -> Result<Option<Self>, CommandError> {
        let failure =
            |problem: String| CommandError::failure(format!("{} {problem}", file.display()));
        let text = match fs::read(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failure(format!("cannot be read: {error}"))),
        };
        let BaselineContent { accepted: entries } = serde_json::from_slice(&text)
            .map_err(|error| failure(format!("is no baseline of `check`: {error}")))?;
        for (at, BaselineEntry { item, severity, rule, .. }) in entries.iter().enumerate() {
            let is_same = |entry: &BaselineEntry| {
                (&entry.item, entry.severity, &entry.rule) == (item, *severity, rule)
            };
            if entries[..at].iter().any(is_same) {
                let severity = severity.name();
                return Err(failure(format!(
                    "has two entries for {item} and the {severity} `{rule}`: keep one, with the sum of both as `count`"
                )));
            }
        }
        Ok(Some(Self { file: file.to_owned(), entries }))
    }

    /// Removes the accepted findings from `groups`. If there are more than the file accepts, all of them stay, because any of them may be
    /// the new one.
    pub(super) fn accept(self, groups: &mut Vec<FindingGroup>) -> AcceptedFindings {
        let mut accepted =
            AcceptedFindings { file: self.file, count: 0, exceeded: Vec::new(), gone: Vec::new() };
        for entry in self.entries {
            let group = groups.iter_mut().find(|group| group.item == entry.item);
            let findings = group.iter().flat_map(|group| &group.findings);
            let found = findings.filter(|finding| entry.is_of(finding)).count();
            if found > entry.count {
                accepted.exceeded.push((entry, found));
                continue;
            }
            accepted.count += found;
            if let Some(group) = group {
                group.findings.retain(|finding| !entry.is_of(finding));
            }
            if found < entry.count {
                accepted.gone.push((entry, found));
            }
        }
        groups.retain(|group| !group.findings.is_empty());
        accepted
    }

    /// Writes all findings to the file, and returns their number. Entries that are in the file already keep their reasons.
    ///
    /// # Errors
    /// Fails if the file exists and is no baseline, or cannot be written.
    pub(super) fn write(file: &Path, groups: &[FindingGroup]) -> Result<usize, CommandError> {
        let mut before = Self::read_if_exists(file)?.map(|known| known.entries).unwrap_or_default();
        let mut accepted: Vec<BaselineEntry> = Vec::new();
        let found = groups
            .iter()
            .flat_map(|group| group.findings.iter().map(|finding| (&*group.item, finding)));
        for (item, finding) in found.clone() {
            if let Some(entry) = accepted.iter_mut().find(|entry| entry.is_about(item, finding)) {
                entry.count += 1;
                continue;
            }
            let known = before.iter_mut().find(|entry| entry.is_about(item, finding));
            accepted.push(BaselineEntry {
                item: item.to_owned(),
                severity: finding.severity,
                rule: finding.rule.to_owned(),
                count: 1,
                reason: known.and_then(|entry| entry.reason.take()),
            });
        }
        let content = serde_json::to_string_pretty(&BaselineContent { accepted })
            .map_err(CommandError::failure)?;
        fs::write(file, content + "\n").map_err(|error| {
            CommandError::failure(format!("{} cannot be written: {error}", file.display()))
        })?;
        Ok(found.count())
    }
}

/// Result of the comparison with a baseline.
pub(super) struct AcceptedFindings {
    file: PathBuf,
    count: usize,
    /// Entries that accept fewer findings than there are, and the number of the findings.
    exceeded: Vec<(BaselineEntry, usize)>,
    /// Entries that accept more findings than there are, and the number of the findings.
    gone: Vec<(BaselineEntry, usize)>,
}

impl AcceptedFindings {
    pub(super) fn is_any(&self) -> bool {
        self.count > 0
    }

    /// Returns the lines for the report. `is_complete` tells whether all items were checked, so that findings are gone for sure, and `is_clean`
    /// whether all findings are accepted.
    pub(super) fn report(&self, is_complete: bool, is_clean: bool) -> String {
        let shown = self.file.display();
        let lines = |entries: &[(BaselineEntry, usize)]| -> String {
            let line = |(BaselineEntry { item, severity, rule, count, .. }, found): &(_, usize)| {
                let severity = severity.name();
                format!("  {item}, {severity} ({rule}): accepts {count}, found {found}\n")
            };
            entries.iter().map(line).collect()
        };
        let noun = if self.count == 1 { "finding" } else { "findings" };
        let mut text = format!("{shown} accepts {} {noun}\n", self.count);
        if !self.exceeded.is_empty() {
            let exceeded = lines(&self.exceeded);
            text += &format!("there are more findings than {shown} accepts:\n{exceeded}");
        }
        if is_complete && !self.gone.is_empty() {
            let fix = match is_clean {
                true => format!("write it again with `check --write-baseline {shown}`"),
                // The command would accept the new findings too.
                false => "lower their counts".to_owned(),
            };
            text += &format!("findings in {shown} are gone, {fix}:\n{}", lines(&self.gone));
        }
        text + "\n"
    }

    /// Returns the member `baseline` of the report as JSON.
    pub(super) fn json(&self) -> Value {
        let listed = |entries: &[(BaselineEntry, usize)]| -> Value {
            let entry = |(entry, found): &(BaselineEntry, usize)| {
                json!({
                    "item": entry.item,
                    "severity": entry.severity,
                    "rule": entry.rule,
                    "count": entry.count,
                    "found": found,
                })
            };
            entries.iter().map(entry).collect()
        };
        json!({
            "accepted": self.count,
            "exceeded": listed(&self.exceeded),
            "gone": listed(&self.gone),
        })
    }
}
