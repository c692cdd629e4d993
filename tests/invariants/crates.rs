use std::{collections::BTreeSet, path::Path, process::Command};

/// Checks the dependency tree of a crate that depends only on the runtime, with these features. The tree may have at most `most` crates.
pub(crate) fn check(features: &str, most: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let arguments = "tree -p mcp-runtime --no-default-features -e normal,build --prefix none --no-dedupe --locked";
    let output = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(arguments.split(' '))
        .args(["--features", features])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let crates: BTreeSet<&str> = text.lines().collect();
    assert!(crates.iter().any(|line| line.starts_with("mcp-macros ")), "this is no tree: {text}");
    let count = crates.len() + 1;
    assert!(count <= most, "{features}: {count} crates, at most {most}: {crates:?}");
}
