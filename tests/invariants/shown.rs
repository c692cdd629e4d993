//! Tables whose rows name tests: the threats of SECURITY.md, and the promises of docs/promises.md. Each row must name a test that exists.

use std::{fs, path::Path};

use crate::sources::root;

/// Suites whose tests are not in the folder of their name in `tests/`.
const SUITES: [(&str, &str); 4] = [
    ("unit", "mcp-runtime/src"),
    ("unit", "mcp-runtime/crates"),
    ("unit", "mcp-macros/src"),
    ("behaviour", "mcp-runtime/tests/behaviour"),
];

/// First cells of the tables.
const HEADS: [&str; 2] = ["| threat ", "| promise "];

/// Returns rows of the tables that name no test, or a test that does not exist.
pub(crate) fn unshown(text: &str) -> Vec<String> {
    rows(text).filter_map(problem).collect()
}

/// Returns the number of rows that name tests.
pub(crate) fn count(text: &str) -> usize {
    rows(text).count()
}

fn rows(text: &str) -> impl Iterator<Item = &str> {
    let rows = text.lines().filter(|line| line.starts_with("| "));
    rows.filter(|row| !HEADS.iter().any(|head| row.starts_with(head)))
}

fn problem(row: &str) -> Option<String> {
    let first = row.split('|').nth(1).unwrap_or_default().trim();
    let shown = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or_default();
    let names: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
    if names.is_empty() {
        return Some(format!("{first}: no test"));
    }
    let missing = names.iter().find(|name| !exists(name))?;
    Some(format!("{first}: there is no `{missing}`"))
}

/// Whether a name stands for a test, `suite::name`, for a transcript, `wire/….jsonl`, or for a step of CI, `.ci/full: …`.
fn exists(name: &str) -> bool {
    if let Some((suite, test)) = name.split_once("::") {
        let test = format!("fn {test}(");
        let mut elsewhere = SUITES.iter().filter(|entry| entry.0 == suite).peekable();
        return match elsewhere.peek() {
            Some(_) => elsewhere.any(|entry| contains(&root().join(entry.1), &test)),
            None => contains(&root().join("tests").join(suite), &test),
        };
    }
    if name.ends_with(".jsonl") {
        return root().join("tests").join(name).is_file();
    }
    // `.ci/full` runs the steps of `.ci/run`.
    let step = name.strip_prefix(".ci/full: ").or_else(|| name.strip_prefix(".ci/run: "));
    let script = fs::read_to_string(root().join(".ci/run")).expect("the script is there");
    let mut lines = script.lines().filter(|line| !line.trim_start().starts_with('#'));
    step.is_some_and(|step| lines.any(|line| line.contains(step)))
}

fn contains(folder: &Path, text: &str) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.map(|entry| entry.expect("the tests can be listed").path()).any(|path| {
        if path.is_dir() {
            return contains(&path, text);
        }
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        is_rust && fs::read_to_string(&path).is_ok_and(|code| code.contains(text))
    })
}
