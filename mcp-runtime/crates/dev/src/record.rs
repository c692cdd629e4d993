//! Record of the messages of a client that a new server has to know too.

use std::collections::BTreeMap;

use serde_json::json;

use crate::message::{self, Message};

/// Record of a session of the revisions 2024-11-05 to 2025-11-25, and of the listen streams of 2026-07-28.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionRecord {
    /// Parameters of `initialize`.
    initialize: Option<Message>,
    /// Whether a server has accepted them.
    is_accepted: bool,
    is_initialized: bool,
    /// Parameters of the last `logging/setLevel`.
    level: Option<Message>,
    /// Parameters of each `resources/subscribe`, by the URI.
    subscriptions: BTreeMap<String, Message>,
    /// Open listen requests, by the key of the id.
    listens: BTreeMap<String, Message>,
}

impl SessionRecord {
    /// Remembers a request that no server has answered yet: the first handshake, or a listen stream.
    pub(crate) fn note_sent(&mut self, request: &Message) {
        match &*request.method() {
            "initialize" if self.initialize.is_none() => {
                self.note(request);
                self.is_accepted = false;
            }
            "subscriptions/listen" => self.note(request),
            _ => {}
        }
    }

    /// Remembers a request that a server has accepted, or a notification.
    pub(crate) fn note(&mut self, sent: &Message) {
        let params = || sent.part(&["params"]).unwrap_or(json!({}).into());
        let uri = || sent.value(&["params", "uri"]).as_str().unwrap_or_default().to_owned();
        match &*sent.method() {
            "initialize" => (self.initialize, self.is_accepted) = (Some(params()), true),
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

    /// Notes that a server has refused a handshake. A session that the server has accepted before goes on.
    pub(crate) fn refused(&mut self) {
        if !self.is_accepted {
            self.initialize = None;
        }
    }

    /// Whether each server of a session has to know the accepted requests of this method.
    pub(crate) fn has_method(method: &str) -> bool {
        matches!(method, "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe")
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

    /// Whether the client has also ended its handshake.
    fn is_begun(&self) -> bool {
        self.has_session() && self.is_initialized
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
        if !self.is_begun() {
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
        let legacy = message::LISTS.iter().filter(|_| self.is_begun());
        let legacy = legacy.map(|(method, ..)| message::list_changed(method, None));
        legacy.chain(self.listens.values().flat_map(message::wanted_lists)).collect()
    }
}
