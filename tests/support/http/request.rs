//! Requests of a transcript, with default headers that each request can override.

use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::transcript::ADDRESS;
use crate::{
    pattern::Captures,
    transcript::{Message, fill_in, message, unhex},
};

/// Headers that a request has by default.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Defaults {
    Modern,
    Legacy,
    None,
}

/// Context of the replay from which a request takes its host, default headers and captured values.
#[derive(Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) host: String,
    pub(crate) revision: &'a str,
    pub(crate) defaults: Defaults,
    pub(crate) captures: &'a Captures,
}

/// A request as it is written in a transcript.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written<'a> {
    method: Option<String>,
    path: Option<Value>,
    headers: Option<Map<String, Value>>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    bytes: Option<String>,
    pad: Option<usize>,
    chunked: Option<bool>,
}

#[derive(Debug)]
pub(crate) struct Request {
    method: String,
    path: Value,
    headers: Map<String, Value>,
    body: Option<Message>,
    pad: usize,
    chunked: bool,
}

/// The bytes of a request, and the parts of it that the replay needs later.
#[derive(Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) bytes: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// Value of `Mcp-Session-Id`.
    pub(crate) session: Option<String>,
    /// Whether the request has a `Last-Event-ID`.
    pub(crate) resumes: bool,
}

impl Request {
    pub(crate) fn new(written: Written<'_>) -> Result<Self, String> {
        let body = match (written.body, written.bytes) {
            (Some(_), Some(_)) => return Err("both `body` and `bytes`".into()),
            (Some(body), None) => Some(message(body)?),
            (None, Some(bytes)) => Some(Message::Verbatim(unhex(&bytes)?)),
            (None, None) => None,
        };
        let usual = if body.is_some() { "POST" } else { "GET" };
        let request = Self {
            method: written.method.unwrap_or_else(|| usual.into()),
            path: written.path.unwrap_or_else(|| "/mcp".into()),
            headers: written.headers.unwrap_or_default(),
            body,
            pad: written.pad.unwrap_or_default(),
            chunked: written.chunked.unwrap_or_default(),
        };
        match request.headers.iter().find(|(_, value)| !is_header(value)) {
            Some((name, value)) => Err(format!("header `{name}` cannot be {value}")),
            None => Ok(request),
        }
    }

    pub(crate) fn asks_for_head(&self) -> bool {
        self.method == "HEAD"
    }

