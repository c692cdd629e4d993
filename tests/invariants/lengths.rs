//! A file has one subject. It is not so short that a reader needs several files for this subject, and not so long that it has several
//! subjects.

use crate::sources::Source;

/// Minimum number of lines of code in a file, without comments, empty lines and tests.
const LEAST: usize = 60;
const MOST: usize = 500;

/// Files that may be shorter, each with the reason.
const EXCEPTED: [(&str, &str); 41] = [
    ("mcp-runtime/src/ask/bound.rs", "the binding of a state to its call is a subject of its own"),
    ("mcp-runtime/src/authorization/pages.rs", TRAIT),
    ("mcp-runtime/src/call/context/channel.rs", TRAIT),
    ("mcp-runtime/src/call/context/principal.rs", SHARED),
    ("mcp-runtime/src/call/extract/auth.rs", FEATURE),
    ("mcp-runtime/src/call/read/header.rs", FEATURE),
    (
        "mcp-runtime/src/call/reply/completion.rs",
        "a trait of replies has a file for each kind of item",
    ),
    ("mcp-runtime/src/call/reply/result.rs", SHARED),
    ("mcp-runtime/src/catalog/cursor.rs", "the cursor of a list is a subject of its own"),
    ("mcp-runtime/src/config/definition.rs", SHARED),
    ("mcp-runtime/src/item/source.rs", SHARED),
    ("mcp-runtime/src/item/uri.rs", SHARED),
    ("mcp-runtime/src/limits/caller.rs", SHARED),
    ("mcp-runtime/src/limits/reservation.rs", SHARED),
    ("mcp-runtime/src/model/meta.rs", SHARED),
    ("mcp-runtime/src/random.rs", SHARED),
    ("mcp-runtime/src/schema/field_bound.rs", "its errors name the file to authors"),
    ("mcp-runtime/src/schema/profile.rs", SHARED),
    ("mcp-runtime/src/server/identity.rs", SHARED),
    ("mcp-runtime/src/testing/builds.rs", "a macro with its documentation"),
    ("mcp-runtime/src/transport/in_process.rs", "a transport of its own"),
    ("mcp-runtime/src/unwind.rs", SHARED),
    ("mcp-runtime/crates/authorization-server/src/response.rs", SHARED),
    ("mcp-runtime/crates/contract/src/collect.rs", SHARED),
    ("mcp-runtime/crates/contract/src/percent.rs", SHARED),
    ("mcp-runtime/crates/wire/src/id.rs", SHARED),
    ("mcp-runtime/src/cli/missing.rs", FEATURE),
    ("mcp-runtime/src/cli/no_http.rs", FEATURE),
    ("mcp-runtime/src/cli/playground.rs", FEATURE),
    ("mcp-runtime/src/cli/ready.rs", FEATURE),
    ("mcp-runtime/src/cli/screen.rs", "selects one of the two variants of a screen"),
    ("mcp-runtime/crates/dev/src/error.rs", SHARED),
    ("mcp-runtime/crates/dev/src/http/access.rs", SHARED),
    ("mcp-runtime/crates/dev/src/http/body.rs", SHARED),
    ("mcp-runtime/crates/workbench/src/redaction/text_part.rs", SHARED),
    (
        "mcp-runtime/crates/workbench/src/removals.rs",
        "the report of what a recording lacks is a subject of its own",
    ),
    ("mcp-runtime/crates/workbench/src/status.rs", SHARED),
    ("mcp-macros/src/docs.rs", SHARED),
    ("mcp-macros/src/editor.rs", SHARED),
    ("mcp-macros/src/item/held_thread.rs", "the search for known calls is a subject of its own"),
    ("mcp-macros/src/keys/suggest.rs", SHARED),
];

const SHARED: &str = "a leaf that several files use";
const TRAIT: &str = "a trait that lies below its implementations";
const FEATURE: &str =
    "a part that a feature adds: its `cfg` stands at the declaration of the module";

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
