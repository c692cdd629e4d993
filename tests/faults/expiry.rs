//! Streams that are open longer than their token is valid. A stream ends when the last token that was presented for it expires, so the
//! server sends no messages to a client with an expired token.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use mcp_runtime::{
    Builder,
    auth::{Authorization, Denied, TokenVerifier},
    limits::Limits,
    prelude::*,
    store::MemoryStore,
};
use serde_json::{Value, json};
use support::{
    clock::{Validity, before_it_ends, moment_after},
    http::{connection::Next, events::Item},
};
use tokio::sync::Semaphore;

use crate::{
    client::{Reply, Request, SOON, Session, Stream, initialize, modern, plain_call, run},
    rates::serving,
};

/// Verifier of several tokens. `short` expires at this time, and the others expire earlier, later or never.
struct Ends(SystemTime);

impl TokenVerifier for Ends {
    async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        let ada = Authorization::new("ada");
        match token {
            "short" => Ok(ada.expires(self.0)),
            "shorter" => Ok(ada.expires(self.0 - Duration::from_millis(500))),
            "long" => Ok(ada.expires(self.0 + Duration::from_secs(600))),
            "endless" => Ok(ada),
            _ => Err(Denied::invalid("it is not known")),
        }
    }
}

/// Disables a tool, so that the listening clients are notified.
#[tool]
fn change(server: Handle) -> bool {
    server.disable("slow")
}

/// Waits for a permit from the test.
#[tool]
async fn slow(go: &Arc<Semaphore>) -> &'static str {
    go.acquire().await.expect("it is never closed").forget();
    "done"
}

fn server(valid: &Validity, go: &Arc<Semaphore>) -> Builder {
    let limits = Limits::new().keep_alive(Duration::from_millis(100));
    let ends = moment_after(Duration::from_secs(valid.seconds));
    mcp_runtime::server!()
        .items(items![change, slow])
        .state(go.clone())
        .limits(limits)
        .auth(Ends(ends))
        .legacy_sse(true)
}

fn with(token: &str, request: Request) -> Request {
    request.header("Authorization", format!("Bearer {token}"))
}

/// Opens a stream with `subscriptions/listen`.
pub(crate) async fn listen(address: SocketAddr, token: &str) -> Stream {
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let open = with(token, modern("listen", "subscriptions/listen", wanted)).open(address).await;
    let mut stream = open.check_events();
    let acknowledged = stream.message().await.expect("an acknowledgement");
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    stream
}

/// Opens a session and its standalone stream.
pub(crate) async fn session(address: SocketAddr, token: &str) -> (Session, Stream) {
    let begun = with(token, initialize("2025-11-25")).ask(address).await;
    let id = begun.head.get("mcp-session-id").expect("a session");
    let session = Session { address, revision: "2025-11-25", id };
    say_initialized(&session, token).await;
    let stream = with(token, session.get()).open(address).await.check_events();
    (session, stream)
}

pub(crate) async fn say_initialized(session: &Session, token: &str) {
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let accepted = with(token, session.post(&initialized)).ask(session.address).await;
    assert_eq!(accepted.status(), 202, "{accepted:?}");
}

/// Opens a stream of protocol revision 2024-11-05 with the first token, and initializes its session with the second token.
async fn pair(address: SocketAddr, tokens: [&str; 2]) -> Stream {
    pair_at([address, address], tokens).await
}

/// Opens a stream at the first address, and initializes its session at the second one, which may be another node.
pub(crate) async fn pair_at([stream, address]: [SocketAddr; 2], tokens: [&str; 2]) -> Stream {
    let open = with(tokens[0], Request::get().to("/sse")).open(stream).await;
    let mut stream = open.check_events();
    let path = stream.event().await.and_then(|event| event.data).expect("an address");
    let post = initialize("2024-11-05").to(&format!("/{path}"));
    assert_eq!(with(tokens[1], post).ask(address).await.status(), 202);
    let begun = stream.message().await.expect("an answer");
    assert_eq!(begun["result"]["protocolVersion"], "2024-11-05", "{begun}");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let post = Request::post(initialized.to_string()).to(&format!("/{path}"));
    assert_eq!(with(tokens[1], post).ask(address).await.status(), 202);
    stream
}

/// Checks that the stream ends without a message. The server sends comments all the time, so the test cannot wait for silence.
pub(crate) async fn ends(stream: &mut Stream) {
    assert_eq!(stream.rest().await, Vec::<Value>::new());
}

/// Waits until the server sends a new comment on the stream, and fails if a message comes first.
pub(crate) async fn goes_on(stream: &mut Stream) {
    let mut patience = Duration::ZERO;
    loop {
        match stream.connection.next(patience).await.expect("a stream of events") {
            // Skips the event without data at the start of the stream.
            Next::Item(Item::Event(event)) if event.data.as_deref() == Some("") => {}
            Next::Item(Item::Comment(_)) if patience.is_zero() => {}
            Next::Item(Item::Comment(_)) => return,
            Next::Silence if patience.is_zero() => patience = SOON,
            other => panic!("{other:?}"),
        }
    }
}

async fn is_open(stream: &mut Stream) {
    let next = stream.message().await.expect("it is open");
    assert_eq!(next["method"], "notifications/tools/list_changed", "{next}");
}

#[support::test]
fn a_stream_ends_with_the_last_token_that_was_shown_for_it() {
    run(before_it_ends(3, async |valid| {
        let go = Arc::new(Semaphore::new(0));
        serving(server(valid, &go), async |address| check_streams(address, &go).await).await;
    }));
}

async fn check_streams(address: SocketAddr, go: &Semaphore) {
    let mut ending = [
        listen(address, "short").await,
        session(address, "short").await.1,
        pair(address, ["short", "shorter"]).await,
    ];
    let (renewed, stream) = session(address, "short").await;
    say_initialized(&renewed, "long").await;
    let mut staying = [
        listen(address, "long").await,
        listen(address, "endless").await,
        session(address, "long").await.1,
        stream,
        pair(address, ["short", "long"]).await,
        pair(address, ["endless", "short"]).await,
    ];
    let mut running = with("short", plain_call(1, "slow", json!({}))).send(address).await;
    for stream in &mut ending {
        ends(stream).await;
    }
    assert_eq!(with("short", plain_call(1, "change", json!({}))).ask(address).await.status(), 401);
    with("long", plain_call(1, "change", json!({}))).ask(address).await.text();
    for stream in &mut staying {
        is_open(stream).await;
    }
    // A call that was accepted is answered even after its token has expired.
    go.add_permits(1);
    let head = running.head(false, SOON).await.expect("a response");
    let body = running.body(SOON).await.expect("a whole body");
    assert_eq!(Reply { head, body }.text(), "done");
}

#[support::test]
fn a_token_that_is_shown_at_another_node_keeps_the_stream_open() {
    run(before_it_ends(3, async |valid| {
        let (go, store) = (Arc::new(Semaphore::new(0)), Arc::new(MemoryStore::new().shared()));
        let node = || server(valid, &go).store(store.clone());
        serving(node(), async |one| {
            serving(node(), async |two| {
                let mut ending = pair_at([one, two], ["short", "shorter"]).await;
                let mut staying = [
                    pair_at([one, two], ["short", "long"]).await,
                    pair_at([one, two], ["short", "endless"]).await,
                    pair_at([two, one], ["endless", "short"]).await,
                ];
                ends(&mut ending).await;
                with("long", plain_call(1, "change", json!({}))).ask(two).await.text();
                for stream in &mut staying {
                    is_open(stream).await;
                }
            })
            .await;
        })
        .await;
    }));
}
