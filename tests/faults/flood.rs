//! Calls, streams, events and subscriptions on both sides of their limits.

use serde_json::{Value, json};
use support::clock::eventually;

use crate::{
    client::{
        Request, Session, Stream, ask, call, check_echo, message, modern, plain_call, run,
        tool_call,
    },
    server::Server,
};

const REVISION: &str = "2025-11-25";

async fn let_go(server: &Server, key: &str) {
    plain_call(1, "let_go", json!({ "key": key })).ask(server.address()).await;
}

/// Starts a waiting call in the session, and reads the report of its first step.
async fn held(session: &Session, key: &str) -> Stream {
    let request = session.call(key, "hold", json!({ "key": key }));
    let mut stream = request.open(session.address).await.check_events();
    assert_eq!(stream.message().await.unwrap()["params"]["progress"], 1);
    stream
}

async fn check_let_go(server: &Server, key: &str, mut stream: Stream) {
    let_go(server, key).await;
    let rest = stream.rest().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], key);
    assert_eq!(rest[0]["result"]["content"][0]["text"], "let go");
}

#[support::test]
fn calls_of_a_session_are_refused_beyond_the_limit() {
    run(async {
        let server = Server::start("calls=2");
        let session = Session::begin(server.address(), REVISION).await;
        let (first, second) = (held(&session, "a").await, held(&session, "b").await);
        for id in ["c", "d"] {
            let refused =
                session.call(id, "hold", json!({ "key": id })).ask(server.address()).await;
            assert_eq!(refused.json()["id"], id);
            refused.check_error(200, -32603, "2 calls are running already");
        }
        // The server still answers other requests of the session, and the calls of other clients.
        let ping = session.post(&message(1, "ping", json!({}))).ask(server.address()).await;
        assert_eq!(ping.json()["result"], json!({}));
        let other = Session::begin(server.address(), REVISION).await;
        check_let_go(&server, "e", held(&other, "e").await).await;
        check_echo(server.address()).await;
        check_let_go(&server, "a", first).await;
        let third = held(&session, "c").await;
        check_let_go(&server, "b", second).await;
        check_let_go(&server, "c", third).await;
    });
}

#[support::test]
fn calls_of_all_clients_are_refused_beyond_the_limit() {
    run(async {
        let server = Server::start("max_total_calls=3");
        let session = Session::begin(server.address(), REVISION).await;
        let of_session = held(&session, "a").await;
        let hold = async |key: &str| {
            let request = call(key, "hold", json!({ "key": key }));
            let mut stream = request.open(server.address()).await.check_events();
            stream.message().await.unwrap();
            stream
        };
        let (first, second) = (hold("b").await, hold("c").await);
        for _ in 0..3 {
            let refused = call("d", "hold", json!({ "key": "d" })).ask(server.address()).await;
            assert_eq!(refused.json()["id"], "d");
            refused.check_busy("3 calls are running already");
        }
        let refused = session.call("d", "hold", json!({ "key": "d" })).ask(server.address()).await;
        refused.check_error(200, -32603, "3 calls are running already");
        let discovered = modern(1, "server/discover", json!({})).ask(server.address()).await;
        assert_eq!(discovered.status(), 200);
        // When the client closes the connection, its call no longer counts towards the limit.
        drop(first);
        while modern(1, "tools/list", json!({})).ask(server.address()).await.status() == 503 {}
        assert_eq!(ask(server.address(), "fate", json!({ "key": "b" })).await, "dropped");
        check_let_go(&server, "c", second).await;
        check_let_go(&server, "a", of_session).await;
    });
}

/// The server still sends streams beyond the limit, but a client cannot resume them.
#[support::test]
fn streams_of_a_session_are_kept_up_to_the_limit() {
    run(async {
        let server = Server::start("streams=2");
        let session = Session::begin(server.address(), REVISION).await;
        let (first, second) = (held(&session, "a").await, held(&session, "b").await);
        assert!(first.last.is_some() && second.last.is_some());
        let third = held(&session, "c").await;
        assert_eq!(third.last, None);
        check_let_go(&server, "c", third).await;
        let last = first.last.clone().unwrap();
        check_let_go(&server, "a", first).await;
        // The server drops the oldest stream that has ended, so that the new stream can be resumed.
        let fourth = held(&session, "d").await;
        assert!(fourth.last.is_some());
        let gone = session.resume(&last).ask(server.address()).await;
        gone.check_error(400, -32600, "cannot be resumed");
        check_let_go(&server, "b", second).await;
        check_let_go(&server, "d", fourth).await;
    });
}

