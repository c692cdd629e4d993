//! Counts of all servers that share a store.

use crate::storage::{Output, StoreOperation, Transaction, TransactionResult};

/// Partition of the places of all sessions. The records of each session have a partition of their own, so that a Redis Cluster can spread
/// them over its servers.
pub(crate) const SESSIONS: &str = "sessions";

/// Name of the places of all sessions, in the partition [`SESSIONS`].
pub(crate) const ALL_SESSIONS: &str = "all";

/// Counts of all servers that share a store.
///
/// [`Handle::shared_stats`](crate::Handle::shared_stats) returns them. They are read one after another, so two numbers may come from
/// slightly different times. The counts of a server that has died end with its leases, after less than a minute.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Describes how busy all servers are.
/// #[tool]
/// async fn load(server: Handle) -> Result<String> {
///     let Some(stats) = server.shared_stats().await? else {
///         return Ok("this server is alone".to_owned());
///     };
///     let running: u64 = stats.items().iter().map(|item| item.running()).sum();
///     Ok(format!("{} servers, {} sessions, {running} limited calls", stats.servers(), stats.sessions()))
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct SharedStats {
    pub(crate) servers: usize,
    pub(crate) sessions: u64,
    pub(crate) items: Vec<SharedItemStats>,
}

/// Count of the running calls of one item that has a `concurrency`, on all servers that share a store.
///
/// [`SharedStats::items`] returns them.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Names the items that run now.
/// #[tool]
/// async fn running_items(server: Handle) -> Result<String> {
///     let Some(stats) = server.shared_stats().await? else { return Ok(String::new()) };
///     let running = stats.items().iter().filter(|item| item.running() > 0);
///     Ok(running.map(|item| item.name()).collect::<Vec<_>>().join(", "))
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct SharedItemStats {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) running: u64,
}

impl SharedStats {
    /// Returns the number of live servers, this one included.
    pub fn servers(&self) -> usize {
        self.servers
    }

    /// Returns the number of sessions over HTTP, those of HTTP+SSE not included. Calls of protocol revision 2026-07-28 need no session.
    pub fn sessions(&self) -> u64 {
        self.sessions
    }

    /// Returns the counts of the current items of this server that have a `concurrency`.
    pub fn items(&self) -> &[SharedItemStats] {
        &self.items
    }
}

impl SharedItemStats {
    /// Returns the kind of the item: `"tool"`, `"resource"` or `"prompt"`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the name of the item.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of calls that run now, on all servers together.
    pub fn running(&self) -> u64 {
        self.running
    }
}

/// Returns the transaction that counts the sessions of all servers.
pub(crate) fn count_sessions() -> Transaction {
    Transaction::on(SESSIONS).then(StoreOperation::count(ALL_SESSIONS))
}

/// Returns the count in the result of a transaction that only counts places.
pub(crate) fn counted(result: Option<TransactionResult>) -> u64 {
    match result.and_then(Result::ok).as_deref() {
        Some([Output::Count(count)]) => *count,
        _ => 0,
    }
}
