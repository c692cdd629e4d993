//! The published schemas of the examples and of servers of other suites accept all arguments that these servers accept.

use std::process::Command;

use serde_json::json;
use support::{
    accepted::Checked,
    examples::{example, examples},
    server::Server as Example,
};

use crate::server::{Server, call, prepared, request};

/// Tool whose author has written the schema by hand. The schema describes more than the tool reads.
const BY_HAND: &str = "json_schema_2020_12_tool";

/// Number of calls of each tool.
const CALLS: usize = 300;

/// Tools that refuse each call, because the client has too few capabilities.
const LEFT_OUT: [&str; 7] = [
    "wait_for_table",
    "confirm_delete",
    "test_elicitation",
    "test_sampling",
    "summarize",
    "deploy",
    "confirm_amount",
];

/// Fewest arguments that the tools accept together.
const FEWEST: usize = 7_000;

const FIXTURES: [&str; 3] = [
    env!("CARGO_BIN_EXE_stdio-fixture"),
    env!("CARGO_BIN_EXE_asking-fixture"),
    env!("CARGO_BIN_EXE_playground-fixture"),
];

#[support::test]
fn a_schema_accepts_what_the_server_accepts() {
    let mut all = Vec::new();
    for name in examples() {
        let server = Example::new(name);
        // The example `files` needs its root folder.
        server.file("note.txt");
        let mut command = Command::new(example(name));
        command.envs(server.environment()).current_dir(&server.folder);
        all.extend(checked(command));
    }
    for fixture in FIXTURES {
        all.extend(checked(Command::new(fixture)));
    }
    let (mut tools, mut accepted, mut rejected, mut left_out) = (0, 0, Vec::new(), Vec::new());
    for checked in all {
        left_out.extend((checked.accepted == 0).then(|| checked.tool().to_owned()));
        tools += 1;
        accepted += checked.accepted;
        rejected.extend(checked.rejected);
    }
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
    assert_eq!(left_out, LEFT_OUT);
    // Fewer arguments would tell that the tools refuse them for another reason.
    assert!(accepted > FEWEST, "{tools} tools, {accepted} accepted arguments");
}

fn checked(command: Command) -> Vec<Checked> {
    let mut server = Server::start_as(prepared(command));
    server.send(&request("list", "tools/list", json!({})));
    let list = server.response("list");
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
    let mut all = Vec::new();
    for tool in tools {
        if tool["name"] == BY_HAND || tool["inputSchema"]["properties"] == json!({}) {
            continue;
        }
        let mut checked = Checked::of(tool);
        for number in 0..CALLS {
            if !checked.goes_on() {
                break;
            }
            let arguments = checked.arguments();
            server.send(&call(number, checked.tool(), arguments.clone()));
            let result = server.response(number)["result"].take();
            let error = (result["isError"] == true).then(|| result["content"][0]["text"].as_str());
            checked.note(arguments, error.flatten());
        }
        all.push(checked);
    }
    all
}
