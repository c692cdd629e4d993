//! In-process client for tests. Requests pass through all layers of the server, but not through sockets or pipes of the operating system.
//!
//! | test | checks |
//! |---|---|
//! | [`TestClient`] | the results of requests |
//! | [`assert_builds!`] | that the server can be built, without starting it |
//! | [`assert_contract!`] (feature `contract`) | that the server still keeps the contract in its lock file |
//! | [`assert_replays!`] (feature `workbench`) | that the server answers as in a recorded session |
//! | [`store_suite!`] (feature `store-suite`) | that a [store](crate::store::Store) of your own does what the server relies on |
//! | [`FaultyStore`] (feature `store-suite`) | answers that clients get while a store delays, fails or repeats a request |
//!
//! The client needs a tokio runtime, as in a `#[tokio::test]`. Add `tokio` (with the features `macros` and `rt`) and `serde_json` to your
//! dev-dependencies. Build the server in a function, so that `main` and the tests use the same server.
//!
//! ```
//! use mcp_runtime::{prelude::*, testing::TestClient};
//! use serde_json::json;
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! fn server() -> mcp_runtime::Builder {
//!     mcp_runtime::server!().items(items![add])
//! }
//!
//! // In a test, write `#[tokio::test]` here.
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut client = TestClient::connect(server()).await?;
//!     let sum = client.call("add", json!({ "a": 40, "b": 2 })).await?;
//!     assert_eq!(sum.text(), "42");
//!     Ok(())
//! }
//! ```
//!
#![cfg_attr(
    not(all(feature = "contract", feature = "store-suite", feature = "workbench")),
    doc = include_str!("../../docs/links.md")
)]

#[allow(missing_docs, reason = "public only for generated code")]
#[macro_use]
pub(crate) mod builds;
mod client;
#[cfg(feature = "contract")]
#[allow(missing_docs, reason = "public only for generated code")]
#[macro_use]
pub(crate) mod contract;
#[cfg(feature = "store-suite")]
mod faulty_store;
mod operations;
#[cfg(feature = "workbench")]
#[allow(missing_docs, reason = "public only for generated code")]
#[macro_use]
pub(crate) mod replay;
#[cfg(feature = "workbench")]
pub(crate) mod replayed_log;
mod results;
#[cfg(feature = "store-suite")]
#[doc(hidden)]
#[allow(missing_docs, reason = "public only for the macro `store_suite!`")]
#[macro_use]
pub mod store_suite;

#[cfg(feature = "store-suite")] // cargo add --dev mcp-runtime --features store-suite
pub use faulty_store::{FaultyStore, StoreFault};

#[cfg(feature = "stdio")]
pub(crate) use client::next_round;
pub use client::{Ongoing, TestClient};
#[cfg(feature = "workbench")]
pub(crate) use operations::CompletionTarget;
pub use results::{Called, Completed, Prompted, ReadContents, RpcError};

pub use crate::protocol::Revision;
#[doc(inline)]
pub use __assert_builds as assert_builds;
#[cfg(feature = "contract")] // cargo add --dev mcp-runtime --features contract
#[doc(inline)]
pub use __assert_contract as assert_contract;
#[cfg(feature = "workbench")] // cargo add --dev mcp-runtime --features workbench
#[doc(inline)]
pub use __assert_replays as assert_replays;
#[cfg(feature = "store-suite")] // cargo add --dev mcp-runtime --features store-suite
#[doc(inline)]
pub use __store_suite as store_suite;
