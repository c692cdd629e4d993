use std::{
    collections::{HashMap, VecDeque},
    fmt,
    time::Duration,
};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    Called, Completed, Prompted, ReadContents, RpcError, answering::Answers, tasks::called,
};
use crate::{
    builder::{Builder, Started},
    error::ServeError,
    protocol::{Peer, Revision, Service},
    transport::in_process::InProcessConnection,
};

/// Client in the same process as the server. By default it speaks the newest revision.
pub struct Client {
    pub(super) memory: InProcessConnection,
    pub(super) revision: Revision,
    pub(super) next_id: u64,
    pub(super) capabilities: Value,
    pub(super) log_level: Option<&'static str>,
    pub(super) responses: HashMap<u64, Result<Value, RpcError>>,
    pub(super) notifications: VecDeque<Value>,
    /// Result of `initialize`, in revisions that have that request.
    initialized: Value,
    /// Keeps the server's state alive, and runs `on_shutdown` in [`Client::close`].
    pub(super) started: Started,
    pub(super) patience: Duration,
    pub(super) answers: Answers,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("revision", &self.revision).finish_non_exhaustive()
    }
}

/// Returns the name and version that every test client sends.
pub(super) fn info() -> Value {
    json!({ "name": "mcp-runtime-testing", "version": env!("CARGO_PKG_VERSION") })
}

/// Handle of a request that was sent. [`Client::wait`] waits for its result, and [`Client::cancel`] cancels it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ongoing(pub(super) u64);

impl Client {
    /// Starts the server and connects to it in the newest revision.
    ///
    /// # Errors
    /// Fails if the server cannot start.
    pub async fn connect(server: Builder) -> Result<Self, ServeError> {
        Self::connect_with(server, Revision::MODERN[0]).await
    }

    /// Connects without running `setup`, which is enough for lists.
    #[cfg(feature = "stdio")]
    pub(crate) fn unprepared(server: Builder) -> Result<Self, ServeError> {
        Ok(Self::to(server.build()?.start_bare()))
    }

    /// Connects in order to inspect all items. Also returns the error of `setup`, if it failed.
    #[cfg(feature = "stdio")]
    pub(crate) async fn looking(server: Builder) -> Result<(Self, Option<String>), ServeError> {
        let (started, problem) = server.build()?.start_to_look().await;
        Ok((Self::to(started), problem))
    }

    /// Returns the catalog snapshot that lists are made from.
    #[cfg(feature = "stdio")]
    pub(crate) fn snapshot(&self) -> std::sync::Arc<crate::catalog::Snapshot> {
        self.started.dispatcher.catalog.snapshot()
    }

    /// Starts the server and connects to it in this revision, with a handshake if the revision has one.
    ///
    /// # Errors
    /// Fails if the server cannot start.
    pub async fn connect_with(server: Builder, revision: Revision) -> Result<Self, ServeError> {
        Self::connect_capable(server, revision, json!({})).await
    }

    /// Starts the server and connects to it as a client with these capabilities: `json!({ "elicitation": {} })`.
    ///
    /// # Errors
    /// Fails if the server cannot start.
    pub async fn connect_capable(
        server: Builder,
        revision: Revision,
        capabilities: Value,
    ) -> Result<Self, ServeError> {
        let mut client = Self { revision, capabilities, ..Self::bare(server).await? };
        if !revision.is_modern() {
            let params = json!({
                "protocolVersion": revision.name(),
                "capabilities": client.capabilities,
                "clientInfo": info(),
            });
            let answer = client.request("initialize", params).await;
            client.initialized = answer.map_err(|error| ServeError::Setup(error.to_string()))?;
            client.notify("notifications/initialized", json!({}));
        }
        Ok(client)
    }

    /// Starts the server and connects without sending a message. This is for tests of messages before the handshake, or without one.
    ///
    /// # Errors
    /// Fails if the server cannot start.
    pub async fn bare(server: Builder) -> Result<Self, ServeError> {
        Ok(Self::to(server.build()?.start().await?))
    }

    fn to(started: Started) -> Self {
        Self {
            memory: InProcessConnection::new(Peer::new(Service::new(&started))),
            revision: Revision::MODERN[0],
            next_id: 0,
            capabilities: json!({}),
            log_level: None,
            responses: HashMap::new(),
            notifications: VecDeque::new(),
            initialized: Value::Null,
            started,
            patience: Duration::from_secs(10),
            answers: Answers::default(),
        }
    }

    /// Declares an extension of the protocol with all later requests.
    #[cfg(feature = "stdio")]
    pub(crate) fn declare_extension(&mut self, id: &str) {
        self.capabilities["extensions"][id] = json!({});
    }

