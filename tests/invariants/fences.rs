//! Code blocks of the documentation: of all Markdown files, and of the doc comments of all crates. A test compiles, runs or parses each
//! block, or [`UNTESTED`] has the reason why no test can.

use std::{
    fs,
    path::{Component, Path, PathBuf},
    process::Command,
};

use crate::sources::{Text, files_in, root};

/// Reason of blocks that rustdoc ignores, and that the suite `guide` compiles.
const FOLLOWED: &str = "a file of the crate of a reader, which the suite `guide` compiles and runs";

/// Blocks that rustdoc does not compile and that no test parses: the file, the first line of the block, and the reason.
pub(crate) const UNTESTED: [(&str, &str, &str); 18] = [
    ("ARCHITECTURE.md", "mcp-macros/src            knows syntax, never the runtime", "a map"),
    (
        "ARCHITECTURE.md",
        "bytes ─▶ transport ─▶ wire::parse ─▶ protocol::Peer (era, caller) ─▶ dispatch ─▶ the generated `call` ─▶ the author's function",
        "a picture",
    ),
    ("mcp-runtime/docs/guide/07-configuration.md", "use std::{", FOLLOWED),
    ("mcp-runtime/docs/guide/11-testing.md", "// src/tests.rs", FOLLOWED),
    (
        "mcp-runtime/docs/guide/12-contract.md",
        "# .github/workflows/contract.yml",
        "a workflow, which only GitHub runs",
    ),
    (
        "mcp-runtime/docs/guide/13-http.md",
        "mine --http 127.0.0.1:8000 --allow-host mcp.example.com --trust-proxy 127.0.0.1",
        "the command in examples/deploy/nginx.conf, with the name of an installed program",
    ),
    (
        "mcp-runtime/docs/guide/13-http.md",
        "upstream mcp_server {",
        "lines of examples/deploy/nginx.conf, which the suite `deploy` runs",
    ),
    (
        "mcp-runtime/docs/guide/13-http.md",
        "mcp.example.com {",
        "the settings of examples/deploy/Caddyfile",
    ),
    (
        "mcp-runtime/docs/guide/13-http.md",
        "terminationGracePeriodSeconds: 30   # more than the drain and the time for running calls",
        "the settings of examples/deploy/kubernetes.yaml",
    ),
    (
        "mcp-runtime/docs/guide/14-authorization.md",
        "use std::{collections::BTreeMap, sync::Arc};",
        FOLLOWED,
    ),
    ("mcp-runtime/docs/guide/15-groups.md", "use mcp_runtime::prelude::*;", FOLLOWED),
    ("mcp-runtime/docs/guide/16-dynamic.md", "// src/tests.rs", FOLLOWED),
    ("mcp-runtime/docs/guide/17-limits.md", "// src/tests.rs", FOLLOWED),
    ("mcp-runtime/docs/guide/21-several-nodes.md", "use std::process;", FOLLOWED),
    ("mcp-runtime/docs/guide/18-migration.md", "// src/tests.rs", FOLLOWED),
    (
        "mcp-runtime/docs/guide/18-migration.md",
        "// rmcp/src/main.rs",
        "a program for rmcp, which the suite `guide` compiles and compares with ours",
    ),
    (
        "mcp-runtime/docs/guide/18-migration.md",
        "# weather.py",
        "a program for FastMCP, which the suite `guide` runs and compares with ours",
    ),
    ("mcp-runtime/docs/guide/19-revisions.md", "// src/tests.rs", FOLLOWED),
];

/// Maximum length of a line of Rust code, in characters. The documentation site cuts longer lines off, at the usual width of a window.
const WIDTH: usize = 90;

/// End of each message about a block that no test reads.
const OTHERWISE: &str =
    "if no test can read it, add it with the reason to `UNTESTED` in tests/invariants/fences.rs";

/// Words in the first line of a block of Rust code. A block with another word is in another language.
const RUST: [&str; 8] = [
    "rust",
    "no_run",
    "should_panic",
    "compile_fail",
    "ignore",
    "standalone_crate",
    "test_harness",
    "edition2024",
];

/// Code block.
struct Fence<'a> {
    file: &'a str,
    line: usize,
    /// Words in the first line, such as `rust` and `no_run`.
    words: Vec<&'a str>,
    code: String,
}

/// Texts with code blocks.
pub(crate) struct Documents {
    pub(crate) texts: Vec<Text>,
    /// Markdown files that are the documentation of an item, so that rustdoc compiles their Rust code.
    included: Vec<String>,
    /// Markdown files whose programs and commands the suite `guide` follows.
    followed: Vec<String>,
}

