//! Result of a command: its output, its failure, and the exit code of the process.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    process::{ExitCode, Termination},
    task::{Context, Poll},
};

use crate::unavailable::Unavailable;

/// Outcome of a command or a server, as the exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitStatus {
    Success = 0,
    Failure = 1,
    Usage = 2,
}

/// Exit code of the process. [`run`](crate::Builder::run) returns it, and `main` passes it on.
///
/// The code is 0 for success, 1 for a failure and 2 for a wrong command line.
///
/// ```no_run
/// fn main() -> mcp_runtime::Exit {
///     mcp_runtime::server!().run()
/// }
/// ```
///
/// To use `?` in `main`, return a `Result` that contains the `Exit`:
///
/// ```no_run
/// use mcp_runtime::Exit;
///
/// fn main() -> Result<Exit, Box<dyn std::error::Error>> {
///     let motto = std::fs::read_to_string("motto.txt")?;
///     Ok(mcp_runtime::server!().state(motto).run())
/// }
/// ```
///
/// A `main` of another type ignores the `Exit`, and the process then ends with code 0 even if the server could not start. The compiler warns
/// about that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the exit code of the process: return it from `main`"]
pub struct Exit(ExitStatus);

impl From<ExitStatus> for Exit {
    fn from(code: ExitStatus) -> Self {
        Self(code)
    }
}

impl Exit {
    /// Returns the exit code: 0, 1 or 2.
    ///
    /// ```
    /// # fn main() {
    /// let exit = mcp_runtime::server!().run_from(["lst"]);
    /// assert_eq!(exit.code(), 2);
    /// # }
    /// ```
    pub fn code(self) -> u8 {
        self.0 as u8
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        self.code().into()
    }
}

/// Trait that `.await` on an `Exit` requires. No type implements it.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`run` blocks until the server has ended, so there is nothing to await",
    label = "not a future",
    note = "call `run()` from a plain `fn main`, without `async`, `#[tokio::main]` and `.await`; on a runtime of your own write `.serve_stdio().await`"
)]
pub trait Awaited {
    type Output;
}

/// This `impl` never applies, but it replaces the compiler's error for `.await` on an `Exit`. That error suggests removing the `.await`,
/// after which `run` would fail on the runtime of its caller.
#[doc(hidden)]
impl Future for Exit
where
    for<'a> Unavailable<'a>: Awaited,
{
    // No type implements `Awaited`, so this type stays unknown and its use causes no further error.
    type Output = <Unavailable<'static> as Awaited>::Output;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        unreachable!("`.await` on an `Exit` does not compile")
    }
}

/// Outcome of a command: `text` for stdout, `aside` for stderr, and whether the command failed.
pub(super) struct CommandOutput {
    pub(super) text: String,
    pub(super) aside: String,
    pub(super) end: Result<(), CommandError>,
}

impl From<String> for CommandOutput {
    fn from(text: String) -> Self {
        Self { text, aside: String::new(), end: Ok(()) }
    }
}

/// Failure of a command: the message for stderr and the exit code.
pub(super) struct CommandError {
    pub(super) text: String,
    pub(super) code: ExitStatus,
}

impl CommandError {
    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: ExitStatus::Usage }
    }

    pub(super) fn failure(text: impl fmt::Display) -> Self {
        Self { text: text.to_string(), code: ExitStatus::Failure }
    }
}
