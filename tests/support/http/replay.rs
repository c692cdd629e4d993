//! Replays a transcript against a server that listens.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::Duration,
};

use serde_json::Value;

use super::{
    connection::{Connection, Next},
    events::{Event, Item},
    expected::{Content, ExpectedEvent, Response},
    request::{Defaults, Sent, Setting},
    transcript::{ADDRESS, Does, Step, Transcript},
};
use crate::{
    clock::LIMIT,
    judge::{Judge, report},
    pattern::Difference,
    schema::Schema,
};

/// Longest wait for a response or an event that the transcript expects.
const ANSWER: Duration = LIMIT;
/// Time without a message that counts as silence.
const SILENCE: Duration = Duration::from_millis(150);
/// Pause before and after the clock jumps, in which all sent bytes arrive.
const REST: Duration = Duration::from_millis(100);

/// Waits for all sent bytes to arrive. The clock advances only in step with the tokio tasks, so they get the whole pause even on a busy
/// machine.
async fn rest() {
    tokio::time::sleep(REST).await;
}

/// Replays `transcript` against the server at `address`. The replay calls `stop` where the transcript stops the server.
///
/// # Errors
///
/// The line of the transcript that the server did not meet, and every difference.
pub async fn replay(
    transcript: &Transcript,
    address: SocketAddr,
    stop: &mut dyn FnMut(),
) -> Result<(), String> {
    let mut replay = Replay {
        address,
        stop,
        judge: Judge::new(),
        revision: transcript.revision.clone(),
        defaults: usual(&transcript.revision),
        lines: BTreeMap::new(),
        ids: BTreeSet::new(),
    };
    for step in &transcript.steps {
        let at = |error| format!("{}:{}: {error}", transcript.name, step.line);
        replay.step(step).await.map_err(at)?;
    }
    match replay.lines.iter().find(|(_, line)| line.due) {
        None => Ok(()),
        Some((on, _)) => {
            Err(format!("{}: at the end: no line met the response on {on:?}", transcript.name))
        }
    }
}

fn usual(revision: &str) -> Defaults {
    if revision < "2026-07-28" { Defaults::Legacy } else { Defaults::Modern }
}

struct Replay<'a> {
    address: SocketAddr,
    stop: &'a mut dyn FnMut(),
    judge: Judge,
    revision: String,
    defaults: Defaults,
    lines: BTreeMap<String, Line>,
    /// Ids of the received events, each with its session.
    ids: BTreeSet<(Option<String>, String)>,
}

/// A connection that the transcript has named.
struct Line {
    connection: Connection,
    /// Whether a response is still to come.
    due: bool,
    asked_for_head: bool,
    session: Option<String>,
    resumes: bool,
    /// Schema of the revision in which the request was sent.
    schema: &'static Schema,
}

