//! Form of the texts for stdout and stderr. With the feature `workbench` they fit a terminal and have colours there. Without it, each text
//! stays as it is.

use std::{
    fmt,
    io::{self, Write as _},
};

#[cfg(feature = "workbench")]
pub(super) use mcp_runtime_workbench::Screen;

/// Place where a command prints. It leaves every text as it is, and takes no room in the program.
#[cfg(not(feature = "workbench"))]
pub(super) struct Screen;

#[cfg(not(feature = "workbench"))]
impl Screen {
    #[expect(clippy::unused_self, reason = "the feature `workbench` adds colours")]
    pub(super) fn help(&self, text: String) -> String {
        text
    }

    #[expect(clippy::unused_self, reason = "the feature `workbench` adds colours")]
    pub(super) fn findings(&self, text: String) -> String {
        text
    }
}

/// Returns the place to which stdout leads. While most commands run, stdout leads elsewhere, so ask before.
#[cfg(feature = "workbench")]
pub(super) fn of_stdout() -> Screen {
    Screen::of(&io::stdout())
}

/// Returns the place to which stdout leads.
#[cfg(not(feature = "workbench"))]
pub(super) fn of_stdout() -> Screen {
    Screen
}

/// Writes a remark or an error to stderr. Errors are ignored, because the exit code still reports a failure.
#[cfg(feature = "workbench")]
pub(super) fn say(text: fmt::Arguments<'_>) {
    let text = Screen::of(&io::stderr()).remark(&text.to_string());
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes a remark or an error to stderr. Errors are ignored, because the exit code still reports a failure.
#[cfg(not(feature = "workbench"))]
pub(super) fn say(text: fmt::Arguments<'_>) {
    let _ = io::stderr().write_fmt(text);
}