    pub(crate) fn sent(&self, setting: &Setting<'_>) -> Result<Sent, String> {
        let mut body = match &self.body {
            Some(message) => message.line(setting.captures)?,
            None => Vec::new(),
        };
        body.resize(body.len() + self.pad, b' ');
        let mut path = self.path.clone();
        fill_in(&mut path, setting.captures)?;
        let path = path.as_str().ok_or_else(|| format!("a path cannot be {path}"))?;
        // The only relative reference that a path can be is the endpoint of HTTP+SSE. It is a sibling of `/sse`, so a slash in front
        // resolves it.
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut bytes = format!("{} {slash}{path} HTTP/1.1\r\n", self.method).into_bytes();
        let headers = self.headers(&body, setting)?;
        for (name, value) in &headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        if self.chunked {
            let (first, second) = body.split_at(body.len() / 2);
            for chunk in [first, second].into_iter().filter(|chunk| !chunk.is_empty()) {
                bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
        } else {
            bytes.extend_from_slice(&body);
        }
        let header = |name| headers.iter().find(|header| header.0.eq_ignore_ascii_case(name));
        let session = header("mcp-session-id").map(|header| header.1.clone());
        Ok(Sent { bytes, body, session, resumes: header("last-event-id").is_some() })
    }

    fn headers(&self, body: &[u8], setting: &Setting<'_>) -> Result<Vec<(String, String)>, String> {
        let mut headers = self.usual(body, setting);
        headers
            .retain(|(usual, _)| !self.headers.keys().any(|name| name.eq_ignore_ascii_case(usual)));
        for (name, value) in &self.headers {
            let mut value = value.clone();
            fill_in(&mut value, setting.captures)?;
            let each = match value {
                Value::Array(values) => values,
                Value::Null => Vec::new(),
                value => vec![value],
            };
            for value in each {
                headers.push((name.clone(), text(&value, &setting.host)?));
            }
        }
        Ok(headers)
    }

    fn usual(&self, body: &[u8], setting: &Setting<'_>) -> Vec<(String, String)> {
        let mut headers = vec![("Host", setting.host.clone())];
        if self.chunked {
            headers.push(("Transfer-Encoding", "chunked".into()));
        } else if self.body.is_some() || self.method == "POST" {
            headers.push(("Content-Length", body.len().to_string()));
        }
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let method = message["method"].as_str();
        if setting.defaults != Defaults::None {
            match self.method.as_str() {
                "POST" => {
                    headers.push(("Content-Type", "application/json".into()));
                    headers.push(("Accept", "application/json, text/event-stream".into()));
                }
                "GET" => headers.push(("Accept", "text/event-stream".into())),
                _ => {}
            }
        }
        match setting.defaults {
            Defaults::Modern => {
                let params = &message["params"];
                let revision = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
                let revision = revision.unwrap_or(setting.revision);
                headers.push(("MCP-Protocol-Version", revision.into()));
                let name = match method {
                    Some("tools/call" | "prompts/get") => params["name"].as_str(),
                    Some("resources/read") => params["uri"].as_str(),
                    Some("tasks/get" | "tasks/update" | "tasks/cancel") => {
                        params["taskId"].as_str()
                    }
                    _ => None,
                };
                headers.extend(method.map(|method| ("Mcp-Method", method.to_owned())));
                headers.extend(name.map(|name| ("Mcp-Name", name.to_owned())));
            }
            Defaults::Legacy if method != Some("initialize") => {
                if setting.revision >= "2025-06-18" {
                    headers.push(("MCP-Protocol-Version", setting.revision.into()));
                }
                let session = setting.captures.get("session").and_then(Value::as_str);
                headers.extend(session.map(|session| ("Mcp-Session-Id", session.to_owned())));
            }
            Defaults::Legacy | Defaults::None => {}
        }
        headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn is_header(value: &Value) -> bool {
    let repeated = value.get("$repeat").is_some_and(Value::is_u64);
    let captured = value.get("$use").is_some_and(Value::is_string);
    match value {
        Value::Array(values) => values.iter().all(|value| value.is_string() || value.is_object()),
        value => value.is_null() || value.is_string() || repeated || captured,
    }
}

fn text(value: &Value, host: &str) -> Result<String, String> {
    if let Some(count) = value.get("$repeat").and_then(Value::as_u64) {
        return Ok("x".repeat(usize::try_from(count).map_err(|error| error.to_string())?));
    }
    let text = value.as_str().ok_or_else(|| format!("a header cannot be {value}"))?;
    Ok(text.replace(ADDRESS, host))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(written: &str, revision: &str, defaults: Defaults) -> Result<String, String> {
        let written = serde_json::from_str(written).map_err(|error| error.to_string())?;
        let captures = Captures::from([
            ("session".into(), json!("s1")),
            ("endpoint".into(), json!("message?sessionId=s1")),
            ("n".into(), json!(7)),
        ]);
        let host = "127.0.0.1:1".to_owned();
        let setting = Setting { host, revision, defaults, captures: &captures };
        let sent = Request::new(written)?.sent(&setting)?;
        Ok(String::from_utf8(sent.bytes).unwrap().replace("\r\n", "\n"))
    }

    const CALL: &str = r#"{"body": {"method": "tools/call", "params": {"name": "x"}}}"#;

    #[test]
    fn a_modern_request_mirrors_its_body() {
        assert_eq!(
            sent(CALL, "2026-07-28", Defaults::Modern).unwrap(),
            "POST /mcp HTTP/1.1\nHost: 127.0.0.1:1\nContent-Length: 49\nContent-Type: application/json\n\
             Accept: application/json, text/event-stream\nMCP-Protocol-Version: 2026-07-28\n\
             Mcp-Method: tools/call\nMcp-Name: x\n\n{\"method\": \"tools/call\", \"params\": {\"name\": \"x\"}}"
        );
        let read = r#"{"body": {"method": "resources/read", "params": {"uri": "a://b", "_meta": {"io.modelcontextprotocol/protocolVersion": "v9"}}}}"#;
        let read = sent(read, "2026-07-28", Defaults::Modern).unwrap();
        assert!(
            read.contains("Version: v9\nMcp-Method: resources/read\nMcp-Name: a://b\n\n"),
            "{read}"
        );
    }

    #[test]
    fn a_legacy_request_names_its_session() {
        let call = sent(CALL, "2025-06-18", Defaults::Legacy).unwrap();
        assert!(
            call.contains("MCP-Protocol-Version: 2025-06-18\nMcp-Session-Id: s1\n\n"),
            "{call}"
        );
        let call = sent(CALL, "2025-03-26", Defaults::Legacy).unwrap();
        assert!(call.contains("stream\nMcp-Session-Id: s1\n\n"), "{call}");
        let hello = r#"{"body": {"method": "initialize"}}"#;
        let hello = sent(hello, "2025-11-25", Defaults::Legacy).unwrap();
        assert!(!hello.contains("Mcp-") && !hello.contains("MCP-"), "{hello}");
    }

    #[test]
    fn headers_are_replaced_removed_doubled_and_repeated() {
        let written = r#"{"method": "DELETE", "path": "/x", "headers": {"HOST": "evil", "a": ["1", "2"], "b": {"$repeat": 3}, "c": {"$use": "session"}, "d": null, "e": "http://ADDRESS"}}"#;
        assert_eq!(
            sent(written, "2025-11-25", Defaults::None).unwrap(),
            "DELETE /x HTTP/1.1\nHOST: evil\na: 1\na: 2\nb: xxx\nc: s1\ne: http://127.0.0.1:1\n\n"
        );
        let written = r#"{"headers": {"accept": null, "Mcp-Session-Id": null, "host": null}}"#;
        assert_eq!(sent(written, "2025-03-26", Defaults::Legacy).unwrap(), "GET /mcp HTTP/1.1\n\n");
    }

    #[test]
    fn bodies_are_text_bytes_chunks_and_padded() {
        let body = |written: &str| {
            let text = sent(written, "2025-11-25", Defaults::None).unwrap();
            text.split_once("\n\n").unwrap().1.to_owned()
        };
        assert_eq!(body(r#"{"body": "{\"a\": "}"#), "{\"a\": ");
        assert_eq!(body(r#"{"bytes": "7b 7d", "pad": 2}"#), "{}  ");
        assert_eq!(body(r#"{"body": {"x": 12}, "chunked": true}"#), "4\n{\"x\"\n5\n: 12}\n0\n\n");
        assert_eq!(body(r#"{"body": {"x": {"$use": "n"}}}"#), "{\"x\":7}");
    }

    #[test]
    fn the_path_can_be_a_captured_reference() {
        let written = r#"{"path": {"$use": "endpoint"}, "body": {}}"#;
        let text = sent(written, "2025-11-25", Defaults::None).unwrap();
        assert!(text.starts_with("POST /message?sessionId=s1 HTTP/1.1\n"), "{text}");
    }

    #[test]
    fn mistakes_are_refused() {
        let error = |written| sent(written, "2025-11-25", Defaults::None).unwrap_err();
        assert_eq!(error(r#"{"body": {}, "bytes": ""}"#), "both `body` and `bytes`");
        assert_eq!(error(r#"{"headers": {"a": 7}}"#), "header `a` cannot be 7");
        assert_eq!(error(r#"{"path": 7}"#), "a path cannot be 7");
        assert_eq!(error(r#"{"path": {"$use": "x"}}"#), "nothing captured as `x`");
        assert!(error(r#"{"header": {}}"#).contains("unknown field `header`"));
    }
}