impl Replay<'_> {
    async fn step(&mut self, step: &Step) -> Result<(), String> {
        let on = step.on.as_str();
        match &step.does {
            Does::Request(request) => {
                let setting = Setting {
                    host: self.address.to_string(),
                    revision: &self.revision,
                    defaults: self.defaults,
                    captures: &self.judge.captures,
                };
                let sent = request.sent(&setting)?;
                self.judge.note(&sent.body);
                self.send(on, sent, request.asks_for_head()).await?;
            }
            Does::Raw(text) => {
                let bytes = text.replace(ADDRESS, &self.address.to_string()).into_bytes();
                let sent = Sent { bytes, body: Vec::new(), session: None, resumes: false };
                self.send(on, sent, false).await?;
            }
            Does::Response(expected, schema) => self.response(on, expected, *schema).await?,
            Does::Event(expected, schema) => self.event(on, expected, *schema).await?,
            Does::Comment => match self.line(on)?.connection.next(ANSWER).await? {
                Next::Item(Item::Comment(_)) => {}
                other => return Err(format!("expected a comment, got {other:?}")),
            },
            Does::Silence => self.silence(on).await?,
            Does::End => match self.next(on, ANSWER).await? {
                None => {}
                Some(event) => return Err(format!("expected the end, got {event:?}")),
            },
            Does::HangUp(on) => {
                self.line(on)?;
                self.lines.remove(on);
            }
            Does::Pass(seconds) => {
                rest().await;
                tokio::time::advance(Duration::from_secs(*seconds)).await;
                rest().await;
            }
            Does::Stop => (self.stop)(),
            Does::Revision(revision) => {
                self.revision.clone_from(revision);
                self.defaults = usual(revision);
            }
            Does::Defaults(defaults) => self.defaults = *defaults,
        }
        Ok(())
    }

    fn line(&mut self, on: &str) -> Result<&mut Line, String> {
        self.lines.get_mut(on).ok_or_else(|| format!("nothing was sent on {on:?}"))
    }

    /// Sends on the connection with this name. Opens a new one if there is no such connection, or the server no longer keeps it open.
    async fn send(&mut self, on: &str, sent: Sent, asked_for_head: bool) -> Result<(), String> {
        let free = match self.lines.get_mut(on) {
            Some(line) if line.due || line.connection.is_reading() => {
                return Err(format!("a response on {on:?} has not been read to its end"));
            }
            Some(line) => line.connection.is_free(),
            None => false,
        };
        let connection = match self.lines.remove(on) {
            Some(line) if free => line.connection,
            _ => Connection::open(self.address).await?,
        };
        let schema = Schema::of(&self.revision);
        let Sent { bytes, session, resumes, .. } = sent;
        let mut line = Line { connection, due: true, asked_for_head, session, resumes, schema };
        let sent = line.connection.send(&bytes, ANSWER).await;
        self.lines.insert(on.into(), line);
        sent
    }

    async fn response(
        &mut self,
        on: &str,
        expected: &Response,
        schema: bool,
    ) -> Result<(), String> {
        let line = self.line(on)?;
        if !std::mem::take(&mut line.due) {
            return Err(format!("no response is due on {on:?}"));
        }
        let schema = schema.then_some(line.schema);
        let head = line.connection.head(line.asked_for_head, ANSWER).await?;
        let body = if head.is_stream() { None } else { Some(line.connection.body(ANSWER).await?) };
        let mut differences = expected.differences(&head, &mut self.judge);
        let received = match (&expected.content, body) {
            (Content::Stream, body) => shown(&body.unwrap_or_default()),
            (_, None) => Value::Null,
            (content, Some(body)) => {
                let received = value(content, &body)?;
                differences.extend(self.content(content, &received));
                received
            }
        };
        if !differences.is_empty() {
            let mut text = report("the response", &differences, &received);
            for (name, value) in &head.headers {
                text.push_str(&format!("\n  {name}: {value}"));
            }
            return Err(text);
        }
        self.conforms(&expected.content, schema, &received)
    }

    async fn event(
        &mut self,
        on: &str,
        expected: &ExpectedEvent,
        schema: bool,
    ) -> Result<(), String> {
        let schema = schema.then_some(self.line(on)?.schema);
        let event = self.next(on, ANSWER).await?.ok_or("the stream ended instead")?;
        self.is_new(on, &event)?;
        let data = event.data.clone().unwrap_or_default();
        let mut differences = expected.differences(&event, &mut self.judge);
        let received = value(&expected.content, data.as_bytes())?;
        differences.extend(self.content(&expected.content, &received));
        if !differences.is_empty() {
            return Err(report("the event", &differences, &shown(format!("{event:?}").as_bytes())));
        }
        self.conforms(&expected.content, schema, &received)
    }

    /// Checks that the id of an event is unique in its session, over all streams (rule HL-14).
    fn is_new(&mut self, on: &str, event: &Event) -> Result<(), String> {
        let line = self.line(on)?;
        let (session, resumes) = (line.session.clone(), line.resumes);
        match &event.id {
            Some(id) if !self.ids.insert((session, id.clone())) && !resumes => {
                Err(format!("the id {id:?} has been used before in this session"))
            }
            _ => Ok(()),
        }
    }

    /// The next event of a stream, or `None` at its end.
    async fn next(&mut self, on: &str, patience: Duration) -> Result<Option<Event>, String> {
        let line = self.line(on)?;
        if line.due {
            return Err(format!("the response on {on:?} has not been met"));
        }
        loop {
            match line.connection.next(patience).await? {
                Next::Item(Item::Event(event)) => return Ok(Some(event)),
                Next::Item(Item::Comment(_)) => {}
                Next::End => return Ok(None),
                Next::Silence => return Err(format!("nothing came within {patience:?}")),
            }
        }
    }

    async fn silence(&mut self, on: &str) -> Result<(), String> {
        let line = self.line(on)?;
        if line.due {
            return match line.connection.head(line.asked_for_head, SILENCE).await {
                Err(error) if error.starts_with("no response within") => Ok(()),
                other => Err(format!("expected silence, got {other:?}")),
            };
        }
        loop {
            match line.connection.next(SILENCE).await? {
                Next::Silence => return Ok(()),
                Next::Item(Item::Comment(_)) => {}
                other => return Err(format!("expected silence, got {other:?}")),
            }
        }
    }

    fn content(&mut self, content: &Content, received: &Value) -> Vec<Difference> {
        match content {
            Content::Json(pattern) | Content::Text(pattern) => {
                self.judge.compare(pattern, received)
            }
            Content::Nothing if received == "" => Vec::new(),
            Content::Nothing | Content::Stream => {
                vec![Difference { path: "$".into(), what: "expected nothing".into() }]
            }
        }
    }

    fn conforms(
        &self,
        content: &Content,
        schema: Option<&'static Schema>,
        received: &Value,
    ) -> Result<(), String> {
        match content {
            Content::Json(_) => self.judge.conforms(schema, received),
            _ => Ok(()),
        }
    }
}

/// Converts received bytes to the kind of value that `content` is compared with.
fn value(content: &Content, received: &[u8]) -> Result<Value, String> {
    if !matches!(content, Content::Json(_)) {
        return Ok(shown(received));
    }
    // Bytes that are not JSON become text, so that the reported difference shows them.
    Ok(serde_json::from_slice(received).unwrap_or_else(|_| shown(received)))
}

fn shown(bytes: &[u8]) -> Value {
    String::from_utf8_lossy(bytes).into()
}

#[cfg(test)]
mod tests;