    /// Sends all later requests as this caller, as over HTTP. The server then checks the requirements of items and of the server itself
    /// (`scopes`, `auth`, [`policy`](Builder::policy)), and handlers find the caller in [`Auth`](crate::Auth). Before this call nothing is
    /// checked, as over stdio.
    ///
    /// ```
    /// use mcp_runtime::{Authorization, prelude::*, testing::Client};
    /// # use serde_json::json;
    ///
    /// /// Forgets everything.
    /// #[tool(scopes("notes:write"))]
    /// fn clear() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let mut client = Client::connect(mcp_runtime::server!().items(items![clear])).await?;
    /// client.authorization(Authorization::new("ada").scopes(["notes:read"]));
    /// assert!(client.tools().await?.is_empty());
    /// assert!(client.call("clear", json!({})).await.is_err());
    /// client.authorization(Authorization::new("ada").scopes(["notes:write"]));
    /// assert!(client.call("clear", json!({})).await.is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[cfg(feature = "auth")]
    pub fn authorization(&mut self, authorization: crate::Authorization) {
        let authorization = self.started.dispatcher.rules.completed(authorization);
        self.memory.carrier.authorization = Some(std::sync::Arc::new(authorization));
    }

    /// Returns the revision that this client speaks.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the server's description of itself: the result of `initialize`, or of `server/discover` in the modern era.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn discover(&mut self) -> Result<Value, RpcError> {
        if self.revision.is_modern() {
            return self.request("server/discover", json!({})).await;
        }
        Ok(self.initialized.clone())
    }

    /// Returns the items of all pages of `tools/list`.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn tools(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("tools/list", "tools").await
    }

    /// Returns the items of all pages of `resources/list`.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn resources(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("resources/list", "resources").await
    }

    /// Returns the items of all pages of `resources/templates/list`.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn templates(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("resources/templates/list", "resourceTemplates").await
    }

    /// Returns the items of all pages of `prompts/list`.
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

    /// Calls a tool.
    ///
    /// # Errors
    /// Returns the JSON-RPC error of the response. A tool that fails returns a result instead: see [`Called::is_error`].
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Called, RpcError> {
        let raw =
            self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        match raw["resultType"].as_str() {
            Some("task") => self.finish_task(&raw).await,
            Some("input_required") => Self::unanswered(&raw).map_or_else(|| called(raw), Err),
            _ => called(raw),
        }
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn read(&mut self, uri: &str) -> Result<Vec<ReadContents>, RpcError> {
        let mut result = self.answered("resources/read", json!({ "uri": uri })).await?;
        typed(result["contents"].take())
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn prompt(&mut self, name: &str, arguments: Value) -> Result<Prompted, RpcError> {
        typed(self.answered("prompts/get", json!({ "name": name, "arguments": arguments })).await?)
    }

    /// Completes an argument of a prompt, or a variable of a template when `target` is a URI.
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

    /// Completes an argument when other arguments are already filled in.
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
        let reference = if target.contains(':') {
            json!({ "type": "ref/resource", "uri": target })
        } else {
            json!({ "type": "ref/prompt", "name": target })
        };
        let params = json!({
            "ref": reference,
            "argument": { "name": argument, "value": text },
            "context": { "arguments": given },
        });
        let mut result = self.request("completion/complete", params).await?;
        typed(result["completion"].take())
    }

    /// Subscribes to updates of a resource, in the way of the client's revision. In the modern era returns the stream, which
    /// [`Client::cancel`] ends.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn subscribe(&mut self, uri: &str) -> Result<Option<Ongoing>, RpcError> {
        if !self.revision.is_modern() {
            self.request("resources/subscribe", json!({ "uri": uri })).await?;
            return Ok(None);
        }
        self.listen(json!({ "resourceSubscriptions": [uri] })).await.map(Some)
    }

    /// Opens a `subscriptions/listen` stream (modern era) and waits for its acknowledgement, which stays among the notifications.
    ///
    /// # Errors
    /// Returns the server's error response.
    pub async fn listen(&mut self, filter: Value) -> Result<Ongoing, RpcError> {
        let ongoing = self.start("subscriptions/listen", json!({ "notifications": filter }));
        let acknowledges = |it: &Value| {
            it["method"] == "notifications/subscriptions/acknowledged"
                && it["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == ongoing.0
        };
        self.pump_until(|it| {
            it.notifications.iter().any(acknowledges) || it.responses.contains_key(&ongoing.0)
        })
        .await;
        match self.responses.remove(&ongoing.0) {
            Some(Err(error)) => Err(error),
            _ => Ok(ongoing),
        }
    }

    /// Asks for log messages of this level and above: for the session, or in the modern era with each later request.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if there is no valid response.
    pub async fn log_from(&mut self, level: crate::Level) -> Result<(), RpcError> {
        if self.revision.is_modern() {
            self.log_level = Some(level.name());
            return Ok(());
        }
        self.request("logging/setLevel", json!({ "level": level.name() })).await.map(drop)
    }
}

/// Deserializes a result of the server.
pub(super) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, RpcError> {
    serde_json::from_value(value).map_err(|error| RpcError {
        code: 0,
        message: format!("the answer has another shape: {error}"),
        data: None,
    })
}
