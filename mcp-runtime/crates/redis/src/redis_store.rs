//! The store and its settings.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use mcp_runtime::store::{
    Follower, Store, StoreFuture, Transaction, TransactionResult, offer_store,
};

use crate::{
    address::{self, Address},
    follower::RedisFollower,
    redis_core::RedisCore,
};

/// Store in Redis or Valkey.
///
/// **Servers with the same Redis and the same prefix are nodes of one server**, and must be built from the same program. Different servers
/// need different prefixes.
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
/// User and password are percent-encoded. In a URL with several hosts they stand in front of the first host and hold for all of them. The
/// sentinels get neither, because user and password belong to the primary. With the feature `tls`, the schemes `rediss+sentinel` and
/// `rediss+cluster` use TLS for the connections to all servers, the sentinels among them. TLS connections trust the certificate authorities of
/// the operating system, and those in the file that `SSL_CERT_FILE` names.
///
/// If Redis has users with limited rights, the user of the server needs the keys and the channels of the prefix, and `INFO`. The command
/// `ACL SETUSER app on >password ~mcp:* &mcp:* +@all -@dangerous +info` creates such a user.
///
/// When the server starts, it connects, tries each operation once, and subscribes to a channel. Each of the three may take five seconds, or a
/// longer [`deadline`](Self::deadline). The server does not start if Redis does not answer in this time, is older than version 6.2, accepts
/// no writes, or does not give its user the rights for the keys and channels with this prefix. After that, while Redis is unavailable, the server tries each further step of its start again
/// for about five seconds. If Redis becomes unavailable later, each transaction fails after the [`deadline`](Self::deadline), and the store
/// connects again by itself, every 200 ms at first and every two seconds later. It also does so after a second without any answer, because
/// a server that hangs, or whose machine is lost, closes no connection.
///
/// There is no pool of connections, because a further connection would make nothing faster. All transactions share one connection and do
/// not wait for each other's answers. No command blocks, and Redis executes one script at a time. A second connection announces new events
/// of logs. A cluster has a connection to each of its nodes.
///
/// ```no_run
/// use mcp_runtime_redis::Redis;
///
/// let server =
///     mcp_runtime::server!().store(Redis::new("redis://127.0.0.1:6379").prefix("notes:"));
/// ```
pub struct Redis(Arc<RedisCore>);

impl Redis {
    /// Creates a store at this URL. The store connects when the server starts.
    pub fn new(url: impl AsRef<str>) -> Self {
        Self(Arc::new(RedisCore {
            address: Address::parse(url.as_ref()).map(Arc::new),
            hosts: address::hosts(url.as_ref()).to_owned(),
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
