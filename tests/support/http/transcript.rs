//! Recorded conversations over HTTP: `tests/wire/http/<revision>/<name>.jsonl`, one JSON object a line.
//!
//! | line | meaning |
//! |---|---|
//! | `{"#": "text"}` | a comment; may also stand in any other line |
//! | `{"with": "name", "settings": {..}}` | the server for the replay, and its settings, as the suite knows them |
//! | `{"handshake": "session"}` | the client opens a session, whose id is captured under this name; see below |
//! | `{"request": {..}}` | the client sends this request; see below |
//! | `{"raw": "GET / .."}` | the client sends this text, in which `ADDRESS` stands for the server's address |
//! | `{"response": {..}}` | the response; see below |
//! | `{"event": {..}}` | the next event of the stream; see below |
//! | `{"comment": true}` | the next item of the stream is a comment; all other lines skip comments |
//! | `{"silence": true}` | nothing comes: no event, no end of the stream, and no response if one is due |
//! | `{"end": true}` | the server ends the stream; only comments may come before |
//! | `{"hang_up": "a"}` | the client closes this connection |
//! | `{"pass": 15}` | the clock jumps by this number of seconds, with a short rest before and after |
//! | `{"stop": true}` | the test stops the server |
//! | `{"revision": ".."}` | from here on the client uses another revision, and the messages of the server must match its schema |
//! | `{"defaults": "none"}` | the default headers of requests: `modern`, `legacy` or `none` |
//!
//! A line with `"since"` applies only from that revision on, and a line with `"until"` only up to it.
//!
//! `"on": "a"` names the connection of a line. All lines without a name share one connection. A request opens its connection, unless an
//! open connection has this name. The previous response on the connection must have been read to its end. Every response needs a line
//! before the transcript ends, unless the client closes the connection; only streams may stay open.
//!
//! A request has these members, all of them optional:
//!
//! - `method`: by default POST with a body, and GET without.
//! - `path`: by default `/mcp`.
//! - `headers`: each a text, an array of several values, `null` to leave a default header out, or
//!   `{"$repeat": n}` for n letters.
//! - `body`: JSON that is sent byte for byte as it stands, unless it has a `$use`, or a string that is sent as text.
//! - `bytes`: a body in hexadecimal.
//! - `"pad": n`: adds n blanks to the body.
//! - `"chunked": true`: sends the body in two chunks instead of with `Content-Length`.
//!
//! `{"$use": "name"}` stands for a captured value, in headers, bodies and the path.
//!
//! The default headers always include `Host`, and `Content-Length` for a body or POST. Other headers depend on
//! `"defaults"`:
//!
//! - `none`: no other header.
//! - `modern`, the default in 2026-07-28: `Content-Type` and `Accept` as the method needs them,
//!   `MCP-Protocol-Version` as in the body, `Mcp-Method` and `Mcp-Name`.
//! - `legacy`, the default in earlier revisions: `Content-Type` and `Accept`. Except with `initialize`, also
//!   `Mcp-Session-Id` with the value captured as `session`, and `MCP-Protocol-Version` in revisions that have it.
//!
//! A response has `status`, `headers` (only those to compare; `null` for a header that must be absent), and
//! one of `body` (JSON), `text`, and `"stream": true` for events. Without any of the three, the body is empty.
//!
//! An event has `id`, `event`, `retry`, and `data` (JSON) or `text`. A member that the line leaves out must be
//! absent, except for the name `message`. Values other than `status` are patterns, see [`crate::pattern`].
//!
//! JSON from the server must conform to the official schema, unless the line says `"schema": false`. An `id` on a
//! stream must be new in its session, unless the client asked for the stream with `Last-Event-ID`.
//!
//! A handshake sends `initialize` (with `"capabilities": {..}`, if given) and `notifications/initialized` on
//! its connection, and expects the usual responses.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    expected::{ExpectedEvent, Response, WrittenEvent, WrittenResponse},
    request::{Defaults, Request, Written},
};

/// Placeholder for the server's address.
pub(crate) const ADDRESS: &str = "ADDRESS";

/// A recorded conversation.
#[derive(Debug)]
pub struct Transcript {
    /// `<revision>/<name>`, for reports.
    pub name: String,
    /// Protocol revision that the client uses at first.
    pub revision: String,
    /// Name of the server for the replay, if a line has one.
    pub with: Option<String>,
    /// Settings of the server, or null.
    pub settings: Value,
    /// Texts of the comments.
    pub comments: Vec<String>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) line: usize,
    pub(crate) on: String,
    pub(crate) does: Does,
}

#[derive(Debug)]
pub(crate) enum Does {
    Request(Request),
    Raw(String),
    Response(Response, bool),
    Event(ExpectedEvent, bool),
    Comment,
    Silence,
    End,
    HangUp(String),
    Pass(u64),
    Stop,
    Revision(String),
    Defaults(Defaults),
}

