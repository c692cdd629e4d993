//! Client side of calls that run as tasks.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Called, Client, RpcError, client::typed};

/// Longest time that the client waits for a task.
const LONGEST: Duration = Duration::from_secs(3600);

impl Client {
    /// Waits until a task has ended, and returns the result of its tool. `created` is the result that announced the task. Questions of the
    /// task are answered by the function set with [`answer_with`](Client::answer_with).
    ///
    /// Under protocol revision 2026-07-28, [`call`](Client::call) does this by itself for a client that [has](Client::connect_capable) the
    /// capability `json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })`. In 2025-11-25 the client itself asks for a task.
    ///
    /// ```
    /// # use mcp_runtime::{prelude::*, testing::{Client, Revision}};
    /// # use serde_json::json;
    /// #[tool(task)]
    /// async fn brew() -> &'static str {
    ///     tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    ///     "tea"
    /// }
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let server = mcp_runtime::server!().items(items![brew]);
    /// let mut client = Client::connect_with(server, Revision::V2025_11_25).await?;
    /// let created = client.request("tools/call", json!({ "name": "brew", "task": {} })).await?;
    /// assert_eq!(created["task"]["status"], "working");
    /// assert_eq!(client.finish_task(&created).await?.text(), "tea");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Returns the JSON-RPC error that the task ended with, or an error with code 0 if the task was cancelled, asks questions without an answer
    /// function, or is still running after an hour.
    pub async fn finish_task(&mut self, created: &Value) -> Result<Called, RpcError> {
        let id = if self.revision().is_modern() {
            &created["taskId"]
        } else {
            &created["task"]["taskId"]
        };
        let which = json!({ "taskId": id });
        if !self.revision().is_modern() {
            let before = std::mem::replace(&mut self.patience, LONGEST);
            let result = self.request("tasks/result", which).await;
            self.patience = before;
            return called(result?);
        }
        let poll = created["pollIntervalMs"].as_u64().unwrap_or(1000);
        let mut left = LONGEST;
        while !left.is_zero() {
            let mut task = self.request("tasks/get", which.clone()).await?;
            match task["status"].as_str() {
                Some("completed") => return called(task["result"].take()),
                Some("failed") => return Err(typed(task["error"].take())?),
                Some("cancelled") => return Err(given_up("the task was cancelled")),
                Some("input_required") => {
                    let questions = task["inputRequests"].take();
                    let answers: Map<String, Value> = self.answers_to(&questions);
                    if !answers.is_empty() {
                        let update = json!({ "taskId": id, "inputResponses": answers });
                        self.request("tasks/update", update).await?;
                        continue;
                    }
                    if let Some(unanswered) =
                        Self::unanswered(&json!({ "inputRequests": questions }))
                    {
                        return Err(unanswered);
                    }
                }
                _ => {}
            }
            let pause = Duration::from_millis(poll).min(left);
            tokio::time::sleep(pause).await;
            left -= pause;
        }
        Err(given_up("the task is still running"))
    }
}

fn given_up(why: &str) -> RpcError {
    RpcError { code: 0, message: why.to_owned(), data: None }
}

/// Parses the result of a tool, and keeps its raw form.
pub(super) fn called(raw: Value) -> Result<Called, RpcError> {
    let mut called: Called = typed(raw.clone())?;
    called.raw = raw;
    Ok(called)
}
