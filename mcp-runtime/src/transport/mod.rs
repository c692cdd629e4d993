//! Transports: stdio, HTTP, byte streams, and the in-process connection.

#[cfg(feature = "http")]
pub(crate) mod http;
pub(crate) mod in_process;
pub(crate) mod lines;
#[cfg(any(feature = "http", feature = "stdio"))]
#[cfg_attr(
    not(any(feature = "http", unix)),
    allow(dead_code, reason = "stdio has an alarm only where there is SIGTERM")
)]
mod runtime;
#[cfg(all(feature = "stdio", any(unix, windows)))]
pub(crate) mod stdio;
pub(crate) mod stream;

#[cfg(feature = "stdio")]
pub(crate) use self::runtime::block_on;
#[cfg(all(feature = "http", feature = "stdio", unix))]
pub(crate) use self::stdio::relay_stderr;

/// Does nothing: stderr is relayed on Unix, with the feature `stdio`.
#[cfg(all(feature = "http", not(all(feature = "stdio", unix))))]
pub(crate) fn relay_stderr() {}
