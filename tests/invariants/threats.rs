//! The tables of SECURITY.md. Each row must name a test that shows the defence against its threat.

use std::{fs, path::Path};

use crate::sources::root;

const SUITES: [(&str, &str); 5] = [
    ("unit", "mcp-runtime/src"),
    ("unit", "mcp-runtime/crates"),
    ("behaviour", "mcp-runtime/tests/behaviour"),
    ("faults", "tests/faults"),
    ("peers", "tests/peers"),
];

/// Returns rows of the tables that name no test, or a test that does not exist.
pub(crate) fn unshown(text: &str) -> Vec<String> {
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let rows = rows.filter(|row| !row.starts_with("| threat "));
    rows.filter_map(problem).collect()
}

fn problem(row: &str) -> Option<String> {
    let threat = row.split('|').nth(1).unwrap_or_default().trim();
    let shown = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or_default();
    let tests: Vec<_> =
        shown.split('`').skip(1).step_by(2).filter_map(|name| name.split_once("::")).collect();
    if tests.is_empty() {
        return Some(format!("{threat}: no test"));
    }
    let missing = tests.iter().find(|(suite, name)| !exists(suite, name))?;
    Some(format!("{threat}: there is no `{}::{}`", missing.0, missing.1))
}

fn exists(suite: &str, name: &str) -> bool {
    let mut folders = SUITES.iter().filter(|folder| folder.0 == suite);
    folders.any(|folder| contains(&root().join(folder.1), &format!("fn {name}(")))
}

fn contains(folder: &Path, text: &str) -> bool {
    let entries = fs::read_dir(folder).expect("the tests can be listed");
    entries.map(|entry| entry.expect("the tests can be listed").path()).any(|path| {
        if path.is_dir() {
            return contains(&path, text);
        }
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        is_rust && fs::read_to_string(&path).is_ok_and(|code| code.contains(text))
    })
}
