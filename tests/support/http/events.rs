//! A stream of events (`text/event-stream`), read strictly.

use std::mem;

/// An event or a comment on a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// The fields of an event, up to its empty line.
    Event(Event),
    /// A line that begins with a colon.
    Comment(String),
}

/// The fields of an event. A field without a line is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// Name of the event.
    pub event: Option<String>,
    /// Id that a client can resume from.
    pub id: Option<String>,
    /// Time until a client may reconnect, in milliseconds.
    pub retry: Option<String>,
    /// Lines of data, joined by newlines.
    pub data: Option<String>,
}

/// Parser for the events of one stream.
#[derive(Clone, Debug, Default)]
pub struct Events {
    buffer: Vec<u8>,
    event: Event,
}

impl Events {
    /// Appends bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether the last event or comment is complete.
    pub fn is_between_events(&self) -> bool {
        self.buffer.is_empty() && self.event == Event::default()
    }

    /// Returns the next event or comment, if it has arrived completely.
    ///
    /// # Errors
    ///
    /// Fails at an invalid line: an unknown field, a second `event`, `id` or `retry`, bytes that are not UTF-8, or a line end other than LF
    /// and CRLF.
    pub fn item(&mut self) -> Result<Option<Item>, String> {
        while let Some(at) = self.buffer.iter().position(|byte| *byte == b'\n') {
            let mut line: Vec<u8> = self.buffer.drain(..=at).collect();
            line.pop();
            line.pop_if(|byte| *byte == b'\r');
            let line =
                String::from_utf8(line).map_err(|error| format!("a stream in UTF-8: {error}"))?;
            if line.contains('\r') {
                return Err(format!("a lone CR in {line:?}"));
            }
            if let Some(comment) = line.strip_prefix(':') {
                return Ok(Some(Item::Comment(comment.into())));
            }
            if !line.is_empty() {
                self.field(&line)?;
            } else if self.event != Event::default() {
                return Ok(Some(Item::Event(mem::take(&mut self.event))));
            }
        }
        Ok(None)
    }

    fn field(&mut self, line: &str) -> Result<(), String> {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        let event = &mut self.event;
        let field = match name {
            "data" => {
                event.data = Some(match event.data.take() {
                    None => value.to_owned(),
                    Some(before) => format!("{before}\n{value}"),
                });
                return Ok(());
            }
            "event" => &mut event.event,
            "id" => &mut event.id,
            "retry" => &mut event.retry,
            _ => return Err(format!("no field of an event: {line:?}")),
        };
        match field.replace(value.into()) {
            None => Ok(()),
            Some(_) => Err(format!("a second {name:?} in an event")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `text` byte by byte.
    fn read(text: &str) -> Result<Vec<Item>, String> {
        let (mut events, mut items) = (Events::default(), Vec::new());
        for byte in text.bytes() {
            events.push(&[byte]);
            while let Some(item) = events.item()? {
                items.push(item);
            }
        }
        assert!(events.is_between_events(), "{events:?}");
        Ok(items)
    }

    fn event(event: Option<&str>, id: Option<&str>, data: Option<&str>) -> Item {
        let [event, id, data] = [event, id, data].map(|value| value.map(str::to_owned));
        Item::Event(Event { event, id, retry: None, data })
    }

    #[test]
    fn events_and_comments_are_read() {
        assert_eq!(
            read("event: message\nid: a-1\ndata: {}\n\n:\n: alive\ndata: 1\r\ndata:2\r\n\r\n"),
            Ok(vec![
                event(Some("message"), Some("a-1"), Some("{}")),
                Item::Comment(String::new()),
                Item::Comment(" alive".into()),
                event(None, None, Some("1\n2")),
            ])
        );
        assert_eq!(
            read("id: a-0\ndata:\n\n\n\nid\ndata\ndata\n\n"),
            Ok(vec![event(None, Some("a-0"), Some("")), event(None, Some(""), Some("\n"))])
        );
        let retry = Event { retry: Some("500".into()), ..Event::default() };
        assert_eq!(read("retry: 500\n\n"), Ok(vec![Item::Event(retry)]));
    }

    #[test]
    fn a_comment_inside_an_event_does_not_end_it() {
        let items = read("id: 1\n: alive\ndata: x\n\n").unwrap();
        assert_eq!(items[1], event(None, Some("1"), Some("x")));
    }

    #[test]
    fn an_event_that_breaks_off_is_seen() {
        for text in ["data: x", "data: x\n", "id: 1\n"] {
            let mut events = Events::default();
            events.push(text.as_bytes());
            assert_eq!(events.item(), Ok(None));
            assert!(!events.is_between_events(), "{text:?}");
        }
    }

    #[test]
    fn malformed_events_are_refused() {
        let error = |text: &str| read(text).unwrap_err();
        assert_eq!(error("date: x\n\n"), "no field of an event: \"date: x\"");
        assert_eq!(error("id: 1\nid: 2\n\n"), "a second \"id\" in an event");
        assert_eq!(error("data: a\rdata: b\n\n"), "a lone CR in \"data: a\\rdata: b\"");
    }
}
