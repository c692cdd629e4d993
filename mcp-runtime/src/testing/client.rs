//! Test client, which connects to a server, exchanges messages with it and answers its input requests.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt,
    time::Duration,
};

use mcp_runtime_contract::collect::collect_by_insert;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use super::results::{RpcError, typed};
#[cfg(feature = "workbench")]
use crate::server::Server;
use crate::{
    builder::Builder,
    error::ServeError,
    protocol::{Peer, Revision, Service},
    server::Started,
    transport::in_process::InProcessConnection,
};

/// Maximum number of rounds in one call of [`TestClient::request`]. In each round, the client answers input requests of the server.
const MOST_ROUNDS: usize = 100;

/// Time in which a handler may go on after a question that nothing answers, because it need not wait for the answer.
const UNANSWERED: Duration = Duration::from_millis(500);

/// MCP client in the same process as the server, for tests.
///
/// Most methods send one request and return its result: [`call`](TestClient::call), [`read`](TestClient::read),
/// [`prompt`](TestClient::prompt), and the lists. Use [`request`](TestClient::request) for any other method of the protocol, and
/// [`start`](TestClient::start) for several requests at once. To check a server without sending requests, use
/// [`assert_builds!`](crate::testing::assert_builds).
///
/// By default the client uses the newest protocol revision and declares no capabilities: see [`connect_with`](TestClient::connect_with) and
/// [`connect_capable`](TestClient::connect_capable). A request fails if the server sends no message for ten seconds.
///
/// ```
/// use mcp_runtime::{prelude::*, testing::TestClient};
/// use serde_json::json;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let mut client =
///         TestClient::connect(mcp_runtime::server!().items(items![add])).await?;
///     assert_eq!(client.tools().await?[0]["name"], "add");
///     assert_eq!(client.call("add", json!({ "a": 40, "b": 2 })).await?.text(), "42");
///     client.close().await;
///     Ok(())
/// }
/// ```
pub struct TestClient {
    memory: InProcessConnection,
    pub(super) revision: Revision,
    next_id: u64,
    capabilities: Value,
    pub(super) log_level: Option<&'static str>,
    pub(super) responses: HashMap<u64, Result<Value, RpcError>>,
    /// Requests without a response, as error messages name them.
    open: HashMap<u64, String>,
    /// Tokio tasks of requests whose handlers had to wait.
    handlers: HashMap<u64, JoinHandle<()>>,
    /// Requests that the client has cancelled.
    cancelled: HashSet<u64>,
    pub(super) notifications: VecDeque<Value>,
    /// Result of `initialize`, or `null` under protocol revision 2026-07-28, which does not have this request.
    initialized: Value,
    /// The running server. This field keeps its state alive, and [`TestClient::close`] runs its `on_shutdown`.
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

/// Function that answers the server's input requests, if one is set.
#[derive(Default)]
pub(super) struct Responder(Option<Box<AnswerFn>>);

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answers").field(&self.0.is_some()).finish()
    }
}

/// Returns the `clientInfo` of every test client.
fn info() -> Value {
    json!({ "name": "mcp-runtime-testing", "version": env!("CARGO_PKG_VERSION") })
}

/// Handle of a request that [`TestClient::start`] has sent, or of an open stream.
///
/// [`TestClient::wait`] waits for the result of the request, and [`TestClient::cancel`] cancels the request or ends the stream.
///
/// ```
/// use mcp_runtime::{prelude::*, testing::TestClient};
/// use serde_json::json;
///
/// /// Doubles a number.
/// #[tool]
/// fn double(number: i64) -> i64 {
///     number * 2
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let mut client =
///         TestClient::connect(mcp_runtime::server!().items(items![double])).await?;
///     let call =
///         |number: i64| json!({ "name": "double", "arguments": { "number": number } });
///     let first = client.start("tools/call", call(1));
///     let second = client.start("tools/call", call(2));
///     assert_eq!(client.wait(second).await?["content"][0]["text"], "4");
///     assert_eq!(client.wait(first).await?["content"][0]["text"], "2");
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ongoing(pub(super) u64);

