//! HTTP+SSE (protocol revision 2024-11-05) on two servers that share a store: either of them takes the messages of a client, and one of them
//! has its stream.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{Request, Response};
use http_body::Body as _;
use mcp_runtime::{
    Builder,
    auth::Principal,
    http::{HeaderMap, HttpBody, HttpService},
    items,
    limits::Limits,
    prelude::*,
    sampling::{Sampled, Sampling},
    server,
    store::{MemoryStore, Output, Store, StoreOperation, Transaction},
    testing::{FaultyStore, StoreFault},
};
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::{
    shared_store::{Line, NodeStore},
    support::pass,
};

/// Returns the text, after a report of progress.
#[tool]
async fn echo(text: &str, progress: Progress) -> String {
    progress.step();
    tokio::task::yield_now().await;
    text.to_owned()
}

/// Adds a text to the list.
#[tool]
fn note(text: &str, notes: &Notes) {
    notes.0.lock().unwrap().push(text.to_owned());
}

/// Asks the client's model.
#[tool]
async fn ask(ctx: &Context) -> Result<String> {
    let sampled: Sampled = ctx.sample("word", Sampling::ask("Which word?", 10)).await?;
    Ok(sampled.text().to_owned())
}

/// Waits until it is cancelled.
#[tool]
async fn wait(cancelled: &Cancelled) {
    struct SetOnDrop(Cancelled);
    impl Drop for SetOnDrop {
        fn drop(&mut self) {
            self.0.0.store(true, Ordering::SeqCst);
        }
    }
    let _cancelled = SetOnDrop(cancelled.clone());
    std::future::pending::<()>().await;
}

/// Returns the caller and the value of a header.
#[tool]
fn sender(ctx: &Context, headers: &HeaderMap) -> String {
    let value = headers.get("x-tenant").map_or("", |value| value.to_str().unwrap());
    let has_cookie = headers.contains_key("cookie");
    format!("{} {value} {has_cookie}", ctx.principal().unwrap_or("nobody"))
}

/// Texts that `note` has received.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

/// Set when a call of `wait` was cancelled.
#[derive(Clone, Default)]
struct Cancelled(Arc<AtomicBool>);

#[derive(Clone, Default)]
struct World {
    notes: Notes,
    cancelled: Cancelled,
}

impl World {
    fn server(&self, store: impl Store) -> Builder {
        server!(name = "nodes")
            .items(items![echo, note, ask, wait, sender])
            .state(self.notes.clone())
            .state(self.cancelled.clone())
            .legacy_sse(true)
            .store(store)
    }

    async fn node(&self, store: impl Store) -> HttpService {
        self.server(store).into_service().await.expect("the server starts")
    }

    fn notes(&self) -> Vec<String> {
        self.notes.0.lock().unwrap().clone()
    }
}

async fn send(node: &HttpService, request: Request<String>) -> Response<HttpBody> {
    node.clone().call(request).await.unwrap()
}

/// Returns the next piece of a body, or `None` at its end.
async fn piece(body: &mut HttpBody) -> Option<String> {
    let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?.unwrap();
    Some(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap())
}

/// Client of HTTP+SSE.
struct SseClient {
    body: HttpBody,
    /// Text of the stream that was not read yet.
    text: String,
    address: String,
    principal: &'static str,
}

impl SseClient {
    /// Opens a stream at a node.
    async fn open(node: &HttpService, principal: &'static str) -> Self {
        let opened = try_open(node, principal).await;
        assert_eq!(opened.status(), 200);
        let body = opened.into_body();
        let mut client = Self { body, text: String::new(), address: String::new(), principal };
        client.address = client.event().await.expect("the address to post to");
        client
    }

