//! HTTP clients: requests, responses, event streams and sessions.

use std::{future::Future, net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use support::{
    clock::LIMIT,
    http::{
        connection::{Connection, Next},
        events::{Event, Item},
        head::Head,
    },
};
use tokio::time::timeout;

use crate::server::DEADLINE;

/// Time that a client waits for an answer. If the answer takes longer, the server counts as hanging.
pub(crate) const SOON: Duration = LIMIT;

pub(crate) const MODERN: &str = "2026-07-28";

/// Runs a test, and fails when it hangs.
pub(crate) fn run(test: impl Future<Output = ()>) {
    run_within(2 * DEADLINE, test);
}

/// Runs a test that may take longer than usual, and fails after `most`.
pub(crate) fn run_within(most: Duration, test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime");
    runtime.block_on(async { timeout(most, test).await.expect("the test hangs") });
}

/// A request that can be sent whole or in parts.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    chunked: bool,
}

impl Request {
    pub(crate) fn new(method: &'static str, path: &str) -> Self {
        let headers = vec![("Host".into(), "localhost".into())];
        Self { method, path: path.into(), headers, body: Vec::new(), chunked: false }
    }

    pub(crate) fn post(body: impl Into<Vec<u8>>) -> Self {
        let mut request = Self::new("POST", "/mcp")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        request.body = body.into();
        request
    }

    /// Builds a GET request for an event stream.
    pub(crate) fn get() -> Self {
        Self::new("GET", "/mcp").header("Accept", "text/event-stream")
    }

    /// Builds a POST request with a body of this content type.
    pub(crate) fn sending(path: &str, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let request = Self::new("POST", path).header("Content-Type", kind);
        Self { body: body.into(), ..request }
    }

    /// Replaces the value of a header.
    #[must_use]
    pub(crate) fn replace(mut self, name: &str, value: &str) -> Self {
        let header = self.headers.iter_mut().find(|header| header.0 == name);
        value.clone_into(&mut header.expect("the header is there").1);
        self
    }

    #[must_use]
    pub(crate) fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    /// Replaces the `Host` header.
    #[must_use]
    pub(crate) fn host(mut self, host: &str) -> Self {
        host.clone_into(&mut self.headers[0].1);
        self
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub(crate) fn to(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    #[must_use]
    pub(crate) fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// Pads the body with spaces up to this length.
    #[must_use]
    pub(crate) fn padded(mut self, length: usize) -> Self {
        assert!(self.body.len() <= length, "{}", self.body.len());
        self.body.resize(length, b' ');
        self
    }

    /// Returns the request line and the headers, without the empty line after them.
    fn head(&self) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        match (self.method, self.chunked) {
            (_, true) => head.push_str("Transfer-Encoding: chunked\r\n"),
            ("GET" | "DELETE", _) if self.body.is_empty() => {}
            _ => head.push_str(&format!("Content-Length: {}\r\n", self.body.len())),
        }
        head
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head().into_bytes();
        bytes.extend_from_slice(b"\r\n");
        if !self.chunked {
            bytes.extend_from_slice(&self.body);
            return bytes;
        }
        for chunk in self.body.chunks(1000) {
            bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    }

    /// Sends the request on a new connection and reads the whole response.
    pub(crate) async fn ask(&self, address: SocketAddr) -> Reply {
        let mut stream = self.open(address).await;
        let body = stream.connection.body(SOON).await.expect("a whole body");
        Reply { head: stream.head, body }
    }

    /// Sends the request on a new connection and reads the head of the response. The caller reads the body from the [`Stream`].
    pub(crate) async fn open(&self, address: SocketAddr) -> Stream {
        let mut connection = self.send(address).await;
        let head = connection.head(false, SOON).await.expect("a response");
        Stream { connection, head, last: None }
    }

    /// Sends the request on a new connection, and does not read the response.
    pub(crate) async fn send(&self, address: SocketAddr) -> Connection {
        send(address, &self.bytes()).await
    }
}

pub(crate) async fn send(address: SocketAddr, bytes: &[u8]) -> Connection {
    let mut connection = Connection::open(address).await.expect("the server listens");
    connection.send(bytes, SOON).await.expect("the server reads");
    connection
}

/// A response that has been read.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the text of the result of a tool.
    pub(crate) fn text(&self) -> String {
        text_of(&self.json())
    }

    /// Checks the status, the code of the error, and that its message contains `says`.
    #[track_caller]
    pub(crate) fn check_error(&self, status: u16, code: i64, says: &str) {
        let error = &self.json()["error"];
        let text = error["message"].as_str().unwrap_or_default();
        assert!(
            self.status() == status && error["code"] == code && text.contains(says),
            "{status} {code} {says:?} was expected: {self:?} {}",
            String::from_utf8_lossy(&self.body)
        );
    }

    /// Checks for a 503 with a `Retry-After` header and a message that contains `says`.
    #[track_caller]
    pub(crate) fn check_busy(&self, says: &str) {
        self.check_error(503, -32603, says);
        assert!(self.head.get("retry-after").is_some(), "{self:?}");
    }
}

#[track_caller]
pub(crate) fn text_of(response: &Value) -> String {
    let text = response["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{response}")).to_owned()
}

/// Response whose body has not been read yet, usually a stream of events.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) connection: Connection,
    pub(crate) head: Head,
    /// Id of the last event that had one.
    pub(crate) last: Option<String>,
}

impl Stream {
    #[track_caller]
    pub(crate) fn check_events(self) -> Self {
        assert!(self.head.status == 200 && self.head.is_stream(), "{:?}", self.head);
        self
    }