impl TestClient {
    /// Starts the server and connects to it under the newest protocol revision.
    ///
    /// The client declares no capabilities. Use [`connect_with`](TestClient::connect_with) for another revision, and
    /// [`connect_capable`](TestClient::connect_capable) for a client with capabilities.
    ///
    /// # Errors
    /// Fails if the server cannot be built or started.
    pub async fn connect(server: Builder) -> Result<Self, ServeError> {
        Self::connect_with(server, Revision::MODERN[0]).await
    }

    /// Connects to a server in order to inspect all of its items. If `setup` failed, its error is returned with the client.
    #[cfg(feature = "stdio")]
    pub(crate) async fn looking(server: Builder) -> Result<(Self, Option<String>), ServeError> {
        let (started, problem) = server.build()?.start_to_inspect().await?;
        Ok((Self::to(started), problem))
    }

    /// Connects to a server whose `setup` does not run. Only items that need no state work.
    #[cfg(feature = "workbench")]
    pub(crate) fn without_setup(server: Server) -> Self {
        Self::to(server.start_bare())
    }

    /// Returns the snapshot of the catalog from which the server builds its lists.
    #[cfg(feature = "stdio")]
    pub(crate) fn snapshot(&self) -> std::sync::Arc<crate::catalog::Snapshot> {
        self.started.dispatcher.catalog.snapshot()
    }

    /// Starts the server and connects to it under the given protocol revision.
    ///
    /// Under a revision before 2026-07-28, the client begins with the `initialize` handshake. The client declares no capabilities.
    ///
    /// ```
    /// use mcp_runtime::{prelude::*, testing::{Revision, TestClient}};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let server = mcp_runtime::server!().items(items![add]);
    ///     let client = TestClient::connect_with(server, Revision::V2025_06_18).await?;
    ///     assert_eq!(client.revision(), Revision::V2025_06_18);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails if the server cannot be built or started, or if the handshake fails.
    pub async fn connect_with(server: Builder, revision: Revision) -> Result<Self, ServeError> {
        Self::connect_capable(server, revision, json!({})).await
    }

    /// Starts the server and connects to it as a client that declares `capabilities`, such as `json!({ "elicitation": {} })`.
    ///
    /// To answer requests of the server such as `elicitation/create`, set a function with [`answer_with`](TestClient::answer_with), which
    /// also has an example.
    ///
    /// # Errors
    /// Fails if the server cannot be built or started, or if the handshake fails.
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

    /// Starts the server and connects to it without the `initialize` handshake.
    ///
    /// Use this method to test messages that arrive before the handshake, together with [`send_raw`](TestClient::send_raw). The client uses
    /// the newest protocol revision and declares no capabilities.
    ///
    /// # Errors
    /// Fails if the server cannot be built or started.
    pub async fn bare(server: Builder) -> Result<Self, ServeError> {
        #[cfg(feature = "auth")]
        let server = {
            let mut server = server;
            // A test over this connection needs no values, as stdio does not.
            let _ = server.configure_auth();
            let settings = server.http.clone();
            let mut server = server.build()?;
            server.open_authorization(&settings, None).await?;
            server
        };
        #[cfg(not(feature = "auth"))]
        let server = server.build()?;
        Ok(Self::to(server.start().await?))
    }

    fn to(started: Started) -> Self {
        Self {
            memory: InProcessConnection::new(Peer::new(Service::new(&started))),
            revision: Revision::MODERN[0],
            next_id: 0,
            capabilities: json!({}),
            log_level: None,
            responses: HashMap::new(),
            open: HashMap::new(),
            handlers: HashMap::new(),
            cancelled: HashSet::new(),
            notifications: VecDeque::new(),
            initialized: Value::Null,
            started,
            patience: Duration::from_secs(10),
            responder: Responder::default(),
        }
    }

    /// Declares a protocol extension in the client capabilities of all later requests.
    pub(crate) fn declare_extension(&mut self, id: &str) {
        self.capabilities["extensions"][id] = json!({});
    }

