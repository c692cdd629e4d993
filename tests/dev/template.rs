//! Templates of `examples/template`: the tests generate a crate from each, and build, test and call it.

use std::{fs, path::PathBuf, process::Command};

use serde_json::{Value, json};
use support::{
    browser::send,
    process::HttpServer,
    requirement::{Missing, needs},
};

use crate::{client::Client, generated::Generated, programs::python, workshop::DOUBLE};

/// Returns the commands of the workflow, each with the variables of its step.
fn steps_of_workflow(generated: &Generated) -> Vec<String> {
    let workflow = generated.text(".github/workflows/ci.yml");
    let mut steps: Vec<String> = Vec::new();
    let mut variables = Vec::new();
    // A command may be a list of variables, too: the last line of a step comes first.
    for line in workflow.lines().rev().map(str::trim) {
        match line.split_once(": ") {
            Some(("- run", command)) => {
                let variables = variables.drain(..).rev().collect::<Vec<_>>().join(" ");
                steps.push(format!("{variables} {command}").trim_start().to_owned());
            }
            Some((name, value)) if !name.contains([' ', '#', '-']) => {
                variables.push(format!("{name}={value}"));
            }
            _ => {}
        }
    }
    steps.reverse();
    steps
}

/// Returns the commands of the README that a test can run. Commands that serve never end, and others need Claude Code. Optimized builds take
/// minutes, so the same commands run without `--release`.
fn lines_of_readme(generated: &Generated) -> Vec<String> {
    let readme = generated.text("README.md");
    let shown = readme.lines().filter_map(|line| line.strip_prefix("$ "));
    let is_run = |line: &&str| !["--http", "claude "].iter().any(|part| line.contains(part));
    shown.filter(is_run).map(|line| line.replace("--release ", "")).collect()
}

/// Runs the commands of the workflow and of the README, and returns them with their output.
fn follow(generated: &Generated) -> Vec<(String, String)> {
    let workflow = steps_of_workflow(generated);
    assert_eq!(workflow.len(), 4, "{workflow:?}");
    assert_eq!(workflow.last().map(String::as_str), Some("MCP_LOCK=strict cargo test"));
    let lines = workflow.into_iter().chain(lines_of_readme(generated));
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
    let install =
        said("cargo run --features mcp-runtime/workbench -- install claude-desktop --print");
    assert!(install.is_some_and(|said| said.contains("template-stdio")), "{lines:?}");
    assert!(!generated.home.join(".config/Claude").exists(), "`--print` writes nothing");
    assert!(said("cargo run --features mcp-runtime/workbench -- bundle").is_some(), "{lines:?}");
    let files = fs::read_dir(&generated.folder).expect("the folder").flatten();
    let bundles = files.filter(|file| file.path().extension().is_some_and(|end| end == "mcpb"));
    assert_eq!(bundles.count(), 1);
    // The workflow notices a tool that the lock file lacks.
    let program = format!("{}\n{DOUBLE}", generated.text("src/main.rs"));
    fs::write(generated.folder.join("src/main.rs"), program).expect("the folder is ours");
    let failed = generated.command("sh").args(["-c", "MCP_LOCK=strict cargo test"]).output();
    let failed = failed.expect("a shell");
    let said = String::from_utf8_lossy(&failed.stdout);
    assert!(!failed.status.success() && said.contains("MCP_LOCK=update"), "{said}");
    Ok(())
}

#[support::test]
fn the_template_for_stdio_does_what_its_readme_shows() {
    needs(check_stdio());
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

#[support::test]
fn the_template_with_a_login_does_what_its_readme_shows_and_serves_users_with_a_token() {
    needs(check_login());
}

fn check_login_under_dev() -> Result<(), Missing> {
    let generated = Generated::new("login", "template-kept")?;
    // The first build takes longer than the test waits for the server.
    generated.run("cargo workbench version");
    let mut dev = generated.command("cargo");
    dev.args(["workbench", "dev", "--http", "127.0.0.1:0"]);
    let dev = Client::start({
        dev.env("TEMPLATE_KEPT_PASSWORD", "correct horse");
        dev
    });
    let program = generated.text("src/main.rs");
    let twice = DOUBLE.replace("double", "twice");
    for (era, name, added, notes) in [
        ("auto", "double", DOUBLE.to_owned(), "1"),
        // The second client comes after the first change, with a login of its own. The user has a note already.
        ("legacy", "twice", format!("{DOUBLE}{twice}"), "2"),
    ] {
        let text = format!("{program}\n{added}");
        let save =
            json!({ "do": "save", "path": generated.folder.join("src/main.rs"), "text": text });
        let note = json!({ "do": "call", "name": "add_note", "arguments": { "text": "Buy milk" } });
        let plan = json!({
            "login": { "name": "ada", "password": "correct horse" },
            "steps": [
                note,
                { "do": "hear", "list": "tools", "trigger": save },
                { "do": "call", "name": name, "arguments": { "number": 21 } },
                note,
            ],
        });
        let report = python(&generated.folder, era, &[dev.url()], &plan)?;
        let text = |step: usize| &report["steps"][step]["result"]["content"][0]["text"];
        // The new server has the login of the client, and no notes.
        assert_eq!([text(0), text(2), text(3)], [notes, "42", "1"], "{report:#}");
        assert_eq!(report["logins"].as_array().map(Vec::len), Some(1), "{report:#}");
    }
    Ok(())
}

#[support::test]
fn under_dev_users_of_the_template_stay_logged_in_when_a_change_replaces_the_server() {
    needs(check_login_under_dev());
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

#[support::test]
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
            let found = own_dependencies(&cloned);
            assert_eq!(found.len(), count, "{found:?}");
            for dependency in found {
                assert_eq!(dependency["source"], format!("git+{url}"), "{dependency}");
            }
        }
        Ok(())
    };
    needs(check());
}

#[support::test]
fn the_templates_are_neither_members_of_the_workspace_nor_manifests_that_cargo_finds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/template");
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        assert!(!folder.join("Cargo.toml").exists(), "{}", folder.display());
        let files = fs::read_dir(&folder).expect("a folder").flatten();
        folders.extend(files.map(|file| file.path()).filter(|path| path.is_dir()));
    }
    let mut metadata = Command::new(env!("CARGO"));
    metadata.args(["metadata", "--no-deps", "--offline", "--format-version=1"]);
    let output = metadata.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo starts");
    let members = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(members.contains("example-notes") && !members.contains("examples/template"));
}
