//! Responses and events that a transcript expects.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{events::Event, head::Head};
use crate::{judge::Judge, pattern::Difference, pattern::Pattern};

/// A response as it is written in a transcript.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenResponse {
    status: u16,
    headers: Option<Map<String, Value>>,
    body: Option<Value>,
    text: Option<Value>,
    stream: Option<bool>,
}

/// An event as it is written in a transcript.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenEvent {
    id: Option<Value>,
    event: Option<Value>,
    retry: Option<Value>,
    data: Option<Value>,
    text: Option<Value>,
}

/// Expected body of a response, or data of an event.
#[derive(Debug)]
pub(crate) enum Content {
    Nothing,
    Json(Pattern),
    Text(Pattern),
    /// A stream of events, so only the head is compared.
    Stream,
}

#[derive(Debug)]
pub(crate) struct Response {
    status: u16,
    /// `None` for a header that must be absent.
    headers: Vec<(String, Option<Pattern>)>,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) struct ExpectedEvent {
    fields: Pattern,
    names_event: bool,
    pub(crate) content: Content,
}

impl Response {
    pub(crate) fn new(written: WrittenResponse) -> Result<Self, String> {
        let content = match written.stream {
            Some(true) if written.body.is_none() && written.text.is_none() => Content::Stream,
            Some(_) => return Err("`stream` is true and stands alone".into()),
            None => content(written.body, written.text)?,
        };
        let pattern = |(name, value): (String, Value)| match value {
            Value::Null => Ok((name, None)),
            value => Ok((name, Some(Pattern::new(value)?))),
        };
        let headers = written.headers.unwrap_or_default().into_iter().map(pattern);
        let headers = headers.collect::<Result<_, String>>()?;
        Ok(Self { status: written.status, headers, content })
    }

    pub(crate) fn differences(&self, head: &Head, judge: &mut Judge) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut report = |path: &str, what| found.push(Difference { path: path.into(), what });
        if head.status != self.status {
            report("status", format!("expected {}, got {}", self.status, head.status));
        }
        let kind = head.get("content-type").unwrap_or_default();
        let expected = match self.content {
            Content::Json(_) => Some("application/json"),
            Content::Stream => Some("text/event-stream"),
            Content::Nothing | Content::Text(_) => None,
        };
        if let Some(expected) = expected.filter(|expected| kind.split(';').next() != Some(expected))
        {
            report("content-type", format!("expected {expected}, got {kind:?}"));
        }
        for (name, pattern) in &self.headers {
            match (pattern, head.get(name)) {
                (None, None) => {}
                (None, Some(value)) => report(name, format!("must be absent, got {value:?}")),
                (Some(_), None) => report(name, "missing".into()),
                (Some(pattern), Some(value)) => {
                    for difference in judge.compare(pattern, &value.into()) {
                        report(name, difference.what);
                    }
                }
            }
        }
        found
    }
}

impl ExpectedEvent {
    pub(crate) fn new(written: WrittenEvent) -> Result<Self, String> {
        let names_event = written.event.is_some();
        let fields = [("id", written.id), ("event", written.event), ("retry", written.retry)];
        let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Ok(Self {
            fields: Pattern::new(Value::Object(given.collect()))?,
            names_event,
            content: content(written.data, written.text)?,
        })
    }

    /// Compares all fields except the data.
    pub(crate) fn differences(&self, event: &Event, judge: &mut Judge) -> Vec<Difference> {
        let number = |text: &str| text.parse::<u64>().map_or_else(|_| text.into(), Value::from);
        // An event without a name is a `message`, so a transcript may leave this name out.
        let name = event.event.as_deref().filter(|name| self.names_event || *name != "message");
        let fields = [
            ("id", event.id.as_deref().map(Value::from)),
            ("event", name.map(Value::from)),
            ("retry", event.retry.as_deref().map(number)),
        ];
        let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        judge.compare(&self.fields, &Value::Object(given.collect()))
    }
}

fn content(json: Option<Value>, text: Option<Value>) -> Result<Content, String> {
    match (json, text) {
        (None, None) => Ok(Content::Nothing),
        (Some(json), None) => Ok(Content::Json(Pattern::new(json)?)),
        (None, Some(text)) => Ok(Content::Text(Pattern::new(text)?)),
        (Some(_), Some(_)) => Err("`text` is for what is no JSON".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn head(written: &str, received: &str, differences: &[&str]) {
        let expected = Response::new(serde_json::from_str(written).unwrap()).unwrap();
        let head = Head::parse(received.as_bytes()).unwrap();
        let found = expected.differences(&head, &mut Judge::new());
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, differences);
    }

    #[track_caller]
    fn event(written: &str, event: &Event, differences: &[&str]) {
        let expected = ExpectedEvent::new(serde_json::from_str(written).unwrap()).unwrap();
        let found = expected.differences(event, &mut Judge::new());
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, differences);
    }

    #[test]
    fn heads_are_compared() {
        let received = "HTTP/1.1 405 No\r\nallow: GET, POST\r\nx: y\r\n\r\n";
        head(r#"{"status": 405, "headers": {"Allow": "GET, POST", "vary": null}}"#, received, &[]);
        head(
            r#"{"status": 404, "headers": {"allow": "GET", "x": null, "vary": {"$any": true}}}"#,
            received,
            &[
                "status: expected 404, got 405",
                "allow: expected \"GET\", got \"GET, POST\"",
                "vary: missing",
                "x: must be absent, got \"y\"",
            ],
        );
    }

    #[test]
    fn the_kind_of_a_body_goes_with_its_type() {
        let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
        let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n";
        head(r#"{"status": 200, "body": {}}"#, json, &[]);
        head(r#"{"status": 200, "stream": true}"#, stream, &[]);
        head(r#"{"status": 200, "text": "ok"}"#, json, &[]);
        let wrong = "content-type: expected text/event-stream, got \"application/json\"";
        head(r#"{"status": 200, "stream": true}"#, json, &[wrong]);
    }

    #[test]
    fn events_are_compared() {
        let mut received = Event { id: Some("a-1".into()), ..Event::default() };
        event(r#"{"id": {"$string": "a"}, "data": {}}"#, &received, &[]);
        event(r#"{"data": {}}"#, &received, &["$.id: not expected, got \"a-1\""]);
        event(r#"{"id": "a-1", "retry": 500}"#, &received, &["$.retry: missing, expected 500"]);
        received.retry = Some("500".into());
        received.event = Some("message".into());
        event(r#"{"id": "a-1", "retry": 500, "event": "message"}"#, &received, &[]);
        event(r#"{"id": "a-1", "retry": 500}"#, &received, &[]);
        received.event = Some("endpoint".into());
        event(
            r#"{"id": "a-1", "retry": 500}"#,
            &received,
            &["$.event: not expected, got \"endpoint\""],
        );
    }

    #[test]
    fn mistakes_are_refused() {
        let error = |written| Response::new(serde_json::from_str(written).unwrap()).unwrap_err();
        assert_eq!(
            error(r#"{"status": 1, "body": 1, "text": 1}"#),
            "`text` is for what is no JSON"
        );
        let alone = "`stream` is true and stands alone";
        assert_eq!(error(r#"{"status": 1, "stream": true, "body": 1}"#), alone);
        assert_eq!(error(r#"{"status": 1, "stream": false}"#), alone);
        assert!(
            error(r#"{"status": 1, "headers": {"a": {"$amy": 1}}}"#).contains("no such wildcard")
        );
    }
}
