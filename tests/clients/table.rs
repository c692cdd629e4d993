//! Table of the results, which is written to `target/clients/table.md`. The test of each client adds the rows of that client.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    io::{self, Write as _},
    sync::{Mutex, PoisonError},
};

use support::server::target;

use crate::matrix::Cell;

/// Result of one client for one ability, as the table shows it.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Right,
    /// Right, with a limitation that users have to know about.
    Noted(&'static str),
    /// Not applicable, for this reason.
    None(&'static str),
    Wrong,
}

/// Rows by client and transport.
static ROWS: Mutex<BTreeMap<(&'static str, usize), Row>> = Mutex::new(BTreeMap::new());

struct Row {
    head: String,
    entries: [Entry; Cell::ALL.len()],
}

/// Adds a row, and writes the table of all rows to `target/clients/table.md`.
pub(crate) fn add(
    client: &'static str,
    order: usize,
    head: String,
    entries: [Entry; Cell::ALL.len()],
) {
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    rows.insert((client, order), Row { head, entries });
    let file = target().join("clients/table.md");
    fs::write(&file, render(rows.values())).expect("target is writable");
}

/// Prints the table to stderr directly, because the test harness hides what passing tests print.
pub(crate) fn print() {
    let rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(io::stderr(), "\n{}", render(rows.values()));
}

fn render<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let mut table = String::from("| client |");
    let mut line = String::from("|---|");
    for cell in Cell::ALL {
        let _ = write!(table, " {} |", format!("{cell:?}").to_lowercase());
        line.push_str("---|");
    }
    let mut reasons: Vec<&str> = Vec::new();
    let mut number = |reason: &'static str| {
        let known = reasons.iter().position(|other| *other == reason);
        known.unwrap_or_else(|| {
            reasons.push(reason);
            reasons.len() - 1
        }) + 1
    };
    let _ = write!(table, "\n{line}\n");
    for row in rows {
        let _ = write!(table, "| {} |", row.head);
        for entry in &row.entries {
            let text = match entry {
                Entry::Right => "yes".to_owned(),
                Entry::Noted(note) => format!("yes ({})", number(note)),
                Entry::None(reason) => format!("n/a ({})", number(reason)),
                Entry::Wrong => "**no**".to_owned(),
            };
            let _ = write!(table, " {text} |");
        }
        table.push('\n');
    }
    for (at, reason) in reasons.iter().enumerate() {
        let _ = write!(table, "\n{}. {reason}", at + 1);
    }
    table.push('\n');
    table
}
