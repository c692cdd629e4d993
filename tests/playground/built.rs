//! The built page, which is committed so that `cargo build` needs no Node.js.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use support::requirement::{needs, output_of};

use crate::sources::{committed, installed};

/// Most bytes of the page in the coding `gzip`.
const MOST_BYTES: usize = 150 * 1024;

fn built(name: &str) -> Vec<u8> {
    fs::read(committed().join("dist").join(name)).expect("the page is committed")
}

#[support::test]
fn the_committed_page_is_what_the_sources_build() {
    let node = needs(installed());
    let out = node.folder.join("built");
    output_of(node.run("build.mjs").arg(&out)).expect("the sources build");
    for name in ["playground.html", "policy.txt"] {
        let again = fs::read(out.join(name)).expect("it was built");
        assert!(
            again == built(name),
            "{name} is older than its sources: run `npm ci && node build.mjs` in mcp-runtime/playground"
        );
    }
}

#[support::test]
fn the_sources_have_no_type_errors() {
    let node = needs(installed());
    let compiler = node.folder.join("node_modules/typescript/bin/tsc");
    let project = node.folder.join("tsconfig.json");
    output_of(node.run(compiler).arg("--project").arg(project)).expect("no type errors");
}

#[support::test]
fn the_logic_of_the_page_passes_its_own_tests() {
    let node = needs(installed());
    let mut tests = Command::new(node.run("").get_program());
    tests.args(["--test", "src/**/*.test.ts"]).current_dir(&node.folder);
    let said = output_of(&mut tests).unwrap_or_else(|why| panic!("{why}"));
    assert!(said.contains("# fail 0"), "{said}");
    assert!(!said.contains("# tests 0"), "{said}");
}

#[support::test]
fn the_page_is_small() {
    let mut gzip = Command::new("gzip")
        .args(["-9", "--stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gzip starts");
    let mut input = gzip.stdin.take().expect("stdin is piped");
    let writer = std::thread::spawn(move || input.write_all(&built("playground.html")));
    let output = gzip.wait_with_output().expect("gzip ends");
    writer.join().expect("the writer ends").expect("gzip reads everything");
    assert!(output.stdout.len() > 10_000, "this is no page");
    assert!(output.stdout.len() <= MOST_BYTES, "{} bytes", output.stdout.len());
}
