//! Tools whose calls continue as tasks.

use std::time::Duration;

use mcp_runtime::{Builder, limits::Limits, prelude::*};
use tokio::time::sleep;

pub fn server() -> Builder {
    mcp_runtime::server!(name = "fixture", version = "1.2.3", group = "tasks")
}

/// Returns the same server, on which only one task may run at a time.
pub fn single() -> Builder {
    server().limits(Limits::new().tasks(1))
}

#[form]
struct Name {
    name: String,
}

/// Returns a word after six seconds.
#[tool(group = "tasks", task)]
async fn later(word: &str) -> String {
    sleep(Duration::from_secs(6)).await;
    word.to_owned()
}

/// Must be called as a task, and fails.
#[tool(group = "tasks", task(required, ttl = "90s", poll = "250ms"))]
async fn must() -> Result<String> {
    sleep(Duration::from_secs(1)).await;
    Err(Error::msg("no luck"))
}

/// Ends with a JSON-RPC error that has a code and data.
#[tool(group = "tasks", task)]
async fn breaks() -> Result<String> {
    sleep(Duration::from_secs(1)).await;
    Err(Error::code(7, "it broke").with_data(serde_json::json!({ "why": "age" })))
}

/// Asks for two names.
#[tool(group = "tasks", task, asks(elicitation))]
async fn asks(ctx: &Context) -> Result<String> {
    let names = (ctx.elicit::<Name>("a", "A?"), ctx.elicit::<Name>("b", "B?"));
    let (a, b) = ctx.ask_all(names).await;
    Ok(format!("{} and {}", a?.name, b?.name))
}

/// Reports progress twice.
#[tool(group = "tasks", task)]
async fn reports(progress: Progress) -> &'static str {
    sleep(Duration::from_secs(1)).await;
    progress.total(2).say(1, "half");
    sleep(Duration::from_secs(6)).await;
    progress.report(2);
    sleep(Duration::from_secs(1)).await;
    "reported"
}

/// Asks for a name during the call, and continues as a task after the answer.
#[tool(group = "tasks", task(later), asks(elicitation))]
async fn first_asks(ctx: &Context) -> Result<String> {
    let Name { name } = ctx.elicit("name", "Name?").await?;
    ctx.begin_task().await;
    sleep(Duration::from_secs(1)).await;
    Ok(name)
}

/// Reports progress before and after the call becomes a task.
#[tool(group = "tasks", task(later))]
async fn early(ctx: &Context) -> &'static str {
    ctx.progress().say(1, "early");
    ctx.begin_task().await;
    ctx.progress().say(2, "late");
    sleep(Duration::from_secs(1)).await;
    "done"
}

/// Ends before the call becomes a task.
#[tool(group = "tasks", task)]
async fn at_once() -> &'static str {
    "done"
}

/// Cannot run as a task.
#[tool(group = "tasks")]
fn plain() -> &'static str {
    "plain"
}
