//! Status line at the bottom of the terminal, which shows the progress of a call. Lines of the log appear above it.

use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::screen::columns;

/// Text that the terminal shows in its last line. A process has one stderr, and log lines come from any thread.
static SHOWN: Mutex<String> = Mutex::new(String::new());

fn shown() -> MutexGuard<'static, String> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Last line of the terminal behind stderr, which a new text replaces in place. Show it only on a terminal.
///
/// ```
/// use mcp_runtime_workbench::StatusText;
///
/// StatusText::show("1 of 2");
/// assert!(StatusText::hide());
/// ```
#[derive(Debug)]
pub struct StatusText(());

impl StatusText {
    /// Replaces the text. The new text must fit into one line.
    pub fn show(text: &str) {
        let mut shown = shown();
        let rest = columns(&shown).saturating_sub(columns(text));
        write(&format!("\r{text}{:rest$}", ""));
        text.clone_into(&mut shown);
    }

    /// Removes the text, so that the command can print other text in its place. Returns whether a text was shown.
    pub fn hide() -> bool {
        let mut shown = shown();
        if shown.is_empty() {
            return false;
        }
        write(&removed(&shown));
        shown.clear();
        true
    }
}

/// Writer for the lines of a log. Each line appears above the [`StatusText`] that stderr shows. Without a status, the writer
/// passes the line on to stderr.
///
/// ```
/// use std::io::Write as _;
///
/// mcp_runtime_workbench::LogStderr.write_all(b"listening\n").unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LogStderr;

impl Write for LogStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let shown = shown();
        if shown.is_empty() {
            return io::stderr().write(line);
        }
        io::stderr().write_all(&above(&shown, line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Returns the bytes that replace the status by a line of the log, and show the status again below it.
fn above(shown: &str, line: &[u8]) -> Vec<u8> {
    let end: &[u8] = if line.ends_with(b"\n") { b"" } else { b"\n" };
    [removed(shown).as_bytes(), line, end, shown.as_bytes()].concat()
}

fn removed(shown: &str) -> String {
    format!("\r{:width$}\r", "", width = columns(shown))
}

/// Writes to stderr. Errors are ignored, because a lost status does not change the result.
fn write(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_replaces_the_status_and_shows_it_again() {
        assert_eq!(above("1 of 2", b"saved\n"), b"\r      \rsaved\n1 of 2");
        assert_eq!(above("1", b"saved"), b"\r \rsaved\n1");
    }
}
