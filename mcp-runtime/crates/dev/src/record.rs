//! Record of the messages of a client that a new server has to know too.

use std::collections::BTreeMap;

use serde_json::json;

use crate::message::{self, Message};

/// Record of a session of the revisions 2024-11-05 to 2025-11-25, and of the listen streams of 2026-07-28.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionRecord {
    /// Parameters of `initialize`.
    initialize: Option<Message>,
    is_initialized: bool,
    /// Parameters of the last `logging/setLevel`.
    level: Option<Message>,
    /// Parameters of each `resources/subscribe`, by the URI.
    subscriptions: BTreeMap<String, Message>,
    /// Open listen requests, by the key of the id.
    listens: BTreeMap<String, Message>,
}

impl SessionRecord {
    /// Remembers a message of the client.
    pub(crate) fn note(&mut self, sent: &Message) {
        let params = || sent.part(&["params"]).unwrap_or(json!({}).into());
        let uri = || sent.value(&["params", "uri"]).as_str().unwrap_or_default().to_owned();
        match &*sent.method() {
            "initialize" => self.initialize = Some(params()),
            "notifications/initialized" => self.is_initialized = true,
            "logging/setLevel" => self.level = Some(params()),
            "resources/subscribe" => drop(self.subscriptions.insert(uri(), params())),
            "resources/unsubscribe" => drop(self.subscriptions.remove(&uri())),
            "subscriptions/listen" => {
                drop(self.listens.insert(message::key(&sent.id()), sent.clone()));
            }
            _ => {}
        }
    }

    /// Forgets the session after the server has refused it.
    pub(crate) fn refused(&mut self) {
        self.initialize = None;
    }

    /// Ends a listen stream.
    pub(crate) fn forget_listen(&mut self, key: &str) {
        self.listens.remove(key);
    }

    pub(crate) fn listen(&self, key: &str) -> Option<&Message> {
        self.listens.get(key)
    }

    pub(crate) fn listens(&self) -> impl Iterator<Item = (&String, &Message)> {
        self.listens.iter()
    }

    /// Whether the client has begun a session.
    pub(crate) fn has_session(&self) -> bool {
        self.initialize.is_some()
    }

    /// Returns the first request for a new server: the handshake of the client, or a request that shows that the server runs.
    pub(crate) fn greeting(&self, number: u64) -> Message {
        match &self.initialize {
            Some(params) => message::own_request(number, "initialize", params),
            None => message::ping(number),
        }
    }

    /// Returns the messages that follow the handshake at a new server. `number` returns the number of the next
    /// request of `dev`.
    pub(crate) fn replay(&self, mut number: impl FnMut() -> u64) -> Vec<Message> {
        if !self.is_initialized {
            return Vec::new();
        }
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let mut messages = vec![initialized.into()];
        let level = self.level.iter().map(|params| ("logging/setLevel", params));
        let uris = self.subscriptions.values().map(|params| ("resources/subscribe", params));
        for (method, params) in level.chain(uris) {
            messages.push(message::own_request(number(), method, params));
        }
        messages
    }

    /// Returns the notifications that the lists have changed, in the form of each revision.
    pub(crate) fn changes(&self) -> Vec<Message> {
        let legacy = message::LISTS.iter().filter(|_| self.is_initialized);
        let legacy = legacy.map(|(method, ..)| message::list_changed(method, None));
        legacy.chain(self.listens.values().flat_map(message::wanted_lists)).collect()
    }
}
