//! Messages between nodes, in the form in which the log holds them.

use std::{sync::OnceLock, time::Duration};

use super::lease::NodeId;
use crate::storage::StoreOperation;

/// Log with the messages of all nodes.
pub(super) const MESSAGES: &str = "messages";

/// Time after which the log of messages expires, unless a node sends a message. It is long, because nodes cannot distinguish an expired
/// log from lost messages.
const TTL: Duration = Duration::from_secs(30 * 24 * 3600);

/// Maximum number of messages in the log. A node that falls further behind has missed messages, and sees a gap.
pub(super) const MOST: usize = 16_384;

/// Part of the server that handles a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Changes of the catalog and updates of resources.
    Catalog,
    /// News and commands of tasks.
    Tasks,
    /// Changes of sessions, and messages of clients that another node has received.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has sessions"))]
    Sessions,
    /// Arrival and departure of nodes.
    Nodes,
}

impl Subject {
    /// All subjects, in the order of their variants.
    pub(super) const ALL: [Self; 4] = [Self::Catalog, Self::Tasks, Self::Sessions, Self::Nodes];

    fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Tasks => "tasks",
            Self::Sessions => "sessions",
            Self::Nodes => "nodes",
        }
    }
}

/// Delivery to the handler of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery<'a> {
    /// Message of a node, which may be this node itself. All nodes receive all messages in the same order.
    Message {
        /// Sender.
        from: NodeId,
        /// Text that only the handler of the subject understands.
        body: &'a str,
    },
    /// Messages were lost, because this node could not read them in time.
    Gap,
}

/// Handler of the messages of a subject. It runs on the tokio task that reads the log, so it must not block.
pub(super) type MessageHandler = Box<dyn Fn(Delivery<'_>) + Send + Sync>;

/// Handlers of the messages, by subject.
#[derive(Default)]
pub(super) struct MessageHandlers([OnceLock<MessageHandler>; Subject::ALL.len()]);

impl MessageHandlers {
    /// Sets the handler of a subject. A second handler of the same subject is ignored.
    pub(super) fn set(&self, subject: Subject, handler: MessageHandler) {
        let _ = self.0[subject as usize].set(handler);
    }

    pub(super) fn deliver(&self, subject: Subject, delivery: Delivery<'_>) {
        if let Some(handler) = self.0[subject as usize].get() {
            handler(delivery);
        }
    }

    /// Tells all handlers that messages were lost.
    pub(super) fn report_gap(&self) {
        Subject::ALL.iter().for_each(|subject| self.deliver(*subject, Delivery::Gap));
    }
}

/// Message of a node, as text: sender, number, subject and body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NodeMessage<'a> {
    pub(super) from: NodeId,
    /// Number by which receivers recognize a message that its sender has stored twice. Each sender counts from 1. Zero if the sender never
    /// stores the message again.
    pub(super) number: u64,
    pub(super) subject: Subject,
    pub(super) body: &'a str,
}

impl<'a> NodeMessage<'a> {
    /// Returns the operation that appends the message to the log.
    pub(super) fn append(&self) -> StoreOperation {
        StoreOperation::append(MESSAGES, self.write(), TTL, MOST)
    }

    fn write(&self) -> Vec<u8> {
        let Self { from, number, subject, body } = self;
        format!("{from} {number} {} {body}", subject.name()).into_bytes()
    }

    /// Reads a message. Returns `None` if the text has another form, for example because a newer version of the server has written it.
    pub(super) fn read(value: &'a [u8]) -> Option<Self> {
        let mut parts = str::from_utf8(value).ok()?.splitn(4, ' ');
        let from = NodeId::parse(parts.next()?)?;
        let number = parts.next()?.parse().ok()?;
        let name = parts.next()?;
        let subject = Subject::ALL.into_iter().find(|subject| subject.name() == name)?;
        Some(Self { from, number, subject, body: parts.next()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        for subject in Subject::ALL {
            for body in ["", "a b  c", "{\"a\": \"\u{1F980}\\n\"}"] {
                let message = NodeMessage { from: NodeId::of(0xfe), number: 7, subject, body };
                assert_eq!(NodeMessage::read(&message.write()), Some(message));
            }
        }
    }

    #[test]
    fn a_message_of_another_form_is_skipped() {
        let from = NodeId::of(7).to_string();
        let others =
            ["1 unknown {}", "x catalog {}", "catalog {}"].map(|rest| format!("{from} {rest}"));
        for text in ["", "catalog", "x 1 catalog {}", &from]
            .into_iter()
            .chain(others.iter().map(|text| &**text))
        {
            assert_eq!(NodeMessage::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(NodeMessage::read(&[0xff, b' ']), None);
    }
}
