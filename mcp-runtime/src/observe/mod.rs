//! What can be seen of a running server: the log of a call, for the client that asked and on stderr.

#[cfg(feature = "client-log")]
mod client_log;
mod scope;

#[cfg(all(feature = "client-log", feature = "stdio"))]
pub(crate) use client_log::install;
#[cfg(feature = "client-log")]
pub use client_log::{ClientLog, client_log};
pub(crate) use scope::enter;

use crate::model::Level;

/// Whether log events of calls reach clients: only then is `logging` advertised (LOG-01).
pub(crate) fn is_logging() -> bool {
    #[cfg(feature = "client-log")]
    return client_log::is_installed();
    #[cfg(not(feature = "client-log"))]
    false
}

/// A client wants events of this level and above.
pub(crate) fn listen(level: Level) {
    #[cfg(feature = "client-log")]
    client_log::listen(level);
    #[cfg(not(feature = "client-log"))]
    let _ = level;
}
