//! Sessions of several nodes with unusual clients, which initialize again, post batches, or leave a connection half-open.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use mcp_runtime::{
    auth::StaticTokens,
    extract::Client,
    limits::Limits,
    prelude::*,
    store::{Condition, MemoryStore, Output, Store, StoreOperation, Transaction},
    testing::{FaultyStore, StoreFault},
};
use serde_json::{Value, json};
use support::clock::eventually;
use tokio::{
    sync::{Semaphore, oneshot},
    task::JoinHandle,
};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::{
    client::{Session, initialize_as, message, run, run_within, text_of, tool_call},
    nodes::{Cluster, node, notification, waits},
};

/// Returns whether the client can show forms.
#[tool]
fn shows_forms(client: Client) -> String {
    client.can_elicit().to_string()
}

/// Reports a step, and then more than a connection holds.
#[tool]
async fn floods(progress: Progress) -> &'static str {
    progress.step();
    for done in 2..60 {
        progress.say(done, "x".repeat(200_000));
        tokio::task::yield_now().await;
    }
    "the end"
}

/// Asks the model for a color.
#[tool]
async fn samples(model: Sample) -> Result<String> {
    Ok(model.ask("color", Sampling::ask("Which color?", 10)).await?.text())
}

#[support::test]
fn a_session_that_is_initialized_again_has_its_new_client_and_revision_at_every_node() {
    run(async {
        let cluster = Cluster::start_with(|server| server.items(items![shows_forms])).await;
        let [one, two, three] = cluster.addresses;
        let old = Session::begin(one, "2025-06-18").await;
        for address in [one, two, three] {
            let reply = old.call(1, "shows_forms", json!({})).ask(address).await;
            assert_eq!(reply.text(), "false");
        }
        let again = initialize_as("2025-11-25", json!({ "elicitation": {} }));
        let reply = again.header("Mcp-Session-Id", &*old.id).ask(two).await;
        assert_eq!(reply.json()["result"]["protocolVersion"], "2025-11-25", "{reply:?}");
        let new = Session { address: two, revision: "2025-11-25", id: old.id.clone() };
        for address in [one, two, three] {
            let reply = new.call(2, "shows_forms", json!({})).ask(address).await;
            assert_eq!(reply.text(), "true");
        }
        assert_eq!(old.call(3, "shows_forms", json!({})).ask(three).await.status(), 400);
        cluster.stop().await;
    });
}

/// Sends a message to the log of the client.
#[tool]
pub(crate) fn logs() {
    tracing::info!("a message");
}

#[support::test]
fn a_log_level_applies_at_every_node_as_soon_as_it_is_set() {
    // The nodes run on the threads of this test alone, so other tests are not affected.
    let layer = tracing_subscriber::registry().with(mcp_runtime::logging::client_log());
    let _logging = tracing::subscriber::set_default(layer);
    run(async {
        let cluster = Cluster::start_with(|server| server.items(items![logs])).await;
        let session = Session::begin(cluster.addresses[0], "2025-11-25").await;
        for round in 0..20 {
            for node in 0..3 {
                let (setter, caller) = (cluster.addresses[node], cluster.addresses[(node + 1) % 3]);
                for (level, expected) in [("debug", 2), ("error", 1)] {
                    let set = message(1, "logging/setLevel", json!({ "level": level }));
                    assert_eq!(session.post(&set).ask(setter).await.status(), 200);
                    let call = session.call(2, "logs", json!({})).ask(caller).await;
                    let messages = String::from_utf8(call.body).unwrap().matches("jsonrpc").count();
                    assert_eq!(messages, expected, "{level} in round {round}");
                }
            }
        }
        cluster.stop().await;
    });
}

#[support::test]
fn a_session_that_is_initialized_again_in_the_same_revision_has_its_new_client_at_every_node() {
    run(async {
        let cluster = Cluster::start_with(|server| server.items(items![shows_forms])).await;
        let [one, two, _] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        assert_eq!(session.call(1, "shows_forms", json!({})).ask(two).await.text(), "false");
        let again = initialize_as("2025-11-25", json!({ "elicitation": {} }));
        assert_eq!(again.header("Mcp-Session-Id", &*session.id).ask(one).await.status(), 200);
        // The other node learns of the new client from the log of the nodes.
        eventually("the new client", async || {
            let reply = session.call(2, "shows_forms", json!({})).ask(two).await;
            (reply.text() == "true").then_some(())
        })
        .await;
        cluster.stop().await;
    });
}