    /// Opens a stream at the first node, and begins the session at the last.
    async fn begin(nodes: &[HttpService], principal: &'static str) -> Self {
        let mut client = Self::open(&nodes[0], principal).await;
        let last = nodes.last().unwrap();
        let params = json!({
            "protocolVersion": "2024-11-05",
            "capabilities": { "sampling": {} },
            "clientInfo": { "name": "suite", "version": "1" },
        });
        assert_eq!(client.post(last, &request("init", "initialize", params)).await, 202);
        let begun = client.message().await.unwrap();
        assert_eq!(begun["result"]["protocolVersion"], "2024-11-05", "{begun}");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(last, &initialized).await, 202);
        client
    }

    /// Returns the data of the next event, or `None` at the end of the stream.
    async fn event(&mut self) -> Option<String> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let data = data.map(str::to_owned);
                self.text = rest.to_owned();
                if data.is_some() {
                    return data;
                }
                continue;
            }
            let piece = piece(&mut self.body).await?;
            self.text.push_str(&piece);
        }
    }

    async fn message(&mut self) -> Option<Value> {
        Some(serde_json::from_str(&self.event().await?).unwrap())
    }

    /// Returns the text of the next result of a tool. Skips reports of progress.
    async fn text(&mut self) -> String {
        loop {
            let message = self.message().await.expect("a result");
            if message["method"] != "notifications/progress" {
                let text = message["result"]["content"][0]["text"].as_str();
                return text.unwrap_or_else(|| panic!("{message}")).to_owned();
            }
        }
    }

    fn request(&self, message: &Value) -> Request<String> {
        posted(&self.address, self.principal, message.to_string())
    }

    /// Posts a message to a node, and returns the status.
    async fn post(&self, node: &HttpService, message: &Value) -> u16 {
        send(node, self.request(message)).await.status().as_u16()
    }

    fn partition(&self) -> String {
        let (_, id) = self.address.split_once("sessionId=").unwrap();
        format!("session:{id}")
    }
}

async fn try_open(node: &HttpService, principal: &'static str) -> Response<HttpBody> {
    let open = Request::get("/sse").header("host", "localhost");
    let open = open.header("accept", "text/event-stream").extension(Principal::new(principal));
    send(node, open.body(String::new()).unwrap()).await
}

fn posted(address: &str, principal: &str, body: String) -> Request<String> {
    let post = Request::post(format!("/{address}")).header("host", "localhost");
    let post = post.header("content-type", "application/json");
    post.extension(Principal::new(principal)).body(body).unwrap()
}

fn request(id: &str, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn call(id: &str, tool: &str, arguments: Value) -> Value {
    let meta = json!({ "progressToken": id });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    request(id, "tools/call", params)
}

/// Returns the values in the log of the messages between nodes.
async fn log_of_nodes(store: &impl Store) -> Vec<Vec<u8>> {
    let read = Transaction::on("nodes").then(StoreOperation::read("messages", 0, 10_000));
    let mut outputs = store.execute(vec![read]).await.unwrap().remove(0).unwrap();
    let Output::Events { events, .. } = outputs.remove(0) else { panic!("events") };
    events.into_iter().map(|event| event.value).collect()
}

/// Returns whether the store has a record.
async fn has_record(store: &impl Store, partition: &str, name: &str) -> bool {
    let read = Transaction::on(partition).then(StoreOperation::get(name));
    let outputs = store.execute(vec![read]).await.unwrap().remove(0).unwrap();
    matches!(outputs[0], Output::Record(Some(_)))
}

/// Returns the names of the records with messages for other nodes, as the log of the nodes has them, and those that are still there.
async fn relayed(store: &impl Store) -> (usize, usize) {
    let (mut all, mut left) = (0, 0);
    for value in log_of_nodes(store).await {
        let text = String::from_utf8(value).unwrap();
        let (node, rest) = text.split_once(' ').unwrap();
        let (_, rest) = rest.split_once(' ').unwrap();
        let Some(message) = rest.strip_prefix("sessions ") else { continue };
        let message: BTreeMap<String, Value> = serde_json::from_str(message).unwrap();
        let Some(message) = message.get("relayed") else { continue };
        all += 1;
        let name = format!("relayed/{node}/{}", message[1]);
        left += usize::from(has_record(store, "nodes", &name).await);
    }
    (all, left)
}

/// Polls for half a minute, after which messages in the store do not expire yet.
async fn eventually(awaited: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..30_000 {
        if holds().await {
            return;
        }
        pass(Duration::from_millis(1)).await;
    }
    panic!("still waiting for this: {awaited}");
}

#[tokio::test(start_paused = true)]
async fn messages_at_either_node_are_answered_on_the_stream() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one.clone()).await, world.node(two).await];
    let mut client = SseClient::begin(&nodes, "").await;
    for (at, node) in nodes.iter().cycle().take(6).enumerate() {
        let text = format!("text {at}");
        let id = format!("call {at}");
        assert_eq!(client.post(node, &call(&id, "echo", json!({ "text": text }))).await, 202);
        let step = client.message().await.unwrap();
        assert_eq!(step["params"]["progressToken"], id, "{step}");
        assert_eq!(client.text().await, text);
    }
    let list = request("list", "tools/list", json!({}));
    assert_eq!(client.post(&nodes[1], &list).await, 202);
    assert_eq!(client.message().await.unwrap()["result"]["tools"].as_array().unwrap().len(), 5);
    // A body that is no message is answered as at the node of the stream.
    for node in &nodes {
        let broken = posted(&client.address, "", "{".to_owned());
        assert_eq!(send(node, broken).await.status(), 202);
        assert_eq!(client.message().await.unwrap()["error"]["code"], -32700);
    }
    // Nothing of the messages is left in the store.
    eventually("an empty store", async || relayed(&one).await == (7, 0)).await;
}

