//! The published schemas of the tools accept all arguments that the server accepts.

use mcp_runtime::testing::{Revision, TestClient};
use serde_json::json;
use support::accepted::Checked;

use crate::{block_on, server};

/// Number of calls of each tool.
const CALLS: usize = 600;

/// Tools that take every argument, or refuse each call because of the client.
const LEFT_OUT: [&str; 2] = ["roughly", "summarize"];

/// Fewest arguments that the tools accept together.
const FEWEST: usize = 8_000;

/// Servers with tools that take arguments, by the names of [`server::named`].
const SERVERS: [&str; 8] =
    ["types", "fixture", "catalog", "asking", "tasks", "complaints", "profiles", "mirrored"];

#[test]
fn a_schema_accepts_what_the_server_accepts() {
    let (mut tools, mut accepted, mut rejected, mut left_out) = (0, 0, Vec::new(), Vec::new());
    for name in SERVERS {
        for checked in block_on(checked(name)) {
            left_out.extend((checked.accepted == 0).then(|| checked.tool().to_owned()));
            tools += 1;
            accepted += checked.accepted;
            rejected.extend(checked.rejected);
        }
    }
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
    assert_eq!(left_out, LEFT_OUT);
    // Fewer arguments would tell that the tools refuse them for another reason.
    assert!(accepted > FEWEST, "{tools} tools, {accepted} accepted arguments");
}

async fn checked(name: &str) -> Vec<Checked> {
    let connecting = TestClient::connect_with(server::named(name), Revision::ALL[3]);
    let mut client = connecting.await.expect("a server");
    let tools = client.tools().await.expect("a list");
    let mut all = Vec::new();
    for tool in tools.iter().filter(|tool| tool["inputSchema"]["properties"] != json!({})) {
        let mut checked = Checked::of(tool);
        for _ in 0..CALLS {
            if !checked.goes_on() {
                break;
            }
            let arguments = checked.arguments();
            let call = json!({ "name": checked.tool(), "arguments": arguments });
            let result = client.request("tools/call", call).await.expect("a result");
            let error = (result["isError"] == true).then(|| result["content"][0]["text"].as_str());
            checked.note(arguments, error.flatten());
        }
        all.push(checked);
    }
    all
}