impl Documents {
    /// Finds out what the tests do with Markdown files. `guide` is the source of the suite `guide` that names pages outside of the guide.
    pub(crate) fn new(texts: Vec<Text>, guide: &str) -> Self {
        let included = texts.iter().flat_map(included_by).collect();
        let is_followed = |text: &&Text| {
            text.path.starts_with("mcp-runtime/docs/guide/")
                || guide.contains(&format!("(\"{}\", ", text.path))
        };
        let followed = texts.iter().filter(is_followed).map(|text| text.path.clone()).collect();
        Self { texts, included, followed }
    }

    /// Returns the number of blocks.
    pub(crate) fn count(&self) -> usize {
        self.texts.iter().map(|text| fences(text).len()).sum()
    }

    /// Returns the blocks that no test reads and that are not in `listed`, and the entries of `listed` that have no such block.
    pub(crate) fn problems(&self, listed: &[(&str, &str, &str)]) -> Vec<String> {
        let mut stale: Vec<_> = listed.iter().collect();
        let mut problems = Vec::new();
        for fence in self.texts.iter().flat_map(fences) {
            let Some(problem) = self.problem(&fence) else { continue };
            let first = fence.code.lines().next().unwrap_or_default();
            let is_block = |entry: &(&str, &str, &str)| entry.0 == fence.file && entry.1 == first;
            match listed.iter().find(|entry| is_block(entry)) {
                Some(entry) if entry.2 != FOLLOWED || self.is_file_of_reader(&fence) => {
                    stale.retain(|stale| *stale != entry);
                }
                Some(_) => problems.push(format!(
                    "{}:{}: the suite `guide` does not compile this block: it is neither a program nor names its file in a comment in its first line",
                    fence.file, fence.line
                )),
                None => problems.push(format!("{}:{}: {problem}", fence.file, fence.line)),
            }
        }
        problems.extend(stale.iter().map(|(file, first, _)| {
            format!("`UNTESTED` has a block in {file} that begins with `{first}`: there is none, or a test reads it")
        }));
        problems
    }

    /// Returns why no test reads a block or why the block is wrong, with the fix.
    fn problem(&self, fence: &Fence<'_>) -> Option<String> {
        let is_comment = fence.file.ends_with(".rs");
        let is_followed = self.followed.iter().any(|path| path == fence.file);
        let is_included = is_comment || self.included.iter().any(|path| path == fence.file);
        if fence.words.contains(&"ignore") {
            return Some(format!(
                "`ignore` hides this block from the compiler: remove the word, write `no_run` if the code must not run, and begin lines \
                 that only the compiler needs with `# `; {OTHERWISE}"
            ));
        }
        let is_rust = fence.words.iter().all(|word| RUST.contains(word));
        // Only rustdoc takes a block without a language for Rust code.
        if is_rust && (is_included || !fence.words.is_empty()) {
            let is_compiled = match is_comment {
                true => is_documentation_of_library(fence.file),
                false => is_included || is_followed && is_program(&fence.code),
            };
            let problem = "no test compiles this block: move it to the documentation of a library, or to a page that the suite `guide` follows";
            let long =
                fence.code.lines().find(|line| line.chars().count() > WIDTH && !is_hidden(line));
            let long = long.map(|line| {
                format!("the documentation cuts this line off after {WIDTH} characters: {line}")
            });
            return if is_compiled { long } else { Some(format!("{problem}; {OTHERWISE}")) };
        }
        match fence.words.first().copied().unwrap_or("text") {
            "console" if is_followed || self.is_followed_elsewhere(fence) => None,
            "json" => json(&fence.code),
            "jsonl" => fence.code.lines().find_map(json),
            "toml" => manifest(&fence.code),
            "sh" if is_followed && names_file(&fence.code) => None,
            "sh" => commands(&fence.code),
            language => Some(format!(
                "no test reads this `{language}` block: write `rust` for Rust code, and `console` for commands of a page \
                 that the suite `guide` follows; {OTHERWISE}"
            )),
        }
    }

    /// Whether the suite `guide` writes a block to a file of its crate.
    fn is_file_of_reader(&self, fence: &Fence<'_>) -> bool {
        let is_named = names_file(&fence.code);
        let is_followed = self.followed.iter().any(|path| path == fence.file);
        is_followed && (is_named || is_program(&fence.code))
    }

    /// Whether a page that the suite `guide` follows has the same block.
    fn is_followed_elsewhere(&self, fence: &Fence<'_>) -> bool {
        let followed = self.texts.iter().filter(|text| self.followed.contains(&text.path));
        followed.flat_map(fences).any(|other| other.code == fence.code)
    }
}

