//! The client: how it connects, sends messages and receives them, and answers the server's questions.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    time::Duration,
};

use mcp_runtime_contract::collect::collect_by_insert;
use serde_json::{Map, Value, json};

use super::results::{RpcError, typed};
use crate::{
    builder::Builder,
    error::ServeError,
    protocol::{Peer, Revision, Service},
    server::Started,
    transport::in_process::InProcessConnection,
};

/// Maximum number of rounds of questions in one call.
const MOST_ROUNDS: usize = 100;

/// Client in the same process as the server. By default it speaks the newest revision.
pub struct TestClient {
    memory: InProcessConnection,
    pub(super) revision: Revision,
    next_id: u64,
    capabilities: Value,
    pub(super) log_level: Option<&'static str>,
    pub(super) responses: HashMap<u64, Result<Value, RpcError>>,
    pub(super) notifications: VecDeque<Value>,
    /// Result of `initialize`, in revisions that have that request.
    initialized: Value,
    /// Keeps the server's state alive, and runs `on_shutdown` in [`TestClient::close`].
    started: Started,
    pub(super) patience: Duration,
    responder: Responder,
}

impl fmt::Debug for TestClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestClient").field("revision", &self.revision).finish_non_exhaustive()
    }
}

type AnswerFn = dyn FnMut(&str, &Value) -> Value + Send;

/// Function that answers the server's questions, if one is set.
#[derive(Default)]
pub(super) struct Responder(Option<Box<AnswerFn>>);

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answers").field(&self.0.is_some()).finish()
    }
}

/// Returns the name and version that every test client sends.
fn info() -> Value {
    json!({ "name": "mcp-runtime-testing", "version": env!("CARGO_PKG_VERSION") })
}

/// Handle of a request that was sent. [`TestClient::wait`] waits for its result, and [`TestClient::cancel`] cancels it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ongoing(pub(super) u64);