#[tokio::test(start_paused = true)]
async fn answers_and_cancellations_at_the_other_node_reach_the_calls() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one).await, world.node(two).await];
    let mut client = SseClient::begin(&nodes, "").await;
    for node in &nodes {
        assert_eq!(client.post(node, &call("1", "ask", json!({}))).await, 202);
        let question = client.message().await.unwrap();
        assert_eq!(question["method"], "sampling/createMessage", "{question}");
        let content = json!({ "type": "text", "text": "moon" });
        let result = json!({ "role": "assistant", "content": content, "model": "suite" });
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        assert_eq!(client.post(&nodes[1], &answer).await, 202);
        assert_eq!(client.text().await, "moon");
    }
    // Both messages take the same way, so the cancellation does not overtake the call.
    assert_eq!(client.post(&nodes[1], &call("2", "wait", json!({}))).await, 202);
    let cancelled = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": "2" },
    });
    assert_eq!(client.post(&nodes[1], &cancelled).await, 202);
    eventually("the cancellation", async || world.cancelled.0.load(Ordering::SeqCst)).await;
}

#[tokio::test(start_paused = true)]
async fn messages_are_handled_in_their_order_and_no_text_is_in_the_log_of_the_nodes() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one.clone()).await, world.node(two).await];
    let client = SseClient::begin(&nodes, "").await;
    let texts: Vec<_> = (0..40).map(|at| format!("{at} ").repeat(1 + at % 2 * 50_000)).collect();
    for text in &texts {
        let noted = call("note", "note", json!({ "text": text }));
        assert_eq!(client.post(&nodes[1], &noted).await, 202);
    }
    eventually("the notes", async || world.notes().len() == texts.len()).await;
    assert_eq!(world.notes(), texts);
    for value in log_of_nodes(&one).await {
        assert!(value.len() < 200, "{}", String::from_utf8_lossy(&value));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_of_another_client_and_one_that_has_ended_are_unknown_at_both_nodes() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one.clone()).await, world.node(two).await];
    let mut client = SseClient::begin(&nodes, "ada").await;
    let body = call("1", "sender", json!({})).to_string();
    let unknown = "message?sessionId=0123456789abcdef0123456789abcdef";
    for node in &nodes {
        for (address, principal, status) in [
            (&*client.address, "bob", 404),
            (&client.address, "", 404),
            (unknown, "ada", 404),
            ("message?sessionId=7", "ada", 404),
            ("message", "ada", 400),
        ] {
            let refused = send(node, posted(address, principal, body.clone())).await;
            assert_eq!(refused.status(), status, "{address} of {principal:?}");
            if status == 404 {
                let text = piece(&mut refused.into_body()).await.unwrap();
                assert!(text.contains("Session not found: open a new stream"), "{text}");
            }
        }
        let mut form = client.request(&json!({}));
        form.headers_mut().insert("content-type", "text/plain".parse().unwrap());
        assert_eq!(send(node, form).await.status(), 415);
    }
    assert_eq!(relayed(&one).await.0, 2);
    assert_eq!(client.post(&nodes[1], &call("2", "sender", json!({}))).await, 202);
    assert_eq!(client.text().await, "ada  false");
    let partition = client.partition();
    assert!(has_record(&one, &partition, "sse").await);
    let (address, principal) = (client.address.clone(), client.principal);
    drop(client);
    eventually("the end of the session", async || !has_record(&one, &partition, "sse").await).await;
    for node in &nodes {
        let refused = send(node, posted(&address, principal, body.clone())).await;
        assert_eq!(refused.status(), 404);
    }
}

