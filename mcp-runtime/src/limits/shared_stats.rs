//! Counts of all servers that share a store.

use super::shared_gate::SharedLimits;
use crate::storage::{Output, StoreError, StoreOperation, Transaction, TransactionResult};

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
///     let (servers, sessions) = (stats.servers(), stats.sessions());
///     Ok(format!("{servers} servers, {sessions} sessions, {running} limited calls"))
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct SharedStats {
    servers: usize,
    sessions: u64,
    items: Vec<SharedItemStats>,
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
    kind: &'static str,
    name: String,
    running: u64,
}

impl SharedStats {
    /// Reads the counts. `servers` lists the live servers, and `count_servers` counts them in its outputs. Each item comes with the
    /// transaction that counts its calls.
    ///
    /// # Errors
    /// Fails if the store fails, or does not answer in time.
    pub(crate) async fn read(
        limits: &SharedLimits,
        servers: Transaction,
        count_servers: fn(&[Output]) -> usize,
        items: Vec<(SharedItemStats, Transaction)>,
    ) -> Result<Self, StoreError> {
        let (mut items, counts): (Vec<_>, Vec<_>) = items.into_iter().unzip();
        let sessions = Transaction::on(SESSIONS).then(StoreOperation::count(ALL_SESSIONS));
        let transactions = [servers, sessions].into_iter().chain(counts);
        let mut results = limits.execute(transactions.collect()).await?.into_iter();
        let servers = results.next().and_then(Result::ok);
        let servers = servers.map_or(0, |listed| count_servers(&listed));
        let sessions = counted(results.next());
        for item in &mut items {
            item.running = counted(results.next());
        }
        Ok(Self { servers, sessions, items })
    }

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
    /// Creates the count of an item, which is 0 until it is read.
    pub(crate) fn new(kind: &'static str, name: String) -> Self {
        Self { kind, name, running: 0 }
    }

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

/// Returns the count in the result of a transaction that only counts places.
fn counted(result: Option<TransactionResult>) -> u64 {
    match result.and_then(Result::ok).as_deref() {
        Some([Output::Count(count)]) => *count,
        _ => 0,
    }
}
