use crate::sources::Source;

fn each(sources: &[Source], is: impl Fn(&Source, &str) -> bool) -> Vec<String> {
    sources.iter().flat_map(|source| source.find(|line| is(source, line))).collect()
}

/// Whether `text` has a date in quotes, such as a revision's name.
fn has_date(text: &str) -> bool {
    text.match_indices("\"20").any(|(at, _)| {
        let rest = &text.as_bytes()[at + 1..];
        rest.len() > 10
            && rest[..10]
                .iter()
                .enumerate()
                .all(|(i, b)| if matches!(i, 4 | 7) { *b == b'-' } else { b.is_ascii_digit() })
            && rest[10] == b'"'
    })
}

/// The date of a revision is written only in `protocol/revision.rs`.
pub(crate) fn dates(sources: &[Source]) -> Vec<String> {
    each(sources, |source, line| !source.path.ends_with("protocol/revision.rs") && has_date(line))
}

/// Only transports, stores and issuers do I/O. The exceptions are the command line, the logs, and the contract check.
pub(crate) fn io(sources: &[Source]) -> Vec<String> {
    const IO: [&str; 9] = [
        "std::fs",
        "std::net",
        "std::io::std",
        "std::process::Command",
        "tokio::net",
        "tokio::fs",
        "tokio::process",
        "tokio::signal",
        "tokio::io",
    ];
    // `/builder/serve.rs` does no I/O, but names the traits of tokio's byte streams.
    let free = [
        "/builder/serve.rs",
        "/transport/",
        "/sqlite/",
        "/issuer/",
        "/cli/",
        "/observe/",
        "/testing/contract.rs",
    ];
    each(sources, |source, line| {
        !free.iter().any(|folder| source.path.contains(folder))
            && IO.iter().any(|name| line.contains(name))
    })
}

/// In generated code, every path that begins with `::` begins with a crate that generated code may name.
pub(crate) fn generated_paths(sources: &[Source]) -> Vec<String> {
    each(sources, |_, line| {
        line.match_indices("::").any(|(at, _)| {
            // After a name or a `>`, `::` continues a path. prettyplease may put spaces or a line break between the two.
            let before = line[..at].trim_end().chars().next_back();
            let goes_on =
                |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '>' | ':' | '$');
            let is_absolute = before.is_some_and(|letter| !goes_on(letter));
            let name: String = line[at + 2..]
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
                .collect();
            // `facade` is the name of the runtime in the fixtures of `crate = …`.
            let may = matches!(name.as_str(), "mcp_runtime" | "core" | "std" | "facade" | "");
            is_absolute && !may
        })
    })
}

/// Between the transport and the user's type, no code uses `serde_json::Value`. The exceptions build schemas or the data of errors.
pub(crate) fn values(sources: &[Source]) -> Vec<String> {
    const ROOMS: [&str; 6] = [
        "/crates/wire/",
        "/transport/",
        "/protocol/",
        "/dispatch/",
        "/call/extract/",
        "/call/read/",
    ];
    const EXCEPTED: [&str; 5] = [
        "extract/params.rs",
        "extract/probe.rs",
        "_handles.rs",
        "extract/spread.rs",
        "protocol/modern.rs",
    ];
    each(sources, |source, line| {
        ROOMS.iter().any(|room| source.path.contains(room))
            && !EXCEPTED.iter().any(|file| source.path.contains(file))
            && (line.contains("serde_json::Value")
                || line.contains("serde_json::{Value")
                || line.contains("json!("))
    })
}

/// Only the stdio transport and the command line write to stdout.
pub(crate) fn prints(sources: &[Source]) -> Vec<String> {
    each(sources, |source, line| {
        let is_print = line.contains("println!(") && !line.contains("eprintln!(")
            || line.contains("print!(")
                && !line.contains("eprint!(")
                && !line.contains("println!(");
        !source.path.contains("/cli/")
            && (is_print || line.contains("stdout()"))
            && !source.path.contains("/transport/stdio/")
    })
}

/// Only the stdio guard, and the system calls that it makes, contain unsafe code.
pub(crate) fn unsafe_code(sources: &[Source]) -> Vec<String> {
    each(sources, |source, line| {
        !["guard.rs", "system_calls.rs"]
            .iter()
            .any(|file| source.path.ends_with(&format!("/transport/stdio/{file}")))
            && (line.contains("unsafe {")
                || line.contains("unsafe fn")
                || line.contains("unsafe impl"))
    })
}
