//! Connection on which transactions run. It is opened on first use, and replaced after it has failed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError},
    time::Duration,
};

use mcp_runtime::store::StoreError;
use redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, RedisError, RedisResult, ServerErrorKind, Value,
    aio::{ConnectionLike, MultiplexedConnection},
    cluster_async::ClusterConnection,
    cluster_routing::SingleNodeRoutingInfo,
};
use tokio::{
    sync::{Mutex, watch},
    time::{Instant, timeout},
};

use crate::{address::Address, script};

/// Maximum time for an attempt to connect. It takes several round trips, and may ask sentinels and the nodes of a cluster.
const CONNECT: Duration = Duration::from_secs(5);

/// Maximum time for the first attempt to connect again. Each further attempt may take twice as long, up to [`CONNECT`]. A server that hangs
/// accepts connections, so without this limit it would hold up the change to its successor.
const CONNECT_AGAIN: Duration = Duration::from_secs(1);

/// Shortest and longest time between two attempts to connect. Each pause is twice as long as the previous one.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(2)];

/// Time without an answer, from the first command that is late, after which a connection is replaced. A server that hangs, or whose machine
/// is lost, closes no connection.
const SILENCE: Duration = Duration::from_secs(1);

/// Maximum number of partitions of a cluster whose silence is known.
const MOST_SILENT: usize = 1000;

/// Maximum number of times that a command of a cluster is sent, and the pause between two times.
const TRIES: usize = 16;
const PAUSE_OF_CLUSTER: Duration = Duration::from_millis(20);

/// Connection to Redis. Commands of several callers share it, and are sent without waiting for each other.
pub(crate) struct Connection {
    address: Arc<Address>,
    open: Mutex<Open>,
    /// Time of the first late command since the last answer. In a cluster, this is known for each partition, because one of its servers may
    /// hang while the others answer.
    silent: StdMutex<HashMap<String, Instant>>,
    /// Number of the open connection.
    replaced: watch::Sender<u64>,
}

#[derive(Default)]
struct Open {
    connection: Option<OpenConnection>,
    /// Number of the connection, by which a caller that has seen it fail names it.
    number: u64,
    /// Time of the last attempt that failed, and its error.
    failed: Option<(Instant, RedisError)>,
    /// Number of attempts that have failed since the last one that did not.
    failures: u32,
}