fn is_program(code: &str) -> bool {
    code.contains("fn main()")
}

/// Whether the first line of a block names a file in a comment.
fn names_file(code: &str) -> bool {
    code.starts_with("// ") || code.starts_with("# ")
}

/// Whether rustdoc hides a line of code.
fn is_hidden(line: &str) -> bool {
    line.trim_start().starts_with("# ")
}

/// Whether rustdoc compiles the doc comments of a file.
fn is_documentation_of_library(path: &str) -> bool {
    let is_library = path.starts_with("mcp-") && path.contains("/src/");
    is_library && !path.contains("/tests")
}

/// Returns the code blocks of a text. In Rust, these are the blocks of doc comments, and fences in attributes, which have no code.
fn fences(text: &Text) -> Vec<Fence<'_>> {
    let is_rust = text.path.ends_with(".rs");
    let mut fences: Vec<Fence<'_>> = Vec::new();
    let mut is_open = false;
    for (at, line) in text.text.lines().enumerate() {
        let code = line.trim_start();
        let content = match is_rust {
            true => code.strip_prefix("///").or_else(|| code.strip_prefix("//!")),
            false => Some(line),
        };
        let Some(content) = content else {
            // The end of a block in an attribute cannot be found, so it counts as a block that no test reads.
            let in_attribute = code.split_once("doc = \"```").map(|(_, words)| words);
            if let Some(words) = in_attribute.filter(|words| !words.starts_with('"')) {
                fences.push(Fence::new(text, at, words.split('"').next().unwrap_or_default()));
            }
            is_open &= code.starts_with("//");
            continue;
        };
        match (content.trim_start().strip_prefix("```"), is_open) {
            (Some(words), false) => fences.push(Fence::new(text, at, words)),
            (Some(_), true) | (None, false) => {}
            (None, true) => {
                let fence = fences.last_mut().expect("a block is open");
                fence.code += content.strip_prefix(' ').filter(|_| is_rust).unwrap_or(content);
                fence.code.push('\n');
            }
        }
        is_open ^= content.trim_start().starts_with("```");
    }
    fences
}

impl<'a> Fence<'a> {
    fn new(text: &'a Text, at: usize, words: &'a str) -> Self {
        let words = words.split([',', ' ']).filter(|word| !word.is_empty()).collect();
        Self { file: &text.path, line: at + 1, words, code: String::new() }
    }
}

/// Returns the Markdown files that a Rust file includes as documentation.
fn included_by(text: &Text) -> Vec<String> {
    if !text.path.ends_with(".rs") {
        return Vec::new();
    }
    let folder = Path::new(&text.path).parent().expect("a file lies in a folder");
    let lines = text.text.lines().filter(|line| line.contains("[doc = include_str!(\""));
    let paths = lines.filter_map(|line| line.split('"').nth(1));
    paths.map(|path| normal(&folder.join(path))).collect()
}

/// Returns a path without `..`.
fn normal(path: &Path) -> String {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal.to_string_lossy().replace('\\', "/")
}

/// Returns why a text is not JSON.
fn json(text: &str) -> Option<String> {
    let error = serde_json::from_str::<serde_json::Value>(text).err()?;
    Some(format!("this block is not JSON: {error}"))
}

/// Returns why cargo cannot read a text as a manifest or as a part of one.
fn manifest(text: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fences");
    fs::create_dir_all(folder.join("src")).expect("the folder for tests can be written");
    fs::write(folder.join("src/lib.rs"), "").expect("the folder for tests can be written");
    let package = match text.contains("[package]") {
        true => "",
        false => "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n",
    };
    let path = folder.join("Cargo.toml");
    fs::write(&path, format!("{package}{text}\n[workspace]\n")).expect("it can be written");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1", "--manifest-path"])
        .arg(path)
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then(|| format!("cargo cannot read this block:\n{error}"))
}

/// Returns the first file, package or suite in the commands of maintainers that the workspace does not have.
fn commands(text: &str) -> Option<String> {
    let mut manifests = Vec::new();
    files_in(root(), &["toml"], &mut manifests);
    let manifests: String =
        manifests.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let program = words.iter().find(|word| **word != "bash")?;
        if program.contains('/') && !root().join(program).exists() {
            return Some(format!("there is no `{program}`"));
        }
        let names = words.windows(2).filter(|pair| ["-p", "--test", "--bench"].contains(&pair[0]));
        let unknown = names
            .map(|pair| pair[1])
            .find(|name| !manifests.contains(&format!("name = \"{name}\"")))?;
        Some(format!("no package and no suite is called `{unknown}`"))
    })
}
