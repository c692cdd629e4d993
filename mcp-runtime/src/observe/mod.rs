//! Logs of a running server: the events of a call go to the client that asked for them, and to stderr.

#[cfg(feature = "client-log")]
mod client_log;
#[cfg(all(feature = "client-log", feature = "stdio"))]
mod lazy_subscriber;

#[cfg(all(feature = "client-log", feature = "stdio"))]
pub(crate) use client_log::install;
#[cfg(feature = "client-log")]
pub use client_log::{ClientLog, client_log};
