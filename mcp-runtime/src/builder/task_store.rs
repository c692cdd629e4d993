//! Setting of the task store.

use std::sync::Arc;

use super::Builder;
use crate::task::{MemoryTasks, TaskStore};

/// Store of tasks; in memory by default.
pub(super) struct ChosenStore(pub(super) Arc<dyn TaskStore>);

impl Default for ChosenStore {
    fn default() -> Self {
        Self(Arc::new(MemoryTasks::new()))
    }
}

impl Builder {
    /// Sets the store that keeps tasks. Default: in memory.
    ///
    /// With a store that outlasts the process, a finished task is still there after a restart. A task that was running ends with an error
    /// that says why, or runs again if its tool is `idempotent`. `SqliteStore` (feature `sqlite`) is such a store.
    ///
    /// A task that runs again runs for the caller who began it, if the tool's `scopes` and policies still accept that caller. It has the
    /// scopes that the token granted then, and claims that were JSON, such as those of `Jwt`. The store keeps both as long as the task
    /// runs. It never keeps the token, nor a token of another provider. A handler that takes claims of a verifier's own type fails, with an
    /// error that says to call it again.
    ///
    /// ```
    /// use mcp_runtime::MemoryTasks;
    ///
    /// let server = mcp_runtime::server!().task_store(MemoryTasks::new().most(100));
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn task_store(mut self, store: impl TaskStore) -> Self {
        self.task_store = ChosenStore(Arc::new(store));
        self
    }
}
