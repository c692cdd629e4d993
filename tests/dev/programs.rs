//! Third-party programs that the tests of this suite start.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use support::{
    crates_io,
    node::Node,
    python::Python,
    requirement::{Missing, output_of, success_of},
};

/// Version of cargo-generate. Newer versions need Rust 1.96.
const CARGO_GENERATE: &str = "0.23.10";

/// Returns the folder into which programs of another suite are installed.
fn folder(suite: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(suite)
}

fn suite(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// Lets the client of the Python SDK carry out a plan in a folder, and returns its report. `server` is a command or a URL.
pub(crate) fn python(
    folder_of_client: &Path,
    era: &str,
    server: &[String],
    plan: &Value,
) -> Result<Value, Missing> {
    let requirements = include_str!("../peers/requirements.txt");
    let python = Python::installed(&folder("peers"), "python-2.3.0", requirements)?;
    let mut command = python.run(suite("peers/python_peer.py"));
    // A step may wait for a build, and the build may wait for builds of other tests in this target folder.
    command.args(["--era", era, "--timeout", "600", "--"]).args(server);
    command.current_dir(folder_of_client);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut client = command.spawn().expect("an installed interpreter starts");
    let mut stdin = client.stdin.take().expect("stdin is piped");
    stdin.write_all(plan.to_string().as_bytes()).expect("the client reads its plan");
    drop(stdin);
    let output = client.wait_with_output().expect("the client ends");
    assert!(output.status.success(), "{}", output.status);
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(report["complaints"], json!([]), "{report:#}");
    assert_eq!(report["killed"], false, "the server did not end with its stdin: {report:#}");
    Ok(report)
}

/// Runs a scenario of the playground in Chromium. `sources` is passed to the scenario in the variable `SOURCES`.
pub(crate) fn chromium(scenario: &str, page: &str, sources: &Value) -> Result<(), Missing> {
    let package = include_str!("../../mcp-runtime/playground/package.json");
    let lock = include_str!("../../mcp-runtime/playground/package-lock.json");
    let node = Node::locked(&folder("playground"), "npm", package, lock)?;
    output_of(Command::new("chromium").arg("--version"))?;
    let mut command = node.run(suite("playground/run.mjs"));
    command.args([scenario, page]).arg(&node.folder).env("SOURCES", sources.to_string());
    if let Err(why) = output_of(&mut command) {
        panic!("{scenario}: {why}");
    }
    Ok(())
}

/// Lets the official tool for MCP bundles validate a bundle. Returns the folder into which the tool has unpacked the bundle.
pub(crate) fn validated(bundle: &Path) -> Result<PathBuf, Missing> {
    let package = include_str!("../stdio/publishing/package.json");
    let lock = include_str!("../stdio/publishing/package-lock.json");
    let node = Node::locked(&folder("publishing"), "mcpb-2.1.2", package, lock)?;
    let tool = || node.run("node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");
    let unpacked = bundle.with_extension("unpacked");
    success_of(tool().arg("unpack").arg(bundle).arg(&unpacked))?;
    let said = success_of(tool().arg("validate").arg(&unpacked))?;
    assert!(said.contains("Manifest schema validation passes!"), "{said}");
    Ok(unpacked)
}

/// Returns the path of cargo-generate.
pub(crate) fn cargo_generate() -> Result<PathBuf, Missing> {
    crates_io::program(&folder("template"), "cargo-generate", CARGO_GENERATE)
}
