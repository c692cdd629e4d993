//! Builds programs as packages, in the same way as cargo builds them for their authors.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use support::{
    process::{SHARED_BUILD, cargo},
    server::target,
};

/// Returns the name of the binary of a program: `data_key` for `ui/data/key.rs`.
pub(crate) fn name(program: &Path) -> String {
    let words = program.with_extension("");
    let words: Vec<_> =
        words.iter().skip(1).map(|part| part.to_string_lossy().into_owned()).collect();
    words.join("_")
}

/// Returns the dependencies of most programs: the runtime with all features that a program needs, and the other crates that the programs name.
/// Packages with the same dependencies share their builds.
pub(crate) fn all_dependencies() -> String {
    let features = "auth axum contract playground sqlite state-key store-suite workbench";
    let runtime = runtime(&features.split(' ').collect::<Vec<_>>());
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let server = tests.join("../mcp-runtime/crates/authorization-server");
    format!(
        "{runtime}mcp-runtime-authorization-server = {{ path = {server:?} }}\n\
         schemars = \"1\"\nserde = \"1\"\nserde_json = \"1\"\n\
         tracing = {{ version = \"0.1\", default-features = false }}\n"
    )
}

/// Returns the dependency on the runtime with these features and the default ones.
pub(crate) fn runtime(features: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp-runtime");
    format!("mcp-runtime = {{ path = {folder:?}, features = {features:?} }}\n")
}

/// Names each program as a binary of its own.
pub(crate) fn alone(
    programs: impl Iterator<Item = PathBuf>,
) -> impl Iterator<Item = (String, Vec<PathBuf>)> {
    programs.map(|program| (name(&program), vec![program]))
}

/// Checks the binaries of one package, each with its name and its programs, and returns cargo's messages. If a binary has several programs,
/// they are its modules.
pub(crate) fn built(
    package: &str,
    dependencies: &str,
    binaries: impl Iterator<Item = (String, Vec<PathBuf>)>,
) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(package);
    fs::create_dir_all(&folder).expect("the folder for tests can be written");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut manifest = format!(
        "[package]\nname = {package:?}\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n{dependencies}"
    );
    for (name, programs) in binaries {
        let path = match &*programs {
            [program] => tests.join(program),
            _ => {
                let path = folder.join(&name).with_extension("rs");
                fs::write(&path, root(&programs)).expect("the folder for tests can be written");
                path
            }
        };
        manifest.push_str(&format!("\n[[bin]]\nname = {name:?}\npath = {path:?}\n"));
    }
    fs::write(folder.join("Cargo.toml"), manifest).expect("the folder for tests can be written");
    fs::copy(tests.join("../Cargo.lock"), folder.join("Cargo.lock"))
        .expect("the workspace is locked");
    let output = check(&folder).args(["--keep-going", "--message-format=json"]).output();
    let output = output.expect("cargo starts");
    let messages = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let messages: Vec<Value> =
        messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    // Otherwise a dependency does not compile.
    let is_own = |message: &Value| {
        message["manifest_path"].as_str().is_some_and(|path| Path::new(path).starts_with(&folder))
    };
    assert!(messages.iter().any(is_own), "{}", String::from_utf8_lossy(&output.stderr));
    messages
}

/// Returns the command that checks the package in this folder.
pub(crate) fn check(folder: &Path) -> Command {
    let mut cargo = cargo();
    cargo
        .args(["check", "--offline", "--target-dir"])
        // Uses the target folder of the workspace, where the macros and their dependencies are built already.
        .arg(target())
        // Authors build incrementally. Then rustc does not merge errors with the same text from different bodies, so authors see each of
        // them.
        .env("CARGO_INCREMENTAL", "1")
        .envs(SHARED_BUILD)
        .current_dir(folder);
    cargo
}

/// Returns the source of a binary whose modules are the programs.
fn root(programs: &[PathBuf]) -> String {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut source = String::from("#![allow(dead_code)]\n");
    for program in programs {
        let path = tests.join(program);
        source.push_str(&format!("#[path = {path:?}]\nmod {};\n", name(program)));
    }
    source + "fn main() {}\n"
}

/// Returns the errors among cargo's messages about one program that was built alone.
pub(crate) fn errors<'a>(messages: &'a [Value], program: &Path) -> Vec<&'a Value> {
    let name = name(program);
    let own = messages
        .iter()
        .filter(|message| message["target"]["name"] == *name)
        .map(|message| &message["message"]);
    own.filter(|message| is_error(message)).collect()
}

/// Whether a message of cargo is an error of the compiler with a place. The last message of a program that fails has none.
pub(crate) fn is_error(message: &Value) -> bool {
    message["level"] == "error"
        && message["spans"].as_array().is_some_and(|spans| !spans.is_empty())
}

/// Returns the messages of the compiler about one program. If the program is a module of a binary, these are the messages whose first primary
/// place is in its file, and otherwise all messages with a place.
pub(crate) fn messages_of<'a>(messages: &'a [Value], program: &Path) -> Vec<&'a Value> {
    let name = name(program);
    let is_own = |message: &&Value| {
        let spans = message["message"]["spans"].as_array().map_or(&[][..], Vec::as_slice);
        if message["target"]["name"] == *name {
            return !spans.is_empty();
        }
        let primary = spans.iter().find(|span| span["is_primary"] == true);
        let file = primary.and_then(|span| span["file_name"].as_str());
        file.is_some_and(|file| Path::new(file).ends_with(program))
    };
    messages.iter().filter(is_own).map(|message| &message["message"]).collect()
}
