//! The process's own standard streams as a transport.
//!
//! [`Guard::install`] takes the two streams away from everybody else: `println!`, a library that prints, a child that
//! inherits what it was not meant to. From then on [`Input`] and [`Output`] are the only way to the wire, and what
//! goes to fd 1 ends up on stderr (STDIO-02).
//!
//! A pipe or a socket of our own is made non-blocking and polled by tokio, so a message costs one read and one write
//! and no thread. Everything else (files, terminals, a pipe that stderr shares, Windows) is served by threads that
//! block, because `O_NONBLOCK` belongs to the open file description: setting it on one that others use would make
//! their writes fail.

mod blocking;
#[cfg(unix)]
mod descriptor;
mod guard;
mod input;
mod output;
mod run;
mod terminated;
#[cfg(unix)]
mod watchdog;

pub use self::guard::{Guard, restore};
pub use self::input::Input;
pub use self::output::Output;
pub(crate) use self::run::run;