/// A line of a transcript as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(rename = "#")]
    about: Option<String>,
    with: Option<String>,
    settings: Option<Value>,
    handshake: Option<String>,
    capabilities: Option<Value>,
    #[serde(borrow)]
    request: Option<Written<'a>>,
    raw: Option<String>,
    response: Option<WrittenResponse>,
    event: Option<WrittenEvent>,
    comment: Option<bool>,
    silence: Option<bool>,
    end: Option<bool>,
    hang_up: Option<String>,
    pass: Option<u64>,
    stop: Option<bool>,
    revision: Option<String>,
    defaults: Option<Defaults>,
    on: Option<String>,
    schema: Option<bool>,
    since: Option<String>,
    until: Option<String>,
}

impl Transcript {
    /// Reads the text of a transcript.
    ///
    /// # Errors
    ///
    /// The first mistake, with its line.
    pub fn parse(name: &str, revision: &str, text: &str) -> Result<Self, String> {
        let mut transcript = Self {
            name: format!("{revision}/{name}"),
            revision: revision.into(),
            with: None,
            settings: Value::Null,
            comments: Vec::new(),
            steps: Vec::new(),
        };
        let mut revision = revision.to_owned();
        for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let line = index + 1;
            let before = transcript.steps.len();
            transcript
                .add(line, text, &revision)
                .map_err(|error| format!("{}:{line}: {error}", transcript.name))?;
            if let Some(Step { does: Does::Revision(new), .. }) = transcript.steps.get(before) {
                revision.clone_from(new);
            }
        }
        if transcript.steps.is_empty() {
            return Err(format!("{}: no step", transcript.name));
        }
        Ok(transcript)
    }

    fn add(&mut self, line: usize, text: &str, revision: &str) -> Result<(), String> {
        let written: Line<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        written.members_belong_together()?;
        let too_new = written.since.as_ref().is_some_and(|since| *revision < **since);
        let too_old = written.until.as_ref().is_some_and(|until| *revision > **until);
        if too_new || too_old {
            return Ok(());
        }
        let says_nothing = written.about.is_some() || written.with.is_some();
        let on = written.on.clone();
        if let Some(with) = &written.with {
            if self.with.replace(with.clone()).is_some() {
                return Err("a second `with`".into());
            }
            self.settings = written.settings.clone().unwrap_or_default();
        }
        self.comments.extend(written.about.clone());
        let verbs = written.verbs(revision)?;
        if on.is_some() && !verbs.iter().flatten().all(Does::is_on_a_connection) {
            return Err("`on` belongs to what happens on a connection".into());
        }
        if verbs.len() != usize::from(!verbs.is_empty()) || (verbs.is_empty() && !says_nothing) {
            return Err("a line says exactly one thing".into());
        }
        let on = on.unwrap_or_default();
        let steps = verbs.into_iter().flatten();
        self.steps.extend(steps.map(|does| Step { line, on: on.clone(), does }));
        Ok(())
    }
}

impl Line<'_> {
    fn members_belong_together(&self) -> Result<(), String> {
        let judged = self.response.is_some() || self.event.is_some();
        let belongs = [
            ("schema", self.schema.is_some(), judged, "`response` and `event`"),
            ("capabilities", self.capabilities.is_some(), self.handshake.is_some(), "`handshake`"),
            ("settings", self.settings.is_some(), self.with.is_some(), "`with`"),
        ];
        for (name, there, allowed, to) in belongs {
            if there && !allowed {
                return Err(format!("`{name}` belongs to {to}"));
            }
        }
        let flags = [self.comment, self.silence, self.end, self.stop];
        if flags.contains(&Some(false)) {
            return Err("what a line says can only be true".into());
        }
        Ok(())
    }

    /// Returns the verbs of the line, each as its steps.
    fn verbs(self, revision: &str) -> Result<Vec<Vec<Does>>, String> {
        let schema = self.schema.unwrap_or(true);
        let mut verbs = Vec::new();
        if let Some(session) = &self.handshake {
            let capabilities = self.capabilities.unwrap_or_else(|| json!({}));
            verbs.push(handshake(session, revision, &capabilities)?.into());
        }
        let request =
            self.request.map(|request| Request::new(request).map(Does::Request)).transpose()?;
        let response = self.response.map(Response::new).transpose()?;
        let event = self.event.map(ExpectedEvent::new).transpose()?;
        let single = [
            request,
            self.raw.map(Does::Raw),
            response.map(|response| Does::Response(response, schema)),
            event.map(|event| Does::Event(event, schema)),
            self.comment.map(|_| Does::Comment),
            self.silence.map(|_| Does::Silence),
            self.end.map(|_| Does::End),
            self.hang_up.map(Does::HangUp),
            self.pass.map(Does::Pass),
            self.stop.map(|_| Does::Stop),
            self.revision.map(Does::Revision),
            self.defaults.map(Does::Defaults),
        ];
        verbs.extend(single.into_iter().flatten().map(|does| vec![does]));
        Ok(verbs)
    }
}

