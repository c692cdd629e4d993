//! Clients that disconnect before their answer arrives.

use serde_json::{Value, json};

use crate::{
    client::{Request, SOON, Session, Stream, ask, call, check_echo, plain_call, run},
    server::Server,
};

async fn fate(server: &Server, key: &str) -> String {
    ask(server.address(), "fate", hold(key)).await
}

async fn begun(server: &Server, key: &str) {
    plain_call(1, "begun", hold(key)).ask(server.address()).await;
}

async fn let_go(server: &Server, key: &str) {
    plain_call(1, "let_go", hold(key)).ask(server.address()).await;
}

fn hold(key: &str) -> Value {
    json!({ "key": key })
}

#[support::test]
fn a_modern_call_ends_with_its_stream() {
    run(async {
        let server = Server::start("");
        let mut stream = call(1, "hold", hold("a")).open(server.address()).await.check_events();
        assert_eq!(stream.message().await.unwrap()["params"]["progress"], 1);
        drop(stream);
        assert_eq!(fate(&server, "a").await, "dropped");
    });
}

#[support::test]
fn a_modern_call_ends_with_the_connection_that_waits_for_it() {
    run(async {
        let server = Server::start("");
        let connection = plain_call(1, "hold", hold("a")).send(server.address()).await;
        begun(&server, "a").await;
        drop(connection);
        assert_eq!(fate(&server, "a").await, "dropped");
    });
}

#[support::test]
fn a_blocking_handler_is_cancelled_when_its_modern_client_leaves() {
    run(async {
        let server = Server::start("");
        let connection = call(1, "spin", json!({})).send(server.address()).await;
        let spinning = async |wanted: &str| {
            while ask(server.address(), "spinning", json!({})).await != wanted {}
        };
        spinning("1").await;
        drop(connection);
        spinning("0").await;
    });
}

/// The server notices that a client has disconnected, even if the client has already sent the next request on the connection.
#[support::test]
fn a_modern_call_ends_even_if_the_next_request_has_arrived() {
    run(async {
        let server = Server::start("keep_alive=500");
        let mut bytes = call(1, "hold", hold("a")).bytes();
        bytes.extend(call(2, "hold", hold("b")).bytes());
        let mut pipelined = crate::client::send(server.address(), &bytes).await;
        assert!(pipelined.head(false, SOON).await.unwrap().is_stream());
        drop(pipelined);
        assert_eq!(fate(&server, "a").await, "dropped");
    });
}

#[support::test]
fn a_session_goes_on_without_its_connections() {
    run(async {
        let server = Server::start("");
        for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            let session = Session::begin(server.address(), revision).await;
            let request = session.call(1, "hold", json!({ "key": revision, "more": 2 }));
            let mut stream = request.open(server.address()).await.check_events();
            assert_eq!(stream.message().await.unwrap()["params"]["progress"], 1);
            let last = stream.last.take().unwrap();
            drop(stream);
            let_go(&server, revision).await;
            assert_eq!(fate(&server, revision).await, "finished");
            // The stream can be resumed more than once.
            for _ in 0..2 {
                let mut resumed = session.resume(&last).open(server.address()).await.check_events();
                let rest = resumed.rest().await;
                assert_eq!(rest.len(), 3, "{revision}: {rest:?}");
                assert_eq!(rest[1]["params"]["progress"], 3);
                assert_eq!(rest[2]["result"]["content"][0]["text"], "let go");
            }
        }
        check_echo(server.address()).await;
    });
}

/// A call without any event has no stream that could be resumed, but it still runs to its end.
#[support::test]
fn a_call_of_a_session_finishes_even_if_its_plain_answer_is_lost() {
    run(async {
        let server = Server::start("");
        let session = Session::begin(server.address(), "2025-11-25").await;
        let mut request = crate::client::tool_call(1, "hold", hold("a"));
        request["params"]["_meta"] = json!({});
        let connection = session.post(&request).send(server.address()).await;
        begun(&server, "a").await;
        drop(connection);
        let_go(&server, "a").await;
        assert_eq!(fate(&server, "a").await, "finished");
        let reply = session.resume("1-0").ask(server.address()).await;
        reply.check_error(400, -32600, "cannot be resumed");
    });
}

/// Pseudo-random numbers that are the same in each run (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

/// Calls `ticks`, and breaks and resumes the stream again and again. Returns all messages, and the number of breaks.
async fn broken_ticks(session: Session, seed: u64, n: u32) -> (Vec<Value>, usize) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut all, mut breaks) = (Vec::new(), 0);
    let request = session.call(seed, "ticks", json!({ "n": n, "ms": random.below(4) }));
    let mut stream: Stream = request.open(session.address).await.check_events();
    loop {
        // A stream can only be resumed after an event with an id.
        let patience = random.below(4) + u64::from(stream.last.is_none());
        for _ in 0..patience {
            let Some(event) = stream.event().await else { return (all, breaks) };
            match event.data.as_deref() {
                None | Some("") => {}
                Some(data) => all.push(serde_json::from_str(data).unwrap()),
            }
        }
        let last = stream.last.take().unwrap();
        let resume: Request = session.resume(&last);
        // Sometimes the old connection is still open when the client comes back, and has events that the client has not read.
        let old = (random.below(2) == 0).then_some(stream);
        stream = resume.open(session.address).await.check_events();
        stream.last = Some(last);
        drop(old);
        breaks += 1;
    }
}

#[support::test]
fn no_message_is_lost_or_repeated_when_a_stream_breaks() {
    const N: u32 = 20;
    run(async {
        let server = Server::start("");
        let mut all_breaks = 0;
        for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            let session = Session::begin(server.address(), revision).await;
            let calls: Vec<_> = (1..=20)
                .map(|seed| (seed, tokio::spawn(broken_ticks(session.clone(), seed, N))))
                .collect();
            for (seed, call) in calls {
                let (messages, breaks) = call.await.unwrap();
                all_breaks += breaks;
                let steps =
                    messages.iter().filter_map(|message| message["params"]["progress"].as_u64());
                assert_eq!(steps.collect::<Vec<_>>(), (1..=N.into()).collect::<Vec<_>>());
                assert_eq!(messages.len() as u32, N + 1, "{revision} {seed}: {messages:?}");
                let last = messages.last().unwrap();
                assert_eq!(last["id"], seed);
                assert_eq!(last["result"]["content"][0]["text"], format!("{N} ticks"));
            }
            check_echo(server.address()).await;
        }
        support::note!("60 calls, {all_breaks} breaks");
        assert!(all_breaks > 300, "{all_breaks}");
    });
}
