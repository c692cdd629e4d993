//! Status line of a call: the newest progress report, or the status of a task.

use std::io::{IsTerminal as _, Write as _};

#[cfg(feature = "workbench")]
use mcp_runtime_workbench::StatusText;
use serde_json::Value;

use super::show::member;

/// Width that fits on almost every terminal. A longer line would wrap, and the next text could not replace it.
const WIDEST: usize = 78;

/// Line on stderr. In a terminal each text replaces the last one. Elsewhere the status of a task is printed in lines, and progress reports
/// are not requested, because a call may send thousands of them.
pub(super) struct StatusLine {
    is_terminal: bool,
    /// Status of the task that was shown last.
    shown: String,
    /// Number of characters that the terminal shows.
    #[cfg(not(feature = "workbench"))]
    width: usize,
    /// Whether a report with a total is shown as a bar.
    #[cfg(feature = "workbench")]
    has_bar: bool,
}

impl Default for StatusLine {
    fn default() -> Self {
        Self {
            is_terminal: std::io::stderr().is_terminal(),
            shown: String::new(),
            #[cfg(not(feature = "workbench"))]
            width: 0,
            #[cfg(feature = "workbench")]
            has_bar: true,
        }
    }
}

impl StatusLine {
    /// Adds the token with which a client asks for progress reports, if stderr is a terminal.
    pub(super) fn ask_for_progress(&self, params: &mut Value) {
        if self.is_terminal {
            params["_meta"]["progressToken"] = "call".into();
        }
    }

    /// Shows a notification of the server, if it is a progress report.
    pub(super) fn show_progress(&mut self, notification: &Value) {
        if notification["method"] != "notifications/progress" {
            return;
        }
        let params = &notification["params"];
        let mut text = params["progress"].to_string();
        if !params["total"].is_null() {
            text.push_str(&format!(" of {}", params["total"]));
        }
        let message = member(params, "message");
        if !message.is_empty() {
            text.push_str(&format!(": {message}"));
        }
        #[cfg(feature = "workbench")]
        if let (Some(progress), Some(total), true) =
            (params["progress"].as_f64(), params["total"].as_f64(), self.has_bar)
        {
            text.insert_str(0, &format!("{} ", mcp_runtime_workbench::bar(progress, total)));
        }
        self.draw(&text);
    }

    /// Shows the progress as numbers without a bar, for output with `--json`.
    #[cfg(feature = "workbench")]
    pub(super) fn without_bar(&mut self) {
        self.has_bar = false;
    }

    /// Shows the status of a task, if it differs from the one shown last.
    pub(super) fn show_task(&mut self, status: &str) {
        if status == self.shown {
            return;
        }
        status.clone_into(&mut self.shown);
        if self.is_terminal {
            self.draw(status);
        } else {
            write(&format!("… {status}\n"));
        }
    }

    /// Removes the line from the terminal, so that other text can be printed.
    #[cfg(feature = "workbench")]
    pub(super) fn clear(&mut self) {
        if StatusText::hide() {
            self.shown.clear();
        }
    }

    /// Replaces the line in the terminal. Lines of the log appear above it.
    #[cfg(feature = "workbench")]
    #[expect(clippy::unused_self, reason = "without the feature, the width is here")]
    fn draw(&mut self, text: &str) {
        StatusText::show(&in_one_line(text));
    }

    /// Removes the line from the terminal, so that other text can be printed.
    #[cfg(not(feature = "workbench"))]
    pub(super) fn clear(&mut self) {
        if self.width > 0 {
            write(&format!("\r{:width$}\r", "", width = self.width));
            self.width = 0;
            self.shown.clear();
        }
    }

    /// Replaces the line in the terminal.
    #[cfg(not(feature = "workbench"))]
    fn draw(&mut self, text: &str) {
        let text = in_one_line(text);
        let width = self.width;
        write(&format!("\r{text:width$}"));
        self.width = text.chars().count().max(1);
    }
}

/// Returns the beginning of a text, in one line. The space at the end separates it from text that the handler prints.
fn in_one_line(text: &str) -> String {
    let text = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    text.take(WIDEST).chain([' ']).collect()
}

/// Writes to stderr. Errors are ignored, because a lost status does not change the result.
fn write(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
