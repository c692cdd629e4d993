//! The headings of the page `troubleshooting`, which are error messages as they are in the sources.

use std::{fs, path::Path};

/// Folders with the sources of all messages.
const SOURCES: [&str; 4] =
    ["../mcp-runtime/src", "../mcp-runtime/crates", "../mcp-macros/src", "ui"];

/// Minimum length of a literal piece of a heading in bytes. Shorter pieces, such as a quotation mark between two placeholders, are everywhere.
const LEAST: usize = 8;

/// Maximum distance between two literal pieces of one message in bytes. Between them is a placeholder, or the text that rustc printed for it.
const NEAR: usize = 120;

/// Returns the problems of the page: headings that are in no source file, and headings that occur twice.
pub(crate) fn problems(page: &str) -> Vec<String> {
    let sources = sources();
    let headings: Vec<&str> = headings(page).collect();
    let mut problems = Vec::new();
    for (at, heading) in headings.iter().enumerate() {
        let pieces: Vec<&str> = heading.split('…').filter(|piece| piece.len() >= LEAST).collect();
        if pieces.is_empty() {
            problems.push(format!("nothing to look for in: {heading}"));
        } else if !sources.iter().any(|source| has(source, &pieces)) {
            problems.push(format!("in no source file: {heading}"));
        }
        if headings[..at].contains(heading) {
            problems.push(format!("occurs twice: {heading}"));
        }
    }
    if headings.len() < 60 {
        problems.push(format!("only {} headings are error messages", headings.len()));
    }
    problems
}

/// Returns the error messages: the headings of the third level that are code.
fn headings(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter_map(|line| line.strip_prefix("### ")).filter_map(|heading| {
        let ticks = heading.len() - heading.trim_start_matches('`').len();
        let fence = &heading[..ticks];
        let code = heading[ticks..].strip_suffix(fence).filter(|_| ticks > 0)?;
        // Markdown removes one space at both ends of code that begins or ends with a backtick.
        Some(code.strip_prefix(' ').and_then(|code| code.strip_suffix(' ')).unwrap_or(code))
    })
}

/// Whether a text has these pieces one after the other, as a message with values in its placeholders has them.
fn has(text: &str, pieces: &[&str]) -> bool {
    let [first, rest @ ..] = pieces else { return true };
    text.match_indices(first).any(|(at, _)| follow(&text[at + first.len()..], rest))
}

/// Whether a text begins with these pieces, apart from the values between them.
fn follow(text: &str, pieces: &[&str]) -> bool {
    let [first, rest @ ..] = pieces else { return true };
    let found = text.find(first).filter(|at| *at <= NEAR);
    found.is_some_and(|at| follow(&text[at + first.len()..], rest))
}

/// Returns the texts of all source files and of all outputs of rustc.
fn sources() -> Vec<String> {
    let mut files = Vec::new();
    for folder in SOURCES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let suffix = if folder.ends_with("ui") { "stderr" } else { "rs" };
        let before = files.len();
        collect(&folder, suffix, &mut files);
        assert!(files.len() > before, "{} has no files", folder.display());
    }
    files
}

fn collect(folder: &Path, suffix: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, suffix, files);
        } else if path.extension().is_some_and(|extension| extension == suffix) {
            files.push(normal(&fs::read_to_string(&path).expect("a source is text")));
        }
    }
}

/// Returns the text without comments, with one space between words. String literals are joined where `\` ends a line, and their escapes are
/// replaced.
fn normal(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        match line.strip_suffix('\\') {
            Some(start) => joined.push_str(start),
            None => {
                joined.push_str(line);
                joined.push(' ');
            }
        }
    }
    let plain =
        joined.replace("\\\"", "\"").replace("\\n", " ").replace("{{", "{").replace("}}", "}");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[support::test]
    fn headings_that_are_code_are_messages() {
        let page = "# Errors\n### `one`\n### ``  `two` ``\n### `` a `b` c ``\n### plain `code`\n";
        assert_eq!(headings(page).collect::<Vec<_>>(), ["one", " `two`", "a `b` c"]);
    }

    #[support::test]
    fn pieces_are_found_in_their_order_and_near_each_other() {
        let text = normal(
            "// there are none\nformat!(\n    \"there are two {kind}s: \\\n     rename \\\"one\\\"\"\n)",
        );
        assert!(has(&text, &["there are two ", "s: rename \"one\""]));
        assert!(!has(&text, &["s: rename \"one\"", "there are two "]));
        assert!(!has(&text, &["there are none"]));
        assert!(!has(&format!("there are{}two", " ".repeat(200)), &["there are", "two"]));
    }
}
