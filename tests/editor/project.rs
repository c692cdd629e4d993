//! The crates that rust-analyzer opens, and what a person asks about a place in them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use support::{
    clock::eventually_blocking,
    process::{SHARED_BUILD, cargo},
    requirement::{Missing, needs, output_of, success_of},
    server::target,
};

use crate::{
    client::{Editor, uri},
    shops,
};

/// Toolchain whose rust-analyzer runs. `.ci/full` installs it.
const TOOLCHAIN: &str = "1.95.0";

/// Crates that the tests compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    Plain,
    Ours,
    Rmcp,
}

impl Side {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Ours, Self::Rmcp];

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Ours => "ours",
            Self::Rmcp => "rmcp",
        }
    }

    fn dependencies(self) -> String {
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp-runtime");
        match self {
            Self::Plain => String::new(),
            Self::Ours => format!("mcp-runtime = {{ path = {runtime:?} }}\n"),
            Self::Rmcp => "rmcp = { version = \"=3.11.0\", default-features = false, features = [\"server\", \"macros\", \"transport-io\"] }\n\
                           schemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\n\
                           tokio = { version = \"1\", features = [\"macros\", \"rt\"] }\n"
                .to_owned(),
        }
    }
}

/// rust-analyzer with all crates.
pub(crate) struct Project {
    folder: PathBuf,
    editor: Editor,
}

impl Project {
    /// Builds the crates, and waits until rust-analyzer has expanded their macros.
    pub(crate) fn open() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor");
        write(&folder);
        needs(is_installed());
        needs(built(&folder));
        let options = json!({
            "cachePriming": {"enable": false},
            "cargo": {"targetDir": target()},
            "checkOnSave": false,
        });
        let editor = Editor::start(&mut rust_analyzer(), &folder, &options);
        let mut project = Self { folder, editor };
        project.editor.wait_until_quiescent();
        for side in Side::ALL {
            let text = shops::shop(side);
            project.set_text(side, text);
            eventually_blocking("types of a crate", || {
                let hover = project.hover(side, text, "let |early");
                hover.contains("usize").then_some(())
            });
        }
        project
    }

    pub(crate) fn set_text(&mut self, side: Side, text: &str) {
        let file = self.file(side);
        self.editor.set_text(&file, text);
    }

    fn file(&self, side: Side) -> PathBuf {
        self.folder.join(side.name()).join("src/main.rs")
    }

    /// Sends a request about a place of the text. In `snippet`, `|` marks the place.
    pub(crate) fn ask(&mut self, side: Side, text: &str, snippet: &str, method: &str) -> Value {
        self.ask_with(side, text, snippet, method, json!({}))
    }

    pub(crate) fn ask_with(
        &mut self,
        side: Side,
        text: &str,
        snippet: &str,
        method: &str,
        mut params: Value,
    ) -> Value {
        let start = text.find(&snippet.replacen('|', "", 1));
        let start = start.unwrap_or_else(|| panic!("no {snippet:?} in\n{text}"));
        let before = &text[..start + snippet.find('|').expect("a mark")];
        let line = before.matches('\n').count();
        let character = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
        params["textDocument"] = json!({"uri": uri(&self.file(side))});
        params["position"] = json!({"line": line, "character": character});
        self.editor.request(method, &params)
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.editor.request(method, params)
    }

    /// Returns the number of places to which an editor jumps.
    pub(crate) fn targets(&mut self, side: Side, text: &str, snippet: &str) -> usize {
        let targets = self.ask(side, text, snippet, "textDocument/definition");
        targets.as_array().map_or(0, Vec::len)
    }

    pub(crate) fn hover(&mut self, side: Side, text: &str, snippet: &str) -> String {
        let hover = self.ask(side, text, snippet, "textDocument/hover");
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// Returns the offered names, without the trait that has them.
    pub(crate) fn completions(&mut self, side: Side, text: &str, snippet: &str) -> Vec<String> {
        let list = self.ask(side, text, snippet, "textDocument/completion");
        let items = list["items"].as_array().or(list.as_array()).cloned().unwrap_or_default();
        let labels = items.iter().filter_map(|item| item["label"].as_str());
        labels.map(|label| label.split('(').next().unwrap_or_default().to_owned()).collect()
    }

    /// Returns rust-analyzer's own diagnostics, each with its line.
    pub(crate) fn diagnostics(&mut self, side: Side) -> Vec<String> {
        let params = json!({"textDocument": {"uri": uri(&self.file(side))}});
        let report = self.editor.request("textDocument/diagnostic", &params);
        let items = report["items"].as_array().cloned().unwrap_or_default();
        let described = items
            .iter()
            .map(|item| format!("{}: {}", item["range"]["start"]["line"], item["message"]));
        described.collect()
    }
}

/// Writes a workspace with the crates, and with the versions of crates that this workspace has.
fn write(folder: &Path) {
    let put = |file: &str, text: &str| {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for tests");
        fs::write(path, text).expect("the folder for tests can be written");
    };
    put("Cargo.toml", "[workspace]\nmembers = [\"plain\", \"ours\", \"rmcp\"]\nresolver = \"3\"\n");
    for side in Side::ALL {
        let (name, dependencies) = (side.name(), side.dependencies());
        let manifest = format!(
            "[package]\nname = \"shop-{name}\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}"
        );
        put(&format!("{name}/Cargo.toml"), &manifest);
        put(&format!("{name}/src/main.rs"), shops::shop(side));
    }
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    // rmcp and the crates that only rmcp needs have no version there, so cargo takes their newest ones.
    fs::copy(lock, folder.join("Cargo.lock")).expect("the workspace is locked");
}

/// Checks the crates, and so builds their macros, for which rust-analyzer would wait.
fn built(folder: &Path) -> Result<(), Missing> {
    let mut fetch = cargo();
    output_of(fetch.arg("fetch").current_dir(folder))?;
    // rust-analyzer runs the macros that the compiler of its own toolchain has built.
    let mut check = Command::new("rustup");
    check.args(["run", TOOLCHAIN, "cargo", "check", "--workspace", "--offline", "--target-dir"]);
    check.arg(target());
    check.envs(SHARED_BUILD).current_dir(folder);
    success_of(&mut check).map(drop)
}

fn is_installed() -> Result<(), Missing> {
    output_of(rust_analyzer().arg("--version"))?;
    let mut components = Command::new("rustup");
    components.args(["component", "list", "--installed", "--toolchain", TOOLCHAIN]);
    if output_of(&mut components)?.lines().any(|component| component == "rust-src") {
        return Ok(());
    }
    Err(Missing::new(format!("the component rust-src of Rust {TOOLCHAIN}")))
}

fn rust_analyzer() -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", TOOLCHAIN, "rust-analyzer"]).envs(SHARED_BUILD);
    command
}