    /// Sends all later requests as this caller, like an HTTP client with an access token.
    ///
    /// The server then checks the requirements of items and of the server itself (`scopes`, `auth`, [`policy`](Builder::policy)). Handlers
    /// get the caller as [`Auth`](crate::auth::Auth). Without this method the server checks no requirements, as over stdio. To test several
    /// users of one server, call this method again before the requests of each user.
    ///
    /// ```
    /// use mcp_runtime::{auth::Authorization, prelude::*, testing::TestClient};
    /// use serde_json::json;
    ///
    /// /// Forgets everything.
    /// #[tool(scopes("notes:write"))]
    /// fn clear() {}
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let mut client =
    ///         TestClient::connect(mcp_runtime::server!().items(items![clear])).await?;
    ///     client.authorization(Authorization::new("ada").scopes(["notes:read"]));
    ///     assert!(client.tools().await?.is_empty());
    ///     assert!(client.call("clear", json!({})).await.is_err());
    ///     client.authorization(Authorization::new("ada").scopes(["notes:write"]));
    ///     assert!(client.call("clear", json!({})).await.is_ok());
    ///     Ok(())
    /// }
    /// ```
    #[cfg(feature = "auth")]
    pub fn authorization(&mut self, authorization: crate::call::context::Authorization) {
        let authorization = self.started.dispatcher.rights.rules.completed(authorization);
        self.extension(authorization);
    }

