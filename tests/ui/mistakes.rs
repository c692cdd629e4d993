//! Messages of the compiler about each mistake, compared with the text beside the program.
//!
//! Programs whose errors come from the macros are modules of one crate for each area, because the compiler then reports all of them. It reports
//! errors about types only if there are no others, so the other programs are crates of their own, and so is each program whose text differs.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use serde_json::Value;
use support::requirement::needs;

use crate::cargo;

/// Returns the errors and warnings about each program, as often as an author sees them.
pub(crate) fn messages() -> &'static BTreeMap<PathBuf, Vec<Value>> {
    static MESSAGES: OnceLock<BTreeMap<PathBuf, Vec<Value>>> = OnceLock::new();
    MESSAGES.get_or_init(build)
}

fn build() -> BTreeMap<PathBuf, Vec<Value>> {
    let build = |package: &str, binaries: BTreeMap<String, Vec<PathBuf>>| {
        cargo::built(package, &cargo::all_dependencies(), binaries.into_iter())
    };
    let mut binaries = BTreeMap::<String, Vec<PathBuf>>::new();
    for program in crate::fixtures() {
        let is_of_macros = !is_overwriting() && !expected(&program).contains("error[");
        let area = program.iter().nth(1).map(|area| area.to_string_lossy().into_owned());
        let name = area.filter(|_| is_of_macros).unwrap_or_else(|| cargo::name(&program));
        binaries.entry(name).or_default().push(program);
    }
    let found = build("mistakes", binaries);
    let mut all = BTreeMap::new();
    let mut alone = BTreeMap::new();
    for program in crate::fixtures() {
        let messages: Vec<Value> =
            cargo::messages_of(&found, &program).into_iter().cloned().collect();
        if text(&messages) != expected(&program) {
            alone.insert(cargo::name(&program), vec![program.clone()]);
        }
        all.insert(program, messages);
    }
    if !alone.is_empty() && !is_overwriting() {
        let programs: Vec<PathBuf> = alone.values().flatten().cloned().collect();
        let found = build("mistakes-alone", alone);
        for program in programs {
            let messages = cargo::messages_of(&found, &program).into_iter().cloned().collect();
            all.insert(program, messages);
        }
    }
    all
}

fn is_overwriting() -> bool {
    env::var("UI").is_ok_and(|value| value == "overwrite")
}

fn expected(program: &Path) -> String {
    fs::read_to_string(program.with_extension("stderr")).unwrap_or_default()
}

/// Parts of notes about types that are too long to be shown.
const LONG_TYPES: [&str; 2] =
    ["the full name for the type has been written to", "consider using `--verbose` to print"];

/// Returns the text of messages, without what differs from machine to machine or changes with the sources of the runtime.
fn text(messages: &[Value]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for message in messages {
        let rendered = message["rendered"].as_str().unwrap_or_default();
        let text = normal(rendered);
        // An author who builds incrementally sees some errors twice.
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join("\n")
}

/// Gives all lines a margin of the same width, and leaves out the line numbers of files that are not the program's.
fn normal(rendered: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in a folder");
    let root = format!("{}/", root.display());
    let rendered = rendered.replace(&root, "$WORKSPACE/");
    let rendered = rendered.replace("$WORKSPACE/tests/ui/", "ui/").replace("tests/ui/", "ui/");
    let mut is_own = true;
    let mut lines = Vec::new();
    // The names of files with long types differ from build to build.
    let is_kept = |line: &&str| !LONG_TYPES.iter().any(|note| line.contains(note));
    for line in rendered.trim_end().lines().filter(is_kept) {
        let code = line.trim_start_matches(|char: char| char == ' ' || char.is_ascii_digit());
        let number = line[..line.len() - code.len()].trim();
        let line = match code.split_once(' ') {
            Some((arrow @ ("-->" | ":::"), place)) => {
                is_own = place.starts_with("ui/");
                let file = if is_own { place.to_owned() } else { foreign(place) };
                format!("   {arrow} {file}")
            }
            _ if code.starts_with('|') => {
                format!("{:>3} {code}", if is_own { number } else { "" })
            }
            _ if code.starts_with("= ") => format!("    {code}"),
            _ => line.to_owned(),
        };
        lines.push(without_count(line.trim_end()));
    }
    lines.join("\n") + "\n"
}

/// Returns a place outside of the program without its line and column. For a crate of the registry, the place begins with its name.
fn foreign(place: &str) -> String {
    let file = place.trim_end_matches(|char: char| char == ':' || char.is_ascii_digit());
    let packaged = file.split_once("/registry/src/").and_then(|(_, rest)| rest.split_once('/'));
    let parts = packaged.and_then(|(_, rest)| rest.split_once('/'));
    let named = parts.and_then(|(package, file)| Some((package.rsplit_once('-')?.0, file)));
    named.map_or(file.to_owned(), |(package, file)| format!("$CARGO/{package}/{file}"))
}

/// Leaves out how many further types rustc could list, because that number depends on all crates.
fn without_count(line: &str) -> String {
    match line.trim_start().strip_prefix("and ").and_then(|rest| rest.strip_suffix(" others")) {
        Some(_) => "            and … others".to_owned(),
        None => line.to_owned(),
    }
}

#[support::test]
fn mistakes_are_explained() {
    needs(crate::compiler());
    let mut wrong = Vec::new();
    for (program, messages) in messages() {
        let (text, expected) = (text(messages), expected(program));
        if text == expected {
            continue;
        }
        if is_overwriting() {
            assert!(!text.is_empty(), "{} has no mistake", program.display());
            fs::write(program.with_extension("stderr"), text).expect("the text can be written");
        } else {
            wrong.push(format!("{}\n\nexpected:\n{expected}\nfound:\n{text}", program.display()));
        }
    }
    assert!(wrong.is_empty(), "{} of the texts differ\n\n{}", wrong.len(), wrong.join("\n"));
}

#[support::test]
fn positions_outside_of_the_program_are_left_out() {
    assert_eq!(foreign("/x/registry/src/index-1/a-b-1.2.3/src/c.rs:1:2"), "$CARGO/a-b/src/c.rs");
    let rendered = "error: wrong\n   --> tests/ui/a/b.rs:112:3\n    |\n112 | x()\n    | ^\n    |\nnote: bound\n   --> mcp-runtime/src/a.rs:7:1\n    |\n  7 | fn x()\n    = help: try\n";
    let text = "error: wrong\n   --> ui/a/b.rs:112:3\n    |\n112 | x()\n    | ^\n    |\nnote: bound\n   --> mcp-runtime/src/a.rs\n    |\n    | fn x()\n    = help: try\n";
    assert_eq!(normal(rendered), text);
}
