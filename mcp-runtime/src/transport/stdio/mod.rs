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

mod blocking;
#[cfg(unix)]
mod descriptors;
mod guard;
#[cfg(unix)]
mod polled;
mod run;
mod streams;
#[cfg(unix)]
mod watchdog;

pub use self::guard::{StdioGuard, restore};
pub(crate) use self::run::{run, serve, serve_until};
pub use self::streams::{StdioInput, StdioOutput};
