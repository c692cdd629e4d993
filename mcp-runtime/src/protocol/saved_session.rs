//! Sessions of the legacy era in the form in which another node continues them.

use std::{collections::BTreeSet, sync::Arc};

use mcp_runtime_wire::{ObjectWriter, validate};
use serde::{Deserialize, Serialize};

use super::{questions, revision::Revision, state::PeerState};
use crate::{
    call::context::logging,
    catalog::Topic,
    limits::Tenant,
    model::{ClientInfo, Level},
    task::{read_client, write_client},
};

/// Maximum depth of the description of a client. No accepted client has a deeper description.
const DEPTH: usize = 1024;

/// Client of a session, and the revision that it speaks. Only a further `initialize` changes them.
#[derive(Debug, PartialEq)]
pub(crate) struct SavedClient {
    pub(crate) revision: Revision,
    pub(crate) client: Arc<ClientInfo>,
    /// Principal of the client. Empty if the client is not identified.
    pub(crate) principal: String,
    /// Name of the caller that began the session. The session counts towards the limit of sessions of this caller.
    pub(crate) caller: String,
}

impl SavedClient {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        object.str("revision", self.revision.name()).str("principal", &self.principal);
        object.str("caller", &self.caller);
        write_client(&mut object.object("client"), &self.client);
        object.end();
        out
    }

    /// Reads what [`write`](Self::write) has written. Returns `None` for any other text.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let raw = validate(text, DEPTH).ok()?;
        let [revision, principal, caller, client] =
            raw.pick(["revision", "principal", "caller", "client"]);
        Some(Self {
            revision: Revision::parse(&revision?.string()?)?,
            client: Arc::new(read_client(client?)),
            principal: principal?.string()?.into_owned(),
            caller: caller?.string()?.into_owned(),
        })
    }
}

/// Settings of a session that its client changes while the session is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionSettings {
    /// Whether the client has sent `notifications/initialized`.
    is_initialized: bool,
    /// Name of the log level, if the client has set it.
    log_level: Option<String>,
    /// URIs of the resources that the client is subscribed to, as the client wrote them.
    subscriptions: BTreeSet<String>,
}

impl SessionSettings {
    /// Returns the difference between these settings and `after`.
    pub(crate) fn change_to(&self, after: &Self) -> SettingsChange {
        let (old, new) = (&self.subscriptions, &after.subscriptions);
        SettingsChange {
            is_initialized: after.is_initialized,
            log_level: after.log_level.clone().filter(|_| self.log_level != after.log_level),
            added: new.difference(old).cloned().collect(),
            ended: old.difference(new).cloned().collect(),
        }
    }

    /// Applies a change to these settings.
    pub(crate) fn changed(mut self, change: &SettingsChange) -> Self {
        self.is_initialized |= change.is_initialized;
        if change.log_level.is_some() {
            self.log_level.clone_from(&change.log_level);
        }
        for ended in &change.ended {
            self.subscriptions.remove(ended);
        }
        self.subscriptions.extend(change.added.iter().cloned());
        self
    }

    /// Takes back the change from `before` to `after`. Other changes, which further requests have made since then, stay.
    pub(crate) fn without_change(mut self, before: &Self, after: &Self) -> Self {
        let change = before.change_to(after);
        if before.is_initialized != after.is_initialized {
            self.is_initialized = before.is_initialized;
        }
        if change.has_other_level() && self.log_level == after.log_level {
            self.log_level.clone_from(&before.log_level);
        }
        for added in &change.added {
            self.subscriptions.remove(added);
        }
        self.subscriptions.extend(change.ended);
        self
    }
}

/// Difference between two settings of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SettingsChange {
    is_initialized: bool,
    /// New log level, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_level: Option<String>,
    /// URIs of new subscriptions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    added: Vec<String>,
    /// URIs of subscriptions that have ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ended: Vec<String>,
}

impl SettingsChange {
    /// Returns whether the log level differs.
    pub(crate) fn has_other_level(&self) -> bool {
        self.log_level.is_some()
    }

    /// Returns the size of the URIs, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.added.iter().chain(&self.ended).map(String::len).sum()
    }

    /// Divides the change into changes that have the same effect one after the other. Each of them has URIs of at most `most` bytes, or a
    /// single URI.
    pub(crate) fn parts(mut self, most: usize) -> Vec<Self> {
        let (added, ended) = (std::mem::take(&mut self.added), std::mem::take(&mut self.ended));
        let mut parts = vec![self];
        let uris = ended.into_iter().map(|uri| (uri, false));
        for (uri, is_added) in uris.chain(added.into_iter().map(|uri| (uri, true))) {
            if parts.last().is_some_and(|part| {
                let bytes = part.bytes();
                bytes > 0 && bytes + uri.len() > most
            }) {
                parts.push(Self::default());
            }
            if let Some(part) = parts.last_mut() {
                if is_added { &mut part.added } else { &mut part.ended }.push(uri);
            }
        }
        parts
    }
}

/// Returns the client of the session, or `None` before the session has begun.
pub(super) fn saved_client(
    state: &PeerState,
    principal: &str,
    caller: String,
) -> Option<SavedClient> {
    let terms = state.session().terms()?;
    let (revision, client) = (terms.revision, terms.client);
    Some(SavedClient { revision, client, principal: principal.to_owned(), caller })
}

/// Returns the settings of the session.
pub(super) fn settings(state: &PeerState) -> SessionSettings {
    let session = state.session();
    SessionSettings {
        is_initialized: session.is_initialized(),
        log_level: session.terms().and_then(|terms| terms.log_level).map(|at| at.name().to_owned()),
        subscriptions: session.subscribed().map(str::to_owned).collect(),
    }
}