    /// Adds an extension to all later requests, like an application or middleware in front of the server. It replaces an extension of the same
    /// type.
    ///
    /// Handlers get the extension as [`Extension<T>`](crate::http::Extension). In all other respects the requests remain those of a client
    /// without HTTP.
    ///
    /// ```
    /// use mcp_runtime::{http::Extension, prelude::*, testing::TestClient};
    /// use serde_json::json;
    ///
    /// #[derive(Clone)]
    /// struct User(&'static str);
    ///
    /// /// Returns the name of the user.
    /// #[tool]
    /// fn whoami(user: Extension<User>) -> &'static str {
    ///     user.0.0
    /// }
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let mut client =
    ///         TestClient::connect(mcp_runtime::server!().items(items![whoami])).await?;
    ///     client.extension(User("ada"));
    ///     assert_eq!(client.call("whoami", json!({})).await?.text(), "ada");
    ///     Ok(())
    /// }
    /// ```
    #[cfg(feature = "http")]
    pub fn extension<T: Clone + Send + Sync + 'static>(&mut self, extension: T) {
        self.head().extensions.insert(extension);
    }

    /// Adds a header to all later requests, for handlers that take `&HeaderMap`. It replaces a header of the same name.
    ///
    /// # Panics
    /// Panics if the name or the value cannot be that of a header.
    #[cfg(feature = "http")]
    #[track_caller]
    pub fn header(&mut self, name: &str, value: &str) {
        let Ok(header) = http::HeaderName::try_from(name) else {
            panic!("`{name}` is not the name of a header: it has letters, digits and `-`")
        };
        let Ok(value) = http::HeaderValue::try_from(value) else {
            panic!(
                "the header `{name}` cannot have the value {value:?}, because of its control characters"
            )
        };
        self.head().headers.insert(header, value);
    }

    #[cfg(feature = "http")]
    fn head(&mut self) -> &mut http::request::Parts {
        let head = self.memory.carrier.in_test.get_or_insert_with(|| {
            let (head, ()) = http::Request::new(()).into_parts();
            std::sync::Arc::new(head)
        });
        std::sync::Arc::make_mut(head)
    }

    /// Returns the protocol revision that this client uses.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the server's description of itself and its capabilities.
    ///
    /// Under protocol revision 2026-07-28 the client sends `server/discover`. Under older revisions it returns the result of `initialize`
    /// again, without a request.
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
    /// Use this method for requests that have no method of their own, or for the raw JSON of a result. If the server requests input, such
    /// as an elicitation, the function set with [`answer_with`](TestClient::answer_with) answers.
    ///
    /// ```
    /// use mcp_runtime::{prelude::*, testing::TestClient};
    /// use serde_json::json;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let mut client =
    ///         TestClient::connect(mcp_runtime::server!().items(items![add])).await?;
    ///     let result = client.request("tools/list", json!({})).await?;
    ///     assert_eq!(result["tools"][0]["name"], "add");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns the server's error response. Returns an error with code 0 if the server sends no message for ten seconds, or if it still
    /// requests input after 100 rounds. The error then contains the last input requests.
    ///
    /// # Cancel safety
    /// Not cancel safe. If the future is dropped, the server continues to work on the request, and the result is lost. Use
    /// [`start`](TestClient::start) and [`wait`](TestClient::wait) in a `select!`.
    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        let mut round = params.clone();
        let mut last = None;
        for _ in 0..MOST_ROUNDS {
            let ongoing = self.start(method, round);
            let result = self.wait(ongoing).await?;
            match self.next_round(&params, &result) {
                Some(next) => round = next,
                None => return Ok(result),
            }
            last = questions(&result);
            // Yields, so that a timeout of the caller can fire between two rounds.
            tokio::task::yield_now().await;
        }
        // A question that is repeated says why the last answer was not accepted.
        let last = last.map(|last| format!(": {last}")).unwrap_or_default();
        let message = format!("the server still asks questions after {MOST_ROUNDS} rounds{last}");
        Err(RpcError { code: 0, message, data: None })
    }

    /// Sends a request without waiting for its result. See [`Ongoing`] for an example.
    ///
    /// [`wait`](TestClient::wait) waits for the result. If `params` have a `progressToken` in `_meta`, the server reports progress, which
    /// [`notification`](TestClient::notification) returns.
    pub fn start(&mut self, method: &str, params: Value) -> Ongoing {
        self.next_id += 1;
        let id = self.next_id;
        self.open.insert(id, request_name(method, &params));
        let params = self.enveloped(params);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.handlers.extend(self.send(&request).pop().map(|handler| (id, handler)));
        Ongoing(id)
    }

    /// Waits for the result of a request that [`start`](TestClient::start) has sent.
    ///
    /// Notifications that arrive in the meantime are kept for [`notification`](TestClient::notification).
    ///
    /// After [`cancel`](TestClient::cancel), the method waits until the server has dropped the future of the handler. A `blocking` handler
    /// continues on its thread, and the method does not wait for it.
    ///
    /// # Errors
    /// Returns the server's error response, or an error with code 0 if the server sends no message for ten seconds. Returns an error with
    /// code 0 if the request was cancelled before its response, or if the server asks a question that no function of
    /// [`answer_with`](TestClient::answer_with) answers and that [`notification`](TestClient::notification) has not returned.
    ///
    /// # Cancel safety
    /// Cancel safe. A result that has arrived is kept, and another call of this method returns it.
    pub async fn wait(&mut self, ongoing: Ongoing) -> Result<Value, RpcError> {
        let is_cancelled = self.cancelled.contains(&ongoing.0);
        if is_cancelled {
            self.settle(ongoing).await;
        } else {
            let has_response = |client: &Self| client.responses.contains_key(&ongoing.0);
            self.pump_until(|client| has_response(client) || client.waits_for_answers(ongoing))
                .await;
            if !has_response(self) && self.waits_for_answers(ongoing) {
                self.pump_within(UNANSWERED.min(self.patience), has_response).await;
            }
        }
        self.handlers.remove(&ongoing.0);
        self.cancelled.remove(&ongoing.0);
        if let Some(response) = self.responses.remove(&ongoing.0) {
            return response;
        }
        let questions =
            if self.waits_for_answers(ongoing) { self.take_questions() } else { String::new() };
        let request = self.open.remove(&ongoing.0).unwrap_or_default();
        let message = if is_cancelled {
            "the request was cancelled".to_owned()
        } else if !questions.is_empty() {
            not_answered(&questions)
        } else {
            format!(
                "no answer to {request}, and no other message, within {} s: for longer work use `start`, let the time pass, and `wait`",
                self.patience.as_secs()
            )
        };
        Err(RpcError { code: 0, message, data: None })
    }

    /// Returns whether the server has sent questions that nothing answers, and this request is the only one without a response.
    ///
    /// A question under a revision before 2026-07-28 does not name its call, so with several requests the client cannot find out which of
    /// them waits. A question that [`notification`](TestClient::notification) has returned may be answered with
    /// [`send_raw`](TestClient::send_raw).
    fn waits_for_answers(&self, ongoing: Ongoing) -> bool {
        self.open.len() == 1
            && self.open.contains_key(&ongoing.0)
            && self.notifications.iter().any(is_question)
    }

    /// Removes the questions from the received messages, and returns them as text.
    fn take_questions(&mut self) -> String {
        let messages = std::mem::take(&mut self.notifications);
        let (questions, rest): (VecDeque<_>, _) = messages.into_iter().partition(is_question);
        self.notifications = rest;
        listed(questions.iter().map(|question| (method_of(question), question)))
    }

    /// Waits until the handler of a cancelled request has ended, and takes the messages that it has sent.
    async fn settle(&mut self, ongoing: Ongoing) {
        if let Some(handler) = self.handlers.get_mut(&ongoing.0)
            && !handler.is_finished()
        {
            let _ = tokio::time::timeout(self.patience, handler).await;
        }
        while let Some(line) = self.memory.receive(Duration::ZERO).await {
            self.take(&line);
        }
    }

    /// Waits like [`wait`](TestClient::wait), and passes each notification to `watch` as it arrives.
    #[cfg(feature = "stdio")]
    pub(crate) async fn wait_and_watch(
        &mut self,
        ongoing: Ongoing,
        mut watch: impl FnMut(&Value),
    ) -> Result<Value, RpcError> {
        loop {
            self.pump_until(|client| {
                client.responses.contains_key(&ongoing.0) || !client.notifications.is_empty()
            })
            .await;
            match self.notifications.pop_front() {
                Some(notification) => watch(&notification),
                None => return self.wait(ongoing).await,
            }
        }
    }

    /// Cancels a request, or ends a stream that [`subscribe`](TestClient::subscribe) or [`listen`](TestClient::listen) has opened.
    ///
    /// The method sends the notification `notifications/cancelled` and does not wait. The future of the handler is dropped a little later.
    /// A test that looks at the effect of the drop calls [`wait`](TestClient::wait) first:
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// use mcp_runtime::{prelude::*, testing::TestClient};
    /// use serde_json::json;
    ///
    /// static IS_FREE: AtomicBool = AtomicBool::new(true);
    ///
    /// /// Seat that is free again when the value is dropped.
    /// struct Seat;
    ///
    /// impl Drop for Seat {
    ///     fn drop(&mut self) {
    ///         IS_FREE.store(true, Ordering::SeqCst);
    ///     }
    /// }
    ///
    /// /// Books a seat.
    /// #[tool]
    /// async fn book() {
    ///     IS_FREE.store(false, Ordering::SeqCst);
    ///     let _seat = Seat;
    ///     std::future::pending().await
    /// }
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let server = mcp_runtime::server!().items(items![book]);
    ///     let mut client = TestClient::connect(server).await?;
    ///     let call = client.start("tools/call", json!({ "name": "book", "arguments": {} }));
    ///     client.cancel(call);
    ///     assert_eq!(client.wait(call).await.unwrap_err().message, "the request was cancelled");
    ///     assert!(IS_FREE.load(Ordering::SeqCst));
    ///     Ok(())
    /// }
    /// ```
    pub fn cancel(&mut self, ongoing: Ongoing) {
        self.cancelled.insert(ongoing.0);
        self.open.remove(&ongoing.0);
        self.notify("notifications/cancelled", json!({ "requestId": ongoing.0 }));
    }

    /// Sends a notification, such as `notifications/roots/list_changed`.
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Returns the next notification from the server, or `None` if the server sends no message for `patience`.
    ///
    /// Notifications that arrived during calls of other methods come first, in the order of their arrival.
    ///
    /// ```
    /// use mcp_runtime::{prelude::*, testing::TestClient};
    /// use serde_json::json;
    ///
    /// /// Works in two steps.
    /// #[tool]
    /// async fn work(progress: Progress) {
    ///     progress.say(1, "halfway");
    /// }
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let mut client =
    ///         TestClient::connect(mcp_runtime::server!().items(items![work])).await?;
    ///     client.start(
    ///         "tools/call",
    ///         json!({ "name": "work", "arguments": {}, "_meta": { "progressToken": 1 } }),
    ///     );
    ///     let report = client.notification(std::time::Duration::from_secs(5)).await.unwrap();
    ///     assert_eq!(report["method"], "notifications/progress");
    ///     assert_eq!(report["params"]["message"], "halfway");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Cancel safety
    /// Not cancel safe. No notification is lost if the future is dropped, but `patience` then also limits later requests.
    pub async fn notification(&mut self, patience: Duration) -> Option<Value> {
        let before = std::mem::replace(&mut self.patience, patience);
        self.pump_until(|client| !client.notifications.is_empty()).await;
        self.patience = before;
        self.notifications.pop_front()
    }

    /// Sends one line to the server as it is, for example a malformed message.
    ///
    /// [`receive_raw`](TestClient::receive_raw) returns the response.
    pub fn send_raw(&self, line: &[u8]) {
        self.memory.send(line);
    }

    /// Returns the next line from the server as it is, or `None` if the server sends no line for `patience`.
    ///
    /// Lines that other methods have received are not returned again.
    ///
    /// # Cancel safety
    /// Cancel safe. No line is lost if the future is dropped.
    pub async fn receive_raw(&mut self, patience: Duration) -> Option<Vec<u8>> {
        self.memory.receive(patience).await
    }

    /// Removes the time limit for all later responses.
    #[cfg(feature = "stdio")]
    pub(crate) fn wait_without_end(&mut self) {
        self.patience = Duration::MAX;
    }

    /// Returns the number of calls whose handlers have not finished. Cancelled calls do not count.
    pub fn in_flight(&self) -> usize {
        self.memory.peer().in_flight()
    }

    /// Ends all open streams of the client, as the server does when a client closes its side of stdio.
    #[cfg(feature = "workbench")]
    pub(crate) fn end_streams(&self) {
        self.memory.peer().close();
    }

    /// Stops the server and runs its `on_shutdown`.
    ///
    /// Returns the lines that the client has not received yet. These include the last messages of open streams.
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

    /// Sends a message. Returns the tokio tasks of calls whose handlers have to wait.
    fn send(&self, message: &Value) -> Vec<JoinHandle<()>> {
        self.memory.send(message.to_string().as_bytes())
    }

    /// Adds the `_meta` keys that each request carries since protocol revision 2026-07-28: the revision, and the info and capabilities of
    /// the client.
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

    /// Receives messages: keeps responses and notifications, and answers requests of the server. Stops when `enough` holds, or when no
    /// message arrives within the client's `patience`.
    pub(super) async fn pump_until(&mut self, enough: impl Fn(&Self) -> bool) {
        self.pump_within(self.patience, enough).await;
    }

    async fn pump_within(&mut self, patience: Duration, enough: impl Fn(&Self) -> bool) {
        while !enough(self) {
            let Some(line) = self.memory.receive(patience).await else { return };
            self.take(&line);
        }
    }

    /// Takes a message of the server: keeps a response or a notification, and answers a request.
    fn take(&mut self, line: &[u8]) {
        let Ok(mut message) = serde_json::from_slice::<Value>(line) else { return };
        match message["id"].as_u64() {
            Some(id) if message.get("method").is_none() => {
                let result = match message.get_mut("error") {
                    Some(error) => Err(typed(error.take()).unwrap_or_else(|error| error)),
                    None => Ok(message["result"].take()),
                };
                self.open.remove(&id);
                self.responses.insert(id, result);
            }
            _ if self.respond(&message) => {}
            _ => self.notifications.push_back(message),
        }
    }

    /// Sets the function that answers all later input requests of the server (elicitation, sampling and roots).
    ///
    /// `answer` gets the method of an input request, such as `elicitation/create`, and its parameters. It returns the result of that
    /// method. The client must declare the capability that the request needs: see [`connect_capable`](TestClient::connect_capable).
    ///
    /// Under protocol revision 2026-07-28, the client sends the answers in a further request of its own. [`request`](TestClient::request)
    /// and the methods based on it send this request themselves. After [`start`](TestClient::start), the caller must send it.
    ///
    /// ```
    /// use mcp_runtime::{
    ///     prelude::*,
    ///     testing::{Revision, TestClient},
    /// };
    /// use serde_json::json;
    ///
    /// #[form]
    /// struct Consent {
    ///     /// Continue?
    ///     go: bool,
    /// }
    ///
    /// /// Asks for consent.
    /// #[tool]
    /// async fn ask(ctx: &Context) -> Result<String> {
    ///     let consent: Consent = ctx.elicit("consent", "Go on?").await?;
    ///     Ok(consent.go.to_string())
    /// }
    ///
    /// #[tokio::main(flavor = "current_thread")]
    /// async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let server = mcp_runtime::server!().items(items![ask]);
    ///     let capabilities = json!({ "elicitation": {} });
    ///     let mut client =
    ///         TestClient::connect_capable(server, Revision::V2026_07_28, capabilities).await?;
    ///     client.answer_with(|_method, params| {
    ///         assert_eq!(params["message"], "Go on?");
    ///         json!({ "action": "accept", "content": { "go": true } })
    ///     });
    ///     assert_eq!(client.call("ask", json!({})).await?.text(), "true");
    ///     Ok(())
    /// }
    /// ```
    pub fn answer_with(&mut self, answer: impl FnMut(&str, &Value) -> Value + Send + 'static) {
        self.responder = Responder(Some(Box::new(answer)));
    }

    /// Answers a request of the server. Returns `false` if the message is not a request, or if no answer function is set.
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

    /// Returns the answers to `questions`, the input requests of the server, under the same keys. The map is empty if no answer function is
    /// set.
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

    /// Returns the result of a request, or an error if the result contains input requests.
    pub(super) async fn answered(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<Value, RpcError> {
        let result = self.request(method, params).await?;
        Self::unanswered(&result).map_or(Ok(result), Err)
    }

    /// Returns an error that lists the input requests in a result, or `None` if the result contains none.
    pub(super) fn unanswered(result: &Value) -> Option<RpcError> {
        let message = not_answered(&questions(result)?);
        Some(RpcError { code: 0, message, data: None })
    }

    /// Returns the parameters of the next round, if `result` contains input requests and an answer function is set.
    fn next_round(&mut self, params: &Value, result: &Value) -> Option<Value> {
        if result["resultType"] != "input_required" || self.responder.0.is_none() {
            return None;
        }
        let answers = self.answers_to(&result["inputRequests"]);
        Some(next_round(params, result, answers))
    }
}

