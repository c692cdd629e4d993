//! Compile time of schemas that are built in constants: `cargo bench -p mcp-runtime --bench compile_cost`.
//!
//! A crate of many tools is checked with its schemas in constants, and once more with `schema = "full"`, for which schemars builds the
//! schemas at run time. The difference is the cost of the constants. Both crates are checked several times in turn, and the fastest check
//! of each counts.

#![allow(clippy::print_stdout, reason = "a benchmark is there to print")]

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

const TOOLS: u32 = 100;
const ROUNDS: usize = 7;

fn main() {
    // Under `cargo test --benches` the benchmark only has to compile.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_cost");
    let (constant, lazy) =
        (crate_of(&folder, "constant", ""), crate_of(&folder, "lazy", "(schema = \"full\")"));
    let (mut best_constant, mut best_lazy) = (Duration::MAX, Duration::MAX);
    check(&constant);
    check(&lazy);
    for _ in 0..ROUNDS {
        best_lazy = best_lazy.min(check(&lazy));
        best_constant = best_constant.min(check(&constant));
    }
    let price = best_constant.saturating_sub(best_lazy) / TOOLS;
    println!("{TOOLS} tools with {} bytes of input schema each", schema().len());
    println!("left to schemars   {best_lazy:>8.2?}");
    println!("made in constants  {best_constant:>8.2?}");
    println!("for each tool      {price:>8.2?}");
}

/// Input schema of each tool, from which the printed size is taken.
fn schema() -> String {
    let mut text = String::from("{\"type\":\"object\",\"properties\":{");
    for (name, kind, described) in ARGUMENTS {
        let kind = match kind {
            "&str" => "\"type\":\"string\"",
            "u32" => "\"minimum\":0,\"type\":\"integer\"",
            "bool" => "\"type\":\"boolean\"",
            "Option<f64>" => "\"type\":\"number\"",
            _ => "\"items\":{\"type\":\"string\"},\"type\":\"array\"",
        };
        let _ = write!(text, "\"{name}\":{{\"description\":\"{described}\",{kind}}},");
    }
    text.pop();
    text.push_str("},\"required\":[\"query\",\"limit\",\"tags\",\"strict\"]}");
    text
}

const ARGUMENTS: [(&str, &str, &str); 5] = [
    ("query", "&str", "What to look for, in the words of whoever asks"),
    ("limit", "u32", "How many results to give at most"),
    ("tags", "Vec<String>", "Only what has all of these tags"),
    ("strict", "bool", "Whether every word must be found"),
    ("weight", "Option<f64>", "What a match in the title counts"),
];

fn crate_of(folder: &Path, name: &str, keys: &str) -> PathBuf {
    let mut source = String::from("#![allow(dead_code)]\nuse mcp_runtime::prelude::*;\n");
    for tool in 0..TOOLS {
        let _ = writeln!(source, "\n/// Searches.\n#[tool{keys}]\nfn search{tool}(");
        for (name, ty, described) in ARGUMENTS {
            let _ = writeln!(source, "    /// {described}\n    {name}: {ty},");
        }
        source.push_str(
            ") -> String {\n    let _ = (limit, tags, strict, weight);\n    query.to_owned()\n}\n",
        );
    }
    let package = folder.join(name);
    let runtime = env!("CARGO_MANIFEST_DIR");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[lib]\npath = \"lib.rs\"\n\n[workspace]\n\n\
         [dependencies]\nmcp-runtime = {{ path = {runtime:?} }}\n"
    );
    fs::create_dir_all(&package).expect("the folder can be written");
    fs::write(package.join("Cargo.toml"), manifest).expect("the manifest can be written");
    fs::write(package.join("lib.rs"), source).expect("the source can be written");
    fs::copy(Path::new(runtime).join("../Cargo.lock"), package.join("Cargo.lock"))
        .expect("the workspace is locked");
    package
}

/// Returns the time to check the crate itself, without its dependencies.
fn check(package: &Path) -> Duration {
    let source = package.join("lib.rs");
    let text = fs::read(&source).expect("the source is there");
    fs::write(&source, text).expect("the source can be written");
    let start = Instant::now();
    let status = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--target-dir"])
        .arg(package.with_file_name("target"))
        .current_dir(package)
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .expect("cargo starts");
    assert!(status.success(), "{} does not compile", package.display());
    start.elapsed()
}
