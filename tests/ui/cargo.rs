//! Builds programs as packages, in the same way as cargo builds them for their authors.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Returns the name of the binary of a program: `data_key` for `ui/data/key.rs`.
pub(crate) fn name(program: &Path) -> String {
    let words = program.with_extension("");
    let words: Vec<_> =
        words.iter().skip(1).map(|part| part.to_string_lossy().into_owned()).collect();
    words.join("_")
}

/// Builds the programs as binaries of one package, and returns cargo's messages. `features` and `dependencies` are those of its manifest.
pub(crate) fn built(
    package: &str,
    features: &str,
    dependencies: &str,
    programs: impl Iterator<Item = PathBuf>,
) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(package);
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = tests.join("../mcp-runtime");
    let mut manifest = format!(
        "[package]\nname = {package:?}\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nmcp-runtime = {{ path = {runtime:?}, {features} }}\n{dependencies}\n"
    );
    for program in programs {
        let path = tests.join(&program);
        manifest.push_str(&format!("\n[[bin]]\nname = {:?}\npath = {path:?}\n", name(&program)));
    }
    fs::create_dir_all(&folder).expect("the folder for tests can be written");
    fs::write(folder.join("Cargo.toml"), manifest).expect("the folder for tests can be written");
    fs::copy(tests.join("../Cargo.lock"), folder.join("Cargo.lock"))
        .expect("the workspace is locked");
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--keep-going", "--message-format=json", "--target-dir"])
        // Uses the target folder of the workspace, where the macros and their dependencies are built already.
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join(".."))
        // Authors build incrementally. Then rustc does not merge errors with the same text from different bodies, so authors see each of
        // them.
        .env("CARGO_INCREMENTAL", "1")
        .current_dir(&folder)
        .output()
        .expect("cargo starts");
    let messages = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Returns the errors among cargo's messages about one program.
pub(crate) fn errors<'a>(messages: &'a [Value], program: &Path) -> Vec<&'a Value> {
    let name = name(program);
    let own = messages
        .iter()
        .filter(|message| message["target"]["name"] == *name)
        .map(|message| &message["message"]);
    let is_error = |error: &&Value| {
        error["level"] == "error"
            && error["spans"].as_array().is_some_and(|spans| !spans.is_empty())
    };
    own.filter(is_error).collect()
}
