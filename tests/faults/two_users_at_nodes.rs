//! Every node answers requests about the streams and tasks of another user as if they did not exist. The module `two_users` tests this
//! for a single server.

use std::net::SocketAddr;

use mcp_runtime::{Builder, auth::StaticTokens};
use serde_json::{Value, json};

use crate::{
    client::{Reply, Request, Session, initialize, message, modern, plain_call, run},
    nodes::{Cluster, notification},
};

const CORE: &str = "2025-11-25";

fn with_users(server: Builder) -> Builder {
    let tokens = StaticTokens::new().token("token-of-ada", "ada").token("token-of-bob", "bob");
    server.auth(tokens)
}

fn by(user: &str, request: Request) -> Request {
    request.header("Authorization", format!("Bearer token-of-{user}"))
}

async fn session(user: &str, address: SocketAddr) -> Session {
    let begun = by(user, initialize(CORE)).ask(address).await;
    let id = begun.head.get("mcp-session-id").expect("a session");
    let session = Session { address, revision: CORE, id };
    let initialized = notification("notifications/initialized", json!({}));
    assert_eq!(by(user, session.post(&initialized)).ask(address).await.status(), 202);
    session
}

/// Returns the status and the body of an answer, without headers such as the date.
fn said(reply: &Reply) -> (u16, String) {
    (reply.status(), String::from_utf8_lossy(&reply.body).into_owned())
}

#[support::test]
fn another_users_streams_cannot_be_read_or_resumed_at_any_node() {
    run(async {
        let cluster = Cluster::start_with(with_users).await;
        let [one, two, three] = cluster.addresses;
        let (ada, bob) = (session("ada", one).await, session("bob", two).await);
        let nowhere = Session { id: "0".repeat(ada.id.len()), ..ada.clone() };
        let subscribe = message(1, "resources/subscribe", json!({ "uri": "notes://today" }));
        assert_eq!(by("ada", ada.post(&subscribe)).ask(one).await.status(), 200);

        // A call that runs at the first node, and the stream of the session at the second.
        cluster.permit(1);
        let call = by("ada", ada.call(2, "steps", json!({})));
        let mut running = call.open(one).await.check_events();
        assert_eq!(running.message().await.expect("a step")["method"], "notifications/progress");
        let mut updates = by("ada", ada.get()).open(two).await.check_events();
        let change = async || {
            let changed = by("ada", plain_call(3, "change", json!({}))).ask(three).await;
            assert_eq!(changed.status(), 200);
        };
        change().await;
        let update = updates.message().await.expect("an update");
        assert_eq!(update["params"]["uri"], "notes://today");
        let events = [&running, &updates].map(|stream| stream.last.clone().expect("an id"));

        for address in [one, two, three] {
            for event in &events {
                for (hers, none) in [
                    (ada.get(), nowhere.get()),
                    (ada.resume(event), nowhere.resume(event)),
                    (ada.delete(), nowhere.delete()),
                ] {
                    let answer = by("bob", hers.clone()).ask(address).await;
                    assert_eq!(answer.status(), 404, "{answer:?}");
                    assert_eq!(said(&answer), said(&by("bob", none).ask(address).await));
                    assert_eq!(hers.ask(address).await.status(), 401);
                }
                // In bob's session, the events of ada's streams do not exist.
                if *event == events[0] {
                    let resumed = by("bob", bob.resume(event)).ask(address).await;
                    assert_eq!(resumed.status(), 400, "{resumed:?}");
                }
            }
        }

        // Ada's streams have not been taken over, and no message of them is missing.
        change().await;
        let update = updates.message().await.expect("a second update");
        assert_eq!(update["params"]["uri"], "notes://today");
        cluster.permit(3);
        let rest = running.rest().await;
        assert_eq!(rest.len(), 3, "{rest:?}");
        assert_eq!(rest[2]["id"], 2);
        drop(updates);
        cluster.stop().await;
    });
}

#[support::test]
fn an_event_id_of_another_users_session_stream_leads_only_into_the_readers_own_stream() {
    run(async {
        let cluster = Cluster::start_with(with_users).await;
        let [one, two, three] = cluster.addresses;
        let ada = session("ada", one).await;
        let subscribe = message(1, "resources/subscribe", json!({ "uri": "notes://today" }));
        assert_eq!(by("ada", ada.post(&subscribe)).ask(one).await.status(), 200);
        let mut updates = by("ada", ada.get()).open(one).await.check_events();
        let changed = by("ada", plain_call(3, "change", json!({}))).ask(three).await;
        assert_eq!(changed.status(), 200);
        assert!(updates.message().await.is_some());
        let event = updates.last.clone().expect("an id");
        // Each session numbers the events of its stream alike, so the id may be valid in bob's session too.
        for address in [one, two, three] {
            let bob = session("bob", two).await;
            let mut stream = by("bob", bob.resume(&event)).open(address).await;
            let changed = by("ada", plain_call(4, "change", json!({}))).ask(address).await;
            assert_eq!(changed.status(), 200);
            assert!(updates.message().await.is_some());
            assert_eq!(by("bob", bob.delete()).ask(address).await.status(), 204);
            match stream.head.status {
                200 => assert_eq!(stream.rest().await, [Value::Null; 0]),
                status => assert_eq!(status, 400),
            }
        }
        drop(updates);
        cluster.stop().await;
    });
}

#[support::test]
fn another_users_task_is_unknown_at_every_node() {
    run(async {
        let cluster = Cluster::start_with(with_users).await;
        let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let request = |method: &str, mut params: Value| {
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can.clone();
            modern(1, method, params)
        };
        let [one, two, _] = cluster.addresses;
        let call = request("tools/call", json!({ "name": "later", "arguments": {} }));
        let created = by("ada", call).ask(one).await.json();
        let id = created["result"]["taskId"].as_str().expect("a task").to_owned();
        for address in cluster.addresses {
            for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
                let ask = async |id: &str| {
                    let params = json!({ "taskId": id, "inputResponses": {} });
                    said(&by("bob", request(method, params)).ask(address).await)
                };
                let hers = ask(&id).await;
                assert_eq!(hers, ask(&"0".repeat(id.len())).await);
                assert!(hers.1.contains("there is no task of this id"), "{hers:?}");
            }
            let filter = json!({ "notifications": { "taskIds": [id] } });
            let listen = by("bob", request("subscriptions/listen", filter));
            let mut stream = listen.open(address).await.check_events();
            let first = stream.message().await.expect("an acknowledgement");
            assert_eq!(
                first["params"]["notifications"]["taskIds"].as_array().map_or(0, Vec::len),
                0,
                "{first}"
            );
        }
        let task = by("ada", request("tasks/get", json!({ "taskId": id }))).ask(two).await.json();
        assert_eq!(task["result"]["status"], "working", "{task}");
        cluster.stop().await;
    });
}
