//! Messages of nodes about sessions, and the budget that each session has for them in the log of the nodes.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{protocol::SettingsChange, storage::StoreError};

/// Maximum size of a posted message in the log of the nodes, in bytes. Longer messages would fill the log, so they are stored in records.
pub(super) const LONG: usize = 4 << 10;

/// Bytes that each change of the settings counts in addition to its URIs.
const CHANGE: usize = 1 << 10;

/// Time in which a session may send [`LONG`] bytes, in microseconds.
const EVERY: u64 = 10_000;

/// Time for which the budget grows while a session sends nothing.
const SAVED: u64 = 64 * EVERY;

/// Maximum time for which a message of a session waits.
const LONGEST_WAIT: u64 = 256 * EVERY;

/// Message of a node about a session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SessionMessage<'a> {
    /// The session with this id has ended.
    Ended(&'a str),
    /// The settings of the session have changed.
    Changed(&'a str, StoredChange),
    /// The session has continued with a new client.
    Client(&'a str),
    /// The sender now reads this stream of the session.
    Resumed(&'a str, u64),
    /// The sender now sends the client the messages that belong to no request. The number is the version of the record `hearing`.
    Heard(&'a str, u64),
    /// The client of the session has posted this message, which may be for a call of any other node.
    Posted(&'a str, #[serde(borrow)] Cow<'a, str>),
    /// Like `Posted`, for a message in the record with this name.
    Stored(&'a str, #[serde(borrow)] Cow<'a, str>),
    /// The client of this session of protocol revision 2024-11-05 has posted a message to the sending node, which has stored it in a
    /// record. The numbers are the number of this record and the size of the message in bytes.
    Relayed(&'a str, u64, usize),
}

impl SessionMessage<'_> {
    /// Returns the text of the message in the log of the nodes.
    ///
    /// # Errors
    /// Fails if the message cannot be written.
    pub(super) fn body(&self) -> Result<String, StoreError> {
        serde_json::to_string(self).map_err(|why| StoreError::failed(why.to_string()))
    }
}

/// Change of the settings of a session, or a part of the change.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredChange {
    /// Version of the record `settings` before the change.
    pub(super) before: u64,
    /// Version of the record after this part: `before`, unless this is the last part.
    pub(super) after: u64,
    pub(super) change: SettingsChange,
}

impl StoredChange {
    /// Returns the parts of a change whose versions are not known. A node applies them, and then reads the settings, because it has missed a
    /// change in any case: no record has this version.
    pub(super) fn unknown(change: SettingsChange) -> Vec<Self> {
        let mut parts = Self::parts(u64::MAX, u64::MAX, change);
        if parts.is_empty() {
            let change = SettingsChange::default();
            parts.push(Self { before: u64::MAX, after: u64::MAX, change });
        }
        parts
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.before == u64::MAX
    }

    /// Divides a change of the settings into parts of at most [`LONG`] bytes each. Only a part with a single URI may be longer. `before`
    /// and `after` are the versions of the record before and after the change.
    pub(super) fn parts(before: u64, after: u64, change: SettingsChange) -> Vec<Self> {
        let parts = change.parts(LONG).into_iter();
        let mut parts: Vec<_> =
            parts.map(|change| Self { before, after: before, change }).collect();
        if let Some(last) = parts.last_mut() {
            last.after = after;
        }
        parts
    }
}

/// Budget of a session for the log of the nodes and for long messages, in bytes. Without it, a client could push the messages of other
/// clients out of the log, or fill the store.
///
/// The value is the time at which the next message may pass, in microseconds since the start.
#[derive(Default)]
pub(super) struct MessageBudget(AtomicU64);

impl MessageBudget {
    /// Returns how long a posted message of this many bytes has to wait. Returns `None` if too many bytes wait already.
    pub(super) fn post(&self, now: Duration, bytes: usize) -> Option<Duration> {
        self.spend(now, LONG + bytes)
    }

    /// Returns how long a change of the settings has to wait. Returns `None` if too many bytes wait already.
    pub(super) fn change(&self, now: Duration, change: &SettingsChange) -> Option<Duration> {
        self.spend(now, CHANGE + change.bytes())
    }

    fn spend(&self, now: Duration, bytes: usize) -> Option<Duration> {
        let now = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        let next = |at| next_pass(at, now, bytes);
        let at = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()?;
        Some(Duration::from_micros(at.saturating_sub(now)))
    }
}

/// Returns the time from which the next message may pass, after a message of this many bytes. `at` is the time from which the message itself
/// may pass. Returns `None` if the message would wait for too long. A message may be larger than the budget: the next message then waits.
/// All times are in microseconds.
fn next_pass(at: u64, now: u64, bytes: usize) -> Option<u64> {
    let begin = at.max(now.saturating_sub(SAVED));
    let cost = (bytes as u64).saturating_mul(EVERY) / LONG as u64;
    (begin < now.saturating_add(LONGEST_WAIT)).then(|| begin.saturating_add(cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000_000_000;

    /// Spends bytes, and returns how long they have to wait, in microseconds.
    fn spend(budget: &MessageBudget, bytes: usize) -> Option<u64> {
        let pause = budget.spend(Duration::from_micros(NOW), bytes)?;
        u64::try_from(pause.as_micros()).ok()
    }

    #[test]
    fn messages_of_a_client_pass_at_once_then_wait_and_are_refused_at_last() {
        let budget = MessageBudget::default();
        for _ in 0..=64 {
            assert_eq!(spend(&budget, LONG), Some(0));
        }
        for number in 1..256 {
            assert_eq!(spend(&budget, LONG), Some(number * EVERY));
        }
        assert_eq!(spend(&budget, LONG), None);
        assert!(budget.spend(Duration::from_micros(NOW + EVERY), LONG).is_some());
    }

    #[test]
    fn a_large_message_passes_and_holds_up_those_after_it() {
        let budget = MessageBudget::default();
        let (now, large) = (Duration::from_micros(NOW), 8 << 20);
        assert_eq!(budget.post(now, large), Some(Duration::ZERO));
        for seconds in 0..17 {
            assert_eq!(budget.post(now + Duration::from_secs(seconds), large), None);
        }
        assert!(budget.post(now + Duration::from_secs(19), large).is_some());
    }
}