#[support::test]
fn answers_and_cancellations_in_a_batch_reach_calls_at_other_nodes() {
    run(async {
        let cluster =
            Cluster::start_with(|server| server.items(items![samples, node, waits])).await;
        let [one, two, three] = cluster.addresses;
        let reply = initialize_as("2025-03-26", json!({ "sampling": {} })).ask(one).await;
        let id = reply.head.get("mcp-session-id").unwrap();
        let session = Session { address: one, revision: "2025-03-26", id };
        let initialized = notification("notifications/initialized", json!({}));
        assert_eq!(session.post(&initialized).ask(one).await.status(), 202);
        let mut stream = session.call("asks", "samples", json!({})).open(one).await.check_events();
        let question = stream.message().await.unwrap();
        assert_eq!(question["method"], "sampling/createMessage", "{question}");
        let waiting = session.call("waits", "waits", json!({})).send(two).await;
        let content = json!({ "type": "text", "text": "blue" });
        let result = json!({ "role": "assistant", "content": content, "model": "m" });
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        let batch = json!([tool_call(7, "node", json!({})), answer]);
        let reply = session.post(&batch).ask(three).await;
        let answered = reply.json();
        let node: Vec<&Value> = answered.as_array().unwrap().iter().collect();
        assert_eq!(node.len(), 1, "{answered}");
        assert_eq!(text_of(node[0]), "three");
        assert_eq!(text_of(&stream.message().await.unwrap()), "blue");
        // The cancellation is repeated, because it may arrive before the call.
        eventually("the end of the call", async || {
            let cancel = notification("notifications/cancelled", json!({ "requestId": "waits" }));
            assert_eq!(session.post(&json!([cancel])).ask(three).await.status(), 202);
            cluster.has_cancelled().then_some(())
        })
        .await;
        drop(waiting);
        cluster.stop().await;
    });
}

#[support::test]
fn a_stream_can_be_resumed_while_its_first_connection_is_half_open() {
    // The events are large, so that they fill the connection. A busy machine needs more time for them than for other tests.
    run_within(Duration::from_secs(400), async {
        let cluster = Cluster::start_with(|server| server.items(items![floods])).await;
        let [one, two, _] = cluster.addresses;
        for address in [one, two] {
            let session = Session::begin(one, "2025-11-25").await;
            let mut stream = session.call(1, "floods", json!({})).open(one).await.check_events();
            assert_eq!(stream.message().await.unwrap()["method"], "notifications/progress");
            let last = stream.last.clone().unwrap();
            // The server cannot know that the client reads the first connection no more.
            let mut resumed = session.resume(&last).open(address).await.check_events();
            let end = loop {
                let message = resumed.message().await.expect("the response");
                if message["id"] == 1 {
                    break message;
                }
            };
            assert_eq!(text_of(&end), "the end");
            drop(stream);
        }
        cluster.stop().await;
    });
}

#[support::test]
fn responses_to_questions_that_no_node_can_have_sent_do_not_reach_the_store() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, _, _] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        let read =
            || Transaction::on("nodes").then(StoreOperation::read("messages", 0, usize::MAX));
        let last = async || {
            let outputs = cluster.store.memory.execute(vec![read()]).await.unwrap().remove(0);
            match outputs.unwrap().remove(0) {
                Output::Events { last, .. } => last,
                other => panic!("{other:?}"),
            }
        };
        let before = last().await;
        for id in [json!(1), json!(1_048_575), json!("5000000"), json!(9_007_199_254_740_992_u64)] {
            let answer = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
            assert_eq!(session.post(&answer).ask(one).await.status(), 202, "{id}");
        }
        assert_eq!(last().await, before);
        let answer = json!({ "jsonrpc": "2.0", "id": 5_000_000, "result": {} });
        assert_eq!(session.post(&answer).ask(one).await.status(), 202);
        assert_eq!(last().await, before + 1);
        cluster.stop().await;
    });
}

#[support::test]
fn the_store_keeps_no_more_events_of_a_stream_than_its_limits_allow() {
    run(async {
        let cluster = Cluster::start_with(|server| server.items(items![floods])).await;
        let [one, two, _] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        let mut stream = session.call(1, "floods", json!({})).open(one).await.check_events();
        assert!(stream.message().await.is_some());
        let first = stream.last.clone().unwrap();
        let all = stream.rest().await;
        assert_eq!(text_of(all.last().unwrap()), "the end");
        // The client has read everything, but the store has dropped the first events.
        let reply = session.resume(&first).ask(two).await;
        assert_eq!(reply.status(), 400, "{reply:?}");
        let log = format!("stream/{}", first.split_once('-').unwrap().0);
        let read = Transaction::on(format!("session:{}", session.id));
        let read = read.then(StoreOperation::read(log, 0, usize::MAX));
        let output = cluster.store.memory.execute(vec![read]).await.unwrap().remove(0);
        let Output::Events { events, .. } = output.unwrap().remove(0) else { panic!("events") };
        let bytes: usize = events.iter().map(|event| event.value.len()).sum();
        assert!(events.len() > 2 && bytes <= (1 << 20) + 8 * events.len(), "{bytes} bytes");
        cluster.stop().await;
    });
}

