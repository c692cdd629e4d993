//! What users see who make a mistake, and what they may write without seeing anything.
//!
//! A folder holds programs with one mistake each and, beside them, what rustc says. Regenerate with
//! `TRYBUILD=overwrite cargo test -p mcp-tests --test ui mistakes`, and read the result as somebody who made that mistake.

#![forbid(unsafe_code)]

mod build;
mod pass;

use std::{path::Path, process::Command};
use support::requirement::{Missing, output_of};

/// The compiler whose words the fixtures hold.
const RENDERED_BY: &str = "1.95";

/// Folders of `tests/ui` whose programs have one mistake each.
const AREAS: [&str; 15] = [
    "argument",
    "async",
    "attribute",
    "completion",
    "data",
    "form",
    "items",
    "method",
    "parameter",
    "prompt",
    "result",
    "server",
    "signature",
    "template",
    "state",
];

#[test]
fn mistakes_are_explained() {
    if let Err(missing) = compiler() {
        return missing.skip();
    }
    let cases = trybuild::TestCases::new();
    for area in AREAS {
        cases.compile_fail(format!("ui/{area}/*.rs"));
    }
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

/// One mistake, one error: what follows from it is noise.
#[test]
fn every_mistake_gives_one_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let mut count = 0;
    for area in AREAS {
        for entry in std::fs::read_dir(folder.join(area)).expect(area) {
            let path = entry.expect(area).path();
            if path.extension().is_some_and(|it| it == "rs") {
                let text =
                    std::fs::read_to_string(path.with_extension("stderr")).unwrap_or_default();
                let errors = text
                    .lines()
                    .filter(|it| it.starts_with("error") || it.starts_with("warning"))
                    .count();
                assert_eq!(errors, 1, "{}:\n{text}", path.display());
                count += 1;
            }
        }
    }
    assert!(count >= 75, "only {count} mistakes");
}
