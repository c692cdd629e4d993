//! Store that several servers of one test share, with a connection that a test can cut.

use std::{
    future::pending,
    sync::{Arc, Mutex},
};

use mcp_runtime::store::{
    Follower, MemoryStore, Store, StoreError, StoreFuture, StoreOperation, Transaction,
    TransactionResult,
};

/// State of a node's connection to the store.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Line {
    #[default]
    Works,
    /// The store is unavailable, and applies nothing.
    Cut,
    /// The store applies everything, but no answer arrives.
    Silent,
}

/// Connection of one node to a store that several nodes share.
#[derive(Clone, Default)]
pub(crate) struct NodeStore {
    store: Arc<MemoryStore>,
    line: Arc<Mutex<Line>>,
    /// Transactions of each call of `execute`, except those that a node executes on its own.
    executed: Arc<Mutex<Vec<Vec<Transaction>>>>,
}

impl NodeStore {
    pub(crate) fn pair() -> [Self; 2] {
        let store = Arc::new(MemoryStore::new().shared());
        [0, 1].map(|_| Self { store: store.clone(), ..Self::default() })
    }

    pub(crate) fn set(&self, line: Line) {
        *self.line.lock().unwrap() = line;
    }

    /// Returns a text for each call of `execute` since the last call of this method: the names of the operations, with commas between
    /// transactions.
    pub(crate) fn executed(&self) -> Vec<String> {
        let name = |operation: &StoreOperation| match operation {
            StoreOperation::Enter { .. } => "enter",
            StoreOperation::Leave { .. } => "leave",
            StoreOperation::Pass { .. } => "pass",
            StoreOperation::Put { .. } => "put",
            _ => "other",
        };
        let of_one = |transaction: &Transaction| {
            transaction.operations.iter().map(name).collect::<Vec<_>>().join(" ")
        };
        let executed = std::mem::take(&mut *self.executed.lock().unwrap());
        let calls = executed.iter().map(|call| call.iter().map(of_one).collect::<Vec<_>>());
        calls.map(|call| call.join(", ")).collect()
    }
}

impl Store for NodeStore {
    fn is_shared(&self) -> bool {
        true
    }

    fn execute(&self, transactions: Vec<Transaction>) -> StoreFuture<'_, Vec<TransactionResult>> {
        // Nodes renew their leases and read their keys on their own, and not for a call.
        let is_of_calls = |transaction: &&Transaction| {
            !["nodes", "state-keys"].contains(&&*transaction.partition)
        };
        let of_calls: Vec<_> = transactions.iter().filter(is_of_calls).cloned().collect();
        if !of_calls.is_empty() {
            self.executed.lock().unwrap().push(of_calls);
        }
        let line = *self.line.lock().unwrap();
        Box::pin(async move {
            // The answer of a store on another machine takes a while.
            tokio::task::yield_now().await;
            if line == Line::Cut {
                return Err(StoreError::unavailable("no route to the host `store`"));
            }
            let results = self.store.execute(transactions).await;
            if line == Line::Silent {
                pending::<()>().await;
            }
            results
        })
    }

    fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.store.follow(partition, log, after)
    }
}
