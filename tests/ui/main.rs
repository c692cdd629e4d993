//! Errors that users see when they make a mistake, and legal programs that compile without a warning.
//!
//! Each folder contains programs with one mistake each. Beside each program are the output of rustc and the corrected program (see
//! `fixed`). Regenerate the output with `UI=overwrite cargo test --workspace --test ui mistakes`, and read it as the author of the
//! mistake would.

#![forbid(unsafe_code)]

mod build;
mod cargo;
mod counted;
mod features;
mod fixed;
mod mistakes;
mod pass;

use std::{
    path::{Path, PathBuf},
    process::Command,
};
use support::requirement::{Missing, output_of};

fn main() -> std::process::ExitCode {
    support::harness::run()
}

/// Version of the compiler whose output is stored beside the fixtures.
const RENDERED_BY: &str = "1.95";

/// Folders whose programs have one mistake each. In a program with several mistakes, or with uses of a mistaken item, the comment `//
/// mistake` marks each line with an error.
const AREAS: [&str; 22] = [
    "argument",
    "async",
    "attribute",
    "cfg",
    "completion",
    "config",
    "data",
    "form",
    "items",
    "lifetime",
    "macros",
    "method",
    "parameter",
    "prompt",
    "result",
    "schema",
    "server",
    "signature",
    "template",
    "together",
    "state",
    "visibility",
];

/// Mistakes for which rustc reports more than one error, and the number of errors. Stable Rust has no way to avoid them. schemars repeats
/// the error about a field. For a future that is not `Send`, rustc reports one error for each reason. If the compiler does not find an
/// attribute, rustc adds an error that does not name the attribute to write.
const MORE: [(&str, usize); 4] = [
    ("async/refcell_guard_across_await", 2),
    ("data/field_without_data", 2),
    ("data/variant_without_data", 2),
    ("method/named_as_before", 2),
];

/// Returns the programs with a mistake.
fn fixtures() -> impl Iterator<Item = PathBuf> {
    sources().filter(|path| !is_twin(path))
}

/// Returns the programs of all areas, with and without a mistake, always in the same order. Cargo starts tests in their package.
fn sources() -> impl Iterator<Item = PathBuf> {
    AREAS.iter().flat_map(|area| {
        let entries = std::fs::read_dir(Path::new("ui").join(area)).expect(area);
        let paths = entries.map(|entry| entry.expect(area).path());
        let mut paths: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .collect();
        paths.sort();
        paths
    })
}

fn is_twin(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".fixed.rs")
}

fn compiler() -> Result<(), Missing> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = output_of(Command::new(rustc).arg("--version"))?;
    if version.starts_with(&format!("rustc {RENDERED_BY}.")) {
        return Ok(());
    }
    Err(Missing::new(format!(
        "the fixtures are rendered by {RENDERED_BY}, this is {}",
        version.trim()
    )))
}

/// Each mistake gives one error, at the place of the mistake. Further errors that merely follow from a mistake would distract the author.
#[support::test]
fn every_mistake_gives_one_error() {
    let mut count = 0;
    for path in fixtures() {
        let text = std::fs::read_to_string(path.with_extension("stderr")).unwrap_or_default();
        let errors = text
            .lines()
            .filter(|line| line.starts_with("error") || line.starts_with("warning"))
            .count();
        let marked = marked(&path);
        let more = MORE.iter().find(|(name, _)| path.with_extension("").ends_with(name));
        let expected = more.map_or_else(|| marked.len().max(1), |(_, count)| *count);
        assert_eq!(errors, expected, "{}:\n{text}", path.display());
        if !marked.is_empty() {
            assert_eq!(places(&text), marked, "{}:\n{text}", path.display());
        }
        count += 1;
    }
    assert!(count >= 200, "only {count} mistakes");
}

/// Returns the lines that a program marks as mistakes.
fn marked(fixture: &Path) -> Vec<usize> {
    let text = std::fs::read_to_string(fixture).expect("a fixture is there");
    let lines = text.lines().zip(1..).filter(|(line, _)| line.ends_with("// mistake"));
    lines.map(|(_, number)| number).collect()
}

/// Returns the lines that the errors point at.
fn places(message: &str) -> Vec<usize> {
    let errors = message
        .split("\nerror")
        .map(|error| error.split_once("--> ").map_or("", |(_, place)| place));
    let mut places: Vec<usize> =
        errors.filter_map(|place| place.split(':').nth(1)?.parse().ok()).collect();
    places.sort_unstable();
    places
}
