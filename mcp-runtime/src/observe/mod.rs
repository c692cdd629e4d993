//! Logging of a running server. The `tracing` events of a call are written to stderr, and are sent to the client if it has asked for log
//! messages.

#[cfg(feature = "client-log")]
mod client_log;
#[cfg(all(feature = "client-log", feature = "stdio"))]
mod lazy_subscriber;
#[cfg(all(feature = "client-log", feature = "stdio"))]
mod log_filter;

#[cfg(all(feature = "client-log", feature = "stdio"))]
pub(crate) use client_log::install;
#[cfg(all(feature = "client-log", feature = "workbench"))]
pub(crate) use client_log::install_in_test;
#[cfg(feature = "client-log")]
pub use client_log::{ClientLog, client_log};
