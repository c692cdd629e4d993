//! Time from an update of a resource until the listeners at all nodes have received the notification.

use std::{net::SocketAddr, time::Duration};

use serde_json::json;
use support::{clock::Stopwatch, cluster::ServerCluster, process::HttpServer, requirement::needs};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinSet,
};

use crate::{
    client::{Session, Stream, ask, message, modern, run_within},
    report,
    server::fixture,
};

const LISTENERS: usize = 1000;

/// Number of updates of a measurement.
const UPDATES: usize = 50;

/// Resource of all listeners.
const URI: &str = "notes://0";

/// Opens a listen stream of protocol revision 2026-07-28.
async fn listen(address: SocketAddr) -> Stream {
    let filter = json!({ "notifications": { "resourceSubscriptions": [URI] } });
    let listen = modern("listen", "subscriptions/listen", filter);
    let mut stream = listen.open(address).await.check_events();
    assert!(stream.message().await.is_some(), "an acknowledgement");
    stream
}

/// Opens a session with a subscription, and the stream of its updates.
async fn subscribe(address: SocketAddr) -> Stream {
    let session = Session::begin(address, "2025-11-25").await;
    let subscribe = message(1, "resources/subscribe", json!({ "uri": URI }));
    assert_eq!(session.post(&subscribe).ask(address).await.status(), 200);
    session.get().open(address).await.check_events()
}

/// Listeners that report the time at which each update arrives.
struct Listeners {
    watch: Stopwatch,
    heard: UnboundedReceiver<Duration>,
    /// Number of updates that have arrived again before the next one was published.
    repeated: usize,
    _reading: JoinSet<()>,
}

impl Listeners {
    /// Opens listeners at the addresses in turn.
    async fn open(addresses: &[SocketAddr], open: impl AsyncFn(SocketAddr) -> Stream) -> Self {
        let (watch, (sender, heard)) = (Stopwatch::start(), unbounded_channel());
        let mut reading = JoinSet::new();
        for number in 0..LISTENERS {
            let stream = open(addresses[number % addresses.len()]).await;
            reading.spawn(read(stream, watch, sender.clone()));
        }
        Self { watch, heard, repeated: 0, _reading: reading }
    }

    /// Publishes an update at a node, and returns how long each listener waited for it.
    async fn update(&mut self, node: SocketAddr) -> Vec<Duration> {
        let begun = self.watch.elapsed();
        ask(node, "touch", json!({ "uris": 1, "times": 1 })).await;
        let mut times = Vec::with_capacity(LISTENERS);
        while times.len() < LISTENERS {
            let heard = self.heard.recv().await.expect("the listeners read");
            match heard.checked_sub(begun) {
                Some(time) => times.push(time),
                // A node sends an update again if Redis has answered after the deadline.
                None => self.repeated += 1,
            }
        }
        times
    }

    /// Publishes updates, each at the next of the nodes, and returns the median and the 99th percentile of the times.
    async fn measured(mut self, nodes: &[SocketAddr]) -> String {
        self.update(nodes[0]).await;
        let mut times = Vec::new();
        for number in 0..UPDATES {
            times.extend(self.update(nodes[number % nodes.len()]).await);
        }
        times.sort();
        let [median, most] =
            [50, 99].map(|percent| times[times.len() * percent / 100].as_secs_f64() * 1e3);
        let repeated = match self.repeated {
            0 => String::new(),
            count => format!("; {count} of {} came twice", times.len()),
        };
        format!("{median:.1} ms, {most:.1} ms{repeated}")
    }
}

async fn read(mut stream: Stream, watch: Stopwatch, heard: UnboundedSender<Duration>) {
    while stream.message_until_break().await.is_some() {
        if heard.send(watch.elapsed()).is_err() {
            return;
        }
    }
}

#[support::test]
#[ignore = "a measurement: `cargo test --release -p mcp-tests --test cluster -- --ignored --nocapture listeners`"]
fn a_thousand_listeners_at_three_nodes_hear_an_update_soon() {
    let cluster = needs(ServerCluster::start(fixture()));
    run_within(Duration::from_secs(600), async {
        let alone = HttpServer::start(fixture(), &[], []);
        let address = alone.url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp"));
        let alone: [SocketAddr; 1] =
            [address.and_then(|url| url.parse().ok()).expect("an address")];
        let nodes = [0, 1, 2].map(|node| cluster.node(node));
        for (at, goal) in [(&alone[..], "–"), (&nodes[..], "< 20 ms")] {
            let places = if at.len() == 1 { "one server without a store" } else { "three nodes" };
            let figure = Listeners::open(at, listen).await.measured(at).await;
            report(
                &format!(
                    "an update until {LISTENERS} listeners of 2026-07-28 at {places} have it, median and p99"
                ),
                goal,
                &figure,
            );
            let figure = Listeners::open(at, subscribe).await.measured(at).await;
            let what = "the same for sessions of 2025-11-25 with a stream";
            report(&format!("{what} at {places}"), goal, &figure);
        }
    });
}
