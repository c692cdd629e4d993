//! In-process client for `#[test]`s. Its requests go through all layers of the server, but not through sockets or pipes of the operating
//! system.
//!
//! Use it in a `#[tokio::test]`. The crate then needs `tokio` (with `macros` and `rt`) and `serde_json` among its dev-dependencies. Keep
//! the server in a function, so that `main` and the tests share it. [`assert_builds!`] checks the server without starting it.
//!
//! ```
//! fn server() -> mcp_runtime::Builder {
//!     mcp_runtime::server!()
//! }
//! # let _ = server();
//! ```
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
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let mut client = TestClient::connect(mcp_runtime::server!().items(items![add])).await?;
//! assert_eq!(client.call("add", json!({ "a": 40, "b": 2 })).await?.text(), "42");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

#[allow(missing_docs, reason = "public only for generated code")]
pub(crate) mod builds;
mod client;
#[cfg(feature = "contract")]
#[allow(missing_docs, reason = "public only for generated code")]
pub(crate) mod contract;
mod operations;
mod results;

#[cfg(feature = "stdio")]
pub(crate) use client::next_round;
pub use client::{Ongoing, TestClient};
pub use results::{Called, Completed, Prompted, ReadContents, RpcError};

pub use crate::protocol::Revision;
#[doc(inline)]
pub use crate::__assert_builds as assert_builds;
#[cfg(feature = "contract")]
#[doc(inline)]
pub use crate::__assert_contract as assert_contract;
