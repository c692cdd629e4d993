//! Outages of Redis: stopped and started again with and without its data, paused, and slow.

use std::{net::SocketAddr, time::Duration};

use serde_json::json;
use support::{
    clock::{Stopwatch, eventually},
    cluster::ServerCluster,
    requirement::needs,
};

use crate::{
    client::{Reply, Request, Session, initialize, plain_call, run_within},
    server::fixture,
};

pub(crate) const REVISION: &str = "2025-11-25";

/// Maximum time of a test. A request that Redis does not answer takes up to a second, and a busy machine needs more.
pub(crate) const MOST: Duration = Duration::from_secs(240);

/// Options of a Redis that loses nothing when it is killed. With `everysec` it can lose its last two seconds.
pub(crate) const DURABLE: &[&str] = &["--appendonly", "yes", "--appendfsync", "always"];

/// Returns the status of a path at a node.
async fn status(node: SocketAddr, path: &str) -> u16 {
    Request::new("GET", path).ask(node).await.status()
}

async fn echo(session: &Session, address: SocketAddr) -> Reply {
    session.call(1, "echo", json!({ "text": "hello" })).ask(address).await
}

/// Checks what clients see while Redis does not answer: requests that need nothing from Redis go on, and all other requests are refused.
pub(crate) async fn check_away(cluster: &ServerCluster, session: &Session) {
    for number in 0..3 {
        let node = cluster.node(number);
        eventually("the node to notice", async || {
            (status(node, "/readyz").await == 503).then_some(())
        })
        .await;
        assert_eq!(status(node, "/healthz").await, 200);
        let call = plain_call(1, "echo", json!({ "text": "on" })).ask(node).await;
        assert_eq!((call.status(), call.text().as_str()), (200, "on"));
        initialize(REVISION).ask(node).await.check_busy("the store of the sessions");
        // A node relies on its copy of a session for a second.
        let refused = eventually("the refusal", async || {
            let reply = echo(session, node).await;
            (reply.status() != 200).then_some(reply)
        })
        .await;
        refused.check_busy("the store of the sessions");
        assert!(refused.head.get("retry-after").is_some(), "{refused:?}");
    }
}

pub(crate) async fn check_back(cluster: &ServerCluster, session: &Session, expected: u16) {
    for number in 0..3 {
        let node = cluster.node(number);
        eventually("the node to be ready", async || {
            (status(node, "/readyz").await == 200).then_some(())
        })
        .await;
        eventually("the session", async || {
            (echo(session, node).await.status() == expected).then_some(())
        })
        .await;
    }
    let new = Session::begin(cluster.address, REVISION).await;
    assert_eq!(echo(&new, cluster.address).await.text(), "hello");
}

#[support::test]
fn sessions_go_on_after_redis_was_stopped_and_has_its_data_again() {
    let mut cluster = needs(ServerCluster::start_for_outage(fixture(), DURABLE));
    run_within(MOST, async {
        let session = Session::begin(cluster.address, REVISION).await;
        cluster.redis.stop();
        check_away(&cluster, &session).await;
        cluster.redis.restart();
        check_back(&cluster, &session, 200).await;
    });
}

#[support::test]
fn clients_begin_new_sessions_after_redis_has_lost_its_data() {
    let mut cluster = needs(ServerCluster::start_for_outage(fixture(), &[]));
    run_within(MOST, async {
        let session = Session::begin(cluster.address, REVISION).await;
        cluster.redis.stop();
        check_away(&cluster, &session).await;
        cluster.redis.restart();
        check_back(&cluster, &session, 404).await;
    });
}

#[support::test]
fn sessions_go_on_after_redis_was_paused() {
    let cluster = needs(ServerCluster::start_for_outage(fixture(), &[]));
    run_within(MOST, async {
        let session = Session::begin(cluster.address, REVISION).await;
        cluster.redis.pause();
        check_away(&cluster, &session).await;
        cluster.redis.resume();
        check_back(&cluster, &session, 200).await;
    });
}

#[support::test]
fn a_slow_redis_makes_requests_slow_and_fails_none() {
    let delay = Duration::from_millis(50);
    let cluster = needs(ServerCluster::start_slow(fixture(), delay));
    run_within(MOST, async {
        let session = Session::begin(cluster.address, REVISION).await;
        let watch = Stopwatch::start();
        for number in 0..3 {
            assert_eq!(status(cluster.node(number), "/readyz").await, 200);
            assert_eq!(echo(&session, cluster.node(number)).await.text(), "hello");
        }
        // At least two of the nodes have looked at the session in Redis.
        assert!(watch.elapsed() >= 4 * delay, "{:?}", watch.elapsed());
        assert_eq!(session.delete().ask(cluster.address).await.status(), 204);
        for number in 0..3 {
            eventually("the end of the session", async || {
                (echo(&session, cluster.node(number)).await.status() == 404).then_some(())
            })
            .await;
        }
    });
}
