//! Copies of a session at several nodes: settings and clients that each copy has to learn.

use std::net::SocketAddr;

use mcp_runtime::prelude::*;
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::{
    client::{Session, Stream, message, plain_call, run},
    nodes::{Cluster, change, notification, today},
    shared_sessions::logs,
};

/// Subscribes to the notes of today, and opens the stream for their updates at a node.
async fn updates(session: &Session, at: SocketAddr) -> Stream {
    let subscribe = message("notes", "resources/subscribe", json!({ "uri": "notes://today" }));
    assert_eq!(session.post(&subscribe).ask(at).await.status(), 200);
    session.get().open(at).await.check_events()
}

/// Returns when the node of a stream of updates has read all messages that are in the log of the nodes now. An update of another node comes
/// after all of them.
async fn has_read_the_log(updates: &mut Stream, other: SocketAddr) {
    assert_eq!(plain_call(1, "change", json!({})).ask(other).await.text(), "Done.");
    let update = updates.message().await.expect("an update");
    assert_eq!(update["params"]["uri"], "notes://today", "{update}");
}

#[test]
fn a_first_setting_that_the_store_did_not_take_is_stored_when_the_client_repeats_it() {
    // The nodes run on the threads of this test alone, so other tests are not affected.
    let layer = tracing_subscriber::registry().with(mcp_runtime::logging::client_log());
    let _logging = tracing::subscriber::set_default(layer);
    run(async {
        let cluster = Cluster::start_with(|server| server.items(items![logs, today, change])).await;
        let [one, two, three] = cluster.addresses;
        let level = message(1, "logging/setLevel", json!({ "level": "debug" }));
        let initialized = notification("notifications/initialized", json!({}));
        for (setting, accepted) in [(&level, 200), (&initialized, 202)] {
            let session = Session::open(one, "2025-11-25").await;
            let ping = session.post(&message(0, "ping", json!({}))).ask(one).await;
            assert_eq!(ping.status(), 200);
            cluster.store.set_away(true);
            assert_eq!(session.post(setting).ask(one).await.status(), 503);
            cluster.store.set_away(false);
            assert_eq!(session.post(setting).ask(one).await.status(), accepted);
            if accepted == 200 {
                let call = session.call(2, "logs", json!({})).ask(two).await;
                let body = String::from_utf8(call.body).unwrap();
                assert_eq!(body.matches("jsonrpc").count(), 2, "{body}");
            } else {
                let mut updates = updates(&session, two).await;
                has_read_the_log(&mut updates, three).await;
            }
        }
        cluster.stop().await;
    });
}
