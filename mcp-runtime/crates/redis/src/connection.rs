//! Connection on which transactions run. It is opened on first use, and replaced after it has failed.

use std::{sync::Arc, time::Duration};

use mcp_runtime::store::StoreError;
use redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, RedisError, RedisResult, ServerErrorKind, Value,
    aio::{ConnectionLike, MultiplexedConnection},
    cluster_async::ClusterConnection,
};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};

use crate::{address::Address, script};

/// Maximum time for an attempt to connect. It takes several round trips, and may ask sentinels and the nodes of a cluster.
const CONNECT: Duration = Duration::from_secs(5);

/// Time between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(200);

/// Connection to Redis. Commands of several callers share it, and are sent without waiting for each other.
pub(crate) struct Connection {
    address: Arc<Address>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    connection: Option<OpenConnection>,
    /// Number of the connection, by which a caller that has seen it fail names it.
    number: u64,
    /// Time of the last attempt that failed, and its error.
    failed: Option<(Instant, RedisError)>,
}

#[derive(Clone)]
enum OpenConnection {
    Single(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl Connection {
    pub(crate) fn new(address: Arc<Address>) -> Self {
        Self { address, open: Mutex::default() }
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
            && at.elapsed() < PAUSE
        {
            return Err(why.clone());
        }
        let connected = timeout(CONNECT, self.connect()).await;
        let connected = connected.unwrap_or_else(|_| {
            Err(RedisError::from((ErrorKind::Io, "Redis does not answer a new connection")))
        });
        match connected {
            Ok(connection) => {
                open.number += 1;
                open.connection = Some(connection.clone());
                open.failed = None;
                Ok((connection, open.number))
            }
            Err(why) => {
                open.failed = Some((Instant::now(), why.clone()));
                Err(why)
            }
        }
    }

    async fn connect(&self) -> RedisResult<OpenConnection> {
        // The deadline of a command is that of the store, so the library sets none.
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
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

    /// Sends a command. A command that names a script which Redis does not know is sent again after the script was loaded, because Redis has
    /// not executed it.
    pub(crate) async fn send(self: &Arc<Self>, command: &Cmd) -> RedisResult<Value> {
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
        }
        result
    }

    /// Returns the version of the server.
    pub(crate) async fn version(self: &Arc<Self>) -> RedisResult<String> {
        let mut info = redis::cmd("INFO");
        info.arg("server");
        let (mut connection, _) = self.get().await?;
        let text: String = match &mut connection {
            OpenConnection::Single(connection) => info.query_async(connection).await?,
            OpenConnection::Cluster(connection) => {
                use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
                let any = RoutingInfo::SingleNode(SingleNodeRoutingInfo::Random);
                redis::from_redis_value(connection.route_command(info, any).await?)?
            }
        };
        let version = text.lines().find_map(|line| line.strip_prefix("redis_version:"));
        Ok(version.unwrap_or("0").trim().to_owned())
    }
}

impl OpenConnection {
    async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Self::Single(connection) => {
                connection.req_packed_command(command).await?.extract_error()
            }
            Self::Cluster(connection) => {
                connection.req_packed_command(command).await?.extract_error()
            }
        }
    }

    /// Loads the script. In a cluster, every node gets it.
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

fn is(result: &RedisResult<Value>, kind: ServerErrorKind) -> bool {
    result.as_ref().is_err_and(|why| why.kind() == ErrorKind::Server(kind))
}

/// Whether another connection may work where this one has failed: it is broken, or the server is no longer the primary.
fn is_of_connection(why: &RedisError) -> bool {
    why.is_io_error()
        || why.is_connection_dropped()
        || why.is_unrecoverable_error()
        || why.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
}

/// Returns the error of the store for an error of the library.
pub(crate) fn failure(why: &RedisError) -> StoreError {
    match why.kind() {
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::TryAgain,
        )
        | ErrorKind::Io
        | ErrorKind::ClusterConnectionNotFound
        | ErrorKind::MasterNameNotFoundBySentinel
        | ErrorKind::EmptySentinelList => {
            StoreError::unavailable(format_args!("Redis does not answer: {why}"))
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
