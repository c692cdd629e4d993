//! A file is as long as its subject: not so short that a reader needs several files for one thing, and not so long that it has several
//! subjects.

use crate::sources::Source;

/// Lines of code, without comments, empty lines and tests.
const LEAST: usize = 60;
const MOST: usize = 500;

/// Shorter files, with the reason.
const EXCEPTED: [(&str, &str); 0] = [];

fn count(source: &Source) -> usize {
    source.lines.iter().filter(|line| !line.trim().is_empty()).count()
}

/// Whether the file only declares modules and re-exports their names, or is the root of a crate.
fn is_facade(source: &Source) -> bool {
    source.path.ends_with("/mod.rs") || source.path.ends_with("src/lib.rs")
}

pub(crate) fn violations(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let (path, count) = (&source.path, count(source));
        let is_excepted = EXCEPTED.iter().any(|exception| exception.0 == path);
        if count > MOST {
            found.push(format!("{path}: {count} lines of code, at most {MOST}"));
        } else if count < LEAST && !is_facade(source) && !is_excepted {
            found.push(format!("{path}: {count} lines of code, at least {LEAST}"));
        }
    }
    found
}

/// Returns exceptions for files that are long enough or do not exist any more.
pub(crate) fn stale(sources: &[Source]) -> Vec<String> {
    let is_short =
        |path: &str| sources.iter().any(|source| source.path == path && count(source) < LEAST);
    let stale = EXCEPTED.iter().filter(|exception| !is_short(exception.0));
    stale.map(|(path, reason)| format!("{path} is not short, excepted because {reason}")).collect()
}
