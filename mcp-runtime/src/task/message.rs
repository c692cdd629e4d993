//! Messages about tasks between the nodes that share a store.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::{ClientInfo, Meta, WrittenQuestion};

/// Message about a task. A node ignores a message about a task that it does not run, unless the variant says otherwise.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TaskMessage<'a> {
    /// The record of a task has this version now. Each node notifies its own clients that follow the task.
    Changed {
        #[serde(borrow)]
        owner: Cow<'a, str>,
        #[serde(borrow)]
        id: Cow<'a, str>,
        version: u64,
    },
    /// A client has cancelled the task.
    Cancel {
        #[serde(borrow)]
        id: Cow<'a, str>,
    },
    /// A client has answered questions of the task. The record `name` has the answers, as a [`TextAnswers`].
    Answers {
        #[serde(borrow)]
        owner: Cow<'a, str>,
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        name: Cow<'a, str>,
        /// Whether the sending node has asked the client. Otherwise the client has read the questions in the state of the task.
        asked: bool,
    },
    /// A client waits for the end of the task at the sender, and can answer questions that need these capabilities.
    Wait {
        #[serde(borrow)]
        id: Cow<'a, str>,
        waiter: u64,
        #[serde(borrow)]
        able: Vec<Cow<'a, str>>,
    },
    /// A client has stopped waiting at the sender.
    Unwait { waiter: u64 },
    /// The node with the id `node` has to send a question to the client that waits at that node.
    Ask {
        #[serde(borrow)]
        node: Cow<'a, str>,
        waiter: u64,
        #[serde(borrow)]
        key: Cow<'a, str>,
    },
    /// The node with the id `node` has to withdraw a question from the client that waits at that node.
    Withdraw {
        #[serde(borrow)]
        node: Cow<'a, str>,
        waiter: u64,
        #[serde(borrow)]
        key: Cow<'a, str>,
    },
}

/// Answers by the keys of their questions: JSON texts, or the reasons why there is no answer.
pub(super) type TextAnswers = Vec<(String, Result<String, String>)>;

impl TaskMessage<'_> {
    pub(super) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Returns the capabilities of a client that questions may need. The texts of a client may be long, so they are not sent to other nodes.
pub(super) fn able(client: &ClientInfo) -> Vec<Cow<'static, str>> {
    let can = |capability: &str| match capability {
        "elicitation" => client.can_elicit(),
        _ => client.can(capability),
    };
    let all = WrittenQuestion::CAPABILITIES.into_iter();
    all.filter(|capability| can(capability)).map(Cow::Borrowed).collect()
}

/// Returns a client with these capabilities.
pub(super) fn client_with(able: &[Cow<'_, str>]) -> ClientInfo {
    let mut capabilities = Meta::default();
    for capability in able {
        let (name, part) = match &**capability {
            "elicitation" => ("elicitation", Some("form")),
            other => other.split_once('.').map_or((other, None), |(name, part)| (name, Some(part))),
        };
        let entry = capabilities.0.entry(name.to_owned()).or_insert_with(|| json!({}));
        if let (Some(part), Value::Object(parts)) = (part, entry) {
            parts.insert(part.to_owned(), json!({}));
        }
    }
    ClientInfo { capabilities, ..ClientInfo::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let text = || Cow::from("a \"b\" \u{1F980}\n");
        for message in [
            TaskMessage::Changed { owner: text(), id: text(), version: u64::MAX },
            TaskMessage::Wait { id: text(), waiter: 7, able: vec![text()] },
            TaskMessage::Ask { node: text(), waiter: 7, key: text() },
        ] {
            assert_eq!(serde_json::from_str::<TaskMessage<'_>>(&message.write()).unwrap(), message);
        }
    }

    #[test]
    fn a_client_at_another_node_can_be_asked_the_same_questions() {
        for capabilities in [
            json!({}),
            json!({ "elicitation": {} }),
            json!({ "elicitation": { "url": {} }, "roots": { "listChanged": true } }),
            json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} } }),
        ] {
            let Value::Object(members) = capabilities else { panic!("an object") };
            let client = ClientInfo {
                capabilities: Meta(members.into_iter().collect()),
                ..ClientInfo::default()
            };
            assert_eq!(able(&client_with(&able(&client))), able(&client), "{client:?}");
        }
    }
}
