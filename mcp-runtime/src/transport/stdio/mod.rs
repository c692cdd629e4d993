//! The process's own standard streams as a transport.
//!
//! [`Guard::install`] takes the two streams away from all other code: `println!`, libraries that print, child processes that inherit them
//! by accident. From then on [`Input`] and [`Output`] are the only access to the protocol, and bytes written to fd 1 go to stderr (rule
//! STDIO-02).
//!
//! A pipe or a socket that stderr does not share is made non-blocking and polled by tokio. So a message costs one read and one write, and
//! no thread. Everything else (files, terminals, a pipe that stderr shares, Windows) is served by threads that block. `O_NONBLOCK` belongs
//! to the open file description: setting it on a shared one would make the writes of its other users fail.

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