#[support::test]
fn sessions_are_counted_once_for_all_nodes_and_each_principal() {
    run(async {
        let cluster = Cluster::start_with(|server| {
            let tokens =
                StaticTokens::new().token("token-of-ada", "ada").token("token-of-bob", "bob");
            server.auth(tokens).limits(Limits::new().sessions(8))
        })
        .await;
        let open = async |token: &str, node: usize| {
            let token = format!("Bearer {token}");
            let request = initialize_as("2025-11-25", json!({})).header("Authorization", token);
            request.ask(cluster.addresses[node % 3]).await
        };
        let mut first = None;
        for number in 0..7 {
            let reply = open("token-of-ada", number).await;
            assert_eq!(reply.status(), 200, "{number}: {reply:?}");
            first = first.or(reply.head.get("mcp-session-id"));
        }
        open("token-of-ada", 1).await.check_busy("share of the 8 sessions of all nodes");
        assert_eq!(open("token-of-bob", 2).await.status(), 200);
        open("token-of-bob", 0).await.check_busy("8 sessions at all nodes");
        let session =
            Session { address: cluster.addresses[0], revision: "2025-11-25", id: first.unwrap() };
        let end = session.delete().header("Authorization", "Bearer token-of-ada");
        assert_eq!(end.ask(cluster.addresses[1]).await.status(), 204);
        let opened = open("token-of-bob", 0).await;
        assert_eq!(opened.status(), 200);
        let id = opened.head.get("mcp-session-id").unwrap();
        let session = Session { address: cluster.addresses[0], revision: "2025-11-25", id };
        let call = session.call(1, "shared_counts", json!({}));
        let counted = call.header("Authorization", "Bearer token-of-bob");
        let counted = counted.ask(cluster.addresses[1]).await.text();
        assert_eq!(counted, "3 8");
        cluster.stop().await;
    });
}

#[support::test]
fn a_node_that_missed_messages_of_the_others_sends_a_client_nothing_that_another_node_sends() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, _] = cluster.addresses;
        let [session, other] = [one, two].map(|node| Session::begin(node, "2025-11-25"));
        let (session, other) = (session.await, other.await);
        let mut stream = session.get().open(one).await.check_events();
        let hearing = |session: &Session| Transaction::on(format!("session:{}", session.id));
        let read = hearing(&other).then(StoreOperation::get("hearing"));
        let output = cluster.store.memory.execute(vec![read]).await.unwrap().remove(0);
        let Output::Record(Some(two)) = output.unwrap().remove(0) else { panic!("a record") };
        // The second node takes over, and the first one falls so far behind that it misses the message.
        let long = Duration::from_secs(60);
        let put = StoreOperation::put("hearing", two.value, long, Condition::Any);
        let flood = (0..20_000).fold(Transaction::on("nodes"), |flood, _| {
            flood.then(StoreOperation::append("messages", *b"x", long, 16_384))
        });
        let done = cluster.store.memory.execute(vec![hearing(&session).then(put), flood]).await;
        assert!(done.unwrap().iter().all(Result::is_ok));
        assert!(stream.message().await.is_none());
        cluster.stop().await;
    });
}

#[support::test]
fn each_update_is_sent_once_after_a_change_has_failed_at_the_node_that_sent_them() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, three] = cluster.addresses;
        let session = Session::begin(one, "2025-11-25").await;
        let subscribe = message(1, "resources/subscribe", json!({ "uri": "notes://today" }));
        assert_eq!(session.post(&subscribe).ask(one).await.status(), 200);
        let mut stream = session.get().open(one).await.check_events();
        assert_eq!(session.call(2, "node", json!({})).ask(one).await.text(), "one");
        cluster.store.set_away(true);
        let set = message(3, "logging/setLevel", json!({ "level": "debug" }));
        session.post(&set).ask(one).await.check_busy("the store of the sessions");
        cluster.store.set_away(false);
        let mut other = session.get().open(two).await.check_events();
        assert_eq!(session.call(4, "change", json!({})).ask(three).await.status(), 200);
        let update = other.message().await.unwrap();
        assert_eq!(update["params"]["uri"], "notes://today");
        // The first stream ends without the update.
        assert!(stream.message().await.is_none());
        drop(other);
        cluster.stop().await;
    });
}

