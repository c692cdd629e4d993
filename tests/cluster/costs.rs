//! Processor time of nodes for a call, compared with a server without a store.

use std::{fs, net::SocketAddr, time::Duration};

use serde_json::json;
use support::{cluster::ServerCluster, http::connection::Connection, process::HttpServer};

use crate::{
    client::{Request, SOON, Session, plain_call, run_within},
    server::fixture,
};

/// Number of calls of a measurement.
const CALLS: usize = 20_000;

/// Returns the processor time of a process so far, in ticks of the kernel's clock.
fn ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("the process runs");
    let (_, rest) = stat.rsplit_once(')').expect("a name in parentheses");
    let fields: Vec<_> = rest.split_whitespace().collect();
    [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("a number of ticks")).sum()
}

/// Client that sends a request again and again on one connection to each address, in turn.
struct Caller(Vec<(Connection, Vec<u8>)>);

impl Caller {
    async fn new(addresses: &[SocketAddr], request: &Request) -> Self {
        let mut connections = Vec::new();
        for address in addresses {
            let connection = Connection::open(*address).await.expect("the server listens");
            connections.push((connection, request.bytes()));
        }
        Self(connections)
    }

    async fn call(&mut self, count: usize) {
        for number in 0..count {
            let at = number % self.0.len();
            let (connection, bytes) = &mut self.0[at];
            connection.send(bytes, SOON).await.expect("the server reads");
            let head = connection.head(false, SOON).await.expect("a response");
            assert_eq!(head.status, 200, "{head:?}");
            connection.body(SOON).await.expect("a whole body");
        }
    }
}

/// Returns the processor time of a call in microseconds, of all these processes together.
async fn measured(processes: &[u32], addresses: &[SocketAddr], request: &Request) -> f64 {
    let mut caller = Caller::new(addresses, request).await;
    caller.call(CALLS / 10).await;
    let all = || processes.iter().copied().map(ticks).sum::<u64>();
    let before = all();
    caller.call(CALLS).await;
    let rate = rustix::param::clock_ticks_per_second() as f64;
    (all() - before) as f64 / rate * 1e6 / CALLS as f64
}

#[test]
#[ignore = "a measurement: `cargo test --release -p mcp-tests --test cluster -- --ignored --nocapture costs`"]
fn a_call_of_the_modern_era_costs_what_it_costs_without_a_store() {
    let cluster = match ServerCluster::start(fixture()) {
        Ok(cluster) => cluster,
        Err(missing) => return missing.skip(),
    };
    run_within(Duration::from_secs(600), async {
        let alone = HttpServer::start(fixture(), &[], []);
        let address = alone.url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp"));
        let address: SocketAddr = address.and_then(|text| text.parse().ok()).expect("an address");
        let modern = plain_call(1, "echo", json!({ "text": "hello" }));
        let legacy = async |address| {
            let session = Session::begin(address, "2025-11-25").await;
            session.call(1, "echo", json!({ "text": "hello" }))
        };
        let (pids, nodes) = (cluster.pids(), [0, 1, 2].map(|node| cluster.node(node)));
        let mut ratios = Vec::new();
        for _ in 0..5 {
            let without = measured(&[alone.pid()], &[address], &modern).await;
            let with = measured(&pids[..1], &nodes[..1], &modern).await;
            let in_session = legacy(address).await;
            let alone_in_session = measured(&[alone.pid()], &[address], &in_session).await;
            let in_session = legacy(nodes[0]).await;
            let one = measured(&pids[..1], &nodes[..1], &in_session).await;
            let three = measured(&pids, &nodes, &in_session).await;
            eprintln!(
                "µs: 2026-07-28 {without:.1} without a store, {with:.1} with; 2025-11-25 {alone_in_session:.1}, {one:.1} at one node, {three:.1} at three in turn"
            );
            ratios.push([with / without, one / alone_in_session, three / alone_in_session]);
        }
        let median = |at: usize| {
            let mut column: Vec<_> = ratios.iter().map(|row| row[at]).collect();
            column.sort_by(f64::total_cmp);
            column[column.len() / 2]
        };
        let [modern, one, three] = [0, 1, 2].map(median);
        eprintln!(
            "ratios: 2026-07-28 {modern:.2}, 2025-11-25 {one:.2} at one node and {three:.2} at three in turn"
        );
        assert!(modern < 1.2 && one < 1.3 && three < 2.5, "{modern} {one} {three}");
    });
}
