//! The store while Redis hangs, loses its last writes, or cuts a connection.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_runtime::store::{Output, Store, StoreOperation, Transaction};
use mcp_runtime_redis::Redis;
use support::{
    redis::{FREE_PORT, RedisServer},
    requirement::needs,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf, tcp::OwnedWriteHalf},
};

use crate::{LONG, eventually, patient};

fn append(value: &[u8]) -> Vec<Transaction> {
    vec![Transaction::on("p").then(StoreOperation::append("log", value, LONG, 999))]
}

async fn appended(store: &Redis, value: &[u8]) -> u64 {
    let mut results = store.execute(append(value)).await.unwrap();
    match results.remove(0).unwrap().remove(0) {
        Output::Appended(id) => id,
        other => panic!("an id, not {other:?}"),
    }
}

/// Returns a new server with these options.
fn redis_server(options: &[&str]) -> RedisServer {
    needs(RedisServer::start(options))
}

#[support::test]
async fn a_follower_misses_no_event_after_redis_has_lost_those_that_it_has_read() {
    let mut server = redis_server(&[]);
    let store = patient(&server);
    let mut last = appended(&store, b"kept").await;
    let mut follower = store.follow("p", "log", 0);
    assert_eq!(follower.next().await.unwrap().value, b"kept");
    assert_eq!(server.cli(&["SAVE"]).trim(), "OK");
    for _ in 0..20 {
        last = appended(&store, b"lost").await;
        assert_eq!(follower.next().await.unwrap().id, last);
    }
    server.stop();
    server.restart();
    eventually(async || store.execute(append(b"0")).await.is_ok()).await;
    for number in 1..30_u8 {
        appended(&store, &[b'0' + number]).await;
    }
    let first = loop {
        // The follower fails as long as its connection is broken.
        if let Ok(event) = follower.next().await {
            break event;
        }
    };
    assert_eq!(first.value, b"0");
    assert!(first.id > last + 1, "{} does not show a gap after {last}", first.id);
    for number in 1..30_u8 {
        let event = follower.next().await.unwrap();
        assert_eq!((event.id, event.value), (first.id + u64::from(number), vec![b'0' + number]));
    }
}

#[support::test]
async fn a_follower_reads_large_events_in_small_parts() {
    let server = redis_server(&[]);
    let store = patient(&server);
    let large = vec![7; 1 << 20];
    for _ in 0..40 {
        appended(&store, &large).await;
    }
    let sent = || -> u64 {
        let stats = server.cli(&["INFO", "stats"]);
        let bytes = stats.lines().find_map(|line| line.strip_prefix("total_net_output_bytes:"));
        bytes.unwrap().trim().parse().unwrap()
    };
    let before = sent();
    let mut follower = store.follow("p", "log", 0);
    assert_eq!(follower.next().await.unwrap().value, large);
    assert!(sent() - before < 2 << 20, "{} bytes for the first event", sent() - before);
    for _ in 1..40 {
        assert_eq!(follower.next().await.unwrap().value, large);
    }
}

/// Returns the number of transactions that Redis has executed.
fn transactions(server: &RedisServer) -> u64 {
    let stats = server.cli(&["INFO", "commandstats"]);
    let line = stats.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls="));
    line.and_then(|line| line.split(',').next()?.parse().ok()).unwrap_or(0)
}

/// Channels of Redis belong to no database, so events of another database would reach a follower that listens to the same channel.
#[support::test]
async fn a_follower_hears_nothing_of_another_database() {
    let server = redis_server(&[]);
    let (store, wait) = (patient(&server), Duration::from_millis(50));
    let other = Redis::new(format!("{}/1", server.url())).deadline(Duration::from_secs(20));
    let last = appended(&store, b"own").await;
    let mut follower = store.follow("p", "log", last);
    eventually(async || {
        let before = transactions(&server);
        assert!(tokio::time::timeout(wait, follower.next()).await.is_err());
        transactions(&server) == before
    })
    .await;
    let before = transactions(&server);
    appended(&other, b"foreign").await;
    assert!(tokio::time::timeout(wait, follower.next()).await.is_err());
    assert_eq!(transactions(&server) - before, 1);
    appended(&store, b"own again").await;
    assert_eq!(follower.next().await.unwrap().value, b"own again");
}

#[support::test]
async fn followers_read_only_large_events_and_send_no_commands_while_they_wait() {
    let server = redis_server(&[]);
    let store = patient(&server);
    let last = appended(&store, b"first").await;
    let mut followers: Vec<_> = (0..50).map(|_| store.follow("p", "log", last)).collect();
    let wait = Duration::from_millis(50);
    let commands = || transactions(&server);
    // The subscription is active after a while, and then each follower looks once more.
    eventually(async || {
        let before = commands();
        for follower in &mut followers {
            assert!(tokio::time::timeout(wait, follower.next()).await.is_err());
        }
        commands() == before
    })
    .await;
    // An event of more than 4 KiB is not in its announcement, so each follower reads it.
    for (event, reads) in [(b"second".to_vec(), 0), (vec![7; 4097], 50), (vec![7; 4096], 0)] {
        let before = commands();
        appended(&store, &event).await;
        for follower in &mut followers {
            assert_eq!(follower.next().await.unwrap().value, event);
        }
        for follower in &mut followers {
            assert!(tokio::time::timeout(wait, follower.next()).await.is_err());
        }
        assert_eq!(commands() - before, 1 + reads);
    }
}

/// Proxy that can cut a connection when the server answers.
struct Proxy {
    port: u16,
    /// Whether the next answer cuts its connection.
    cuts: Arc<AtomicBool>,
}

impl Proxy {
    async fn start(to: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cuts = Arc::<AtomicBool>::default();
        let cut = cuts.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)).await else { return };
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::spawn(copy(from_client, to_server, Arc::default()));
                tokio::spawn(copy(from_server, to_client, cut.clone()));
            }
        });
        Self { port, cuts }
    }
}

/// Copies bytes until either side ends its connection, or until there are bytes to cut.
async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, cuts: Arc<AtomicBool>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        if cuts.swap(false, Ordering::SeqCst) || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

#[support::test]
async fn a_transaction_of_a_cluster_whose_answer_is_lost_is_not_applied_twice() {
    let options = ["--cluster-enabled", "yes", "--cluster-port", FREE_PORT];
    let server = needs(RedisServer::start(&options));
    assert_eq!(server.cli(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]).trim(), "OK");
    let proxy = Proxy::start(server.port()).await;
    let port = proxy.port.to_string();
    server.cli(&["CONFIG", "SET", "cluster-announce-port", &port]);
    let store =
        Redis::new(format!("redis+cluster://127.0.0.1:{port}")).deadline(Duration::from_secs(20));
    eventually(async || store.execute(append(b"first")).await.is_ok()).await;
    let length = || -> usize { server.cli(&["XLEN", "mcp:{pp}:l:log"]).trim().parse().unwrap() };
    for _ in 0..5 {
        let before = length();
        proxy.cuts.store(true, Ordering::SeqCst);
        let why = store.execute(append(b"once")).await.unwrap_err();
        assert!(why.is_unavailable(), "{why}");
        eventually(async || store.execute(append(b"next")).await.is_ok()).await;
        assert_eq!(length(), before + 2);
    }
}