#[support::test]
fn a_batch_whose_calls_run_is_answered_if_its_other_messages_have_to_wait_for_the_store() {
    run(async {
        let cluster = Cluster::start().await;
        let [one, two, _] = cluster.addresses;
        let session = Session::begin(one, "2025-03-26").await;
        let call = session.call("call", "waits", json!({})).send(one).await;
        for (address, name) in [(one, "one"), (two, "two")] {
            assert_eq!(session.call(1, "node", json!({})).ask(address).await.text(), name);
        }
        let cancel = notification("notifications/cancelled", json!({ "requestId": "call" }));
        let ping = message(2, "ping", json!({}));
        cluster.store.set_away(true);
        let reply = session.post(&json!([cancel, ping])).ask(two).await;
        assert_eq!(reply.status(), 200, "{reply:?}");
        assert_eq!(reply.json()[0]["id"], 2);
        cluster.store.set_away(false);
        eventually("the end of the call", async || cluster.has_cancelled().then_some(())).await;
        drop(call);
        cluster.stop().await;
    });
}

/// Waits after its first step.
#[tool]
async fn step_and_wait(progress: Progress, gate: &Gate) -> &'static str {
    progress.step();
    gate.0.acquire().await.unwrap().forget();
    "the end"
}

/// Gate of `step_and_wait`.
#[derive(Clone)]
struct Gate(Arc<Semaphore>);

/// Serves a node on a store until the sender is used.
async fn serve(
    store: impl Store,
    gate: &Gate,
) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let server = mcp_runtime::server!(name = "faulty").items(items![step_and_wait]);
    let server = server.state(gate.clone()).store(store).bind_http("127.0.0.1:0").await.unwrap();
    let (address, (stop, stopped)) = (server.local_addr(), oneshot::channel());
    let serving = tokio::spawn(async move {
        server.serve_until(async { drop(stopped.await) }).await.unwrap();
    });
    (address, stop, serving)
}

/// Opens a session and a stream at a node whose store has a fault at a request. The other node has the same data and no faults. Returns the
/// number of requests.
async fn open_with(fault: Option<(usize, StoreFault)>) -> usize {
    let memory = Arc::new(MemoryStore::new().shared());
    let faulty = FaultyStore::new(memory.clone());
    let gate = Gate(Arc::new(Semaphore::new(0)));
    let (one, stop_one, serving_one) = serve(faulty.clone(), &gate).await;
    let (two, stop_two, serving_two) = serve(memory, &gate).await;
    let before = faulty.requests();
    if let Some((number, fault)) = fault {
        faulty.fault_at(before + number, fault);
    }
    let opened = initialize_as("2025-11-25", json!({})).ask(one).await;
    if opened.status() == 200 {
        let id = opened.head.get("mcp-session-id").unwrap();
        let session = Session { address: one, revision: "2025-11-25", id };
        let ping = session.post(&message(1, "ping", json!({}))).ask(two).await;
        assert_eq!(ping.status(), 200, "{fault:?}: the store does not know the session");
        let call = session.call(2, "step_and_wait", json!({})).open(one).await;
        if call.head.status == 200 {
            let mut stream = call.check_events();
            let step = stream.message().await.unwrap();
            assert_eq!(step["method"], "notifications/progress", "{fault:?}: {step}");
            // An event with an id can be resumed from at once.
            if let Some(last) = stream.last.clone() {
                let resumed = session.resume(&last).open(two).await;
                assert_eq!(resumed.head.status, 200, "{fault:?}: the store does not know {last}");
            }
            gate.0.add_permits(1);
        }
    } else {
        opened.check_busy("the store of the sessions");
    }
    let requests = faulty.requests() - before;
    for (stop, serving) in [(stop_one, serving_one), (stop_two, serving_two)] {
        stop.send(()).unwrap();
        serving.await.unwrap();
    }
    requests
}

#[support::test]
fn a_client_is_told_of_no_session_and_no_event_that_the_store_does_not_hold() {
    run(async {
        let requests = open_with(None).await;
        assert!(requests >= 2, "{requests}");
        let delay = StoreFault::Delays(Duration::from_millis(20));
        for fault in [StoreFault::FailsBefore, StoreFault::FailsAfter, StoreFault::Repeats, delay] {
            for number in 0..requests {
                open_with(Some((number, fault))).await;
            }
        }
    });
}
