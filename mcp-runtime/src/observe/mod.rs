//! What can be seen of a running server: the log of a call, for the client that asked and on stderr.

#[cfg(feature = "client-log")]
mod client_log;
#[cfg(all(feature = "client-log", feature = "stdio"))]
mod unbuilt;

#[cfg(all(feature = "client-log", feature = "stdio"))]
pub(crate) use client_log::install;
#[cfg(feature = "client-log")]
pub use client_log::{ClientLog, client_log};