/// Returns the input requests in a result with their keys, as text. Returns `None` if the result contains none.
fn questions(result: &Value) -> Option<String> {
    let questions = result["inputRequests"].as_object()?;
    Some(listed(questions.iter().map(|(key, question)| (&**key, question))))
}

/// Returns the questions with their names, as text.
fn listed<'a>(questions: impl Iterator<Item = (&'a str, &'a Value)>) -> String {
    let shown = questions.map(|(name, question)| {
        match (question["params"]["message"].as_str(), method_of(question)) {
            (Some(message), _) => format!("`{name}`: {message}"),
            (None, method) if method == name => format!("`{name}`"),
            (None, method) => format!("`{name}` ({method})"),
        }
    });
    shown.collect::<Vec<_>>().join("; ")
}

fn not_answered(questions: &str) -> String {
    format!("the server asks questions, but `answer_with` was not called: {questions}")
}

fn method_of(message: &Value) -> &str {
    message["method"].as_str().unwrap_or_default()
}

/// Returns whether a message of the server is a request, which the client has to answer.
fn is_question(message: &Value) -> bool {
    message.get("id").is_some() && message.get("method").is_some()
}

/// Returns the name of a request for error messages: its method and, if there is one, the name or the URI of its item.
fn request_name(method: &str, params: &Value) -> String {
    let item = params["name"].as_str().or_else(|| params["uri"].as_str());
    item.map_or_else(|| format!("`{method}`"), |item| format!("`{method}` of `{item}`"))
}

/// Returns the parameters of the round after `result`, with the answers to its input requests.
pub(crate) fn next_round(params: &Value, result: &Value, answers: Map<String, Value>) -> Value {
    let mut next = params.clone();
    next["inputResponses"] = answers.into();
    match result.get("requestState") {
        Some(state) => next["requestState"] = state.clone(),
        None => next.as_object_mut().map(|params| params.remove("requestState")).map_or((), drop),
    }
    next
}
