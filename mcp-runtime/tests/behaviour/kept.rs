//! The state that a call keeps between its rounds is bounded, in bytes and in time.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_runtime::{
    Builder, items,
    limits::{Limit, Limits},
    prelude::*,
    server,
    testing::{Revision, RpcError, TestClient},
};
use serde_json::{Value, json};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

#[cfg(feature = "state-key")]
use crate::support::eventually;

#[form]
struct Story {
    story: String,
}

/// Stores the result of a step with this many bytes, and asks twice.
#[tool]
async fn tell(ctx: &Context, bytes: usize) -> Result<String> {
    let work = async || -> Result<String> { Ok("x".repeat(bytes)) };
    let work = ctx.once("work", work).await?;
    let first: Story = ctx.elicit("first", "Tell me.").await?;
    let second: Story = ctx.elicit("second", "And then?").await?;
    Ok(format!("{} {} {}", work.len(), first.story.len(), second.story.len()))
}

async fn connected(server: Builder) -> TestClient {
    let can = json!({ "elicitation": {} });
    TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap()
}

async fn sent(client: &mut TestClient, params: &Value) -> Result<Value, RpcError> {
    let ongoing = client.start("tools/call", params.clone());
    client.wait(ongoing).await
}

/// Returns the parameters of the next round, which answers the question `key` with a text of `bytes` bytes.
fn answering(params: &Value, round: &Value, key: &str, bytes: usize) -> Value {
    let mut next = params.clone();
    next["requestState"] = round["requestState"].clone();
    let answer = json!({ "action": "accept", "content": { "story": "x".repeat(bytes) } });
    next["inputResponses"] = json!({ key: answer });
    next
}

