//! Builds the example servers, and finds their binaries.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    process::Stdio,
    sync::OnceLock,
};

use serde_json::Value;

use crate::process::cargo;

/// Path of the binary of the example server `name`.
///
/// The first call builds all examples. Cargo reports the paths of the binaries.
///
/// # Panics
///
/// When the examples do not compile, or none has this name.
pub fn example(name: &str) -> &'static Path {
    let built = built();
    built.get(name).unwrap_or_else(|| {
        panic!("no example `{name}`; there are {:?}", built.keys().collect::<Vec<_>>())
    })
}

/// The names of all example servers.
///
/// # Panics
///
/// When the examples do not compile.
pub fn examples() -> impl Iterator<Item = &'static str> {
    built().keys().map(String::as_str)
}

fn built() -> &'static BTreeMap<String, PathBuf> {
    static BUILT: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build)
}

fn build() -> BTreeMap<String, PathBuf> {
    let mut cargo = cargo();
    let output = cargo
        // `--workspace` selects the features that `cargo test --workspace` built the crates with.
        .args(["build", "--workspace", "--examples", "--bins", "--message-format=json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "the examples do not compile");
    String::from_utf8(output.stdout)
        .expect("cargo speaks UTF-8")
        .lines()
        .filter_map(|line| executable(&serde_json::from_str(line).ok()?))
        .collect()
}

/// Returns the name and path in a `compiler-artifact` message, if the message is about an example. Most examples are packages of their own
/// below `examples/`, so that each compiles only the dependencies that it needs.
fn executable(message: &Value) -> Option<(String, PathBuf)> {
    let target = &message["target"];
    let kind = target["kind"].as_array()?.first()?;
    let source = Path::new(target["src_path"].as_str()?);
    let is_below_examples = source.ancestors().any(|folder| folder.ends_with("examples"));
    if !(kind == "example" || kind == "bin" && is_below_examples) {
        return None;
    }
    Some((target["name"].as_str()?.into(), message["executable"].as_str()?.into()))
}
