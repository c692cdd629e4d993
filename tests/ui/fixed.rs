//! Checks the programs that result when the author of a mistake does what the message says.
//!
//! Beside each fixture is its twin, `<name>.fixed.rs`, which is the same program without the mistake. A twin may differ only by what the
//! message proposes: each word that it adds must be in the message or in the fixture. So a message that leaves out a necessary word fails
//! the test.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::cargo;

/// Words that a twin may add where the author has to choose, because the message has a `…` or asks for `another`.
const CHOSEN: [&str; 1] = ["other"];

/// Messages of rustc about Rust itself, each with the word that the message leaves out.
const IMPLIED: [(&str, &str); 1] = [("is private", "pub")];

/// Maximum number of lines that may differ, which is the length of the longest proposal. A twin with more differences would be a different
/// program.
const LINES: usize = 10;

/// Attributes of this project. A twin must keep them unless the message says to remove one. Otherwise a program could be fixed by removing
/// its attributes.
const ATTRIBUTES: [&str; 8] =
    ["tool", "resource", "prompt", "completion", "handlers", "data", "form", "config"];

#[support::test]
fn every_mistake_has_a_twin() {
    let mut missing = Vec::new();
    for fixture in crate::fixtures() {
        let twin = twin(&fixture);
        if !twin.exists() {
            missing.push(format!("{} is missing", twin.display()));
        }
    }
    for twin in crate::sources().filter(|path| crate::is_twin(path)) {
        let path = twin.to_string_lossy().replace(".fixed.rs", ".rs");
        if !Path::new(&path).exists() {
            missing.push(format!("{} fixes nothing: {path} is missing", twin.display()));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[support::test]
fn a_twin_does_what_the_message_says() {
    let mut problems = Vec::new();
    for fixture in crate::fixtures() {
        let Ok(fixed) = fs::read_to_string(twin(&fixture)) else { continue };
        let mistake = read(&fixture);
        let message = read(&fixture.with_extension("stderr"));
        for problem in compare(&mistake, &fixed, &message) {
            problems.push(format!("{}: {problem}", twin(&fixture).display()));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// All twins are modules of one crate, which is only checked. Building each twin as its own program would take minutes.
#[support::test]
fn twins_compile() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("twins");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut library = String::from(
        "#![deny(warnings)]\n// Nobody calls them, and every `main` is one of many.\n#![allow(dead_code)]\n",
    );
    let twins = crate::sources().filter(|path| crate::is_twin(path));
    // The fix for these programs is a feature in the manifest, so each program is its own twin.
    for (number, twin) in twins.chain(crate::features::programs()).enumerate() {
        library.push_str(&format!("#[path = {:?}]\nmod twin{number};\n", tests.join(twin)));
    }
    // A twin names a crate in `with`. Any crate will do.
    let manifest = format!(
        "[package]\nname = \"twins\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n[workspace]\n\n[dependencies]\n{}my_tools = {{ package = \"itoa\", version = \"1\" }}\n",
        cargo::all_dependencies()
    );
    fs::create_dir_all(&folder).expect("the folder for tests can be written");
    write(&folder.join("Cargo.toml"), &manifest);
    write(&folder.join("lib.rs"), &library);
    fs::copy(tests.join("../Cargo.lock"), folder.join("Cargo.lock"))
        .expect("the workspace is locked");

    let output = cargo::check(&folder).args(["--quiet", "--color=never"]).output();
    let output = output.expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "not every twin compiles:\n{errors}");
}

/// Writes a file unless it has this text already, so that cargo need not check it again.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("the folder for tests can be written");
    }
}

fn twin(fixture: &Path) -> PathBuf {
    fixture.with_extension("fixed.rs")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the differences between `mistake` and `fixed` that the message does not propose.
fn compare(mistake: &str, fixed: &str, message: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let said = said(message);
    let proposed: BTreeSet<&str> = words(&said).collect();
    let mut known: BTreeSet<&str> = words(mistake).chain(proposed.iter().copied()).collect();
    if said.contains('…') || proposed.contains("another") {
        known.extend(CHOSEN);
    }
    known.extend(IMPLIED.iter().filter(|(text, _)| said.contains(text)).map(|(_, meant)| meant));
    for word in words(fixed).collect::<BTreeSet<_>>() {
        if !known.contains(word) {
            problems.push(format!("the message does not say `{word}`"));
        }
    }

    let declared: BTreeSet<_> = declared(fixed).collect();
    for item in self::declared(mistake).filter(|item| !declared.contains(item)) {
        problems.push(format!("`{item}` is gone"));
    }
    let attributes = |text: &str| -> usize {
        ATTRIBUTES.iter().map(|name| text.matches(&format!("#[{name}")).count()).sum()
    };
    if attributes(fixed) < attributes(mistake) && !proposed.contains("remove") {
        problems.push("an attribute of ours is gone, and the message does not say remove".into());
    }

    let (removed, added) = changed(mistake, fixed);
    if removed.max(added) > LINES {
        problems.push(format!("{removed} lines of the mistake are gone, and {added} are new"));
    }
    problems
}

/// Returns the compiler's own text: without quoted lines of code, but with its labels below them and its insertions (`+`).
fn said(message: &str) -> String {
    let mut said = String::new();
    let mut lines = message.lines().map(str::trim_start).peekable();
    // The message about a configured-out item quotes that item. These lines count as text of the compiler.
    let mut is_configured_out = false;
    while let Some(line) = lines.next() {
        if ["error", "warning", "note:", "help:"].iter().any(|start| line.starts_with(start)) {
            is_configured_out = line.ends_with("found an item that was configured out");
        }
        if line.starts_with("-->") {
            continue;
        }
        let quoted = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let marks = lines.peek().and_then(|next| next.strip_prefix('|')).unwrap_or_default();
        let inserted = marks.contains('+') && marks.trim_matches([' ', '+']).is_empty();
        let own = if quoted.starts_with('|') && !inserted && !is_configured_out {
            quoted
                .rsplit_once("^ ")
                .or_else(|| quoted.rsplit_once("- "))
                .map_or("", |(_, label)| label)
        } else {
            line
        };
        said.push_str(own);
        said.push('\n');
    }
    said
}

/// Returns the names, keywords and numbers of a text. The rest is punctuation, which a message need not spell out.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the names of a program's items, but not their kinds, which a message may change.
fn declared(program: &str) -> impl Iterator<Item = &str> {
    let kinds = ["fn", "struct", "enum", "union", "trait"];
    // A type such as `fn(u8)` has no space after its keyword.
    let pairs = program.split_whitespace().zip(program.split_whitespace().skip(1));
    pairs.filter(move |(kind, _)| kinds.contains(kind)).filter_map(|(_, name)| words(name).next())
}

/// Returns the number of lines of each text that are not in the longest common subsequence of both.
fn changed(one: &str, other: &str) -> (usize, usize) {
    let (one, other): (Vec<_>, Vec<_>) = (one.lines().collect(), other.lines().collect());
    let mut shared = vec![0; other.len() + 1];
    for line in &one {
        let mut diagonal = 0;
        for (at, same) in other.iter().enumerate() {
            let above = shared[at + 1];
            shared[at + 1] = if line == same { diagonal + 1 } else { above.max(shared[at]) };
            diagonal = above;
        }
    }
    let same = shared[other.len()];
    (one.len() - same, other.len() - same)
}

#[support::test]
fn a_fix_that_goes_beyond_the_message_is_detected() {
    let mistake = "#[tool(title = 5)]\nfn count() -> u8 {\n    5\n}\n";
    let message = "error: `title` is text: write `title = \"…\"`\n --> ui/elsewhere.rs:1:1\n  |\n1 | fn hidden() {}\n  |    ^^^^^^ below\n";
    #[track_caller]
    fn check(mistake: &str, fixed: &str, message: &str, expected: &[&str]) {
        assert_eq!(compare(mistake, fixed, message), expected);
    }
    let fixed = |from: &str, to: &str| mistake.replace(from, to);
    check(mistake, &fixed("title = 5", "title = \"count\""), message, &[]);
    check(mistake, &fixed("title = 5", "title = \"below\""), message, &[]);
    check(
        mistake,
        &fixed("5)]\nfn", "\"title\")]\npub fn"),
        message,
        &["the message does not say `pub`"],
    );
    check(
        mistake,
        &fixed("5)]\nfn", "\"title\")]\npub fn"),
        &message.replace("below", "is private"),
        &[],
    );
    check(mistake, &fixed("title = 5", "title = \"other\""), message, &[]);
    check(
        mistake,
        &fixed("title = 5", "title = \"other\""),
        &message.replace('…', "text"),
        &["the message does not say `other`"],
    );
    check(
        mistake,
        &fixed("title = 5", "title = \"hidden\""),
        message,
        &["the message does not say `hidden`"],
    );
    check(
        mistake,
        &fixed("title = 5", "title = \"elsewhere\""),
        message,
        &["the message does not say `elsewhere`"],
    );
    check(
        mistake,
        &fixed("#[tool(title = 5)]\n", ""),
        message,
        &["an attribute of ours is gone, and the message does not say remove"],
    );
    check(mistake, &fixed("#[tool(title = 5)]\n", ""), &message.replace("write", "remove"), &[]);
    let inserted = format!("{message}2 | fn count(inserted: u8) {{}}\n  |          ++++++++++++\n");
    check(mistake, &fixed("()", "(inserted: u8)"), &inserted, &[]);
    check(mistake, "#[tool]\nfn title() {}\n", message, &["`count` is gone"]);
    check(
        mistake,
        &mistake.repeat(4),
        message,
        &["0 lines of the mistake are gone, and 12 are new"],
    );
}