/// `tracing` subscriber that records the events of one thread.
#[derive(Clone, Default)]
pub(crate) struct Log(pub(crate) Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{value:?}\n"));
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[tokio::test]
async fn the_value_that_makes_the_state_too_large_is_named() {
    let log = Log::default();
    // With a single subscriber in the process, `tracing` asks only the thread that logs an event first whether the event is enabled. That
    // thread may belong to another test and have no subscriber, so the event would stay disabled. With two subscribers, `tracing` asks
    // both.
    let _other = tracing::Dispatch::new(Log::default());
    let _logging = tracing::subscriber::set_default(log.clone());
    let mut client =
        connected(server!().items(items![tell]).limits(Limits::new().state(500))).await;

    // The log names the result that the author's own code made too large. The client gets no details.
    let large = json!({ "name": "tell", "arguments": { "bytes": 500 } });
    let error = sent(&mut client, &large).await.unwrap_err();
    assert!(error.code == -32603 && !error.message.contains("work"), "{error}");
    let logged = log.0.lock().unwrap().clone();
    assert!(logged.contains("at most 500") && logged.contains("`work`"), "{logged}");

    // The error names the answer that the client made too large. The client may go on with a shorter one.
    let call = json!({ "name": "tell", "arguments": { "bytes": 100 } });
    let round = sent(&mut client, &call).await.unwrap();
    let error = sent(&mut client, &answering(&call, &round, "first", 500)).await.unwrap_err();
    assert_eq!(error.code, -32602, "{error}");
    assert!(error.message.contains("at most 500") && error.message.contains("`first`"), "{error}");
    let round = sent(&mut client, &answering(&call, &round, "first", 100)).await.unwrap();
    // The last answer is not kept, so it may have any length.
    let done = sent(&mut client, &answering(&call, &round, "second", 5000)).await.unwrap();
    assert_eq!(done["content"][0]["text"], "100 100 5000");
}

/// Without a key, rounds expire by tokio's clock.
#[tokio::test(start_paused = true)]
async fn a_round_in_the_process_expires() {
    let server = server!().items(items![tell]).state_lifetime(Duration::from_secs(60));
    let mut client = connected(server).await;
    let call = json!({ "name": "tell", "arguments": { "bytes": 1 } });
    let round = sent(&mut client, &call).await.unwrap();
    let next = answering(&call, &round, "first", 1);
    tokio::time::advance(Duration::from_secs(60)).await;
    let second = sent(&mut client, &next).await.unwrap();
    assert_eq!(second["resultType"], "input_required", "{second}");
    tokio::time::advance(Duration::from_millis(1)).await;
    let error = sent(&mut client, &next).await.unwrap_err();
    assert!(error.code == -32602 && error.message.contains("has expired"), "{error}");
    assert!(error.message.contains("call again without `requestState`"), "{error}");
    let done = sent(&mut client, &answering(&call, &second, "second", 1)).await.unwrap();
    assert_eq!(done["content"][0]["text"], "1 1 1");
}

/// The error tells the client to begin again. The log tells the author to set a key, but only once.
#[tokio::test]
async fn a_round_that_another_process_keeps_is_refused_with_the_reason() {
    let log = Log::default();
    // A second subscriber, as in `the_value_that_makes_the_state_too_large_is_named`.
    let _other = tracing::Dispatch::new(Log::default());
    let _logging = tracing::subscriber::set_default(log.clone());
    let (mut one, mut other) = (
        connected(server!().items(items![tell])).await,
        connected(server!().items(items![tell])).await,
    );
    let call = json!({ "name": "tell", "arguments": { "bytes": 1 } });
    let round = sent(&mut one, &call).await.unwrap();
    for _ in 0..2 {
        let error = sent(&mut other, &answering(&call, &round, "first", 1)).await.unwrap_err();
        assert_eq!(error.code, -32602, "{error}");
        for part in ["another process", "restarted", "call again without `requestState`"] {
            let message = error.message.to_lowercase();
            assert!(message.contains(&part.to_lowercase()), "{part}: {error}");
        }
    }
    let logged = log.0.lock().unwrap().clone();
    assert_eq!(logged.matches("set the same `.state_key(…)`").count(), 1, "{logged}");
}

/// Returns the number of evicted rounds.
#[tool]
fn evicted(server: Handle) -> u64 {
    server.stats().refused(Limit::AllState)
}

/// The size of all rounds in the process is bounded, and the server counts the rounds that it evicts.
#[tokio::test]
async fn the_oldest_round_is_evicted_and_counted() {
    let server = server!().items(items![tell, evicted]).limits(Limits::new().all_state(2000));
    let mut client = connected(server).await;
    let call = json!({ "name": "tell", "arguments": { "bytes": 100 } });
    let mut rounds = Vec::new();
    for _ in 0..10 {
        rounds.push(sent(&mut client, &call).await.unwrap());
    }
    let (first, last) = (&rounds[0], &rounds[9]);
    let error = sent(&mut client, &answering(&call, first, "first", 1)).await.unwrap_err();
    assert!(error.message.contains("no longer kept"), "{error}");
    let next = sent(&mut client, &answering(&call, last, "first", 1)).await.unwrap();
    assert_eq!(next["resultType"], "input_required", "{next}");
    // The limit is enough for at most five of the eleven rounds, which have about 400 bytes each.
    let evicted: u64 = client.call("evicted", json!({})).await.unwrap().text().parse().unwrap();
    assert!((6..=8).contains(&evicted), "{evicted}");
}

/// Sealed rounds expire by the system clock, because several machines have to agree on the time. A test cannot move that clock, so this one
/// waits for the expiry.
#[cfg(feature = "state-key")]
#[tokio::test]
async fn a_sealed_round_expires_at_the_time_that_is_sealed_with_it() {
    let server = |seconds| {
        let server = server!().items(items![tell]).state_key([1; 32]);
        server.state_lifetime(Duration::from_secs(seconds))
    };
    let (mut brief, mut patient) = (connected(server(1)).await, connected(server(3600)).await);
    let call = json!({ "name": "tell", "arguments": { "bytes": 1 } });
    let short = sent(&mut brief, &call).await.unwrap();
    let long = sent(&mut patient, &call).await.unwrap();
    eventually("the round expires", async || {
        sent(&mut brief, &answering(&call, &short, "first", 1)).await.is_err()
    })
    .await;
    // The expiry time is sealed with the round. The lifetime that is configured on the server that receives the round has no effect.
    for client in [&mut brief, &mut patient] {
        let error = sent(client, &answering(&call, &short, "first", 1)).await.unwrap_err();
        assert!(error.code == -32602 && error.message.contains("has expired"), "{error}");
        let round = sent(client, &answering(&call, &long, "first", 1)).await.unwrap();
        assert_eq!(round["resultType"], "input_required", "{round}");
    }
}
