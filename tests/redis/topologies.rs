//! The store on a Redis Cluster of three primaries, and on a primary that sentinels watch.

use std::{
    collections::BTreeSet,
    env, fs,
    net::TcpStream,
    path::PathBuf,
    process::{self, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_runtime::{
    store::{
        Condition, Follower, Store, StoreFuture, StoreOperation, Transaction, TransactionResult,
    },
    testing::store_suite,
};
use mcp_runtime_redis::Redis;
use support::{
    clock::eventually_blocking,
    process::{Running, free_address},
    redis::{FREE_PORT, RedisServer},
    requirement::{Missing, needs, output_of},
};

use crate::{LONG, eventually, put, value};

/// Number of slots of a Redis Cluster.
const SLOTS: usize = 16_384;

/// Store on servers of its own, which end together with the store.
struct OwnServers<S> {
    store: Redis,
    _servers: S,
}

impl<S: Send + Sync + 'static> Store for OwnServers<S> {
    fn open(&self) -> StoreFuture<'_, ()> {
        self.store.open()
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        self.store.execute(transactions)
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.store.follow(partition, log, after)
    }
}

fn cluster() -> Result<Vec<RedisServer>, Missing> {
    cluster_with(&[])
}

/// Starts three primaries with these further options, and joins them to a cluster.
pub(crate) fn cluster_with(options: &[&str]) -> Result<Vec<RedisServer>, Missing> {
    let of_cluster = ["--cluster-enabled", "yes", "--cluster-port", FREE_PORT];
    let options = [&of_cluster[..], options].concat();
    let started = (0..3).map(|_| RedisServer::start(&options));
    let servers = started.collect::<Result<Vec<_>, _>>()?;
    for (number, server) in servers.iter().enumerate() {
        let first = (number * SLOTS / 3).to_string();
        let last = ((number + 1) * SLOTS / 3 - 1).to_string();
        assert_eq!(server.cli(&["CLUSTER", "ADDSLOTSRANGE", &first, &last]).trim(), "OK");
        // Two servers with the same epoch would have to find out which of them gives way.
        let epoch = (number + 1).to_string();
        assert_eq!(server.cli(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]).trim(), "OK");
        let bus = server.option("--cluster-port").expect("a port");
        // The servers send clients to this port until the server itself has told each of them its ports. A client with TLS would wait forever
        // at the port without TLS.
        let port =
            server.option("--tls-port").map_or_else(|| server.port().to_string(), str::to_owned);
        let met = servers[0].cli(&["CLUSTER", "MEET", "127.0.0.1", &port, bus]);
        assert_eq!(met.trim(), "OK");
    }
    for server in &servers {
        eventually_blocking("the cluster", || {
            let info = server.cli(&["CLUSTER", "INFO"]);
            let is_ready = ["cluster_state:ok", "cluster_slots_ok:16384", "cluster_size:3"]
                .iter()
                .all(|line| info.contains(line));
            is_ready.then_some(())
        });
    }
    Ok(servers)
}

fn cluster_url(servers: &[RedisServer]) -> String {
    let hosts: Vec<_> =
        servers.iter().map(|server| format!("127.0.0.1:{}", server.port())).collect();
    format!("redis+cluster://{}", hosts.join(","))
}

fn on_cluster(servers: Vec<RedisServer>) -> OwnServers<Vec<RedisServer>> {
    let store = Redis::new(cluster_url(&servers)).deadline(Duration::from_secs(20));
    OwnServers { store, _servers: servers }
}

