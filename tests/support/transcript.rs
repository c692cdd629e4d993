//! Recorded conversations: `tests/wire/<revision>/<name>.jsonl`, one JSON object a line.
//!
//! | line | meaning |
//! |---|---|
//! | `{"#": "text"}` | a comment; may also stand in any other line |
//! | `{"with": "name"}` | the server for the replay, by the name that the suite gives it |
//! | `{"client": {..}}` | the client sends this message, byte for byte as it stands here unless it has a `$use` |
//! | `{"client": ".."}` | the client sends this line, whether it is JSON or not |
//! | `{"bytes": "7b ff 7d"}` | the client sends these bytes |
//! | `{"server": {..}}` | the next message of the server; see [`crate::pattern`] |
//! | `{"silence": true}` | the server sends nothing now |
//! | `{"revision": ".."}` | from here on the messages of the server must match the schema of another revision |
//!
//! The server's messages must come in the order of the `server` lines, and none may come after the
//! last line. Neighbouring `server` lines with a `"lane"` form a group: messages of one lane keep
//! their order, while messages of different lanes may come in any order. So give each of several
//! concurrent requests a lane, with its notifications before its response.
//!
//! `{"$use": "name"}` in a client's message stands for the value that `{"$as": "name"}` captured.
//! Every message from the server must conform to the official schema, unless its line says
//! `"schema": false`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::pattern::{Captures, Pattern};

/// A recorded conversation.
#[derive(Debug)]
pub struct Transcript {
    /// `<revision>/<name>`, for reports.
    pub name: String,
    /// Revision whose schema the messages of the server must match at first.
    pub revision: String,
    /// The server that the `with` line names.
    pub with: Option<String>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) does: Does,
}

#[derive(Debug)]
pub(crate) enum Does {
    Send(Message),
    Expect(Expected),
    Silence,
    Revision(String),
}

/// A line that the client sends.
#[derive(Debug)]
pub(crate) enum Message {
    Verbatim(Vec<u8>),
    /// JSON in which `$use` is still to be replaced.
    Template(Value),
}

#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) pattern: Pattern,
    pub(crate) lane: Option<String>,
    pub(crate) schema: bool,
}

/// A line of a transcript as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(rename = "#")]
    comment: Option<String>,
    with: Option<String>,
    #[serde(borrow)]
    client: Option<&'a RawValue>,
    bytes: Option<String>,
    server: Option<Value>,
    lane: Option<Value>,
    schema: Option<bool>,
    silence: Option<bool>,
    revision: Option<String>,
}

impl Transcript {
    /// Reads every transcript in `folder`, whose subfolders are named after revisions.
    ///
    /// # Errors
    ///
    /// Returns the first mistake in a file, with its line, or the file that cannot be read.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, String> {
        let mut transcripts = Vec::new();
        for subfolder in entries(folder)?.into_iter().filter(|path| path.is_dir()) {
            for file in entries(&subfolder)? {
                if file.extension().is_some_and(|extension| extension == "jsonl") {
                    transcripts.push(Self::read(&file)?);
                }
            }
        }
        Ok(transcripts)
    }

    /// Reads the transcript in `file`, whose folder is named after its revision.
    ///
    /// # Errors
    ///
    /// Returns the first mistake in the file, with its line, or the reason why the file cannot be read.
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let part = |part: Option<&std::ffi::OsStr>| {
            part.map_or_else(String::new, |part| part.to_string_lossy().into_owned())
        };
        let revision = part(file.parent().and_then(Path::file_name));
        Self::parse(&part(file.file_stem()), &revision, &text)
    }

    /// Reads the text of a transcript.
    ///
    /// # Errors
    ///
    /// The first mistake, with its line.
    pub fn parse(name: &str, revision: &str, text: &str) -> Result<Self, String> {
        let name = format!("{revision}/{name}");
        let mut transcript =
            Self { name, revision: revision.into(), with: None, steps: Vec::new() };
        for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let line = index + 1;
            transcript
                .add(line, text)
                .map_err(|error| format!("{}:{line}: {error}", transcript.name))?;
        }
        if transcript.steps.is_empty() {
            return Err(format!("{}: no step", transcript.name));
        }
        Ok(transcript)
    }

    fn add(&mut self, line: usize, text: &str) -> Result<(), String> {
        let written: Line<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if written.server.is_none() && (written.lane.is_some() || written.schema.is_some()) {
            return Err("`lane` and `schema` belong to `server`".into());
        }
        let mut verbs = Vec::new();
        if let Some(server) = written.server {
            verbs.push(Does::Expect(Expected {
                pattern: Pattern::new(server)?,
                lane: written.lane.map(|lane| lane.to_string()),
                schema: written.schema.unwrap_or(true),
            }));
        }
        if let Some(client) = written.client {
            verbs.push(Does::Send(message(client)?));
        }
        if let Some(bytes) = written.bytes {
            verbs.push(Does::Send(Message::Verbatim(unhex(&bytes)?)));
        }
        match written.silence {
            Some(true) => verbs.push(Does::Silence),
            Some(false) => return Err("`silence` can only be true".into()),
            None => {}
        }
        verbs.extend(written.revision.map(Does::Revision));
        let comment = written.comment.is_some() || written.with.is_some();
        if let Some(with) = written.with
            && self.with.replace(with).is_some()
        {
            return Err("a second `with`".into());
        }
        match (verbs.pop(), verbs.is_empty()) {
            (Some(does), true) => self.steps.push(Step { line, does }),
            (None, _) if comment => {}
            _ => return Err("a line says exactly one thing".into()),
        }
        Ok(())
    }
}

