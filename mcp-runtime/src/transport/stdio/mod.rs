//! The process's own standard streams as a transport.
//!
//! [`StdioGuard::install`] takes the two streams away from all other code: `println!`, libraries that print, and child processes that
//! inherit the streams by accident. From then on [`StdioInput`] and [`StdioOutput`] are the only access to the protocol, and bytes written
//! to fd 1 go to stderr (rule STDIO-02).
//!
//! A pipe or a socket that stderr does not share is made non-blocking and polled by tokio. So a message costs one read and one write, and
//! needs no thread. All other streams (files, terminals, a pipe that stderr shares, all streams on Windows) are served by blocking threads.
//! `O_NONBLOCK` belongs to the open file description. If it were set on a shared description, the writes of the other users would fail.

mod blocking;
mod guard;
#[cfg(unix)]
mod polled;
mod run;
mod streams;
#[cfg(unix)]
mod watchdog;

pub use self::guard::{StdioGuard, restore};
pub(crate) use self::run::{run, serve};
pub use self::streams::{StdioInput, StdioOutput};
