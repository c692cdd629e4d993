//! Checks that the items of the examples are portable, with the Inspector and with the `check` command of the examples, both with
//! `--strict`.

use std::process::Command;

use support::examples::{example, examples};

use crate::{inspector, server::Server};

/// Tools whose findings are intended, because the official suite requires them: a tool with keywords that some clients reject, and tools
/// that run only as tasks.
const ON_PURPOSE: &[&str] = &["json_schema_2020_12_tool", "failing_job", "test_tool_with_task"];

fn server(name: &'static str) -> Server {
    let server = Server::new(name);
    // The example `files` needs its root folder.
    server.file("note.txt");
    server
}

#[support::test]
fn the_inspector_finds_every_example_portable() {
    for name in examples() {
        inspector::list(&server(name));
    }
}

#[support::test]
fn check_finds_no_unexpected_problem_in_an_example() {
    for name in examples() {
        let server = server(name);
        let output = Command::new(example(name))
            .args(["check", "--strict"])
            .envs(server.environment())
            .output()
            .expect("an example starts");
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        let has_some = name == "everything";
        assert_eq!(output.status.success(), !has_some, "{name}:\n{printed}");
        let titles = printed.lines().filter(|line| !line.starts_with(' ') && line.contains(" at "));
        for title in titles {
            assert!(ON_PURPOSE.iter().any(|tool| title.contains(tool)), "{name}:\n{printed}");
        }
        let is_clean = printed.ends_with("No known client has a problem with any of it.\n");
        assert_eq!(is_clean, !has_some, "{name}:\n{printed}");
    }
}
