//! The sources that the rules read, without comments: the code of the crates, or the code of the tests.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A Rust file, reduced to the code that a rule reads.
pub(crate) struct Source {
    /// Relative to the workspace.
    pub(crate) path: String,
    /// All lines. Lines outside of the selected code are blank, so that line numbers stay correct.
    pub(crate) lines: Vec<String>,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), lines: shipped(text) }
    }

    /// Returns the lines that match, as `path:line: text`.
    pub(crate) fn find(&self, is: impl Fn(&str) -> bool) -> Vec<String> {
        let hits = self.lines.iter().enumerate().filter(|(_, line)| is(line));
        hits.map(|(at, line)| format!("{}:{}: {}", self.path, at + 1, line.trim())).collect()
    }
}

/// A file with its full text.
pub(crate) struct Text {
    /// Relative to the workspace.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Returns all files of the crates that users may read: the sources without test code, and the documents.
pub(crate) fn texts() -> Vec<Text> {
    let mut all = Vec::new();
    for folder in
        ["mcp-runtime/src", "mcp-runtime/crates", "mcp-macros/src", "mcp-macros/docs", "examples"]
    {
        walk(root(), &root().join(folder), &mut all);
    }
    for document in ["README.md", "SECURITY.md", "CHANGELOG.md", "BENCHMARKS.md"] {
        all.push(text(document));
    }
    all.retain(|text| text.path.ends_with(".rs") || text.path.ends_with(".md"));
    assert!(all.len() > 250, "only {} texts", all.len());
    all
}

/// Returns all sources, tests and transcripts as they are written. The files of this suite are left out, because they contain planted
/// codes.
pub(crate) fn everything() -> Vec<Text> {
    let mut files = Vec::new();
    for folder in ["mcp-runtime", "mcp-macros", "tests", "examples"] {
        files_in(&root().join(folder), &["rs", "jsonl"], &mut files);
    }
    let all = files.iter().map(|file| {
        let path = file.strip_prefix(root()).expect("the file lies in the workspace");
        text(&path.to_string_lossy().replace('\\', "/"))
    });
    all.filter(|text| !text.path.starts_with("tests/invariants/")).collect()
}

/// Returns all Markdown files, and the sources of all crates with their tests. The programs of the suite `ui`, the expansions of the
/// attributes and the files of this suite are left out, because no user reads their comments.
pub(crate) fn documents() -> Vec<Text> {
    let mut files = Vec::new();
    files_in(root(), &["rs", "md"], &mut files);
    let all = files.iter().map(|file| {
        let path = file.strip_prefix(root()).expect("the file lies in the workspace");
        text(&path.to_string_lossy().replace('\\', "/"))
    });
    let unread = ["tests/ui/", "tests/invariants/", "mcp-macros/tests/expand/"];
    all.filter(|text| !unread.iter().any(|folder| text.path.starts_with(folder))).collect()
}

fn text(path: &str) -> Text {
    let text = fs::read_to_string(root().join(path)).expect("sources are readable");
    Text { path: path.to_owned(), text }
}

pub(crate) fn planted(path: &str, text: &str) -> Source {
    Source::new(path, text)
}

pub(crate) fn runtime() -> Vec<Source> {
    read("mcp-runtime/src", |path| path.ends_with(".rs"))
}

pub(crate) fn library() -> Vec<Source> {
    let mut all = runtime();
    for folder in ["mcp-macros/src", "mcp-runtime/crates"] {
        all.extend(read(folder, |path| path.ends_with(".rs")));
    }
    all
}

/// Returns the test code: whole test files, and the modules under `#[cfg(test)]` in other files. Leaves out the benchmarks and the programs
/// of the suite `ui`, because `cargo test` does not run them.
pub(crate) fn tests() -> Vec<Source> {
    let mut files = Vec::new();
    for folder in ["mcp-runtime", "mcp-macros", "tests", "examples"] {
        files_in(&root().join(folder), &["rs"], &mut files);
    }
    let sources = files.iter().filter_map(|file| {
        let path = file.strip_prefix(root()).expect("it lies in the workspace");
        let path = path.to_string_lossy().replace('\\', "/");
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_test = path.starts_with("tests/") || path.contains("/tests/") || is_test_file(name);
        let text = fs::read_to_string(file).expect("sources are readable");
        let shipped = shipped(&text);
        let code = |(line, shipped): (&str, &String)| {
            let is_comment = line.trim_start().starts_with("//");
            let is_code = !is_comment && (is_test || shipped.is_empty());
            let code = line.split(" // ").next().filter(|_| is_code);
            code.unwrap_or_default().to_owned()
        };
        let lines = text.lines().zip(&shipped).map(code).collect();
        let is_program = path.starts_with("tests/ui/") && path.matches('/').count() > 2;
        let is_run = !is_program && !path.contains("/benches/");
        is_run.then_some(Source { path, lines })
    });
    sources.collect()
}

pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).expect("the package lies in the workspace")
}

pub(crate) fn files_in(folder: &Path, extensions: &[&str], all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources can be listed") {
        let path = entry.expect("the sources can be listed").path();
        if path.is_dir() {
            if !path.ends_with("target") && !path.ends_with("node_modules") {
                files_in(&path, extensions, all);
            }
        } else if path
            .extension()
            .is_some_and(|extension| extensions.iter().any(|known| extension == *known))
        {
            all.push(path);
        }
    }
}

/// Returns the expansions of the attributes, as the macro crate's own tests store them.
pub(crate) fn expansions() -> Vec<Source> {
    read("mcp-macros", |path| path.ends_with(".out.rs"))
}

fn read(folder: &str, wanted: fn(&str) -> bool) -> Vec<Source> {
    let mut all = Vec::new();
    walk(root(), &root().join(folder), &mut all);
    let all: Vec<_> = all.into_iter().filter(|text| wanted(&text.path)).collect();
    assert!(!all.is_empty(), "no sources in {folder}");
    all.iter().map(|text| Source::new(&text.path, &text.text)).collect()
}

fn walk(root: &Path, folder: &Path, all: &mut Vec<Text>) {
    for entry in fs::read_dir(folder).expect("the sources can be listed") {
        let path = entry.expect("the sources can be listed").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            // `target` holds build output, and `src/tests` holds only test code.
            if name != "target" && !(name == "tests" && folder.ends_with("src")) {
                walk(root, &path, all);
            }
        } else if !is_test_file(&name) {
            let relative = path.strip_prefix(root).expect("it lies in the workspace");
            all.push(text(&relative.to_string_lossy().replace('\\', "/")));
        }
    }
}

/// Whether a file has only test code. Such files are modules under `#[cfg(test)]`.
fn is_test_file(name: &str) -> bool {
    matches!(name, "tests.rs" | "uri_tests.rs" | "agreement.rs" | "validator.rs")
}

/// Returns the lines of a file with comments and test modules blanked.
fn shipped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_tests = false;
    let mut pending_cfg = false;
    for line in text.lines() {
        let code = line.trim_start();
        if pending_cfg && code.starts_with("mod ") {
            in_tests |= code.contains('{');
            pending_cfg = false;
        } else if !code.is_empty() && !code.starts_with("#[") {
            pending_cfg = false;
        }
        if line == "#[cfg(test)]" {
            pending_cfg = true;
        }
        if in_tests || code.starts_with("//") {
            lines.push(String::new());
            // A test module ends with the file or with a brace in the first column.
            in_tests &= line != "}";
        } else {
            lines.push(line.split(" // ").next().unwrap_or_default().to_owned());
        }
    }
    lines
}
