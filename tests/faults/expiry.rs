//! Streams that outlive the token they were opened with: nothing comes on them for somebody whose token holds no longer.

use std::{
    net::SocketAddr,
    time::{Duration, SystemTime},
};

use mcp_runtime::{Authorization, Builder, Denied, Limits, TokenVerifier, prelude::*};
use serde_json::{Value, json};

use crate::{
    client::{Request, SOON, Session, Stream, initialize, modern, plain_call, run},
    rates::serving,
};

/// Tokens are the seconds that they hold, from the moment they are shown first.
struct Seconds(SystemTime);

impl TokenVerifier for Seconds {
    async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        let ada = Authorization::new("ada");
        match token.parse() {
            Ok(seconds) => Ok(ada.expires(self.0 + Duration::from_secs(seconds))),
            Err(_) if token == "endless" => Ok(ada),
            Err(_) => Err(Denied::invalid("no number of seconds")),
        }
    }
}

/// Changes what there is, so that whoever listens hears of it.
#[tool]
fn change(server: Handle) -> bool {
    server.disable("slow")
}

/// Takes its time, and says so.
#[tool]
async fn slow(progress: Progress) -> &'static str {
    progress.report(1);
    tokio::time::sleep(Duration::from_secs(7)).await;
    "done"
}

fn server() -> Builder {
    let limits = Limits::new().keep_alive(Duration::from_millis(100));
    let verifier = Seconds(SystemTime::now());
    mcp_runtime::server!()
        .items(items![change, slow])
        .limits(limits)
        .auth(verifier)
        .legacy_sse(true)
}

fn with(token: &str, request: Request) -> Request {
    request.header("Authorization", format!("Bearer {token}"))
}

/// Opens a stream for whatever will come.
pub(crate) async fn listen(address: SocketAddr, token: &str) -> Stream {
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let open = with(token, modern("listen", "subscriptions/listen", wanted)).open(address).await;
    let mut stream = open.check_events();
    let acknowledged = stream.message().await.expect("an acknowledgement");
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    stream
}

/// Opens a session, and its stream for what belongs to no request.
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

/// Opens the stream of 2024-11-05, and posts to its address.
async fn pair(address: SocketAddr, tokens: [&str; 2]) -> Stream {
    let open = with(tokens[0], Request::get().to("/sse")).open(address).await;
    let mut stream = open.check_events();
    let path = stream.event().await.and_then(|it| it.data).expect("an address");
    let post = initialize("2024-11-05").to(&format!("/{path}"));
    assert_eq!(with(tokens[1], post).ask(address).await.status(), 202);
    let begun = stream.message().await.expect("an answer");
    assert_eq!(begun["result"]["protocolVersion"], "2024-11-05", "{begun}");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let post = Request::post(initialized.to_string()).to(&format!("/{path}"));
    assert_eq!(with(tokens[1], post).ask(address).await.status(), 202);
    stream
}

/// Comments come all the time, so it is not silence that tells.
pub(crate) async fn ends(stream: &mut Stream) {
    let rest = tokio::time::timeout(SOON, stream.rest()).await.expect("it ends");
    assert_eq!(rest, Vec::<Value>::new());
}

async fn is_open(stream: &mut Stream) {
    let next = tokio::time::timeout(SOON, stream.message()).await.expect("something comes");
    let next = next.expect("it is open");
    assert_eq!(next["method"], "notifications/tools/list_changed", "{next}");
}

#[test]
fn a_stream_ends_with_the_last_token_that_was_shown_for_it() {
    run(serving(server(), async |address| {
        let mut ending = [
            listen(address, "5").await,
            session(address, "5").await.1,
            pair(address, ["5", "4"]).await,
        ];
        let (renewed, stream) = session(address, "5").await;
        say_initialized(&renewed, "600").await;
        let mut staying = [
            listen(address, "600").await,
            listen(address, "endless").await,
            session(address, "600").await.1,
            stream,
            pair(address, ["5", "600"]).await,
            pair(address, ["endless", "5"]).await,
        ];
        let running = with("5", plain_call(1, "slow", json!({})));
        let running = tokio::spawn(async move { running.ask(address).await.text() });
        for stream in &mut ending {
            ends(stream).await;
        }
        assert_eq!(with("5", plain_call(1, "change", json!({}))).ask(address).await.status(), 401);
        with("600", plain_call(1, "change", json!({}))).ask(address).await.text();
        for stream in &mut staying {
            is_open(stream).await;
        }
        // Who was let in with a call has its answer.
        assert_eq!(running.await.unwrap(), "done");
    }));
}
