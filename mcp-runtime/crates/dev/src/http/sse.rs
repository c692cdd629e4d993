//! Events of a stream, as they are on the wire: a few lines, and an empty line at the end.

use crate::message::Message;

/// Splits the bytes of a stream into events.
#[derive(Default)]
pub(crate) struct EventReader {
    bytes: Vec<u8>,
    /// Number of bytes at the start that contain no end of an event. A large event arrives in many parts.
    searched: usize,
}

impl EventReader {
    /// Adds bytes. Returns the events that are whole now.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<StreamEvent> {
        self.bytes.extend_from_slice(bytes);
        let mut events = Vec::new();
        // The servers of this framework end lines with a line feed.
        let is_end = |end: &[u8]| end == b"\n\n";
        while let Some(at) = self.bytes[self.searched..].windows(2).position(is_end) {
            let event: Vec<u8> = self.bytes.drain(..self.searched + at + 2).collect();
            events.push(StreamEvent::read(&String::from_utf8_lossy(&event)));
            self.searched = 0;
        }
        // The last byte may be the first half of an end.
        self.searched = self.bytes.len().saturating_sub(1);
        events
    }
}

/// Event of a stream.
#[derive(Debug, PartialEq)]
pub(crate) struct StreamEvent {
    pub(crate) id: Option<String>,
    /// Message, if the event has one.
    pub(crate) message: Option<Message>,
    /// Other lines, in their order.
    rest: String,
}

impl StreamEvent {
    fn read(text: &str) -> Self {
        let (mut id, mut data, mut rest) = (None, Vec::new(), String::new());
        for line in text.lines() {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "id" => id = Some(value.to_owned()),
                "data" => data.push(value),
                _ if line.is_empty() => {}
                _ => rest += &format!("{line}\n"),
            }
        }
        let message = Message::read(data.join("\n").as_bytes());
        if message.is_none() {
            for line in data {
                rest += &format!("data: {line}\n");
            }
        }
        Self { id, message, rest }
    }

    /// Returns the address that the first event of a stream of HTTP+SSE names.
    pub(crate) fn endpoint(&self) -> Option<&str> {
        self.rest.strip_prefix("event: endpoint\ndata: ")?.lines().next()
    }

    pub(crate) fn of(message: Message) -> Self {
        Self { id: None, message: Some(message), rest: "event: message\n".to_owned() }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = self.rest.clone();
        if let Some(id) = &self.id {
            text += &format!("id: {id}\n");
        }
        if let Some(message) = &self.message {
            // JSON may contain line feeds between its members.
            for line in message.text().lines() {
                text += &format!("data: {line}\n");
            }
        }
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_read_from_pieces_and_written_again() {
        let text =
            "event: message\nid: 1\ndata: {\"a\":1}\n\n: comment\n\nretry: 5\nid: 2\ndata: \n\n";
        let mut reader = EventReader::default();
        let events: Vec<_> = text.bytes().flat_map(|byte| reader.take(&[byte])).collect();
        assert_eq!(events.len(), 3);
        let message = Message::from(json!({ "a": 1 }));
        assert_eq!((&events[0].id, &events[0].message), (&Some("1".to_owned()), &Some(message)));
        assert_eq!(events[1].text(), ": comment\n\n");
        assert_eq!(events[2].text(), "retry: 5\ndata: \nid: 2\n\n");
        assert_eq!(StreamEvent::of(json!(1).into()).text(), "event: message\ndata: 1\n\n");
    }

    #[test]
    fn a_message_with_line_feeds_stays_one_event() {
        let text = "event: message\ndata: {\"b\": 1,\ndata: \"a\": 2}\n\n";
        let events = EventReader::default().take(text.as_bytes());
        assert_eq!(events[0].text(), text);
    }
}