    /// Returns the next event, or `None` at the end.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            match self.connection.next(SOON).await.expect("a stream of events") {
                Next::Item(Item::Comment(_)) => {}
                Next::Item(Item::Event(event)) => {
                    self.last = event.id.clone().or(self.last.take());
                    return Some(event);
                }
                Next::End => return None,
                Next::Silence => panic!("nothing comes"),
            }
        }
    }

    /// Returns the next message, or `None` at the end. Skips events without data, which have only an id.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            let data = self.event().await?.data.unwrap_or_default();
            if !data.is_empty() {
                return Some(serde_json::from_str(&data).expect("a message"));
            }
        }
    }

    /// Returns the next message of a stream that may break off at any byte, or `None` at its end.
    pub(crate) async fn message_until_break(&mut self) -> Option<Value> {
        loop {
            match self.connection.next(SOON).await {
                Ok(Next::Item(Item::Comment(_))) => {}
                Ok(Next::Item(Item::Event(event))) => {
                    self.last = event.id.clone().or(self.last.take());
                    let data = event.data.unwrap_or_default();
                    if !data.is_empty() {
                        return Some(serde_json::from_str(&data).expect("a message"));
                    }
                }
                Ok(Next::Silence) => panic!("nothing comes"),
                Ok(Next::End) | Err(_) => return None,
            }
        }
    }

    /// Returns all messages up to the end.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(message) = self.message().await {
            rest.push(message);
        }
        rest
    }
}

/// Builds a request of protocol revision 2026-07-28, which needs no session.
pub(crate) fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> Request {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    let capabilities = &mut params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    if capabilities.is_null() {
        *capabilities = json!({});
    }
    let named = ["name", "uri", "taskId"].into_iter().find_map(|name| params[name].as_str());
    let name = named.map(str::to_owned);
    let body = json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params });
    let request = Request::post(body.to_string())
        .header("MCP-Protocol-Version", MODERN)
        .header("Mcp-Method", method);
    match name {
        Some(name) => request.header("Mcp-Name", name),
        None => request,
    }
}

/// Builds a tool call of protocol revision 2026-07-28, with the progress token 7.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Request {
    modern(id, "tools/call", params(tool, arguments))
}

/// Builds the same call for a client that does not accept a stream.
pub(crate) fn plain_call(id: impl Into<Value>, tool: &str, arguments: Value) -> Request {
    call(id, tool, arguments).replace("Accept", "application/json")
}

fn params(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 7 } })
}

/// Calls a tool and returns the text of its result.
pub(crate) async fn ask(address: SocketAddr, tool: &str, arguments: Value) -> String {
    plain_call(1, tool, arguments).ask(address).await.text()
}

/// Returns when the server has read all bytes that were sent before. Each thread of the server reads its connections in order, and this
/// function opens enough connections for every thread to answer one of them.
pub(crate) async fn read_by_every_reactor(address: SocketAddr) {
    let mut others = Vec::new();
    for _ in 0..2 * std::thread::available_parallelism().map_or(1, usize::from) {
        others.push(plain_call(1, "echo", json!({ "text": "read" })).open(address).await);
    }
}

/// Checks that the server answers another client.
pub(crate) async fn check_echo(address: SocketAddr) {
    assert_eq!(ask(address, "echo", json!({ "text": "still here" })).await, "still here");
}

/// A session of a protocol revision before 2026-07-28.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) address: SocketAddr,
    pub(crate) revision: &'static str,
    pub(crate) id: String,
}

pub(crate) fn initialize(revision: &str) -> Request {
    initialize_as(revision, json!({}))
}

/// Builds the `initialize` request of a client with these capabilities.
pub(crate) fn initialize_as(revision: &str, capabilities: Value) -> Request {
    let params = json!({
        "protocolVersion": revision,
        "capabilities": capabilities,
        "clientInfo": { "name": "suite", "version": "1" },
    });
    Request::post(message("init", "initialize", params).to_string())
}

pub(crate) fn message(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn tool_call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    message(id, "tools/call", params(tool, arguments))
}

impl Session {
    /// Opens a session and sends `notifications/initialized`.
    pub(crate) async fn begin(address: SocketAddr, revision: &'static str) -> Self {
        let session = Self::open(address, revision).await;
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let accepted = session.post(&initialized).ask(address).await;
        assert_eq!(accepted.status(), 202, "{accepted:?}");
        session
    }

    /// Opens a session and sends no `notifications/initialized`.
    pub(crate) async fn open(address: SocketAddr, revision: &'static str) -> Self {
        let reply = initialize(revision).ask(address).await;
        assert_eq!(reply.json()["result"]["protocolVersion"], revision, "{reply:?}");
        let id = reply.head.get("mcp-session-id").expect("a session");
        Self { address, revision, id }
    }

    fn named(&self, request: Request) -> Request {
        let request = request.header("Mcp-Session-Id", &*self.id);
        if self.revision < "2025-06-18" {
            return request;
        }
        request.header("MCP-Protocol-Version", self.revision)
    }

    pub(crate) fn post(&self, message: &Value) -> Request {
        self.named(Request::post(message.to_string()))
    }

    pub(crate) fn call(&self, id: impl Into<Value>, tool: &str, arguments: Value) -> Request {
        self.post(&tool_call(id, tool, arguments))
    }

    pub(crate) fn get(&self) -> Request {
        self.named(Request::get())
    }

    pub(crate) fn resume(&self, last: &str) -> Request {
        self.get().header("Last-Event-ID", last)
    }

    pub(crate) fn delete(&self) -> Request {
        self.named(Request::new("DELETE", "/mcp"))
    }
}
