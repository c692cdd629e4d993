//! Processor time of nodes for a call, compared with a server without a store.

use std::{fs, net::SocketAddr, time::Duration};

use serde_json::json;
use support::{
    cluster::ServerCluster, http::connection::Connection, process::HttpServer, requirement::needs,
};
use tokio::task::JoinSet;

use crate::{
    client::{Request, SOON, Session, plain_call, run_within},
    report,
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

fn address_of(server: &HttpServer) -> SocketAddr {
    let address = server.url.strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp"));
    address.and_then(|text| text.parse().ok()).expect("an address")
}

/// Client that sends a request again and again on one connection to each address, in turn.
struct Caller(Vec<(Connection, Vec<u8>)>);

impl Caller {
    async fn new(requests: &[(SocketAddr, &Request)]) -> Self {
        let mut connections = Vec::new();
        for (address, request) in requests {
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
async fn measured(processes: &[u32], requests: &[(SocketAddr, &Request)]) -> f64 {
    let mut caller = Caller::new(requests).await;
    caller.call(CALLS / 10).await;
    let all = || processes.iter().copied().map(ticks).sum::<u64>();
    let before = all();
    caller.call(CALLS).await;
    let rate = rustix::param::clock_ticks_per_second() as f64;
    (all() - before) as f64 / rate * 1e6 / CALLS as f64
}

/// Number of connections of a measurement with several calls at once.
const CONNECTIONS: usize = 12;

/// Lets all callers call at once, and returns them.
async fn call_together(callers: Vec<Caller>, count: usize) -> Vec<Caller> {
    let mut calling = JoinSet::new();
    for mut caller in callers {
        calling.spawn(async move {
            caller.call(count / CONNECTIONS).await;
            caller
        });
    }
    calling.join_all().await
}

/// Returns the same as [`measured`] for calls on several connections at once, each with the next of the requests.
async fn measured_together(processes: &[u32], requests: &[(SocketAddr, &Request)]) -> f64 {
    let mut callers = Vec::new();
    for number in 0..CONNECTIONS {
        let at = number % requests.len();
        callers.push(Caller::new(&requests[at..=at]).await);
    }
    callers = call_together(callers, CALLS / 10).await;
    let before: u64 = processes.iter().copied().map(ticks).sum();
    call_together(callers, CALLS).await;
    let after: u64 = processes.iter().copied().map(ticks).sum();
    let rate = rustix::param::clock_ticks_per_second() as f64;
    (after - before) as f64 / rate * 1e6 / CALLS as f64
}

/// Returns the least of each column, which other work of the machine disturbs least.
fn least<const N: usize>(rows: &[[f64; N]]) -> [f64; N] {
    std::array::from_fn(|at| rows.iter().map(|row| row[at]).fold(f64::INFINITY, f64::min))
}

#[support::test]
#[ignore = "a measurement: `cargo test --release -p mcp-tests --test cluster -- --ignored --nocapture costs`"]
fn a_call_of_the_modern_era_costs_what_it_costs_without_a_store() {
    let cluster = needs(ServerCluster::start(fixture()));
    run_within(Duration::from_secs(600), async {
        let alone = HttpServer::start(fixture(), &[], []);
        let address = address_of(&alone);
        let modern = plain_call(1, "echo", json!({ "text": "hello" }));
        let legacy = async |address| {
            let session = Session::begin(address, "2025-11-25").await;
            session.call(1, "echo", json!({ "text": "hello" }))
        };
        let (pids, nodes) = (cluster.pids(), [0, 1, 2].map(|node| cluster.node(node)));
        let commands = || {
            let stats = cluster.redis.cli(&["INFO", "stats"]);
            let count =
                stats.lines().find_map(|line| line.strip_prefix("total_commands_processed:"));
            count.and_then(|count| count.trim().parse::<f64>().ok()).expect("a number of commands")
        };
        let others = [HttpServer::start(fixture(), &[], []), HttpServer::start(fixture(), &[], [])];
        let apart = [&alone, &others[0], &others[1]].map(|server| (address_of(server), &modern));
        let pids_apart = [alone.pid(), others[0].pid(), others[1].pid()];
        let (mut times, mut sent) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            let without = measured(&[alone.pid()], &[(address, &modern)]).await;
            let before = commands();
            let with = measured(&pids[..1], &[(nodes[0], &modern)]).await;
            let for_modern = commands() - before;
            let together = measured_together(&pids[..1], &[(nodes[0], &modern)]).await;
            let spread = measured_together(&pids, &nodes.map(|node| (node, &modern))).await;
            let alone_together = measured_together(&pids_apart[..1], &apart[..1]).await;
            let apart = measured_together(&pids_apart, &apart).await;
            let in_session = legacy(address).await;
            let alone_in_session = measured(&[alone.pid()], &[(address, &in_session)]).await;
            let sessions = [legacy(nodes[0]).await, legacy(nodes[1]).await, legacy(nodes[2]).await];
            let before = commands();
            let one = measured(&pids[..1], &[(nodes[0], &sessions[0])]).await;
            let for_one = commands() - before;
            let own = [0, 1, 2].map(|at| (nodes[at], &sessions[at]));
            let own_together = measured_together(&pids[..1], &own[..1]).await;
            let own_spread = measured_together(&pids, &own).await;
            // Three servers without a store would need this much: each process sleeps and wakes for each call.
            let own = measured(&pids, &own).await;
            let before = commands();
            let three = measured(&pids, &nodes.map(|node| (node, &sessions[0]))).await;
            let for_three = commands() - before;
            support::note!(
                "µs: 2026-07-28 {without:.1} without a store, {with:.1} with; 2025-11-25 {alone_in_session:.1}, {one:.1} at one node, {own:.1} at three in turn with a session each, {three:.1} with one; {CONNECTIONS} at once {together:.1} and {spread:.1} at three, {own_together:.1} and {own_spread:.1}; without a store {alone_together:.1} and {apart:.1}"
            );
            times.push([
                without,
                with,
                alone_in_session,
                one,
                own,
                three,
                together,
                spread,
                own_together,
                own_spread,
                alone_together,
                apart,
            ]);
            // The measured calls follow a tenth as many that warm up.
            sent.push([for_modern, for_one, for_three].map(|count| count / CALLS as f64 / 1.1));
        }
        let [
            without,
            with,
            alone_in_session,
            one,
            own,
            three,
            together,
            spread,
            own_together,
            own_spread,
            alone_together,
            apart,
        ] = least(&times);
        let (modern, turns) = (with / without, three / own);
        let (one, three) = (one / alone_in_session, three / alone_in_session);
        let (spread, own) = (spread / together, own_spread / own_together);
        let apart = apart / alone_together;
        let [for_modern, for_one, for_three] = least(&sent);
        let figure = |ratio: f64, count: f64| format!("{ratio:.2}x, {count:.3}");
        report(
            "call of 2026-07-28 with a store, against one without: processor time, commands to Redis",
            "1.0x, 0",
            &figure(modern, for_modern),
        );
        report(
            "call in a session at the node that has it, against a server without a store",
            "≤ 1.1x, 0",
            &figure(one, for_one),
        );
        report(
            "call in a session that alternates between three nodes, against a server without a store",
            "≤ 2x, 1",
            &figure(three, for_three),
        );
        report(
            "the same, against calls at the three nodes in turn that have a session each: processor time",
            "–",
            &format!("{turns:.2}x"),
        );
        report(
            "call of 2026-07-28, three nodes against one, 12 connections: processor time",
            "≤ 1.15x",
            &format!("{spread:.2}x"),
        );
        report(
            "call in a session, three nodes with a session each against one, 12 connections: processor time",
            "≤ 1.15x",
            &format!("{own:.2}x"),
        );
        report(
            "call of 2026-07-28, three servers that share nothing against one, 12 connections: processor time",
            "–",
            &format!("{apart:.2}x"),
        );
        assert!(modern < 1.2 && one < 1.3 && three < 2.5, "{modern} {one} {three}");
        // Three processes with a third of the calls each wake more often, also without a store.
        assert!(spread < 1.3 * apart && own < 1.4 * apart, "{spread} {own} {apart}");
    });
}
