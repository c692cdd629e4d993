//! Tools that are taken away while their tasks are there.

use mcp_runtime::{Authorization, Builder, StaticTokens, prelude::*};
use serde_json::{Value, json};

use crate::{
    authorization::{Served, with},
    client::{modern, run},
};

/// Says what few may hear.
#[tool(scopes("secrets"), task)]
async fn tell(ms: u64) -> &'static str {
    tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
    "a secret"
}

/// Says what everybody may hear.
#[tool(task)]
async fn chat(ms: u64) -> &'static str {
    tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
    "hello"
}

/// Takes tools away.
#[tool]
fn withdraw(name: String, how: &str, server: Handle) -> bool {
    match how {
        "hide" => server.disable(&name),
        _ => server.remove(&name),
    }
}

fn server() -> Builder {
    let tokens = StaticTokens::new()
        .token("weak", "ada")
        .token("strong", Authorization::new("ada").scopes(["secrets"]));
    mcp_runtime::server!(name = "withdrawn").items(items![tell, chat, withdraw]).auth(tokens)
}

#[test]
fn a_task_does_not_lose_its_guard_with_its_tool() {
    run(async {
        for how in ["hide", "remove"] {
            let served = Served::start(server()).await;
            let ask = async |token: &str, method: &str, mut params: Value| {
                params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": {
                    "extensions": { "io.modelcontextprotocol/tasks": {} },
                } });
                with(token, modern(1, method, params)).ask(served.address).await.json()
            };
            let begin = async |tool: &str, ms: u64| {
                let call = json!({ "name": tool, "arguments": { "ms": ms } });
                let begun = ask("strong", "tools/call", call).await;
                begun["result"]["taskId"].as_str().expect("a task").to_owned()
            };
            // One that has ended by the time, and one that runs.
            let tasks = [begin("tell", 1).await, begin("tell", 60_000).await];
            let open = begin("chat", 60_000).await;
            for name in ["tell", "chat"] {
                let call = json!({ "name": "withdraw", "arguments": { "name": name, "how": how } });
                let done = ask("weak", "tools/call", call).await;
                assert_ne!(done["result"]["isError"], true, "{done}");
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            for id in &tasks {
                for method in ["tasks/get", "tasks/cancel"] {
                    let unknown = ask("weak", method, json!({ "taskId": id })).await;
                    let text = unknown["error"]["message"].as_str().unwrap_or_default();
                    assert!(text.contains("there is no task of this id"), "{how}: {unknown}");
                }
            }
            // What was for everybody still is.
            for token in ["weak", "strong"] {
                let seen = ask(token, "tasks/get", json!({ "taskId": open })).await;
                assert_eq!(seen["result"]["status"], "working", "{how}: {seen}");
            }
            served.end().await;
        }
    });
}