#[tokio::test(start_paused = true)]
async fn headers_reach_the_handler_but_no_credentials_do_so_through_the_store() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one).await, world.node(two).await];
    let mut client = SseClient::begin(&nodes, "ada").await;
    for (node, expected) in nodes.iter().zip(["ada acme true", "ada acme false"]) {
        let mut request = client.request(&call("1", "sender", json!({})));
        let headers = request.headers_mut();
        headers.insert("x-tenant", "acme".parse().unwrap());
        headers.insert("cookie", "secret=1".parse().unwrap());
        // The application has verified the token, because there is a principal.
        headers.insert("authorization", "Bearer secret".parse().unwrap());
        assert_eq!(send(node, request).await.status(), 202);
        assert_eq!(client.text().await, expected);
    }
    // Without a principal, only a handler can read the token.
    let client = SseClient::begin(&nodes, "").await;
    for (node, status) in nodes.iter().zip([202, 421]) {
        let mut request = client.request(&call("1", "sender", json!({})));
        request.headers_mut().insert("authorization", "Bearer key".parse().unwrap());
        let answer = send(node, request).await;
        assert_eq!(answer.status(), status);
        if status == 421 {
            let text = piece(&mut answer.into_body()).await.unwrap();
            assert!(text.contains("sticky sessions"), "{text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn messages_for_another_node_are_refused_while_the_store_is_away() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one.clone()).await, world.node(two.clone()).await];
    let mut client = SseClient::begin(&nodes, "").await;
    two.set(Line::Cut);
    let message = call("1", "echo", json!({ "text": "hello" }));
    let refused = send(&nodes[1], client.request(&message)).await;
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    let refused = try_open(&nodes[1], "").await;
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    // The node of the stream does not need the store.
    one.set(Line::Cut);
    assert_eq!(client.post(&nodes[0], &message).await, 202);
    assert_eq!(client.text().await, "hello");
    // Every lease and every record may have expired, so no answer says that the session has ended.
    pass(Duration::from_secs(120)).await;
    one.set(Line::Works);
    two.set(Line::Works);
    let first = client.post(&nodes[1], &message).await;
    assert_eq!(first, 503);
    eventually("the message to be accepted", async || {
        match client.post(&nodes[1], &message).await {
            202 => true,
            503 => false,
            other => panic!("{other}"),
        }
    })
    .await;
    assert_eq!(client.text().await, "hello");
}

#[tokio::test(start_paused = true)]
async fn the_session_of_a_node_that_has_died_is_unknown_after_its_lease_has_ended() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one.clone()).await, world.node(two).await];
    let client = SseClient::begin(&nodes, "").await;
    let message = call("1", "echo", json!({ "text": "hello" }));
    // A session in use is known for as long as its stream is open.
    pass(Duration::from_secs(300)).await;
    assert_eq!(client.post(&nodes[1], &message).await, 202);
    // A node that cannot reach the store renews no lease, as if it had died.
    one.set(Line::Cut);
    pass(Duration::from_secs(14)).await;
    assert_eq!(client.post(&nodes[1], &message).await, 404);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_stops_leaves_no_record() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one.clone()).await, world.node(two.clone()).await];
    let client = SseClient::begin(&nodes, "").await;
    assert!(has_record(&two, &client.partition(), "sse").await);
    nodes[0].stop();
    nodes[0].close().await;
    assert!(!has_record(&two, &client.partition(), "sse").await);
    let message = call("1", "echo", json!({ "text": "hello" }));
    assert_eq!(client.post(&nodes[1], &message).await, 404);
}

