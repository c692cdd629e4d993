//! Events while a tool runs, such as progress, log messages, and streams that end early.

use std::time::Duration;

use mcp_runtime::prelude::*;
use tokio::time::sleep;

const A_MOMENT: Duration = Duration::from_millis(50);

/// Reports its progress three times, to a client that wants to know.
#[tool(read_only)]
async fn test_tool_with_progress(progress: Progress) -> &'static str {
    progress.total(100).report(0);
    sleep(A_MOMENT).await;
    progress.report(50);
    sleep(A_MOMENT).await;
    progress.report(100);
    // The TypeScript SDK loses a progress report that arrives together with the result (modelcontextprotocol/typescript-sdk#2580).
    sleep(A_MOMENT).await;
    "The work is done."
}

/// Logs three messages for the client while it works.
#[tool(read_only)]
async fn test_tool_with_logging() -> &'static str {
    tracing::info!("Tool execution started");
    sleep(A_MOMENT).await;
    tracing::info!("Tool processing data");
    sleep(A_MOMENT).await;
    tracing::info!("Tool execution completed");
    "Three messages were logged."
}

/// Logs a message, which only a client that set a level hears.
#[tool(read_only)]
async fn test_logging_tool() -> &'static str {
    tracing::info!("Somebody may hear this");
    "A message was logged."
}

/// Closes the stream of its answer and goes on; a client that comes back within its session finds the answer.
#[tool(read_only)]
async fn test_reconnection(ctx: &Context) -> &'static str {
    ctx.release_stream(A_MOMENT);
    sleep(2 * A_MOMENT).await;
    "The answer was worth coming back for."
}

/// Takes an argument that HTTP clients repeat in the header `Mcp-Param-Value`, where proxies can see it.
#[tool(read_only)]
fn test_custom_header(
    /// Anything
    #[arg(header = "Value")]
    value: &str,
) -> String {
    format!("The value is {value}.")
}

/// Is only for clients that let a server ask their model.
#[tool(read_only, asks(sampling))]
fn test_missing_capability() -> &'static str {
    "This client can sample."
}
