//! Files with the messages of a session, one JSON object a line.

use std::fmt;

use serde_json::{Value, json};

use crate::redaction::{Redaction, Removal};

/// Side of a session that has sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The client of the server.
    Client,
    /// The server.
    Server,
}

impl Sender {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// Recorded session.
///
/// | line | meaning |
/// |---|---|
/// | `{"client": {…}}` | the client has sent this message |
/// | `{"client": "…"}` | the client has sent this line, which is no JSON object or array; U+FFFD stands for bytes that are not UTF-8 |
/// | `{"server": {…}}` | the server has sent this message |
/// | `{"#": "…"}` | a comment |
///
/// ```
/// use mcp_runtime_workbench::{Sender, Transcript};
///
/// let text = r#"{"client": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}"#;
/// let transcript = Transcript::parse(text).unwrap();
/// assert_eq!(transcript.lines[0].sender, Sender::Client);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Messages in the order in which they were sent.
    pub lines: Vec<TranscriptLine>,
}

/// Message of a recorded session.
#[derive(Clone, Debug)]
pub struct TranscriptLine {
    /// Number of the line in the file, from 1.
    pub number: usize,
    /// Side that has sent the message.
    pub sender: Sender,
    /// The message. A string is a line that was no JSON object or array.
    pub message: Value,
}

/// Text that is not a transcript.
#[derive(Debug)]
pub struct TranscriptError {
    number: usize,
    problem: String,
}

impl fmt::Display for TranscriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => f.write_str(&self.problem),
            number => write!(f, "line {number}: {}", self.problem),
        }
    }
}

impl std::error::Error for TranscriptError {}

impl Transcript {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Fails at the first line that is not in the format, and if there is no message of a client.
    pub fn parse(text: &str) -> Result<Self, TranscriptError> {
        let mut transcript = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |problem: String| TranscriptError { number, problem };
            let line: Value = serde_json::from_str(line).map_err(|why| wrong(not_json(&why)))?;
            let members = line.as_object().filter(|members| !members.is_empty());
            let members = members.ok_or_else(|| wrong(EXPECTED.to_owned()))?;
            for (name, message) in members {
                let sender = match &**name {
                    "#" => continue,
                    "client" => Sender::Client,
                    "server" => Sender::Server,
                    _ => return Err(wrong(format!("unknown member `{name}`: {EXPECTED}"))),
                };
                let message = message.clone();
                transcript.lines.push(TranscriptLine { number, sender, message });
            }
        }
        if transcript.lines.iter().all(|line| line.sender == Sender::Server) {
            let problem =
                "the file has no message of a client: write one with the command `record FILE`"
                    .to_owned();
            return Err(TranscriptError { number: 0, problem });
        }
        Ok(transcript)
    }
}

/// Returns the problem of a line that is not JSON. Within the line, `why` always names line 1, which is not the number in the file.
fn not_json(why: &serde_json::Error) -> String {
    format!("not JSON: {why}").replace(" at line 1 column ", " at column ")
}

const EXPECTED: &str = "expected `{\"client\": …}`, `{\"server\": …}` or `{\"#\": \"comment\"}`";

/// Returns the line of a transcript for a line that was sent, with its newline, and the secrets that were removed from it. `sent` has no newline.
#[must_use]
pub fn recorded(sender: Sender, sent: &[u8], redaction: &Redaction) -> (String, Vec<Removal>) {
    let parsed = serde_json::from_slice(sent).ok().filter(|message: &Value| {
        // Any other value is kept as a text, so that it is not taken for a message.
        message.is_object() || message.is_array()
    });
    let mut message = parsed.unwrap_or_else(|| String::from_utf8_lossy(sent).into());
    let removals = redaction.apply(&mut message);
    (format!("{}\n", json!({ sender.name(): message })), removals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_line_is_read_again() {
        let redaction = Redaction::new([]);
        let mut text = r##"{"#": "two lines"}"##.to_owned() + "\n\n";
        text += &recorded(Sender::Client, br#"{"id":1}"#, &redaction).0;
        text += &recorded(Sender::Server, b"\"not a message\"", &redaction).0;
        let lines = Transcript::parse(&text).unwrap().lines;
        let lines: Vec<_> = lines.iter().map(|line| (line.number, line.sender)).collect();
        assert_eq!(lines, [(3, Sender::Client), (4, Sender::Server)]);
        assert!(text.ends_with("{\"server\":\"\\\"not a message\\\"\"}\n"), "{text}");
    }

    #[test]
    fn a_file_that_is_no_transcript_names_the_line() {
        let told = |text: &str| Transcript::parse(text).unwrap_err().to_string();
        assert!(told("{\"client\": {}}\n{]").starts_with("line 2: not JSON"));
        assert_eq!(
            told("{\"client\": {}}\n{\"cli"),
            "line 2: not JSON: EOF while parsing a string at column 5"
        );
        assert!(told("{\"clinet\": {}}").starts_with("line 1: unknown member `clinet`: expected"));
        assert!(told("[]").starts_with("line 1: expected"));
        assert_eq!(
            told("{\"server\": {}}"),
            "the file has no message of a client: write one with the command `record FILE`"
        );
    }
}