#[tokio::test(start_paused = true)]
async fn a_body_may_be_as_long_at_the_other_node_and_no_longer() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let limits = Limits::new().message(100_000);
    let start = async |store| world.server(store).limits(limits).into_service().await.unwrap();
    let nodes = [start(one).await, start(two).await];
    let mut client = SseClient::begin(&nodes, "").await;
    for node in &nodes {
        for (length, status) in [(100_000, 202), (100_001, 413)] {
            let mut body = call("1", "echo", json!({ "text": "hello" })).to_string();
            body.extend(std::iter::repeat_n(' ', length - body.len()));
            let answer = send(node, posted(&client.address, "", body)).await;
            assert_eq!(answer.status(), status, "{length}");
            if status == 202 {
                assert_eq!(client.text().await, "hello");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_posts_too_many_messages_waits_and_is_refused_at_last() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one).await, world.node(two).await];
    let client = SseClient::begin(&nodes, "").await;
    let message = json!({ "jsonrpc": "2.0", "method": "notifications/unknown" });
    let mut posts = tokio::task::JoinSet::new();
    for _ in 0..2000 {
        let (node, request) = (nodes[1].clone(), client.request(&message));
        posts.spawn(async move { send(&node, request).await.status().as_u16() });
    }
    let mut statuses = BTreeMap::new();
    for status in posts.join_all().await {
        *statuses.entry(status).or_insert(0) += 1;
    }
    assert!(statuses[&202] >= 500 && statuses[&503] >= 500, "{statuses:?}");
    assert_eq!(statuses.len(), 2, "{statuses:?}");
    // The client may post again a moment later.
    pass(Duration::from_secs(1)).await;
    assert_eq!(client.post(&nodes[1], &message).await, 202);
}

#[tokio::test(start_paused = true)]
async fn a_stream_ends_if_messages_for_it_may_be_lost() {
    let (world, [one, two]) = (World::default(), NodeStore::pair());
    let nodes = [world.node(one.clone()).await, world.node(two).await];
    let mut client = SseClient::begin(&nodes, "").await;
    // This client has never used the other node, so no message of it can be lost.
    let mut other = SseClient::begin(&nodes[..1], "").await;
    let append = || {
        let day = Duration::from_secs(86_400);
        StoreOperation::append("messages", *b"of another version", day, 16_384)
    };
    let flood = (0..=16_384).fold(Transaction::on("nodes"), |flood, _| flood.then(append()));
    assert!(one.execute(vec![flood]).await.unwrap()[0].is_ok());
    assert!(client.message().await.is_none());
    assert_eq!(other.post(&nodes[0], &call("1", "echo", json!({ "text": "on" }))).await, 202);
    assert_eq!(other.text().await, "on");
}

