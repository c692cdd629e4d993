//! Report of the secrets that were removed from a recording. It contains no part of a secret.

use std::{collections::BTreeMap, fmt};

use crate::{redaction::Removal, transcript::Sender};

/// Maximum number of lines of the report. A session may have any number of different names.
const MOST_PLACES: usize = 200;

/// Maximum number of characters of a path in the report.
const LONGEST_PATH: usize = 200;

/// Counts of the secrets that were removed from a recording.
#[derive(Debug, Default)]
pub struct Removals {
    places: BTreeMap<(&'static str, String, String), Place>,
    all: usize,
}

#[derive(Debug)]
struct Place {
    count: usize,
    shortest: usize,
    longest: usize,
    /// Number of the first line in the file.
    line: usize,
}

impl Removals {
    /// Adds the removals from the message in a line of the file.
    pub fn add(&mut self, sender: Sender, line: usize, removals: Vec<Removal>) {
        for Removal { kind, path, bytes } in removals {
            self.all += 1;
            let key = (sender.name(), path, kind);
            if self.places.len() < MOST_PLACES || self.places.contains_key(&key) {
                let new = || Place { count: 0, shortest: bytes, longest: bytes, line };
                let place = self.places.entry(key).or_insert_with(new);
                place.count += 1;
                place.shortest = place.shortest.min(bytes);
                place.longest = place.longest.max(bytes);
            }
        }
    }
}

impl fmt::Display for Removals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.all;
        writeln!(f, "removed from the recording: {}", counted(self.all, "secret"))?;
        for ((sender, path, kind), place) in &self.places {
            let Place { count, shortest, longest, line } = place;
            rest -= count;
            let bytes = match shortest == longest {
                true => counted(*longest, "byte"),
                false => format!("{shortest} to {longest} bytes"),
            };
            // The names are those of the client and of the server, and the text goes to a terminal.
            let path: String =
                path.chars().take(LONGEST_PATH).flat_map(char::escape_debug).collect();
            let path = if path.is_empty() { "the line" } else { &*path };
            writeln!(f, "  {count} × {kind}: {sender}, {path}, {bytes}, first in line {line}")?;
        }
        match rest {
            0 => Ok(()),
            rest => writeln!(f, "  {rest} more, in other places"),
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_counts_removals_by_place() {
        let removal =
            |path: &str, bytes| Removal { kind: "member".to_owned(), path: path.to_owned(), bytes };
        let mut removals = Removals::default();
        assert_eq!(removals.to_string(), "removed from the recording: 0 secrets\n");
        removals.add(Sender::Client, 2, vec![removal("params.password", 4)]);
        removals.add(Sender::Client, 5, vec![removal("params.password", 9), removal("", 1)]);
        assert_eq!(
            removals.to_string(),
            "removed from the recording: 3 secrets\n  1 × member: client, the line, 1 byte, first in line 5\n  2 × member: client, params.password, 4 to 9 bytes, first in line 2\n"
        );
        removals.add(Sender::Client, 6, vec![removal(&format!("\u{1b}[2J{}", "é".repeat(300)), 1)]);
        let report = removals.to_string();
        assert!(
            report.contains(&format!("client, \\u{{1b}}[2J{}, 1", "é".repeat(196))),
            "{report}"
        );
        let many = (0..300).map(|number| removal(&format!("a{number}"), 1)).collect();
        removals.add(Sender::Server, 6, many);
        let report = removals.to_string();
        assert!(report.ends_with("  103 more, in other places\n"), "{report}");
        assert_eq!(report.lines().count(), 202);
    }
}