impl Does {
    /// Whether a line with this verb may have `on`.
    fn is_on_a_connection(&self) -> bool {
        let elsewhere = matches!(
            self,
            Self::HangUp(_) | Self::Pass(_) | Self::Stop | Self::Revision(_) | Self::Defaults(_)
        );
        !elsewhere
    }
}

/// Returns the steps that open a session.
fn handshake(session: &str, revision: &str, capabilities: &Value) -> Result<[Does; 4], String> {
    let request = |message: &Value, session: &Value| {
        let headers = json!({ "Mcp-Session-Id": session });
        let written = json!({ "headers": headers, "body": message }).to_string();
        let written = serde_json::from_str(&written).map_err(|error| error.to_string())?;
        Ok::<_, String>(Does::Request(Request::new(written)?))
    };
    let response = |written: Value| {
        let written = serde_json::from_value(written).map_err(|error| error.to_string())?;
        Ok::<_, String>(Does::Response(Response::new(written)?, true))
    };
    let info = json!({ "name": "tester", "version": "0" });
    let params =
        json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": info });
    let hello =
        json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    let result = json!({ "protocolVersion": revision, "$rest": true });
    let answer = json!({ "jsonrpc": "2.0", "id": "hello", "result": result });
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let named = json!({ "mcp-session-id": { "$as": session } });
    Ok([
        request(&hello, &Value::Null)?,
        response(json!({ "status": 200, "headers": named, "body": answer }))?,
        request(&done, &json!({ "$use": session }))?,
        response(json!({ "status": 202 }))?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, part: &str) {
        let error = Transcript::parse("t", "2025-11-25", text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn lines_become_steps_on_connections() {
        let text = "{\"#\": \"HL-01\"}\n{\"with\": \"x\", \"settings\": {\"path\": \"/y\"}}\n\n\
            {\"request\": {}, \"on\": \"a\", \"#\": \"why\"}\n{\"response\": {\"status\": 405}, \"on\": \"a\"}\n{\"hang_up\": \"a\"}\n{\"pass\": 15}";
        let transcript = Transcript::parse("t", "2025-11-25", text).unwrap();
        assert_eq!(transcript.name, "2025-11-25/t");
        assert_eq!(transcript.with.as_deref(), Some("x"));
        assert_eq!(transcript.settings, json!({ "path": "/y" }));
        assert_eq!(transcript.comments, ["HL-01", "why"]);
        let steps: Vec<_> =
            transcript.steps.iter().map(|step| (step.line, step.on.as_str())).collect();
        assert_eq!(steps, [(4, "a"), (5, "a"), (6, ""), (7, "")]);
        assert!(matches!(transcript.steps[3].does, Does::Pass(15)));
    }

    #[test]
    fn lines_may_be_for_some_revisions() {
        let text = "{\"pass\": 1, \"since\": \"2025-11-25\"}\n{\"pass\": 2, \"until\": \"2025-06-18\"}\n{\"pass\": 3}";
        let lines = |revision| {
            let transcript = Transcript::parse("t", revision, text).unwrap();
            transcript.steps.iter().map(|step| step.line).collect::<Vec<_>>()
        };
        assert_eq!(lines("2025-06-18"), [2, 3]);
        assert_eq!(lines("2025-11-25"), [1, 3]);
    }

    #[test]
    fn a_handshake_is_four_steps() {
        let text = r#"{"handshake": "other", "on": "b"}"#;
        let transcript = Transcript::parse("t", "2025-06-18", text).unwrap();
        assert_eq!(transcript.steps.len(), 4);
        assert!(transcript.steps.iter().all(|step| step.on == "b" && step.line == 1));
    }

    #[test]
    fn mistakes_are_refused_with_their_line() {
        refused("", "no step");
        refused("{\"#\": \"\"}\n{\"respond\": {}}", "2025-11-25/t:2: unknown field `respond`");
        refused(r#"{"request": {}, "response": {"status": 200}}"#, "exactly one thing");
        refused("{}", "exactly one thing");
        refused(r#"{"end": false}"#, "can only be true");
        refused(r#"{"pass": 1, "on": "a"}"#, "`on` belongs to");
        refused(r#"{"end": true, "schema": false}"#, "`schema` belongs to");
        refused(r#"{"settings": {}}"#, "`settings` belongs to");
        refused(r#"{"end": true, "capabilities": {}}"#, "`capabilities` belongs to");
        refused("{\"with\": \"a\"}\n{\"with\": \"b\"}", "a second `with`");
        refused(r#"{"response": {"status": 200, "body": {"$amy": true}}}"#, "no such wildcard");
        refused(r#"{"defaults": "new"}"#, "unknown variant");
    }
}