#[derive(Clone)]
enum OpenConnection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    pub(crate) fn new(address: Arc<Address>) -> Self {
        let (silent, replaced) = (StdMutex::default(), watch::Sender::new(0));
        Self { address, open: Mutex::default(), silent, replaced }
    }

    /// Returns the number of the open connection, which changes when the connection is replaced.
    pub(crate) fn replaced(&self) -> watch::Receiver<u64> {
        self.replaced.subscribe()
    }

    fn silent(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the part of Redis that a partition belongs to.
    fn part<'a>(&self, partition: &'a str) -> &'a str {
        if matches!(*self.address, Address::Cluster(..)) { partition } else { "" }
    }

    /// Records that a command was not answered within its deadline. If there was no answer for a while, closes the connection.
    pub(crate) fn report_late(&self, partition: &str) {
        let part = self.part(partition);
        let mut silent = self.silent();
        if silent.len() >= MOST_SILENT && !silent.contains_key(part) {
            silent.clear();
        }
        let since = *silent.entry(part.to_owned()).or_insert_with(Instant::now);
        if since.elapsed() < SILENCE {
            return;
        }
        silent.clear();
        drop(silent);
        // If the lock is taken, the connection is being replaced already.
        if let Ok(mut open) = self.open.try_lock() {
            open.connection = None;
        }
    }

    /// Returns the open connection with its number, and connects if there is none.
    ///
    /// # Cancel safety
    /// If the future is dropped, the attempt to connect goes on. Otherwise no caller whose deadline is shorter than an attempt would ever get a
    /// connection.
    async fn get(self: &Arc<Self>) -> RedisResult<(OpenConnection, u64)> {
        {
            let open = self.open.lock().await;
            if let Some(connection) = &open.connection {
                return Ok((connection.clone(), open.number));
            }
        }
        let this = self.clone();
        match tokio::spawn(async move { this.get_or_connect().await }).await {
            Ok(got) => got,
            Err(why) => Err(RedisError::from((ErrorKind::Io, "cannot connect", why.to_string()))),
        }
    }

    /// Connects, unless another caller has done so. After a failed attempt, callers get its error for a while, so that an unavailable Redis
    /// is not flooded with attempts.
    async fn get_or_connect(&self) -> RedisResult<(OpenConnection, u64)> {
        let mut open = self.open.lock().await;
        if let Some(connection) = &open.connection {
            return Ok((connection.clone(), open.number));
        }
        if let Some((at, why)) = &open.failed
            && at.elapsed() < (PAUSES[0] * (1 << open.failures.min(5)) / 2).min(PAUSES[1])
        {
            return Err(why.clone());
        }
        // The first connection of a server may take longer, because the server does not start without it.
        let most = match open.number {
            0 => CONNECT,
            _ => (CONNECT_AGAIN * (1 << open.failures.min(3))).min(CONNECT),
        };
        let connected = timeout(most, self.connect()).await;
        let connected = connected.unwrap_or_else(|_| {
            Err(RedisError::from((ErrorKind::Io, "Redis does not answer a new connection")))
        });
        match connected {
            Ok(connection) => {
                open.number += 1;
                open.connection = Some(connection.clone());
                (open.failed, open.failures) = (None, 0);
                self.silent().clear();
                self.replaced.send_replace(open.number);
                Ok((connection, open.number))
            }
            Err(why) => {
                open.failed = Some((Instant::now(), why.clone()));
                open.failures = open.failures.saturating_add(1);
                Err(why)
            }
        }
    }

    async fn connect(&self) -> RedisResult<OpenConnection> {
        // The deadlines of a command and of a connection are those of the store, so the library needs no shorter ones.
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(None)
            .set_connection_timeout(Some(CONNECT));
        let mut connection = match &*self.address {
            Address::Cluster(client, _) => {
                OpenConnection::Cluster(client.get_async_connection().await?)
            }
            address => {
                let client = address.client(0).await?;
                OpenConnection::Single(
                    client.get_multiplexed_async_connection_with_config(&config).await?,
                )
            }
        };
        // Otherwise the first command would take three round trips within its deadline.
        connection.load().await?;
        Ok(connection)
    }

    /// Closes the connection with this number, unless another caller has replaced it already.
    async fn close(&self, number: u64) {
        let mut open = self.open.lock().await;
        if open.number == number {
            open.connection = None;
        }
    }

    /// Sends a command about a partition. A command that names a script which Redis does not know is sent again after the script was
    /// loaded, because Redis has not executed it.
    pub(crate) async fn send(
        self: &Arc<Self>,
        partition: &str,
        command: &Cmd,
    ) -> RedisResult<Value> {
        let (mut connection, number) = self.get().await?;
        let mut result = connection.send(command).await;
        if is(&result, ServerErrorKind::NoScript) {
            connection.load().await?;
            result = connection.send(command).await;
        }
        if let Err(why) = &result
            && is_of_connection(why)
        {
            self.close(number).await;
        } else {
            let mut silent = self.silent();
            if !silent.is_empty() {
                silent.remove(self.part(partition));
            }
        }
        result
    }

    /// Returns the version, the limit of memory, and all else that the server tells about itself.
    pub(crate) async fn info(self: &Arc<Self>) -> RedisResult<String> {
        let info = redis::cmd("INFO");
        let (mut connection, _) = self.get().await?;
        match &mut connection {
            OpenConnection::Single(connection) => info.query_async(connection).await,
            OpenConnection::Cluster(connection) => {
                use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
                let any = RoutingInfo::SingleNode(SingleNodeRoutingInfo::Random);
                redis::from_redis_value(connection.route_command(info, any).await?)
                    .map_err(RedisError::from)
            }
        }
    }
}

impl OpenConnection {
    async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::Single(connection) => {
                connection.req_packed_command(command).await?.extract_error()
            }
            Self::Cluster(connection) => send_to_cluster(connection, command).await,
        }
    }

    /// Loads the script. In a cluster, every primary gets it.
    async fn load(&mut self) -> RedisResult<()> {
        let load = script::load();
        match self {
            Self::Single(connection) => connection.req_packed_command(&load).await.map(drop),
            Self::Cluster(connection) => {
                use redis::cluster_routing::{MultipleNodeRoutingInfo, RoutingInfo};
                let all = RoutingInfo::MultiNode((MultipleNodeRoutingInfo::AllMasters, None));
                connection.route_command(load, all).await.map(drop)
            }
        }
    }
}

