//! One client uses as much of the shared limits as it can get, and keeps sending requests. The tests check that the server still serves
//! another client.

use std::{net::SocketAddr, sync::Arc};

use mcp_runtime::{Builder, auth::StaticTokens, limits::Limits, prelude::*};
use serde_json::{Value, json};
use support::clock::eventually;
use tokio::sync::Semaphore;

use crate::{
    authorization::{Served, with},
    client::{Reply, Request, SOON, Session, Stream, initialize, message, modern, plain_call, run},
};

const REVISION: &str = "2025-11-25";

/// Value of each shared limit in these tests.
const ALL: usize = 16;

/// Property by which the server distinguishes clients.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// By the principal of a token.
    ByToken,
    /// By the address that a proxy names.
    ByAddress,
}

const KNOWN: [Known; 2] = [Known::ByToken, Known::ByAddress];

impl Known {
    /// Adds the token or the address of the client to a request.
    fn from(self, client: &str, request: Request) -> Request {
        match self {
            Self::ByToken => with(client, request),
            Self::ByAddress => {
                let address = if client == "hog" { "203.0.113.5" } else { "203.0.113.6" };
                request.header("X-Forwarded-For", address)
            }
        }
    }

    fn known_to(self, server: Builder) -> Builder {
        match self {
            Self::ByToken => {
                server.auth(StaticTokens::new().token("hog", "hog").token("other", "other"))
            }
            Self::ByAddress => server.trust_proxy("127.0.0.0/8"),
        }
    }

    async fn serve(self, limits: Limits, begun: &Begun) -> Served {
        let server = mcp_runtime::server!(name = "shares")
            .items(items![wait, later, board])
            .limits(limits)
            .state(begun.clone());
        Served::start(self.known_to(server)).await
    }

    async fn session(self, client: &str, address: SocketAddr) -> Result<Session, Reply> {
        let reply = self.from(client, initialize(REVISION)).ask(address).await;
        let id = reply.head.get("mcp-session-id");
        id.map(|id| Session { address, revision: REVISION, id }).ok_or(reply)
    }
}

/// Semaphore with one permit for each call that has begun to wait.
type Begun = Arc<Semaphore>;

fn nothing_begun() -> Begun {
    Arc::new(Semaphore::new(0))
}

/// Waits until its client disconnects.
#[tool]
async fn wait(begun: &Begun) {
    begun.add_permits(1);
    std::future::pending().await
}

/// Becomes a task that does not end.
#[tool(task)]
async fn later() {
    std::future::pending().await
}

/// A board that clients can subscribe to.
#[resource("board://{n}", subscribe)]
fn board(n: &str) -> String {
    n.to_owned()
}

#[support::test]
fn a_client_that_repeats_initialize_keeps_no_other_out() {
    run(async {
        for known in KNOWN {
            let served = known.serve(Limits::new().sessions(ALL), &nothing_begun()).await;
            let address = served.address;
            let mut taken = 0;
            let refused = loop {
                match known.session("hog", address).await {
                    Ok(_) => taken += 1,
                    Err(refused) => break refused,
                }
                assert!(taken <= ALL);
            };
            refused.check_busy("sessions");
            assert_eq!(taken, ALL - ALL / 8, "{known:?}");
            for _ in 0..ALL / 4 {
                for _ in 0..5 {
                    drop(known.session("hog", address).await);
                }
                let other = known.session("other", address).await;
                other.unwrap_or_else(|refused| panic!("{known:?}: {refused:?}"));
            }
            served.end().await;
        }
    });
}

#[support::test]
fn a_client_that_opens_streams_keeps_no_other_out() {
    run(async {
        for known in KNOWN {
            let served = known.serve(Limits::new().all_streams(ALL), &nothing_begun()).await;
            let address = served.address;
            let listen = |client: &str| {
                let wanted = json!({ "notifications": { "toolsListChanged": true } });
                known.from(client, modern("listen", "subscriptions/listen", wanted))
            };
            let mut streams: Vec<Stream> = Vec::new();
            loop {
                let stream = listen("hog").open(address).await;
                if stream.head.status == 503 {
                    break;
                }
                streams.push(stream.check_events());
                assert!(streams.len() <= ALL);
            }
            assert_eq!(streams.len(), ALL - ALL / 8, "{known:?}");
            let stream = listen("other").open(address).await;
            assert_eq!(stream.head.status, 200, "{known:?}");
            drop(stream);
            // The stream of a session counts towards the share of the session's client.
            let session = known.session("other", address).await.expect("a session");
            let stream = known.from("other", session.get()).open(address).await;
            assert_eq!(stream.head.status, 200, "{known:?}");
            drop((stream, streams));
            served.end().await;
        }
    });
}

