//! Where tasks are kept.

use std::sync::Arc;

use super::Builder;
use crate::task::{MemoryTasks, TaskStore};

/// In memory unless said.
pub(super) struct ChosenStore(pub(super) Arc<dyn TaskStore>);

impl Default for ChosenStore {
    fn default() -> Self {
        Self(Arc::new(MemoryTasks::new()))
    }
}

impl Builder {
    /// Where tasks are kept, instead of in memory: in a store that outlasts the process, a task that has finished is still there after a
    /// restart, and one that was running ends and says why, or runs again if its tool is `idempotent`. `SqliteTasks` (feature
    /// `sqlite`) is such a store.
    ///
    /// What runs again runs for the caller who began it, if the tool's `scopes` and policies still let that one use it: with what
    /// its token granted then, and with claims that were JSON, such as those of `Jwt`. Both are in the store for as long as
    /// the task runs; the token is not, nor is another provider's. A handler that takes claims which a verifier gave as a type of its own
    /// fails, and says that it has to be called again.
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