/// Sends a command to the server of a cluster that has its slot. The library does not repeat commands (see `cluster` in `address.rs`). This
/// function repeats a command, but only if no server has executed it: the server has refused it, or the library has found no connection to a
/// server.
async fn send_to_cluster(connection: &mut ClusterConnection, command: &Cmd) -> RedisResult<Value> {
    use ServerErrorKind::{Ask, ClusterDown, MasterDown, Moved, ReadOnly, TryAgain};

    let mut result = connection.req_packed_command(command).await.and_then(Value::extract_error);
    for _ in 1..TRIES {
        let Err(why) = &result else { break };
        let is_executed = !matches!(
            why.kind(),
            ErrorKind::ClusterConnectionNotFound
                | ErrorKind::Server(Ask | ClusterDown | MasterDown | Moved | ReadOnly | TryAgain)
        );
        if is_executed {
            break;
        }
        // The slot moves, and its records have moved already.
        let target = (why.kind() == ErrorKind::Server(Ask)).then(|| why.redirect_node()).flatten();
        let target = target.and_then(|(address, _)| address.rsplit_once(':'));
        let target =
            target.and_then(|(host, port)| Some((host.to_owned(), port.parse::<u16>().ok()?)));
        result = if let Some((host, port)) = target {
            let mut asking = redis::pipe();
            asking.cmd("ASKING").add_command(command.clone());
            let route = SingleNodeRoutingInfo::ByAddress { host, port };
            let values = connection.route_pipeline(asking, 1, 1, route).await;
            values.and_then(|mut values| values.pop().unwrap_or(Value::Nil).extract_error())
        } else {
            tokio::time::sleep(PAUSE_OF_CLUSTER).await;
            connection.req_packed_command(command).await.and_then(Value::extract_error)
        };
    }
    result
}

fn is(result: &RedisResult<Value>, kind: ServerErrorKind) -> bool {
    result.as_ref().is_err_and(|why| why.kind() == ErrorKind::Server(kind))
}

/// Whether another connection may work where this one has failed: it is broken, or the server is no longer the primary.
fn is_of_connection(why: &RedisError) -> bool {
    why.is_io_error()
        || why.is_connection_dropped()
        || why.is_unrecoverable_error()
        || [ServerErrorKind::ReadOnly, ServerErrorKind::Moved]
            .map(ErrorKind::Server)
            .contains(&why.kind())
}

/// Whether the user lacks a right. Redis 7.0 reports this without a code if a script needs the right.
pub(crate) fn is_denied(why: &RedisError) -> bool {
    why.code() == Some("NOPERM") || why.to_string().contains("The user executing the script can't")
}

/// Returns the error of the store for an error of the library.
pub(crate) fn failure(why: &RedisError) -> StoreError {
    match why.kind() {
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::TryAgain
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask,
        )
        | ErrorKind::Io
        | ErrorKind::ClusterConnectionNotFound
        | ErrorKind::MasterNameNotFoundBySentinel
        | ErrorKind::EmptySentinelList => {
            StoreError::unavailable(format_args!("Redis does not answer: {why}"))
        }
        kind if kind == ErrorKind::AuthenticationFailed
            || matches!(why.code(), Some("NOAUTH" | "WRONGPASS")) =>
        {
            StoreError::unavailable(format_args!(
                "Redis does not accept the user and the password: {why}"
            ))
        }
        _ if is_denied(why) => StoreError::unavailable(format_args!(
            "the user lacks a right in Redis: {why}: the user needs all keys and channels with the prefix of the server, see the documentation of `Redis`"
        )),
        _ if matches!(why.code(), Some("MISCONF" | "NOREPLICAS")) => {
            StoreError::unavailable(format_args!("Redis accepts no writes: {why}"))
        }
        _ if why.code() == Some("OOM") => {
            StoreError::full(format_args!("Redis has reached its `maxmemory`: {why}"))
        }
        _ if why.is_connection_dropped() || why.is_timeout() => {
            StoreError::unavailable(format_args!("Redis does not answer: {why}"))
        }
        _ => StoreError::failed(format_args!("Redis has rejected a command: {why}")),
    }
}
