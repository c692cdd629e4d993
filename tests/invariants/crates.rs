use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
    sync::{Mutex, PoisonError},
};

use crate::sources::root;

/// Checks the dependency tree of a crate that depends only on the runtime, with these features. The tree may have at most `most` crates.
pub(crate) fn check(features: &str, most: usize) {
    let count = count(features);
    assert!(count <= most, "{features}: {count} crates, at most {most}");
}

/// Returns the number of crates in the dependency tree of a crate that depends only on the runtime, with these features.
fn count(features: &str) -> usize {
    // Two tests need the same numbers, and cargo takes a third of a second for each.
    static COUNTS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    *counts.entry(features.to_owned()).or_insert_with_key(|features| count_in_tree(features))
}

fn count_in_tree(features: &str) -> usize {
    let arguments = "tree -p mcp-runtime --no-default-features -e normal,build --prefix none --no-dedupe --locked";
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(arguments.split(' '))
        .args(["--features", features])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let crates: BTreeSet<&str> = text.lines().collect();
    assert!(crates.iter().any(|line| line.starts_with("mcp-macros ")), "this is no tree: {text}");
    crates.len() + 1
}

/// Returns the features of crates that a crate with the default features of the runtime enables, each as `crate feature "name"`.
pub(crate) fn enabled_features() -> BTreeSet<String> {
    let arguments =
        "tree -p mcp-runtime -e normal,build,features --prefix none --no-dedupe --locked";
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(arguments.split(' '))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    text.lines().filter(|line| line.contains(" feature ")).map(str::to_owned).collect()
}

/// Compares the table of features of a page with the features in a manifest and their numbers of crates. Returns the differences.
#[cfg(target_os = "linux")]
pub(crate) fn wrong_costs(page: &str, manifest: &str) -> Vec<String> {
    let section = manifest.split("\n[features]\n").nth(1).and_then(|text| text.split("\n[").next());
    let lines = section.expect("the manifest has features").lines();
    let features = lines.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let default = ["stdio", "client-log"];
    let mut wrong = Vec::new();
    for feature in features.filter(|name| !["default", "bench"].contains(name)) {
        let mut others: Vec<&str> = default.into_iter().filter(|name| *name != feature).collect();
        let without = count(&others.join(","));
        others.push(feature);
        let cost = count(&others.join(",")) - without;
        let row = page.lines().find(|line| line.starts_with(&format!("| `{feature}`")));
        if row.is_none_or(|row| !row.ends_with(&format!(" | {cost} |"))) {
            wrong.push(format!("`{feature}` costs {cost} crates, but the guide has: {row:?}"));
        }
    }
    wrong
}