impl TestClient {
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
        let (started, problem) = server.build()?.start_to_inspect().await;
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
            responder: Responder::default(),
        }
    }

    /// Declares an extension of the protocol with all later requests.
    #[cfg(feature = "stdio")]
    pub(crate) fn declare_extension(&mut self, id: &str) {
        self.capabilities["extensions"][id] = json!({});
    }

    /// Sends all later requests as this caller, as over HTTP. The server then checks the requirements of items and of the server itself
    /// (`scopes`, `auth`, [`policy`](Builder::policy)), and handlers find the caller in [`Auth`](crate::auth::Auth). Without this method
    /// nothing is checked, as over stdio.
    ///
    /// ```
    /// use mcp_runtime::{auth::Authorization, prelude::*, testing::TestClient};
    /// # use serde_json::json;
    ///
    /// /// Forgets everything.
    /// #[tool(scopes("notes:write"))]
    /// fn clear() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let mut client = TestClient::connect(mcp_runtime::server!().items(items![clear])).await?;
    /// client.authorization(Authorization::new("ada").scopes(["notes:read"]));
    /// assert!(client.tools().await?.is_empty());
    /// assert!(client.call("clear", json!({})).await.is_err());
    /// client.authorization(Authorization::new("ada").scopes(["notes:write"]));
    /// assert!(client.call("clear", json!({})).await.is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[cfg(feature = "auth")]
    pub fn authorization(&mut self, authorization: crate::auth::Authorization) {
        let authorization = self.started.dispatcher.rights.rules.completed(authorization);
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

    /// Sends a request and waits for its result.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if the server does not answer within ten seconds or still asks after
    /// 100 rounds.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        let mut round = params.clone();
        for _ in 0..MOST_ROUNDS {
            let ongoing = self.start(method, round);
            let result = self.wait(ongoing).await?;
            match self.next_round(&params, &result) {
                Some(next) => round = next,
                None => return Ok(result),
            }
            // A caller's timeout can fire only if this future yields.
            tokio::task::yield_now().await;
        }
        Err(RpcError {
            code: 0,
            message: format!("the server still asks questions after {MOST_ROUNDS} rounds"),
            data: None,
        })
    }

    /// Sends a request without waiting for its result. A `progressToken` in `_meta` asks for progress reports.
    pub fn start(&mut self, method: &str, params: Value) -> Ongoing {
        self.next_id += 1;
        let id = self.next_id;
        let params = self.enveloped(params);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        Ongoing(id)
    }

    /// Waits for the result of a request that was started.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if the server does not answer within ten seconds.
    pub async fn wait(&mut self, ongoing: Ongoing) -> Result<Value, RpcError> {
        self.pump_until(|client| client.responses.contains_key(&ongoing.0)).await;
        let silence = || {
            Err(RpcError { code: 0, message: "the server did not answer".to_owned(), data: None })
        };
        self.responses.remove(&ongoing.0).unwrap_or_else(silence)
    }

    /// Cancels a request, or ends a stream.
    pub fn cancel(&mut self, ongoing: Ongoing) {
        self.notify("notifications/cancelled", json!({ "requestId": ongoing.0 }));
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Returns the next notification from the server, or `None` if none comes within `patience`.
    pub async fn notification(&mut self, patience: Duration) -> Option<Value> {
        let before = std::mem::replace(&mut self.patience, patience);
        self.pump_until(|client| !client.notifications.is_empty()).await;
        self.patience = before;
        self.notifications.pop_front()
    }

    /// Sends a line as it is.
    pub fn send_raw(&self, line: &[u8]) {
        self.memory.send(line);
    }

    /// Returns the next line from the server as it is, or `None` if none comes within `patience`.
    pub async fn receive_raw(&mut self, patience: Duration) -> Option<Vec<u8>> {
        self.memory.receive(patience).await
    }

    /// Waits for all later responses without a time limit.
    #[cfg(feature = "stdio")]
    pub(crate) fn wait_without_end(&mut self) {
        self.patience = Duration::MAX;
    }

    /// Returns the number of calls that the server is working on.
    pub fn in_flight(&self) -> usize {
        self.memory.peer().in_flight()
    }

    /// Stops the server and runs its `on_shutdown`. Returns the lines that have not been received, including those with which the server
    /// ended its streams.
    pub async fn close(mut self) -> Vec<Vec<u8>> {
        self.memory.peer().close();
        let mut rest = Vec::new();
        while let Some(line) = self.memory.receive(Duration::ZERO).await {
            rest.push(line);
        }
        drop(self.memory);
        self.started.stop().await;
        rest
    }

    fn send(&self, message: &Value) {
        self.memory.send(message.to_string().as_bytes());
    }

    /// Adds the client's description and capabilities to `params` in the modern era, where each request carries them.
    fn enveloped(&self, mut params: Value) -> Value {
        if !self.revision.is_modern() {
            return params;
        }
        let Some(object) = params.as_object_mut() else { return params };
        let meta = object.entry("_meta").or_insert_with(|| Value::Object(Map::new()));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(
                "io.modelcontextprotocol/protocolVersion".to_owned(),
                self.revision.name().into(),
            );
            meta.insert(
                "io.modelcontextprotocol/clientCapabilities".to_owned(),
                self.capabilities.clone(),
            );
            meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), info());
            if let Some(level) = self.log_level {
                meta.insert("io.modelcontextprotocol/logLevel".to_owned(), level.into());
            }
        }
        params
    }

    /// Sorts incoming messages until `enough` holds, or until no message arrives within the client's `patience`.
    pub(super) async fn pump_until(&mut self, enough: impl Fn(&Self) -> bool) {
        while !enough(self) {
            let Some(line) = self.memory.receive(self.patience).await else { return };
            let Ok(mut message) = serde_json::from_slice::<Value>(&line) else { continue };
            match message["id"].as_u64() {
                Some(id) if message.get("method").is_none() => {
                    let result = match message.get_mut("error") {
                        Some(error) => Err(typed(error.take()).unwrap_or_else(|error| error)),
                        None => Ok(message["result"].take()),
                    };
                    self.responses.insert(id, result);
                }
                _ if self.respond(&message) => {}
                _ => self.notifications.push_back(message),
            }
        }
    }

    /// Sets the function that answers all later questions of the server, in the form of the client's revision. `answer` gets the method and
    /// its parameters, and returns the result. [`request`](TestClient::request) and the methods based on it run all rounds of a call. With
    /// [`start`](TestClient::start), each round is a request of its own.
    ///
    /// ```
    /// # use mcp_runtime::{prelude::*, testing::{TestClient, Revision}};
    /// # use serde_json::json;
    /// # #[form] struct Consent { go: bool }
    /// #[tool]
    /// async fn ask(ctx: &Context) -> Result<String> {
    ///     let consent: Consent = ctx.elicit("consent", "Go on?").await?;
    ///     Ok(consent.go.to_string())
    /// }
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let server = mcp_runtime::server!().items(items![ask]);
    /// let can = json!({ "elicitation": {} });
    /// let mut client = TestClient::connect_capable(server, Revision::V2026_07_28, can).await?;
    /// client.answer_with(|_method, params| {
    ///     assert_eq!(params["message"], "Go on?");
    ///     json!({ "action": "accept", "content": { "go": true } })
    /// });
    /// assert_eq!(client.call("ask", json!({})).await?.text(), "true");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn answer_with(&mut self, answer: impl FnMut(&str, &Value) -> Value + Send + 'static) {
        self.responder = Responder(Some(Box::new(answer)));
    }

    /// Answers a request of the server. Returns `false` for other messages, and for all messages if no answer function is set.
    fn respond(&mut self, message: &Value) -> bool {
        let (Some(answer), Some(method)) = (&mut self.responder.0, message["method"].as_str())
        else {
            return false;
        };
        if message.get("id").is_none() {
            return false;
        }
        let result = answer(method, &message["params"]);
        self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        true
    }

    /// Returns the answers to questions, by their keys. The map is empty if no answer function is set.
    pub(super) fn answers_to(&mut self, questions: &Value) -> Map<String, Value> {
        let (Some(answer), Some(questions)) = (&mut self.responder.0, questions.as_object()) else {
            return Map::new();
        };
        let answer = |(key, question): (&String, &Value)| {
            let method = question["method"].as_str().unwrap_or_default();
            (key.clone(), answer(method, &question["params"]))
        };
        collect_by_insert(questions.iter().map(answer))
    }

    /// Returns the result of a request, or an error if the result contains questions.
    pub(super) async fn answered(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<Value, RpcError> {
        let result = self.request(method, params).await?;
        Self::unanswered(&result).map_or(Ok(result), Err)
    }

    /// Returns an error if a result contains questions.
    pub(super) fn unanswered(result: &Value) -> Option<RpcError> {
        let questions = result["inputRequests"].as_object()?;
        let questions: Vec<String> = questions
            .iter()
            .map(|(key, question)| match question["params"]["message"].as_str() {
                Some(message) => format!("`{key}`: {message}"),
                None => format!("`{key}` ({})", question["method"].as_str().unwrap_or_default()),
            })
            .collect();
        let message = format!(
            "the server asks questions, but `answer_with` was not called: {}",
            questions.join("; ")
        );
        Some(RpcError { code: 0, message, data: None })
    }

    /// Returns the parameters of the next round if a result asks for one and an answer function is set.
    fn next_round(&mut self, params: &Value, result: &Value) -> Option<Value> {
        if result["resultType"] != "input_required" || self.responder.0.is_none() {
            return None;
        }
        let answers = self.answers_to(&result["inputRequests"]);
        Some(next_round(params, result, answers))
    }
}

/// Returns the parameters of the round after `result`, with the answers to its questions.
pub(crate) fn next_round(params: &Value, result: &Value, answers: Map<String, Value>) -> Value {
    let mut next = params.clone();
    next["inputResponses"] = answers.into();
    match result.get("requestState") {
        Some(state) => next["requestState"] = state.clone(),
        None => next.as_object_mut().map(|params| params.remove("requestState")).map_or((), drop),
    }
    next
}