#[support::test]
fn a_client_whose_calls_wait_keeps_no_other_out() {
    run(async {
        for known in KNOWN {
            let begun = nothing_begun();
            let served = known.serve(Limits::new().max_total_calls(ALL), &begun).await;
            let address = served.address;
            let call = |client: &str| known.from(client, plain_call(1, "wait", json!({})));
            let mut waiting = Vec::new();
            loop {
                let mut connection = call("hog").send(address).await;
                tokio::select! {
                    permit = begun.acquire() => permit.expect("an open semaphore").forget(),
                    head = connection.head(false, SOON) => {
                        assert_eq!(head.expect("a response").status, 503);
                        break;
                    }
                }
                waiting.push(connection);
                assert!(waiting.len() <= ALL);
            }
            assert_eq!(waiting.len(), ALL - ALL / 8, "{known:?}");
            // A request other than a call is still answered.
            let discover = known.from("hog", modern(1, "server/discover", json!({})));
            assert_eq!(discover.ask(address).await.status(), 200);
            let mut connection = call("other").send(address).await;
            tokio::select! {
                permit = begun.acquire() => permit.expect("an open semaphore").forget(),
                head = connection.head(false, SOON) => panic!("{known:?}: {head:?}"),
            }
            drop((connection, waiting));
            served.end().await;
        }
    });
}

/// Waiting calls and open streams keep their connections open. The limit on connections may be lower than the limits on calls and streams,
/// so without a share for each client, one client could take all connections.
#[support::test]
fn a_client_that_keeps_connections_keeps_no_other_out() {
    run(async {
        for known in KNOWN {
            let begun = nothing_begun();
            let served = known.serve(Limits::new().connections(ALL), &begun).await;
            let address = served.address;
            let call = |client: &str| known.from(client, plain_call(1, "wait", json!({})));
            let listen = |client: &str| {
                let wanted = json!({ "notifications": { "toolsListChanged": true } });
                known.from(client, modern(1, "subscriptions/listen", wanted))
            };
            let mut streams = Vec::new();
            for _ in 0..ALL / 2 {
                streams.push(listen("hog").open(address).await.check_events());
            }
            let mut waiting = Vec::new();
            let refused = loop {
                let mut connection = call("hog").send(address).await;
                tokio::select! {
                    permit = begun.acquire() => permit.expect("an open semaphore").forget(),
                    head = connection.head(false, SOON) => break head.expect("a response"),
                }
                waiting.push(connection);
                assert!(waiting.len() <= ALL);
            };
            assert_eq!(refused.status, 503, "{known:?}");
            let kept = streams.len() + waiting.len();
            assert!((ALL - ALL / 8..ALL).contains(&kept), "{known:?}: {kept}");
            listen("hog").ask(address).await.check_busy("its share of the 16 connections");
            let mut connection = call("other").send(address).await;
            tokio::select! {
                permit = begun.acquire() => permit.expect("an open semaphore").forget(),
                head = connection.head(false, SOON) => panic!("{known:?}: {head:?}"),
            }
            // When connections of a client have closed, the client may open new ones.
            drop((connection, streams));
            eventually("the client may call again", async || {
                let mut connection = call("hog").send(address).await;
                tokio::select! {
                    permit = begun.acquire() => {
                        permit.expect("an open semaphore").forget();
                        Some(())
                    }
                    _ = connection.head(false, SOON) => None,
                }
            })
            .await;
            drop(waiting);
            served.end().await;
        }
    });
}

#[support::test]
fn a_client_whose_tasks_run_keeps_no_other_out() {
    run(async {
        for known in KNOWN {
            let limits = Limits::new().tasks(ALL).owner_tasks(ALL);
            let served = known.serve(limits, &nothing_begun()).await;
            let begin = async |client: &str| {
                let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
                let mut params = json!({ "name": "later" });
                params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can;
                let call = known.from(client, modern(1, "tools/call", params));
                call.ask(served.address).await
            };
            let mut begun = 0;
            loop {
                let reply = begin("hog").await;
                if reply.status() == 503 {
                    break;
                }
                assert_eq!(reply.json()["result"]["resultType"], "task", "{reply:?}");
                begun += 1;
                assert!(begun <= ALL);
            }
            assert_eq!(begun, ALL - ALL / 8, "{known:?}");
            let other = begin("other").await;
            assert_eq!(other.json()["result"]["resultType"], "task", "{known:?}: {other:?}");
            served.end().await;
        }
    });
}

/// All sessions of a client count towards one share.
#[support::test]
fn a_client_that_subscribes_keeps_no_other_out() {
    run(async {
        for known in KNOWN {
            let uri = |n: usize| format!("board://{n:02}");
            let limits = Limits::new().all_subscription_bytes(ALL * (128 + 2 * uri(0).len()));
            let served = known.serve(limits, &nothing_begun()).await;
            let address = served.address;
            let [one, another] = [known.session("hog", address), known.session("hog", address)];
            let hogs = [one.await.expect("a session"), another.await.expect("a session")];
            let subscribe = async |client: &str, session: &Session, n: usize| {
                let request = message(1, "resources/subscribe", json!({ "uri": uri(n) }));
                let reply = known.from(client, session.post(&request)).ask(address).await.json();
                reply["result"] == Value::Object(serde_json::Map::new())
            };
            let mut taken = 0;
            while subscribe("hog", &hogs[taken % 2], taken).await {
                taken += 1;
                assert!(taken <= ALL);
            }
            assert_eq!(taken, ALL - ALL / 8, "{known:?}");
            let session = known.session("other", address).await.expect("a session");
            assert!(subscribe("other", &session, 0).await, "{known:?}");
            served.end().await;
        }
    });
}
