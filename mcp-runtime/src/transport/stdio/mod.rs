//! The process's own standard streams as a transport.
//!
//! [`StdioGuard::install`] makes the two streams inaccessible to all other code: `println!`, libraries that print, and child processes that
//! inherit the streams by accident. After that, [`StdioInput`] and [`StdioOutput`] are the only access to the protocol, and bytes written
//! to fd 1 go to stderr (rule STDIO-02).
//!
//! A pipe or a socket that stderr does not share is made non-blocking and polled by tokio. Each message then costs one read and one write,
//! without a switch to a different thread. All other streams (files, terminals, a pipe that stderr shares, all streams on Windows) are
//! served by blocking threads, and stay blocking: `O_NONBLOCK` is a flag of the open file description, so setting it would make writes of
//! other processes to a shared description fail.
//!
//! A server also relays its stderr if stderr is a pipe or a socket, because a client that does not read a full pipe would block the server.

mod blocking;
mod guard;
#[cfg(unix)]
mod polled;
mod run;
#[cfg(unix)]
mod stderr;
mod streams;
#[cfg(unix)]
mod system_calls;
#[cfg(unix)]
mod watchdog;

pub use self::guard::{StdioGuard, restore};
pub(crate) use self::run::{run, serve, serve_until};
#[cfg(all(feature = "http", unix))]
pub(crate) use self::stderr::relay as relay_stderr;
pub use self::streams::{StdioInput, StdioOutput};