store_suite!(on_a_cluster, on_cluster(needs(cluster())), #[support::test]);

#[support::test]
async fn the_keys_of_a_partition_are_at_one_server_of_a_cluster_and_partitions_are_at_all() {
    let servers = needs(cluster());
    let store = Redis::new(cluster_url(&servers)).deadline(Duration::from_secs(20));
    let on = |number: usize| {
        Transaction::on(format!("partition {number}"))
            .then(StoreOperation::put("a", *b"1", LONG, Condition::Any))
            .then(StoreOperation::put("b", *b"1", LONG, Condition::Any))
            .then(StoreOperation::append("c", *b"x", LONG, 9))
            .then(StoreOperation::enlist("d", "a", 1, LONG))
    };
    // All transactions are sent at once, to the servers that have their partitions.
    let results = store.execute((0..60).map(on).collect()).await.unwrap();
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let mut seen = BTreeSet::new();
    for server in &servers {
        let keys = server.cli(&["--scan"]);
        let partitions: BTreeSet<_> = keys
            .lines()
            .filter_map(|key| key.split_once('}'))
            .map(|parts| parts.0.to_owned())
            .collect();
        // Two records, a log, and the three keys of an index.
        assert_eq!(keys.lines().count(), 6 * partitions.len(), "{keys}");
        assert!(partitions.len() > 5, "{partitions:?}");
        assert!(partitions.is_disjoint(&seen));
        seen.extend(partitions);
    }
    assert_eq!(seen.len(), 60);
}

/// Primary and replica with a sentinel.
struct Watched {
    primary: RedisServer,
    replica: RedisServer,
    sentinel: Running,
    port: u16,
    folder: PathBuf,
}

impl Watched {
    fn start() -> Result<Self, Missing> {
        let primary = RedisServer::start(&[])?;
        let of = format!("127.0.0.1 {}", primary.port());
        let replica = RedisServer::start(&["--replicaof", &of])?;
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("mcp-sentinel-{}-{number}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        // The port is free when it is chosen, and another process may take it before the sentinel does.
        let (sentinel, port) = eventually_blocking("a sentinel", || {
            let (port, file) = (free_address().port(), folder.join("sentinel.conf"));
            // The sentinel writes what it knows into its file.
            let settings = format!(
                "port {port}\nbind 127.0.0.1\ndir {folder:?}\nsentinel monitor mine {of} 1\nsentinel failover-timeout mine 5000\n"
            );
            fs::write(&file, settings).expect("the folder is writable");
            let mut command = Command::new("redis-server");
            command.arg(&file).arg("--sentinel").stdin(Stdio::null()).stdout(Stdio::null());
            let mut sentinel = Running::start(&mut command);
            let listens = eventually_blocking("the sentinel to listen or to end", || {
                let has_ended = sentinel.wait(Duration::ZERO).map(|_| false);
                has_ended.or_else(|| TcpStream::connect(("127.0.0.1", port)).ok().map(|_| true))
            });
            listens.then_some((sentinel, port))
        });
        let watched = Self { primary, replica, sentinel, port, folder };
        eventually_blocking("the sentinel to know the replica", || {
            let replicas = watched.ask(&["SENTINEL", "REPLICAS", "mine"]).unwrap_or_default();
            replicas.contains(&watched.replica.port().to_string()).then_some(())
        });
        Ok(watched)
    }

    /// Sends a command to the sentinel.
    fn ask(&self, command: &[&str]) -> Result<String, Missing> {
        let mut cli = Command::new("redis-cli");
        output_of(cli.args(["-p", &self.port.to_string()]).args(command))
    }

    /// Lets the sentinel replace a primary that is silent for half a second, instead of for 30 seconds. On a busy machine, a primary without
    /// a fault may be silent for half a second.
    fn replace_soon(&self) {
        let set = self.ask(&["SENTINEL", "SET", "mine", "down-after-milliseconds", "500"]);
        assert_eq!(set.unwrap_or_else(|why| panic!("{why}")).trim(), "OK");
    }

    fn url(&self) -> String {
        format!("redis+sentinel://127.0.0.1:{}/mine", self.port)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.sentinel.wait(Duration::ZERO);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn behind_sentinel(watched: Watched) -> OwnServers<Watched> {
    let store = Redis::new(watched.url()).deadline(Duration::from_secs(20));
    OwnServers { store, _servers: watched }
}

store_suite!(behind_a_sentinel, behind_sentinel(needs(Watched::start())), #[support::test]);

#[support::test]
async fn the_store_goes_on_at_the_new_primary_after_a_failover() {
    let mut watched = needs(Watched::start());
    let store = Arc::new(Redis::new(watched.url()).deadline(Duration::from_secs(1)));
    eventually(async || store.execute(put("before", b"1")).await.is_ok()).await;
    eventually_blocking("the replica has the record", || {
        (watched.replica.cli(&["DBSIZE"]).trim() == "1").then_some(())
    });
    let mut follower = store.follow("p", "log", 0);
    watched.replace_soon();
    watched.primary.stop();
    assert!(store.execute(put("away", b"1")).await.is_err());
    // The sentinel needs a moment to notice and to promote the replica.
    eventually(async || store.execute(put("after", b"2")).await.is_ok()).await;
    assert_eq!(value(&store, "before").await.as_deref(), Some(&b"1"[..]));
    assert_eq!(value(&store, "after").await.as_deref(), Some(&b"2"[..]));
    assert!(watched.replica.cli(&["ROLE"]).starts_with("master"));
    let append = Transaction::on("p").then(StoreOperation::append("log", *b"event", LONG, 9));
    assert!(store.execute(vec![append]).await.unwrap()[0].is_ok());
    eventually(async || follower.next().await.is_ok_and(|event| event.value == b"event")).await;
}

#[support::test]
async fn the_store_leaves_a_primary_that_hangs() {
    let watched = needs(Watched::start());
    let store = Arc::new(Redis::new(watched.url()).deadline(Duration::from_millis(500)));
    eventually(async || store.execute(put("before", b"1")).await.is_ok()).await;
    let mut follower = store.follow("p", "log", 0);
    assert!(tokio::time::timeout(Duration::from_millis(100), follower.next()).await.is_err());
    watched.replace_soon();
    watched.primary.pause();
    // Commands that are late are the only sign, because the system of the primary still accepts connections.
    eventually(async || store.execute(put("after", b"2")).await.is_ok()).await;
    assert!(watched.replica.cli(&["ROLE"]).starts_with("master"));
    let append = Transaction::on("p").then(StoreOperation::append("log", *b"event", LONG, 9));
    assert!(store.execute(vec![append]).await.unwrap()[0].is_ok());
    eventually(async || follower.next().await.is_ok_and(|event| event.value == b"event")).await;
    watched.primary.resume();
}
