//! Templates of `examples/template`: the tests generate a crate from each, and build, test and call it.

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};
use support::{browser::send, process::HttpServer, requirement::Missing};

use crate::{generated::Generated, programs::python};

/// Runs the commands of the workflow and of the README, and returns them with their output. Leaves out three kinds: release builds, which take
/// minutes, commands that serve, and commands that need Claude Code.
fn follow(generated: &Generated) -> Vec<(String, String)> {
    let workflow = generated.text(".github/workflows/ci.yml");
    let workflow = workflow.lines().filter_map(|line| line.trim().strip_prefix("- run: "));
    let strict: Vec<_> = workflow.map(|line| format!("MCP_LOCK=strict {line}")).collect();
    assert!(strict.len() >= 4, "the workflow has few commands: {strict:?}");
    let readme = generated.text("README.md");
    let shown = readme.lines().filter_map(|line| line.strip_prefix("$ "));
    let is_run =
        |line: &&str| !["--release", "--http", "claude "].iter().any(|part| line.contains(part));
    let lines = strict.into_iter().chain(shown.filter(is_run).map(str::to_owned));
    lines.map(|line| (generated.run(&line), line)).map(|(said, line)| (line, said)).collect()
}

fn check_stdio() -> Result<(), Missing> {
    let generated = Generated::new("stdio", "template-stdio")?;
    let lines = follow(&generated);
    let said = |start: &str| {
        let line = lines.iter().find(|(line, _)| line.starts_with(start));
        line.map(|(_, said)| said.as_str())
    };
    assert_eq!(said("cargo run -- call greet"), Some("Hello, Ada!\n"), "{lines:?}");
    let mark = "cargo run -q -- --mark '?' call greet name=Ada language=fi";
    assert_eq!(generated.run(mark), "Hei, Ada?\n");
    assert!(said("cargo test").is_some_and(|said| said.contains("4 passed")), "{lines:?}");
    Ok(())
}

#[test]
fn the_template_for_stdio_does_what_its_readme_shows() {
    check_stdio().unwrap_or_else(Missing::skip);
}

fn check_login() -> Result<(), Missing> {
    let generated = Generated::new("login", "template-login")?;
    follow(&generated);
    let variables = [("TEMPLATE_LOGIN_PASSWORD", PathBuf::from("correct horse"))];
    let readme = generated.text("README.md");
    assert!(readme.contains("TEMPLATE_LOGIN_PASSWORD=\"correct horse\" cargo run"), "{readme}");
    let server = HttpServer::start(&generated.program(), &[], &variables);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let headers = [("Content-Type", "application/json"), ("Accept", "application/json")];
    let refused = send("POST", &server.url, &headers, &list);
    assert_eq!(refused.status(), 401, "{}", refused.text);
    let plan = |password: &str| {
        json!({
            "login": { "name": "ada", "password": password },
            "steps": [
                { "do": "call", "name": "add_note", "arguments": { "text": "Buy milk" } },
                { "do": "read", "uri": "notes://1" },
            ],
        })
    };
    let url = [server.url.clone()];
    let report = python(&generated.folder, "auto", &url, &plan("correct horse"))?;
    assert_eq!(report["steps"][0]["result"]["content"][0]["text"], "1", "{report:#}");
    assert_eq!(report["steps"][1]["result"]["contents"][0]["text"], "Buy milk", "{report:#}");
    let granted = json!([{ "asked": ["notes:read", "notes:write"], "granted": ["notes:read", "notes:write"] }]);
    assert_eq!(report["logins"], granted);
    let report = python(&generated.folder, "auto", &url, &plan("wrong"))?;
    let refused = json!([{ "refused": "No user has this name and this password." }]);
    assert_eq!(report["logins"], refused, "{report:#}");
    Ok(())
}

#[test]
fn the_template_with_a_login_does_what_its_readme_shows_and_serves_users_with_a_token() {
    check_login().unwrap_or_else(Missing::skip);
}

/// Returns the dependencies of a generated crate on crates of this repository, as cargo reads them.
fn own_dependencies(generated: &Generated) -> Vec<Value> {
    let metadata = generated.run("cargo metadata --no-deps --format-version=1");
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let package = &metadata["packages"][0];
    assert_eq!(package["authors"], json!(["Ada <ada@example.com>"]));
    let all = package["dependencies"].as_array().expect("dependencies");
    let own = all
        .iter()
        .filter(|found| found["name"].as_str().is_some_and(|name| name.starts_with("mcp-runtime")));
    own.cloned().collect()
}

#[test]
fn a_template_uses_the_published_version_or_a_git_repository() {
    let check = || {
        for (template, count) in [("stdio", 2), ("login", 3)] {
            let published = Generated::from_source(template, "template-published", "")?;
            let found = own_dependencies(&published);
            assert_eq!(found.len(), count, "{found:?}");
            for dependency in found {
                assert_eq!(dependency["req"], concat!("^", env!("CARGO_PKG_VERSION")));
                let source = dependency["source"].as_str().expect("a source");
                assert!(source.starts_with("registry+"), "{source}");
            }
            let url = "https://git.example.com/mcp-runtime.git";
            let cloned = Generated::from_source(template, "template-git", url)?;
            for dependency in own_dependencies(&cloned) {
                assert_eq!(dependency["source"], format!("git+{url}"), "{dependency}");
            }
        }
        Ok(())
    };
    check().unwrap_or_else(Missing::skip);
}

#[test]
fn the_templates_are_neither_members_of_the_workspace_nor_manifests_that_cargo_finds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/template");
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        assert!(!folder.join("Cargo.toml").exists(), "{}", folder.display());
        let files = std::fs::read_dir(&folder).expect("a folder").flatten();
        folders.extend(files.map(|file| file.path()).filter(|path| path.is_dir()));
    }
    let mut metadata = Command::new(env!("CARGO"));
    metadata.args(["metadata", "--no-deps", "--offline", "--format-version=1"]);
    let output = metadata.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo starts");
    let members = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(members.contains("example-notes") && !members.contains("examples/template"));
}
