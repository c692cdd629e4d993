//! Streams of sessions that several nodes share, when a node stops or has many messages at once.

use std::time::Duration;

use mcp_runtime::{limits::Limits, prelude::*};
use serde_json::json;

use crate::{
    client::{Session, run},
    nodes::Cluster,
};

/// Reports a step, and never returns.
#[tool]
async fn steps_forever(progress: Progress) {
    progress.step();
    std::future::pending::<()>().await;
}

#[test]
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
