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
    transport::memory::Memory,
};

/// A client in the same process. It speaks the newest revision unless told otherwise.
pub struct Client {
    pub(super) memory: Memory,
    pub(super) revision: Revision,
    pub(super) next_id: u64,
    pub(super) capabilities: Value,
    pub(super) log_level: Option<&'static str>,
    pub(super) responses: HashMap<u64, Result<Value, RpcError>>,
    pub(super) notifications: VecDeque<Value>,
    /// What `initialize` was answered with, in the revisions that have it.
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

/// What every client here says of itself.
pub(super) fn info() -> Value {
    json!({ "name": "mcp-runtime-testing", "version": env!("CARGO_PKG_VERSION") })
}

/// A request that has been sent and not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ongoing(pub(super) u64);

impl Client {
    /// Starts the server and connects to it in the newest revision.
    ///
    /// # Errors
    /// When the server cannot start.
    pub async fn connect(server: Builder) -> Result<Self, ServeError> {
        Self::connect_with(server, Revision::MODERN[0]).await
    }

    /// Connects without running `setup`: enough for lists.
    #[cfg(feature = "stdio")]
    pub(crate) fn unprepared(server: Builder) -> Result<Self, ServeError> {
        Ok(Self::to(server.build()?.start_bare()))
    }

    /// Connects to look at everything there is, and says what went wrong in `setup`.
    #[cfg(feature = "stdio")]
    pub(crate) async fn looking(server: Builder) -> Result<(Self, Option<String>), ServeError> {
        let (started, problem) = server.build()?.start_to_look().await;
        Ok((Self::to(started), problem))
    }

    /// What the lists come from.
    #[cfg(feature = "stdio")]
    pub(crate) fn snapshot(&self) -> std::sync::Arc<crate::catalog::Snapshot> {
        self.started.dispatcher.catalog.snapshot()
    }

    /// Starts the server and connects to it in this revision, with its handshake when it has one.
    ///
    /// # Errors
    /// When the server cannot start.
    pub async fn connect_with(server: Builder, revision: Revision) -> Result<Self, ServeError> {
        Self::connect_capable(server, revision, json!({})).await
    }

    /// The same, as a client with these capabilities: `json!({ "elicitation": {} })`.
    ///
    /// # Errors
    /// When the server cannot start.
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

    /// Starts the server and connects to it without a word: for what a client may send before its handshake,
    /// or instead of one.
    ///
    /// # Errors
    /// When the server cannot start.
    pub async fn bare(server: Builder) -> Result<Self, ServeError> {
        Ok(Self::to(server.build()?.start().await?))
    }

    fn to(started: Started) -> Self {
        Self {
            memory: Memory::new(Peer::new(Service::new(&started))),
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

    /// Declares an extension of the protocol with each request from here on.
    #[cfg(feature = "stdio")]
    pub(crate) fn declare_extension(&mut self, id: &str) {
        self.capabilities["extensions"][id] = json!({});
    }

    /// From here on it is this caller who asks, as over HTTP: what items and the server demand of callers (`scopes`, `auth`,
    /// [`policy`](Builder::policy)) is checked, and handlers find the caller in [`Auth`](crate::Auth). Before that nothing is checked,
    /// as over stdio.
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

    /// The revision this client speaks.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What the server says of itself: the result of `initialize`, or of `server/discover` in the modern era.
    ///
    /// # Errors
    /// What the server answered.
    pub async fn discover(&mut self) -> Result<Value, RpcError> {
        if self.revision.is_modern() {
            return self.request("server/discover", json!({})).await;
        }
        Ok(self.initialized.clone())
    }

    /// All pages of `tools/list`.
    ///
    /// # Errors
    /// What the server answered.
    pub async fn tools(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("tools/list", "tools").await
    }

    /// All pages of `resources/list`.
    ///
    /// # Errors
    /// What the server answered.
    pub async fn resources(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("resources/list", "resources").await
    }

    /// All pages of `resources/templates/list`.
    ///
    /// # Errors
    /// What the server answered.
    pub async fn templates(&mut self) -> Result<Vec<Value>, RpcError> {
        self.list("resources/templates/list", "resourceTemplates").await
    }

    /// All pages of `prompts/list`.
    ///
    /// # Errors
    /// What the server answered.
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
    /// A JSON-RPC error. A tool that failed is no such error: see [`Called::is_error`].
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
    /// What the server answered.
    pub async fn read(&mut self, uri: &str) -> Result<Vec<ReadContents>, RpcError> {
        let mut result = self.answered("resources/read", json!({ "uri": uri })).await?;
        typed(result["contents"].take())
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// What the server answered.
    pub async fn prompt(&mut self, name: &str, arguments: Value) -> Result<Prompted, RpcError> {
        typed(self.answered("prompts/get", json!({ "name": name, "arguments": arguments })).await?)
    }

    /// Completes an argument of a prompt, or a variable of a template when `target` is a URI.
    ///
    /// # Errors
    /// What the server answered.
    pub async fn complete(
        &mut self,
        target: &str,
        argument: &str,
        text: &str,
    ) -> Result<Completed, RpcError> {
        self.complete_given(target, argument, text, json!({})).await
    }

    /// The same, with arguments that are filled in already.
    ///
    /// # Errors
    /// What the server answered.
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

    /// Hears of updates of a resource, in the way of this client's revision. In the modern era returns the
    /// stream, which [`Client::cancel`] ends.
    ///
    /// # Errors
    /// What the server answered.
    pub async fn subscribe(&mut self, uri: &str) -> Result<Option<Ongoing>, RpcError> {
        if !self.revision.is_modern() {
            self.request("resources/subscribe", json!({ "uri": uri })).await?;
            return Ok(None);
        }
        self.listen(json!({ "resourceSubscriptions": [uri] })).await.map(Some)
    }

    /// Opens a `subscriptions/listen` stream (modern era) and waits for its acknowledgement, which stays
    /// among the notifications.
    ///
    /// # Errors
    /// What the server answered.
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

    /// Asks for log messages from this level up: for the session, or with each request from now on.
    ///
    /// # Errors
    /// What the server answered.
    pub async fn log_from(&mut self, level: crate::Level) -> Result<(), RpcError> {
        if self.revision.is_modern() {
            self.log_level = Some(level.name());
            return Ok(());
        }
        self.request("logging/setLevel", json!({ "level": level.name() })).await.map(drop)
    }
}

/// The server's answer in the type it should have.
pub(super) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, RpcError> {
    serde_json::from_value(value).map_err(|error| RpcError {
        code: 0,
        message: format!("the answer has another shape: {error}"),
        data: None,
    })
}