/// Continues a session that began at another node. This node does not notify the client of changed lists and resources before the client
/// opens its stream here.
pub(super) fn restore(state: &Arc<PeerState>, saved: &SavedClient) {
    let mut session = state.session();
    session.initialize(saved.revision, saved.client.clone());
    session.set_hears(false);
    drop(session);
    state.register(Topic::Lists);
}

/// Replaces the client of a session that was initialized again at another node.
pub(super) fn replace_client(state: &PeerState, saved: &SavedClient) {
    state.session().initialize(saved.revision, saved.client.clone());
    // The stored roots may belong to the previous client, as at the node that got `initialize`.
    questions::forget_roots(state);
}

/// Replaces the settings of the session by those that the store has, or by those before a change that the store has not taken.
pub(super) fn set_settings(
    state: &Arc<PeerState>,
    settings: &SessionSettings,
    tenant: &Arc<Tenant>,
) {
    if !settings.subscriptions.is_empty() {
        state.register(Topic::Resources);
    }
    let (limits, snapshot) = (&state.service.limits, state.snapshot());
    let mut session = state.session();
    session.set_initialized(settings.is_initialized);
    let level = settings.log_level.as_deref().and_then(Level::parse);
    if let Some(level) = level {
        logging::listen(level);
    }
    session.set_log_level(level);
    let own: BTreeSet<_> = session.subscribed().map(str::to_owned).collect();
    for ended in own.difference(&settings.subscriptions) {
        session.unsubscribe(&snapshot.subscription_key(ended), ended);
    }
    let Some(subscriptions) = session.subscriptions() else { return };
    for uri in settings.subscriptions.difference(&own) {
        // The subscription was accepted by another node, so it can fail here only because a limit of this node is reached.
        let key = snapshot.subscription_key(uri);
        if let Err((_, error)) = subscriptions.add(key, uri, 0, limits, tenant) {
            tracing::warn!("a subscription of another node is not taken over: {}", error.message());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Meta;

    #[test]
    fn a_client_is_read_as_it_was_written() {
        let client = ClientInfo {
            name: "n\"\u{1F980}".to_owned(),
            version: String::new(),
            title: Some("t".to_owned()),
            capabilities: Meta(
                serde_json::from_str(r#"{"roots": {"listChanged": true}}"#).unwrap(),
            ),
        };
        for (principal, revision) in [("", Revision::NEWEST_LEGACY), ("a b", Revision::LEGACY[0])] {
            let client = Arc::new(client.clone());
            let (principal, caller) = (principal.to_owned(), "address:192.0.2.1".to_owned());
            let saved = SavedClient { revision, client, principal, caller };
            assert_eq!(SavedClient::read(&saved.write()), Some(saved));
        }
        for text in ["", "{}", r#"{"revision":"x","principal":"","client":{}}"#] {
            assert_eq!(SavedClient::read(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn changes_at_two_nodes_are_both_kept() {
        let settings = |level: Option<&str>, uris: &[&str]| SessionSettings {
            is_initialized: true,
            log_level: level.map(str::to_owned),
            subscriptions: uris.iter().map(|uri| (*uri).to_owned()).collect(),
        };
        let before = settings(None, &["a", "b"]);
        let stored = settings(Some("info"), &["b", "c"]);
        let changed = stored.changed(&before.change_to(&settings(None, &["a", "d"])));
        assert_eq!(changed, settings(Some("info"), &["c", "d"]));
        let changed = changed.changed(&before.change_to(&settings(Some("error"), &["a", "b"])));
        assert_eq!(changed, settings(Some("error"), &["c", "d"]));
    }

    #[test]
    fn a_change_that_is_taken_back_leaves_the_settings_of_other_requests() {
        let settings = |is_initialized, level: Option<&str>, uris: &[&str]| SessionSettings {
            is_initialized,
            log_level: level.map(str::to_owned),
            subscriptions: uris.iter().map(|uri| (*uri).to_owned()).collect(),
        };
        let before = settings(false, None, &["a", "b"]);
        let after = settings(true, Some("info"), &["b", "c"]);
        assert_eq!(after.clone().without_change(&before, &after), before);
        let now = settings(true, Some("error"), &["c", "d"]);
        let left = now.without_change(&before, &after);
        assert_eq!(left, settings(false, Some("error"), &["a", "d"]));
        let level = settings(false, Some("info"), &["a", "b"]);
        let left = after.without_change(&before, &level);
        assert_eq!(left, settings(true, None, &["b", "c"]));
    }

    #[test]
    fn the_parts_of_a_change_have_the_effect_of_the_change() {
        let settings = |uris: std::ops::Range<usize>| SessionSettings {
            is_initialized: true,
            log_level: Some("info".to_owned()),
            subscriptions: uris.map(|number| format!("uri:{number:06}")).collect(),
        };
        let (before, after) = (settings(0..60), settings(40..100));
        let change = before.change_to(&after);
        assert_eq!(change.bytes(), 80 * 10);
        let parts = change.parts(99);
        assert_eq!(parts.len(), 9);
        assert!(parts.iter().all(|part| part.bytes() <= 99));
        let changed = parts.iter().fold(before.clone(), SessionSettings::changed);
        assert_eq!(changed, after);
        assert_eq!(before.change_to(&after).parts(1).len(), 80);
        assert_eq!(before.change_to(&before).parts(1).len(), 1);
    }
}
