//! Typed methods of the client, one for each operation of the protocol.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{
    client::{Ongoing, TestClient},
    results::{Called, Completed, Prompted, ReadContents, RpcError, called, typed},
};
use crate::{model::Level, protocol::TASKS_EXTENSION};

/// Maximum time that the client waits for a task.
const LONGEST: Duration = Duration::from_secs(3600);

/// Item whose arguments a client completes.
#[derive(Clone, Copy)]
pub(crate) enum CompletionTarget<'a> {
    /// Prompt with this name.
    Prompt(&'a str),
    /// Resource template with this text.
    Template(&'a str),
}

impl TestClient {
    /// Lists the tools of the server, as JSON objects. Fetches all pages of `tools/list`.
    ///
    /// Specification: Server features, Tools.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn tools(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("tools/list", "tools").await
    }

    /// Lists the resources of the server, as JSON objects. Fetches all pages of `resources/list`.
    ///
    /// Specification: Server features, Resources.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn resources(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("resources/list", "resources").await
    }

    /// Lists the resource templates of the server, as JSON objects. Fetches all pages of `resources/templates/list`.
    ///
    /// Specification: Server features, Resources.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn templates(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("resources/templates/list", "resourceTemplates").await
    }

    /// Lists the prompts of the server, as JSON objects. Fetches all pages of `prompts/list`.
    ///
    /// Specification: Server features, Prompts.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn prompts(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("prompts/list", "prompts").await
    }

    async fn list(&mut self, method: &str, member: &str) -> Result<Vec<Value>, RpcError> {
        let mut all = Vec::new();
        let mut params = json!({});
        loop {
            let mut page = self.request(method, params).await?;
            if let Some(items) = page[member].as_array_mut() {
                all.append(items);
            }
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(all),
            }
        }
    }

    /// Calls a tool and waits for its result.
    ///
    /// If the call continues as a task under protocol revision 2026-07-28, the method waits for the task. To cancel a task or to look at
    /// its status, begin it with [`begin_task`](TestClient::begin_task). Use [`request`](TestClient::request) to get the raw result.
    ///
    /// Specification: Server features, Tools.
    ///
    /// # Errors
    /// Returns the server's error response, for example for an unknown tool. Returns an error with code 0 if there is no valid response, or
    /// if the server requests input and no answer function is set. If the tool fails, the method returns a result with [`Called::is_error`]
    /// instead.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Called, RpcError> {
        let raw =
            self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        match raw["resultType"].as_str() {
            Some("task") => self.finish_task(&raw).await,
            Some("input_required") => Self::unanswered(&raw).map_or_else(|| called(raw), Err),
            _ => called(raw),
        }
    }

    /// Reads a resource. Most resources have one part, whose text is `contents[0].text()`. See [`ReadContents`] for an example.
    ///
    /// Specification: Server features, Resources.
    ///
    /// # Errors
    /// Returns the server's error response. Returns an error with code 0 if there is no valid response, or if the server requests input and
    /// no answer function is set.
    pub async fn read(&mut self, uri: &str) -> Result<Vec<ReadContents>, RpcError> {
        let mut result = self.answered("resources/read", json!({ "uri": uri })).await?;
        typed(result["contents"].take())
    }

    /// Gets a prompt. See [`Prompted`] for an example.
    ///
    /// Specification: Server features, Prompts.
    ///
    /// # Errors
    /// Returns the server's error response. Returns an error with code 0 if there is no valid response, or if the server requests input and
    /// no answer function is set.
    pub async fn prompt(&mut self, name: &str, arguments: Value) -> Result<Prompted, RpcError> {
        typed(self.answered("prompts/get", json!({ "name": name, "arguments": arguments })).await?)
    }

    /// Completes an argument of a prompt, or a variable of a resource template. See [`Completed`] for an example.
    ///
    /// `target` is the name of the prompt, or the URI template of the resource. A `target` with a colon counts as a URI. `text` is the part
    /// of the value that the user has typed.
    ///
    /// Specification: Server features, Utilities, Completion.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn complete(
        &mut self,
        target: &str,
        argument: &str,
        text: &str,
    ) -> Result<Completed, RpcError> {
        self.complete_given(target, argument, text, json!({})).await
    }

    /// Completes an argument when the user has already filled in other arguments.
    ///
    /// `given` is an object of these arguments, such as `json!({ "country": "AT" })`. The other parameters are those of
    /// [`complete`](TestClient::complete).
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn complete_given(
        &mut self,
        target: &str,
        argument: &str,
        text: &str,
        given: Value,
    ) -> Result<Completed, RpcError> {
        let target = match target.contains(':') {
            true => CompletionTarget::Template(target),
            false => CompletionTarget::Prompt(target),
        };
        self.complete_target(target, argument, text, given).await
    }

    /// Completes an argument of a prompt or a template. A prompt may have a `:` in its name.
    pub(crate) async fn complete_target(
        &mut self,
        target: CompletionTarget<'_>,
        argument: &str,
        text: &str,
        given: Value,
    ) -> Result<Completed, RpcError> {
        let reference = match target {
            CompletionTarget::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
            CompletionTarget::Template(uri) => json!({ "type": "ref/resource", "uri": uri }),
        };
        let params = json!({
            "ref": reference,
            "argument": { "name": argument, "value": text },
            "context": { "arguments": given },
        });
        let mut result = self.request("completion/complete", params).await?;
        typed(result["completion"].take())
    }

    /// Subscribes to updates of a resource. [`notification`](TestClient::notification) returns the updates.
    ///
    /// Under protocol revision 2026-07-28, the method opens a stream and returns its handle, and [`cancel`](TestClient::cancel) ends the
    /// subscription. The method takes the acknowledgement of the stream, so that the first notification is an update. Under older revisions
    /// the method returns `None`, and the request `resources/unsubscribe` ends the subscription.
    ///
    /// Specification: Server features, Resources.
    ///
    /// ```
    /// use mcp_runtime::{prelude::*, testing::TestClient};
    /// use serde_json::json;
    ///
    /// /// Notes of today.
    /// #[resource("notes://today", subscribe)]
    /// fn today() -> &'static str {
    ///     "Buy milk"
    /// }
    ///
    /// /// Reports that the notes have changed.
    /// #[tool]
    /// fn change(handle: Handle) {
    ///     handle.updated("notes://today");
    /// }
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let mut client =
    ///         TestClient::connect(mcp_runtime::server!().items(items![today, change])).await?;
    ///     client.subscribe("notes://today").await?;
    ///     client.call("change", json!({})).await?;
    ///     let patience = std::time::Duration::from_secs(5);
    ///     let update = client.notification(patience).await.ok_or("no update")?;
    ///     assert_eq!(update["method"], "notifications/resources/updated");
    ///     assert_eq!(update["params"]["uri"], "notes://today");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response. Returns an error with code 0 if the
    /// server has no resource with the key `subscribe`.
    pub async fn subscribe(&mut self, uri: &str) -> Result<Option<Ongoing>, RpcError> {
        if !self.revision.is_modern() {
            self.request("resources/subscribe", json!({ "uri": uri })).await?;
            return Ok(None);
        }
        let stream = self.listen(json!({ "resourceSubscriptions": [uri] })).await?;
        let is_acknowledgement = |message: &Value| acknowledges(message, stream);
        let at = self.notifications.iter().position(is_acknowledgement);
        // The acknowledgement names what the server will send, which is nothing if no resource has subscriptions.
        if let Some(acknowledgement) = at.and_then(|at| self.notifications.remove(at))
            && acknowledgement["params"]["notifications"]["resourceSubscriptions"].is_null()
        {
            self.cancel(stream);
            return Err(given_up(
                "the server sends no updates: no resource has the key `subscribe`",
            ));
        }
        Ok(Some(stream))
    }

    /// Opens a `subscriptions/listen` stream (protocol revision 2026-07-28) and waits for its acknowledgement.
    ///
    /// `filter` is the member `notifications` of the request, such as `json!({ "toolsListChanged": true })`.
    /// [`notification`](TestClient::notification) returns the acknowledgement and the events of the stream. [`cancel`](TestClient::cancel)
    /// ends the stream. For the updates of one resource, use [`subscribe`](TestClient::subscribe).
    ///
    /// # Errors
    /// Returns the server's error response. If the server sends no acknowledgement, the method returns the stream after ten seconds of
    /// silence.
    pub async fn listen(&mut self, filter: Value) -> Result<Ongoing, RpcError> {
        let ongoing = self.start("subscriptions/listen", json!({ "notifications": filter }));
        self.pump_until(|client| {
            client.notifications.iter().any(|message| acknowledges(message, ongoing))
                || client.responses.contains_key(&ongoing.0)
        })
        .await;
        match self.responses.remove(&ongoing.0) {
            Some(Err(error)) => Err(error),
            _ => Ok(ongoing),
        }
    }

    /// Requests log messages of this level and above. [`notification`](TestClient::notification) returns the messages.
    ///
    /// Under protocol revision 2026-07-28, each later request carries the level. Under older revisions, the client sets the level of its
    /// session with `logging/setLevel`.
    ///
    /// Specification: Server features, Utilities, Logging.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn log_from(&mut self, level: Level) -> Result<(), RpcError> {
        if self.revision.is_modern() {
            self.log_level = Some(level.name());
            return Ok(());
        }
        self.request("logging/setLevel", json!({ "level": level.name() })).await.map(drop)
    }

    /// Calls a tool as a task, and returns the result that announces the task.
    ///
    /// [`finish_task`](TestClient::finish_task), [`task_status`](TestClient::task_status) and [`cancel_task`](TestClient::cancel_task) take
    /// this result. If the call does not become a task, the method waits for the call and returns its result, which
    /// [`finish_task`](TestClient::finish_task) takes too.
    ///
    /// Under protocol revision 2026-07-28, the client declares the extension `io.modelcontextprotocol/tasks` in this request and all later
    /// ones. Under 2025-11-25, it requests a task with the parameter `task`. Older revisions have no tasks.
    ///
    /// ```
    /// use mcp_runtime::{
    ///     prelude::*,
    ///     testing::{Revision, TestClient},
    /// };
    /// use serde_json::json;
    ///
    /// /// Brews tea.
    /// #[tool(task)]
    /// async fn brew(minutes: u64) -> &'static str {
    ///     tokio::time::sleep(std::time::Duration::from_millis(minutes)).await;
    ///     "tea"
    /// }
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
    ///         let server = mcp_runtime::server!().items(items![brew]);
    ///         let mut client = TestClient::connect_with(server, revision).await?;
    ///         let task = client.begin_task("brew", json!({ "minutes": 5 })).await?;
    ///         assert_eq!(client.task_status(&task).await?, "working");
    ///         assert_eq!(client.finish_task(&task).await?.text(), "tea");
    ///         let task = client.begin_task("brew", json!({ "minutes": 500_000 })).await?;
    ///         client.cancel_task(&task).await?;
    ///         assert_eq!(client.task_status(&task).await?, "cancelled");
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns the server's error response, for example under 2025-11-25 if the tool has no key `task`. Returns an error with code 0 if
    /// there is no valid response.
    pub async fn begin_task(&mut self, tool: &str, arguments: Value) -> Result<Value, RpcError> {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if self.revision.is_modern() {
            self.declare_extension(TASKS_EXTENSION);
        } else {
            params["task"] = json!({});
        }
        self.answered("tools/call", params).await
    }

    /// Returns the status of a task: `working`, `input_required`, `completed`, `failed` or `cancelled`.
    ///
    /// `created` is the result that announced the task: see [`begin_task`](TestClient::begin_task), which also has an example. A call that
    /// did not become a task is `completed`.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn task_status(&mut self, created: &Value) -> Result<String, RpcError> {
        let Some(task) = task_params(created) else { return Ok("completed".to_owned()) };
        let mut task = self.request("tasks/get", task).await?;
        typed(task["status"].take())
    }

    /// Cancels a task. When the method returns, the server has dropped the future of the handler.
    ///
    /// `created` is the result that announced the task: see [`begin_task`](TestClient::begin_task), which also has an example. A `blocking`
    /// handler continues on its thread, and the method does not wait for it.
    ///
    /// # Errors
    /// Returns the server's error response. Under protocol revision 2025-11-25, a task that has ended already is such an error. Returns an
    /// error with code 0 if the call did not become a task, or if there is no valid response.
    pub async fn cancel_task(&mut self, created: &Value) -> Result<(), RpcError> {
        let task =
            task_params(created).ok_or_else(|| given_up("the call did not become a task"))?;
        self.request("tasks/cancel", task).await.map(drop)
    }

    /// Waits until a task has ended, and returns the result of its tool.
    ///
    /// `created` is the result that announced the task: see [`begin_task`](TestClient::begin_task), which also has an example. A result
    /// that announces no task is the result of the tool. The function set with [`answer_with`](TestClient::answer_with) answers the input
    /// requests of the task.
    ///
    /// # Errors
    /// Returns the JSON-RPC error that the task ended with. Returns an error with code 0 if the task was cancelled, requests input while no
    /// answer function is set, or is still running after an hour.
    pub async fn finish_task(&mut self, created: &Value) -> Result<Called, RpcError> {
        let Some(which) = task_params(created) else { return called(created.clone()) };
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
                        let update =
                            json!({ "taskId": which["taskId"], "inputResponses": answers });
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

/// Returns the parameters of a request about the task that a result announces, or `None` if the result announces no task. The two dialects
/// of tasks have the id in different places.
fn task_params(created: &Value) -> Option<Value> {
    let id = created.get("taskId").or_else(|| created["task"].get("taskId"))?;
    Some(json!({ "taskId": id }))
}

/// Whether a notification acknowledges this listen stream.
fn acknowledges(message: &Value, stream: Ongoing) -> bool {
    message["method"] == "notifications/subscriptions/acknowledged"
        && message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == stream.0
}

fn given_up(why: &str) -> RpcError {
    RpcError { code: 0, message: why.to_owned(), data: None }
}