/// Posts a note at the second node, whose store has a fault at a request. Returns the number of requests, and the status.
async fn note_with_fault(fault: Option<(usize, StoreFault)>, at: usize) -> (usize, u16) {
    let (world, memory) = (World::default(), Arc::new(MemoryStore::new().shared()));
    let stores = [0, 1].map(|_| FaultyStore::new(memory.clone()));
    let nodes = [world.node(stores[0].clone()).await, world.node(stores[1].clone()).await];
    let mut client = SseClient::begin(&nodes, "").await;
    pass(Duration::from_millis(10)).await;
    let before = stores[at].requests();
    if let Some((number, fault)) = fault {
        stores[at].fault_at(before + number, fault);
    }
    let status = client.post(&nodes[1], &call("1", "note", json!({ "text": "a" }))).await;
    pass(Duration::from_millis(10)).await;
    let requests = stores[at].requests() - before;
    let next = call("2", "note", json!({ "text": "b" }));
    assert_eq!(client.post(&nodes[1], &next).await, 202, "{fault:?}");
    let answered = loop {
        let message = client.message().await.unwrap_or_else(|| panic!("{fault:?}: no answer"));
        if message["id"] == "2" {
            break message;
        }
    };
    assert!(answered["result"].is_object(), "{answered}");
    let notes = world.notes();
    match status {
        202 => assert_eq!(notes, ["a", "b"], "{fault:?}"),
        503 => assert!(notes == ["b"] || notes == ["a", "b"], "{fault:?}: {notes:?}"),
        other => panic!("{fault:?}: {other}"),
    }
    (requests, status)
}

#[tokio::test(start_paused = true)]
async fn a_message_that_was_accepted_is_handled_once_whatever_the_store_does() {
    for at in [0, 1] {
        let (requests, status) = note_with_fault(None, at).await;
        assert!(requests >= 2 && status == 202, "{requests} {status}");
        for fault in [
            StoreFault::FailsBefore,
            StoreFault::FailsAfter,
            StoreFault::Repeats,
            StoreFault::Delays(Duration::from_secs(2)),
        ] {
            for number in 0..requests {
                note_with_fault(Some((number, fault)), at).await;
            }
        }
    }
}

#[cfg(feature = "auth")]
mod authorized {
    use std::sync::atomic::AtomicBool;

    use mcp_runtime::auth::{Auth, Authorization};

    use super::*;

    /// Needs a scope.
    #[tool(scopes("notes:write"))]
    fn write(caller: Auth<Account>) -> String {
        format!("{} has {}", caller.principal(), caller.plan)
    }

    #[derive(serde::Deserialize)]
    struct Account {
        plan: String,
    }

    /// Posts a message as a caller that the application has verified.
    async fn post_as(
        client: &SseClient,
        node: &HttpService,
        caller: Authorization,
    ) -> Response<HttpBody> {
        let mut request = client.request(&call("1", "write", json!({})));
        request.extensions_mut().insert(caller);
        send(node, request).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_has_the_rights_of_its_own_token_at_each_node() {
        let [one, two] = NodeStore::pair();
        let start = async |store: NodeStore| {
            let server = server!().items(items![write]).legacy_sse(true).store(store);
            server.into_service().await.unwrap()
        };
        let nodes = [start(one).await, start(two).await];
        let mut client = SseClient::begin(&nodes, "ada").await;
        let ada = || Authorization::new("ada").claims_json(r#"{"plan": "free"}"#);
        for node in &nodes {
            let writer = ada().scopes(["notes:write"]);
            assert_eq!(post_as(&client, node, writer).await.status(), 202);
            assert_eq!(client.text().await, "ada has free");
            assert_eq!(post_as(&client, node, ada().scopes(["notes:read"])).await.status(), 202);
            let refused = client.message().await.unwrap();
            assert!(refused["error"]["message"].as_str().unwrap().contains("notes:write"));
        }
        // Claims that are a value of the program cannot be stored.
        let typed = || ada().scopes(["notes:write"]).claims(AtomicBool::new(true));
        assert_eq!(post_as(&client, &nodes[0], typed()).await.status(), 202);
        assert_eq!(client.message().await.unwrap()["error"]["code"], -32603);
        let refused = post_as(&client, &nodes[1], typed()).await;
        assert_eq!(refused.status(), 421);
    }
}
