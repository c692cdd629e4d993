//! Status line of a call: the newest progress report, or the status of a task.

use std::io::{IsTerminal as _, Write as _};

use serde_json::Value;

use super::{
    lists::member,
    screen::{Screen, StatusText, bar, cut},
};

/// Width that fits on almost every terminal, in columns.
const WIDEST: usize = 80;

/// Line on stderr. In a terminal each text replaces the last one. Elsewhere the status of a task is printed in lines, and progress reports
/// are not requested, because a call may send thousands of them.
pub(super) struct StatusLine {
    is_terminal: bool,
    /// Status of the task that was shown last.
    shown: String,
}

impl Default for StatusLine {
    fn default() -> Self {
        Self { is_terminal: std::io::stderr().is_terminal(), shown: String::new() }
    }
}

impl StatusLine {
    /// Adds the token with which a client asks for progress reports, if stderr is a terminal.
    pub(super) fn ask_for_progress(&self, params: &mut Value) {
        if self.is_terminal {
            params["_meta"]["progressToken"] = "call".into();
        }
    }

    /// Shows a notification of the server, if it is a progress report. With the feature `workbench`, a report with a total is shown as a bar.
    #[expect(clippy::unused_self, reason = "a process has a single status line")]
    pub(super) fn show_progress(&self, notification: &Value) {
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
        if let (Some(progress), Some(total)) =
            (params["progress"].as_f64(), params["total"].as_f64())
        {
            let bar = bar(progress, total);
            if !bar.is_empty() {
                text = format!("{bar} {text}");
            }
        }
        draw(&text);
    }

    /// Shows the status of a task, if it differs from the one shown last.
    pub(super) fn show_task(&mut self, status: &str) {
        if status == self.shown {
            return;
        }
        status.clone_into(&mut self.shown);
        if self.is_terminal {
            draw(status);
        } else {
            // Errors are ignored, because a lost status does not change the result.
            let _ = std::io::stderr().write_all(format!("… {status}\n").as_bytes());
        }
    }

    /// Removes the line from the terminal, so that other text can be printed.
    pub(super) fn clear(&mut self) {
        if StatusText::hide() {
            self.shown.clear();
        }
    }
}

/// Replaces the line in the terminal. A line that is wider than the terminal would wrap, and the next text could not replace it. The space at
/// the end separates the text from text that the handler prints.
fn draw(text: &str) {
    let room = Screen::of(&std::io::stderr()).width().min(WIDEST).saturating_sub(2);
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    StatusText::show(&(cut(&text, room) + " "));
}