fn listen(uris: usize) -> Request {
    let uris: Vec<_> = (0..uris).map(|n| format!("notes://{n}")).collect();
    let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
    modern("listen", "subscriptions/listen", filter)
}

#[support::test]
fn streams_of_all_clients_are_refused_beyond_the_limit() {
    run(async {
        let server = Server::start("all_streams=3");
        let address = server.address();
        let sessions =
            [Session::begin(address, REVISION).await, Session::begin(address, REVISION).await];
        let listening = listen(1).open(address).await.check_events();
        let standalone = sessions[0].get().open(address).await.check_events();
        let pair = Request::get().to("/sse").open(address).await.check_events();
        for request in [listen(1), sessions[1].get(), Request::get().to("/sse")] {
            request.ask(address).await.check_busy("too many streams");
        }
        // Calls are still answered. If the answer has to be a stream, it cannot be resumed.
        let held_a = held(&sessions[1], "a").await;
        assert_eq!(held_a.last, None);
        check_let_go(&server, "a", held_a).await;
        check_echo(address).await;
        // After a stream of any kind has closed, a stream of any other kind can be opened.
        drop(pair);
        let other = opened(&sessions[1].get(), &server).await;
        drop(listening);
        let again = opened(&Request::get().to("/sse"), &server).await;
        drop(standalone);
        let last = opened(&listen(1), &server).await;
        listen(1).ask(address).await.check_busy("too many streams");
        drop((other, again, last));
    });
}

/// Opens a stream as soon as the server has noticed that another stream was closed.
async fn opened(request: &Request, server: &Server) -> Stream {
    loop {
        let stream = request.open(server.address()).await;
        if stream.head.status != 503 {
            return stream.check_events();
        }
    }
}

/// Calls `torrent` or `ticks`, and returns the ids of the events in the answer.
async fn ids(session: &Session, tool: &str, arguments: Value) -> Vec<String> {
    let mut stream = session.call(1, tool, arguments).open(session.address).await.check_events();
    let mut ids = Vec::new();
    while let Some(event) = stream.event().await {
        ids.push(event.id.unwrap());
    }
    ids
}

async fn resumed(session: &Session, id: &str) -> usize {
    let mut stream = session.resume(id).open(session.address).await.check_events();
    stream.rest().await.len()
}

#[support::test]
fn as_many_events_are_kept_as_the_limit_says() {
    run(async {
        let server = Server::start("events=4");
        for revision in ["2025-03-26", "2025-06-18", REVISION] {
            let session = Session::begin(server.address(), revision).await;
            // The last event is the answer.
            let ids = ids(&session, "ticks", json!({ "n": 10, "ms": 1 })).await;
            let kept = &ids[ids.len() - 5..];
            for (at, id) in kept.iter().enumerate() {
                assert_eq!(resumed(&session, id).await, 4 - at, "{id} of {ids:?}");
            }
            let (stream, last) = ids.last().unwrap().split_once('-').unwrap();
            let never = format!("{stream}-{}", last.parse::<u64>().unwrap() + 1);
            for id in
                [&ids[ids.len() - 6], &ids[0], &never, "99-0", "x", "", "1-18446744073709551616"]
            {
                let gone = session.resume(id).ask(server.address()).await;
                gone.check_error(400, -32600, "cannot be resumed");
            }
        }
        check_echo(server.address()).await;
    });
}

#[support::test]
fn as_many_bytes_of_events_are_kept_as_the_limit_says() {
    run(async {
        let server = Server::start("event_bytes=5000");
        let session = Session::begin(server.address(), REVISION).await;
        // Each event except the answer is a little longer than 1,000 bytes.
        let arguments = json!({ "n": 12, "bytes": 1000 });
        let ids = ids(&session, "torrent", arguments).await;
        assert_eq!(resumed(&session, &ids[ids.len() - 5]).await, 4);
        let gone = session.resume(&ids[ids.len() - 7]).ask(server.address()).await;
        gone.check_error(400, -32600, "cannot be resumed");
    });
}

/// The limit applies to the events of all sessions together. The events of the first session use up most of it, so fewer events of the
/// second session are kept.
#[support::test]
fn as_many_bytes_of_all_events_are_kept_as_the_limit_says() {
    run(async {
        let server = Server::start("all_event_bytes=20000");
        let first = Session::begin(server.address(), REVISION).await;
        let of_first = ids(&first, "torrent", json!({ "n": 16, "bytes": 1000 })).await;
        let second = Session::begin(server.address(), REVISION).await;
        let of_second = ids(&second, "torrent", json!({ "n": 16, "bytes": 1000 })).await;
        assert_eq!(resumed(&first, &of_first[0]).await, of_first.len() - 1);
        let gone = second.resume(&of_second[1]).ask(server.address()).await;
        gone.check_error(400, -32600, "cannot be resumed");
        // The end of a session frees the memory of its events.
        assert_eq!(first.delete().ask(server.address()).await.status(), 204);
        let again = ids(&second, "torrent", json!({ "n": 10, "bytes": 1000 })).await;
        assert_eq!(resumed(&second, &again[0]).await, again.len() - 1);
    });
}

