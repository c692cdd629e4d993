//! Destinations of the texts of commands: stdout and stderr. With the feature `workbench`, texts on a terminal have colours and fit its width.

use std::{
    fmt,
    io::{self, Write as _},
};

#[cfg(feature = "workbench")]
pub(super) use mcp_runtime_workbench::{Screen, StatusText, bar, columns, cut};

#[cfg(not(feature = "workbench"))]
pub(super) use super::plain_screen::{Screen, StatusText, bar, columns, cut};

/// Returns the destination of stdout. Most commands redirect stdout while they run, so call this before.
pub(super) fn of_stdout() -> Screen {
    Screen::of(&io::stdout())
}

/// Writes a remark or an error to stderr. Errors are ignored, because the exit code still reports a failure.
pub(super) fn say(text: fmt::Arguments<'_>) {
    let text = Screen::of(&io::stderr()).remark(text.to_string());
    let _ = io::stderr().write_all(text.as_bytes());
}