impl Message {
    /// Returns the line to send, with captured values filled in.
    pub(crate) fn line(&self, captures: &Captures) -> Result<Vec<u8>, String> {
        match self {
            Self::Verbatim(bytes) => Ok(bytes.clone()),
            Self::Template(value) => {
                let mut value = value.clone();
                fill_in(&mut value, captures)?;
                Ok(value.to_string().into_bytes())
            }
        }
    }
}

pub(crate) fn message(client: &RawValue) -> Result<Message, String> {
    let text = client.get();
    if text.starts_with('"') {
        let line: String = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return Ok(Message::Verbatim(line.into_bytes()));
    }
    if text.contains("\"$use\"") {
        let template = serde_json::from_str(text).map_err(|error| error.to_string())?;
        return Ok(Message::Template(template));
    }
    Ok(Message::Verbatim(text.as_bytes().to_vec()))
}

/// Replaces each `$use` with the captured value.
pub(crate) fn fill_in(value: &mut Value, captures: &Captures) -> Result<(), String> {
    if let Some(name) = value.get("$use").and_then(Value::as_str) {
        let captured = captures.get(name).ok_or_else(|| format!("nothing captured as `{name}`"))?;
        *value = captured.clone();
        return Ok(());
    }
    match value {
        Value::Array(elements) => elements.iter_mut().try_for_each(|e| fill_in(e, captures)),
        Value::Object(members) => members.values_mut().try_for_each(|m| fill_in(m, captures)),
        _ => Ok(()),
    }
}

pub(crate) fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let byte = |pair| u8::from_str_radix(pair, 16).map_err(|_| format!("not a byte: {pair}"));
    text.split_whitespace().map(byte).collect()
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let error = |error| format!("{}: {error}", folder.display());
    let mut paths = fs::read_dir(folder)
        .map_err(error)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(error)?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(line: &str, captures: &Captures) -> Result<String, String> {
        let transcript = Transcript::parse("t", "2025-11-25", line)?;
        let [Step { does: Does::Send(message), .. }] = &transcript.steps[..] else {
            panic!("not one send");
        };
        Ok(String::from_utf8_lossy(&message.line(captures)?).into_owned())
    }

    #[track_caller]
    fn refused(text: &str, part: &str) {
        let error = Transcript::parse("t", "2025-11-25", text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn messages_go_out_as_they_are_written() {
        let none = Captures::new();
        let spaced = r#"{"id" : 1.0, "id":2}"#;
        assert_eq!(sent(&format!(r#"{{"client": {spaced}}}"#), &none).unwrap(), spaced);
        assert_eq!(sent(r#"{"client": "{\"id\": "}"#, &none).unwrap(), r#"{"id": "#);
        assert_eq!(sent(r#"{"bytes": "7b 7D"}"#, &none).unwrap(), "{}");
    }

    #[test]
    fn captures_are_filled_in() {
        let captures = Captures::from([("c".into(), json!({"x": 1}))]);
        let line = r#"{"client": {"a": [{"$use": "c"}]}}"#;
        assert_eq!(sent(line, &captures).unwrap(), r#"{"a":[{"x":1}]}"#);
        assert_eq!(sent(line, &Captures::new()).unwrap_err(), "nothing captured as `c`");
    }

    #[test]
    fn comments_are_no_steps_and_lines_are_counted() {
        let text =
            "{\"#\": \"about\"}\n\n{\"with\": \"echo\"}\n{\"silence\": true, \"#\": \"why\"}\n";
        let transcript = Transcript::parse("t", "2025-11-25", text).unwrap();
        assert_eq!(transcript.name, "2025-11-25/t");
        assert_eq!(transcript.with.as_deref(), Some("echo"));
        assert!(matches!(transcript.steps[..], [Step { line: 4, does: Does::Silence }]));
    }

    #[test]
    fn mistakes_are_refused_with_their_line() {
        refused("", "no step");
        refused("{\"#\": \"\"}\n{\"sever\": {}}", "2025-11-25/t:2: unknown field `sever`");
        refused(r#"{"client": {}, "server": {}}"#, "exactly one thing");
        refused("{}", "exactly one thing");
        refused(r#"{"client": {}, "lane": 1}"#, "belong to `server`");
        refused(r#"{"server": {"$amy": true}}"#, "no such wildcard");
        refused(r#"{"silence": false}"#, "can only be true");
        refused(r#"{"bytes": "7b 7"}{"#, "trailing");
        refused(r#"{"bytes": "zz"}"#, "not a byte: zz");
        refused("{\"with\": \"a\"}\n{\"with\": \"b\"}", "a second `with`");
    }
}