#[support::test]
fn subscriptions_of_all_clients_are_refused_beyond_the_limit() {
    run(async {
        // Each subscription counts as 128 bytes plus twice the length of its URI, which makes 146 bytes here. The limit of 400 bytes
        // therefore allows for two subscriptions.
        let server = Server::start("all_subscription_bytes=400");
        let address = server.address();
        let sessions =
            [Session::begin(address, REVISION).await, Session::begin(address, REVISION).await];
        let ask = async |session: &Session, method: &str, uri: &str| {
            let request = message(1, method, json!({ "uri": uri }));
            session.post(&request).ask(address).await
        };
        let subscribe = async |number: usize, uri: &str| {
            ask(&sessions[number], "resources/subscribe", uri).await
        };
        for (number, uri) in [(0, "notes://0"), (1, "notes://1"), (1, "notes://1")] {
            assert_eq!(subscribe(number, uri).await.json()["result"], json!({}));
        }
        let refused = subscribe(1, "notes://2").await;
        refused.check_error(200, -32603, "all clients together");
        listen(1).ask(address).await.check_error(503, -32603, "all clients together");
        // When a subscription ends, its bytes are free for another client. The end of a session ends all subscriptions of the session.
        ask(&sessions[0], "resources/unsubscribe", "notes://0").await;
        drop(listen(1).open(address).await.check_events());
        let again = async |uri: &str| {
            eventually("room for a subscription", async || {
                (subscribe(1, uri).await.json()["result"] == json!({})).then_some(())
            })
            .await;
        };
        // The client of `listen` has closed its stream, which the server notices a moment later.
        again("notes://2").await;
        assert_eq!(sessions[1].delete().ask(address).await.status(), 204);
        for uri in ["notes://3", "notes://4"] {
            assert_eq!(subscribe(0, uri).await.json()["result"], json!({}));
        }
    });
}

#[support::test]
fn subscriptions_are_refused_beyond_the_limit() {
    run(async {
        let server = Server::start("subscriptions=3,uri=20");
        let session = Session::begin(server.address(), REVISION).await;
        let subscribe = async |uri: &str| {
            let request = message(1, "resources/subscribe", json!({ "uri": uri }));
            session.post(&request).ask(server.address()).await
        };
        for n in 0..3 {
            assert_eq!(subscribe(&format!("notes://{n}")).await.json()["result"], json!({}));
        }
        subscribe("notes://3").await.check_error(200, -32602, "at most 3 resources");
        let unsubscribe = message(1, "resources/unsubscribe", json!({ "uri": "notes://0" }));
        session.post(&unsubscribe).ask(server.address()).await;
        assert_eq!(
            subscribe(&format!("notes://{}", "1".repeat(12))).await.json()["result"],
            json!({})
        );
        subscribe(&format!("notes://{}", "1".repeat(13))).await.check_error(200, -32602, "20");

        drop(listen(3).open(server.address()).await.check_events());
        for uris in [4, 10_000] {
            let refused = listen(uris).ask(server.address()).await;
            refused.check_error(200, -32602, "at most 3 resources");
        }
        check_echo(server.address()).await;
    });
}

/// A batch with many calls does not bypass the limit.
#[support::test]
fn a_batch_does_not_exceed_the_limit_on_calls_of_its_session() {
    run(async {
        let server = Server::start("calls=3");
        let session = Session::begin(server.address(), "2025-03-26").await;
        let calls = (0..5).map(|id| tool_call(id, "hold", json!({ "key": "batch" })));
        let batch = session.post(&Value::Array(calls.collect()));
        let mut stream = batch.open(server.address()).await.check_events();
        for _ in 0..3 {
            assert_eq!(stream.message().await.unwrap()["method"], "notifications/progress");
        }
        let_go(&server, "batch").await;
        let answers = stream.message().await.unwrap();
        let answers = answers.as_array().unwrap();
        let refused = |answer: &&Value| answer["error"]["code"] == -32603;
        assert_eq!((answers.len(), answers.iter().filter(refused).count()), (5, 2), "{answers:?}");
    });
}
