//! Colours and layout of the texts for stdout and stderr. With the feature `workbench`, texts on a terminal have colours and fit its width.
//! Without the feature, each text stays unchanged.

use std::{
    fmt,
    io::{self, Write as _},
};

#[cfg(feature = "workbench")]
pub(super) use mcp_runtime_workbench::Screen;

/// Destination of a command's output, without the feature. It leaves every text unchanged, and has no size.
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

/// Returns the destination of stdout. Most commands redirect stdout while they run, so call this before.
#[cfg(feature = "workbench")]
pub(super) fn of_stdout() -> Screen {
    Screen::of(&io::stdout())
}

/// Returns the destination of stdout.
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
