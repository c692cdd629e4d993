//! Tools that are disabled or removed while they have tasks.

use mcp_runtime::{
    Builder,
    auth::{Authorization, StaticTokens},
    prelude::*,
};
use serde_json::{Value, json};
use support::clock::eventually;

use crate::{
    authorization::{Served, with},
    client::{modern, run},
};

/// Returns a secret.
#[tool(scopes("secrets"), task)]
async fn tell(ends: bool) -> &'static str {
    ends_or_never(ends).await;
    "a secret"
}

/// Returns a greeting.
#[tool(task)]
async fn chat(ends: bool) -> &'static str {
    ends_or_never(ends).await;
    "hello"
}

async fn ends_or_never(ends: bool) {
    // Yields, because a call that is done at once does not become a task.
    tokio::task::yield_now().await;
    if !ends {
        std::future::pending::<()>().await;
    }
}

/// Disables or removes a tool.
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

#[support::test]
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
            let begin = async |tool: &str, ends: bool| {
                let call = json!({ "name": tool, "arguments": { "ends": ends } });
                let begun = ask("strong", "tools/call", call).await;
                begun["result"]["taskId"].as_str().expect("a task").to_owned()
            };
            // The first task has ended when the tool is withdrawn, and the second one still runs.
            let tasks = [begin("tell", true).await, begin("tell", false).await];
            eventually("the first task has ended", async || {
                let seen = ask("strong", "tasks/get", json!({ "taskId": tasks[0] })).await;
                (seen["result"]["status"] == "completed").then_some(())
            })
            .await;
            let open = begin("chat", false).await;
            for name in ["tell", "chat"] {
                let call = json!({ "name": "withdraw", "arguments": { "name": name, "how": how } });
                let done = ask("weak", "tools/call", call).await;
                assert_ne!(done["result"]["isError"], true, "{done}");
            }
            for id in &tasks {
                for method in ["tasks/get", "tasks/cancel"] {
                    let unknown = ask("weak", method, json!({ "taskId": id })).await;
                    let text = unknown["error"]["message"].as_str().unwrap_or_default();
                    assert!(text.contains("there is no task of this id"), "{how}: {unknown}");
                }
            }
            // A task of an unrestricted tool is still visible with every token.
            for token in ["weak", "strong"] {
                let seen = ask(token, "tasks/get", json!({ "taskId": open })).await;
                assert_eq!(seen["result"]["status"], "working", "{how}: {seen}");
            }
            served.end().await;
        }
    });
}
