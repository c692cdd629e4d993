//! The store and its settings.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::future::try_join_all;
use mcp_runtime::store::{
    Follower, Store, StoreError, StoreFuture, Transaction, TransactionResult, offer_store,
};

use crate::{
    address::Address,
    connection::{Connection, failure},
    follower::RedisFollower,
    script,
    subscriber::Subscriber,
};

/// Oldest version of Redis that has the commands of the store.
const OLDEST: (u32, u32) = (6, 2);

/// Store in Redis or Valkey.
///
/// **Each server needs its own prefix.** When a server starts, it ends the unfinished tasks under its prefix, or runs them again.
///
/// Set it with [`Builder::store`](mcp_runtime::Builder::store). These URLs are known:
///
/// | URL | Redis |
/// |---|---|
/// | `redis://user:password@host:6379/0` | one server; user, password and database may be left out |
/// | `rediss://host:6379` (feature `tls`) | one server, over TLS |
/// | `redis+sentinel://one:26379,two:26379/mymaster` | the primary of this name, which the sentinels know |
/// | `redis+cluster://one:7000,two:7001` | a cluster with these nodes, and those that they name |
///
/// User and password are percent-encoded. In a URL with several hosts they stand in front of the first host and hold for all of them.
/// Sentinels get neither, because they are those of the primary. TLS connections trust the certificate authorities of the operating system,
/// and those in the file that `SSL_CERT_FILE` names. Sentinels and clusters over TLS are not supported.
///
/// The server connects when it starts, and does not start if Redis cannot be reached within five seconds, or is older than version 6.2. If
/// Redis is away later, the store fails each transaction after the [`deadline`](Self::deadline), and connects again by itself, at most every
/// 200 ms.
///
/// There is no pool of connections, because a further connection would make nothing faster: all transactions share one connection and do
/// not wait for each other's answers, no command blocks, and Redis executes one script at a time. A second connection announces new events
/// of logs. A cluster has a connection to each of its nodes.
///
/// ```no_run
/// use mcp_runtime_redis::Redis;
///
/// let server =
///     mcp_runtime::server!().store(Redis::new("redis://127.0.0.1:6379").prefix("notes:"));
/// ```
pub struct Redis(Arc<RedisCore>);

/// Settings and connections, which followers share with the store.
pub(crate) struct RedisCore {
    /// Address, or the reason why the URL names none.
    address: Result<Arc<Address>, String>,
    prefix: String,
    deadline: Duration,
    connection: OnceLock<Connection>,
    subscriber: OnceLock<Subscriber>,
}

impl Redis {
    /// Creates a store at this URL. The store connects when the server starts.
    pub fn new(url: impl AsRef<str>) -> Self {
        Self(Arc::new(RedisCore {
            address: Address::parse(url.as_ref()).map(Arc::new),
            prefix: "mcp:".to_owned(),
            deadline: Duration::from_millis(250),
            connection: OnceLock::new(),
            subscriber: OnceLock::new(),
        }))
    }

    /// Sets the prefix of all names in Redis. Servers that must not share anything need different prefixes. Default: `mcp:`.
    ///
    /// # Panics
    /// Panics if the prefix contains a brace, because braces mark the names that a cluster keeps together.
    #[must_use]
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        let prefix = prefix.into();
        assert!(!prefix.contains(['{', '}']), "the prefix `{prefix}` contains a brace");
        self.change(|core| core.prefix = prefix)
    }

    /// Sets the time after which a transaction without an answer fails. Connecting counts too. Default: 250 ms.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        self.change(|core| core.deadline = deadline)
    }

    fn change(self, change: impl FnOnce(&mut RedisCore)) -> Self {
        let Self(mut core) = self;
        // Nothing else holds the settings before the server is built.
        if let Some(core) = Arc::get_mut(&mut core) {
            change(core);
        }
        Self(core)
    }
}

impl RedisCore {
    fn address(&self) -> Result<&Arc<Address>, StoreError> {
        self.address
            .as_ref()
            .map_err(|why| StoreError::failed(format_args!("the URL of Redis is invalid: {why}")))
    }

    fn connection(&self) -> Result<&Connection, StoreError> {
        let address = self.address()?;
        Ok(self.connection.get_or_init(|| Connection::new(address.clone())))
    }

    /// Returns the subscriptions, and starts their task on first use.
    pub(crate) fn subscriber(&self) -> Option<&Subscriber> {
        let address = self.address.as_ref().ok()?;
        Some(self.subscriber.get_or_init(|| Subscriber::start(address.clone())))
    }

    pub(crate) fn partition_key(&self, partition: &str) -> String {
        script::partition_key(&self.prefix, partition)
    }

    /// Executes transactions. They are sent together, so that they take one round trip.
    pub(crate) async fn execute(
        &self,
        transactions: Vec<Transaction>,
    ) -> Result<Vec<TransactionResult>, StoreError> {
        let connection = self.connection()?;
        let run = async |transaction: &Transaction| {
            let command = script::command(&self.prefix, transaction)?;
            let value = connection.send(&command).await.map_err(|why| failure(&why))?;
            script::read(transaction, value)
        };
        let all = try_join_all(transactions.iter().map(run));
        tokio::time::timeout(self.deadline, all).await.unwrap_or_else(|_| Err(self.is_late()))
    }

    fn is_late(&self) -> StoreError {
        let deadline = self.deadline;
        StoreError::unavailable(format_args!(
            "Redis does not answer within {deadline:?} (`Redis::deadline`)"
        ))
    }

    async fn open(&self) -> Result<(), StoreError> {
        // A start may take longer than a request: names are resolved, and sentinels and nodes are asked.
        let deadline = self.deadline.max(Duration::from_secs(5));
        let version = self.connection()?.version();
        let version = tokio::time::timeout(deadline, version).await;
        let version = version.map_err(|_| self.is_late())?.map_err(|why| {
            StoreError::unavailable(format_args!("cannot connect to Redis: {why}"))
        })?;
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if found < OLDEST {
            return Err(StoreError::failed(format_args!(
                "Redis is version {version}: the store needs {}.{} or later, or Valkey",
                OLDEST.0, OLDEST.1
            )));
        }
        Ok(())
    }
}

// Servers have different names, so programs that share a Redis do not become nodes of each other.
offer_store!("MCP_REDIS_URL", |url, server| {
    Redis::new(url).prefix(format!("{}:", server.replace(['{', '}'], "-")))
});

impl Store for Redis {
    fn open(&self) -> StoreFuture<'_, ()> {
        Box::pin(self.0.open())
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        Box::pin(self.0.execute(transactions))
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        Box::new(RedisFollower::new(self.0.clone(), partition, log, after))
    }
}

impl fmt::Debug for Redis {
    /// Leaves out the URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("prefix", &self.0.prefix).finish_non_exhaustive()
    }
}
