//! Records of a session in a store that several nodes share, and the copy of these records at a node.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use super::session_message::{MessageBudget, StoredChange};
use crate::{
    node::NodeId,
    protocol::{SavedClient, SessionSettings},
    storage::{Record, StoreError},
};

/// State of the records of a session, as far as this node knows it.
pub(super) struct SessionCopy {
    /// Name of the caller that began the session.
    caller: Box<str>,
    /// Time until which this node need not read the store, in milliseconds since the start.
    pub(super) fresh_until: AtomicU64,
    /// Newest settings that this node has seen.
    known: Mutex<StoredSettings>,
    /// Version of the record `client` that this node has applied.
    pub(super) client: AtomicU64,
    /// Newest version of the record `hearing` that this node knows.
    pub(super) heard: AtomicU64,
    /// Time after which this node has to renew the leases on the places of the session, in milliseconds since the start.
    pub(super) renewed_at: AtomicU64,
    pub(super) budget: MessageBudget,
    /// Newest version of the record `settings` that all nodes have been told of.
    told: AtomicU64,
    /// Whether a message that makes all nodes read the settings is on its way.
    is_rereading: AtomicBool,
    /// Locked while this node changes the settings in the store.
    pub(super) changing: tokio::sync::Mutex<()>,
}

impl SessionCopy {
    pub(super) fn new(caller: &str, fresh_until: u64, client: u64, known: StoredSettings) -> Self {
        Self {
            caller: caller.into(),
            fresh_until: AtomicU64::new(fresh_until),
            known: Mutex::new(known),
            client: AtomicU64::new(client),
            heard: AtomicU64::new(0),
            renewed_at: AtomicU64::new(0),
            budget: MessageBudget::default(),
            told: AtomicU64::new(0),
            is_rereading: AtomicBool::new(false),
            changing: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn caller(&self) -> &str {
        &self.caller
    }

    /// Takes over settings from the store, and passes them to `apply`, unless this node already knows newer settings.
    pub(super) fn learn(&self, loaded: StoredSettings, apply: impl FnOnce(&SessionSettings)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.version > known.version {
            apply(&loaded.settings);
            *known = loaded;
        }
    }

    pub(super) fn known(&self) -> StoredSettings {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes over a change that another node has announced, and passes the new settings to `apply`, unless this node already knows newer
    /// settings. Returns `false` if this node has missed an earlier change.
    pub(super) fn follow(&self, new: &StoredChange, apply: impl FnOnce(&SessionSettings)) -> bool {
        if new.is_unknown() {
            self.is_rereading.store(false, Ordering::Relaxed);
        } else {
            self.set_told(new.after);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.version > new.before {
            return true;
        }
        known.settings = std::mem::take(&mut known.settings).changed(&new.change);
        apply(&known.settings);
        if known.version < new.before {
            return false;
        }
        known.version = new.after;
        true
    }

    /// Whether all nodes have been told of the settings that this node knows. If not, the node that has stored them may have failed before it
    /// told the others.
    pub(super) fn is_told(&self) -> bool {
        let version = self.known().version;
        version != 0 && self.told.load(Ordering::Relaxed) >= version
    }

    pub(super) fn set_told(&self, version: u64) {
        self.told.fetch_max(version, Ordering::Relaxed);
    }

    /// Records that a message is sent that makes all nodes read the settings. Returns whether none is on its way.
    pub(super) fn begin_rereading(&self) -> bool {
        !self.is_rereading.swap(true, Ordering::Relaxed)
    }

    /// Makes the next request of the session read the store.
    pub(super) fn distrust(&self) {
        self.fresh_until.store(0, Ordering::Relaxed);
    }

    /// Makes the next request of the session take over the settings in the store, independently of their version.
    pub(super) fn distrust_settings(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).version = 0;
        self.distrust();
    }
}

/// Session as the store has it.
pub(super) struct StoredSession {
    pub(super) client: SavedClient,
    /// Version of the record with the client.
    pub(super) version: u64,
    pub(super) settings: StoredSettings,
    /// Node that sends the client the messages that belong to no request, and the version of the record `hearing`.
    pub(super) hearing: Option<(NodeId, u64)>,
}

pub(super) fn hearing_node(record: &Record) -> Option<(NodeId, u64)> {
    let node = str::from_utf8(&record.value).ok().and_then(NodeId::parse)?;
    Some((node, record.version))
}

/// Reads the record with the client of a session.
pub(super) fn saved(record: &Record) -> Result<SavedClient, StoreError> {
    let damaged = || StoreError::failed("the record of a session is damaged");
    SavedClient::read(&record.value).ok_or_else(damaged)
}

/// Settings of a session as the store has them, and the version of their record.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredSettings {
    pub(super) settings: SessionSettings,
    pub(super) version: u64,
}

impl StoredSettings {
    pub(super) fn of(record: &Record) -> Result<Self, StoreError> {
        let settings = serde_json::from_slice(&record.value);
        let settings = settings.map_err(|why| {
            StoreError::failed(format_args!("the settings of a session are damaged: {why}"))
        })?;
        Ok(Self { settings, version: record.version })
    }
}

pub(super) fn json(settings: &SessionSettings) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(settings).map_err(|why| StoreError::failed(why.to_string()))
}
