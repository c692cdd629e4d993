//! Interface of the stores that keep what outlasts a process or is shared by several, and the store in memory. Public as
//! [`store`](crate::store).

mod interface;
mod measured;
mod memory;
mod offered;
mod transaction;

pub(crate) use interface::execute;
pub use interface::{Follower, Store, StoreError, StoreFuture, try_while_unavailable};
pub use measured::StoreStats;
pub(crate) use measured::{MeasuredStore, StoreCounters};
pub use memory::MemoryStore;
#[cfg(not(any(target_family = "wasm", feature = "inventory")))]
pub use offered::MCP_RUNTIME_STORES_0;
pub use offered::OfferedStore;
pub(crate) use offered::offered_store;
pub use transaction::{
    Condition, IndexEntry, LogEvent, Output, Record, Rejection, StoreOperation, Transaction,
    TransactionResult,
};
