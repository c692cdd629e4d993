//! Streams of sessions that several nodes share, when a node stops or has many messages at once.

use std::{collections::BTreeSet, time::Duration};

use mcp_runtime::{limits::Limits, prelude::*};
use serde_json::json;

use crate::{
    client::{Session, message, plain_call, run},
    logged::Logged,
    nodes::Cluster,
};

/// Reports a step, and never returns.
#[tool]
async fn steps_forever(progress: Progress) {
    progress.step();
    std::future::pending::<()>().await;
}

#[support::test]
fn a_call_that_a_stopping_node_drops_ends_with_an_error_at_another_node() {
    run(async {
        let limits = Limits::new().grace(Duration::ZERO);
        let mut cluster =
            Cluster::start_with(|server| server.items(items![steps_forever]).limits(limits)).await;
        let [one, two, three] = cluster.addresses;
        for (revision, at) in [("2025-03-26", one), ("2025-11-25", two)] {
            let session = Session::begin(at, revision).await;
            let call = session.call("call", "steps_forever", json!({}));
            let mut stream = call.open(at).await.check_events();
            assert_eq!(stream.message().await.unwrap()["method"], "notifications/progress");
            let last = stream.last.clone().unwrap();
            cluster.stop_first().await;
            while stream.message_until_break().await.is_some() {}
            let mut resumed = session.resume(&last).open(three).await.check_events();
            let end = resumed.message().await.expect("the answer to the call");
            assert_eq!(end["id"], "call");
            assert_eq!(
                end["error"]["message"],
                "the server process that ran this call has ended: call again if the call may run twice"
            );
            assert!(resumed.message().await.is_none());
        }
        cluster.stop().await;
    });
}

/// Number of updates in a burst. A log keeps 256 events for clients that resume a stream.
const BURST: usize = 900;

/// A note.
#[resource("notes://{number}", subscribe)]
fn note(number: u64) -> String {
    number.to_string()
}

/// Reports that all notes have changed.
#[tool]
fn change_all(handle: Handle) {
    for number in 0..BURST {
        handle.updated(format!("notes://{number}"));
    }
}

#[support::test]
fn a_client_that_reads_along_gets_each_update_of_a_burst() {
    run(async {
        let cluster = Cluster::start_with(|server| server.items(items![note, change_all])).await;
        let [one, two, three] = cluster.addresses;
        let session = Session::begin(one, "2025-03-26").await;
        let subscribe = |number: usize| {
            let uri = format!("notes://{number}");
            message(number, "resources/subscribe", json!({ "uri": uri }))
        };
        for first in (0..BURST).step_by(100) {
            let batch: Vec<_> = (first..first + 100).map(subscribe).collect();
            assert_eq!(session.post(&json!(batch)).ask(one).await.status(), 200);
        }
        let mut stream = session.get().open(two).await.check_events();
        assert_eq!(plain_call(1, "change_all", json!({})).ask(three).await.status(), 200);
        let mut seen = BTreeSet::new();
        while seen.len() < BURST {
            let update = stream.message().await.expect("an update");
            assert_eq!(update["method"], "notifications/resources/updated", "{update}");
            seen.insert(update["params"]["uri"].to_string());
        }
        drop(stream);
        cluster.stop().await;
    });
}

#[support::test]
fn an_outage_of_the_store_is_logged_once_and_so_is_its_end() {
    let logged = Logged::start();
    run(async {
        let cluster = Cluster::start().await;
        let two = cluster.addresses[1];
        assert_eq!(logged.text().matches("this server is the node").count(), 3);
        let session = Session::begin(cluster.addresses[0], "2025-11-25").await;
        cluster.store.set_away(true);
        for id in 0..100 {
            session.call(id, "node", json!({})).ask(two).await.check_busy("the store");
            plain_call(id, "seldom", json!({})).ask(two).await.check_busy("the store");
        }
        // Each of the three nodes may have noticed the outage.
        let is_loud = |line: &&str| !["DEBUG", "TRACE"].iter().any(|level| line.starts_with(level));
        let noticed = logged.text().matches("is not available: the store is away").count();
        assert!((1..=3).contains(&noticed), "{}", logged.text());
        assert!(logged.text().lines().filter(is_loud).count() < 20, "{}", logged.text());
        cluster.store.set_away(false);
        assert_eq!(session.call(1, "node", json!({})).ask(two).await.text(), "two");
        // A write shows that the store is available, and each node writes every few seconds.
        support::clock::eventually("the end of the outage in the log", async || {
            logged.text().contains("is available again").then_some(())
        })
        .await;
        cluster.stop().await;
    });
}
