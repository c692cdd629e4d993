//! Tools whose calls can continue as tasks. Each is a plain slow function, with the key `task` in its attribute.

use std::time::Duration;

use mcp_runtime::prelude::*;
use tokio::time::sleep;

/// Computes slowly, and can be cancelled meanwhile.
#[tool(task, read_only, idempotent)]
async fn slow_compute(
    /// How long it takes
    #[arg(range(0.0..=600.0))]
    seconds: f64,
    /// Name of the job
    label: &str,
    progress: Progress,
) -> String {
    progress.total(seconds).say(0, format!("{label} has begun"));
    sleep(Duration::from_secs_f64(seconds)).await;
    format!("{label} took {seconds} s")
}

/// Fails after a while, and says so in its result.
#[tool(task = "required", read_only)]
async fn failing_job() -> Result<String> {
    sleep(Duration::from_secs(1)).await;
    Err(Error::msg("The job has failed, as it always does."))
}

/// Ends with a protocol error instead of a result.
#[tool(task, read_only)]
async fn protocol_error_job() -> Result<String> {
    sleep(Duration::from_millis(200)).await;
    Err(Error::code(-31_000, "The job cannot be done."))
}

#[form]
struct Deletion {
    /// Delete the file
    confirm: bool,
}

/// Asks before it deletes a file; there is none, so nothing is lost.
#[tool(task, asks(elicitation))]
async fn confirm_delete(
    ctx: &Context,
    /// The file
    filename: &str,
) -> Result<String> {
    let answer: Deletion = ctx.elicit("confirm", format!("Delete {filename}?")).await?;
    Ok(if answer.confirm { format!("{filename} is deleted") } else { format!("{filename} stays") })
}

#[form]
struct Name {
    /// A name
    name: String,
}

/// Waits for two answers at once.
#[tool(task, asks(elicitation))]
async fn multi_input(ctx: &Context) -> Result<String> {
    let first = ctx.elicit::<Name>("first", "Who is the first?");
    let second = ctx.elicit::<Name>("second", "Who is the second?");
    let (first, second) = ctx.ask_all((first, second)).await;
    Ok(format!("{}, then {}", first?.name, second?.name))
}

/// Asks in the call, and works as a task.
#[tool(task(required, later), asks(elicitation))]
async fn test_tool_with_task(ctx: &Context) -> Result<String> {
    let Name { name } = ctx.elicit("user_name", "What is your name?").await?;
    ctx.begin_task().await;
    sleep(Duration::from_millis(200)).await;
    Ok(format!("The work for {name} is done."))
}
