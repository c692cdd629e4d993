//! Announcements of a log that a follower has not taken yet.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use mcp_runtime::store::LogEvent;
use tokio::sync::Notify;

/// Maximum number of bytes of the events in a mailbox. Beyond it, the follower reads the log.
const MOST_BYTES: usize = 8 << 10;

/// Number of bytes that an event takes beside its value.
const EVENT_BYTES: usize = 64;

/// Mailbox of one follower.
pub(crate) struct Mailbox {
    state: Mutex<MailboxState>,
    changed: Notify,
}

struct MailboxState {
    events: VecDeque<LogEvent>,
    /// Number of bytes of `events`.
    bytes: usize,
    /// Whether events may be missing in `events`.
    has_gap: bool,
    look: Duration,
}

impl Mailbox {
    /// Creates an empty mailbox. `look` is the time after which the follower reads the log without an announcement.
    pub(crate) fn new(look: Duration) -> Self {
        let state = MailboxState { events: VecDeque::new(), bytes: 0, has_gap: false, look };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, MailboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time after which the follower reads the log without an announcement.
    pub(crate) fn look(&self) -> Duration {
        self.state().look
    }

    /// Waits until something was announced since the last call of this method.
    ///
    /// # Cancel safety
    /// Cancel safe.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Adds an announced event.
    pub(crate) fn add(&self, event: LogEvent) {
        let mut state = self.state();
        let bytes = event.value.len() + EVENT_BYTES;
        if state.has_gap || state.bytes + bytes > MOST_BYTES {
            state.forget(true);
        } else {
            state.bytes += bytes;
            state.events.push_back(event);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Records that events may be missing, so that the follower reads the log. Sets the time after which it does so without an announcement.
    pub(crate) fn add_gap(&self, look: Duration) {
        let mut state = self.state();
        state.forget(true);
        state.look = look;
        drop(state);
        self.changed.notify_one();
    }

    /// Removes everything, because the follower is about to read the log, which has all announced events.
    pub(crate) fn clear(&self) {
        self.state().forget(false);
    }

    /// Takes the events after the event `after`, without a gap between them. Returns `None` if there is a gap, so that the follower has to read
    /// the log.
    pub(crate) fn take(&self, after: u64) -> Option<VecDeque<LogEvent>> {
        let mut state = self.state();
        let mut events = std::mem::take(&mut state.events);
        state.bytes = 0;
        events.retain(|event| event.id > after);
        let is_next = events.iter().zip(after + 1..).all(|(event, id)| event.id == id);
        (is_next && !state.has_gap).then_some(events)
    }
}

impl MailboxState {
    fn forget(&mut self, has_gap: bool) {
        (self.events, self.bytes, self.has_gap) = (VecDeque::new(), 0, has_gap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u64) -> LogEvent {
        LogEvent { id, value: vec![0; 100] }
    }

    fn taken(mailbox: &Mailbox, after: u64) -> Option<Vec<u64>> {
        Some(mailbox.take(after)?.iter().map(|event| event.id).collect())
    }

    #[test]
    fn events_that_follow_each_other_are_taken_once() {
        let mailbox = Mailbox::new(Duration::ZERO);
        [5, 6, 7].into_iter().for_each(|id| mailbox.add(event(id)));
        assert_eq!(taken(&mailbox, 5), Some(vec![6, 7]));
        assert_eq!(taken(&mailbox, 7), Some(vec![]));
    }

    #[test]
    fn a_gap_makes_the_follower_read_the_log() {
        let mailbox = Mailbox::new(Duration::ZERO);
        mailbox.add(event(7));
        assert_eq!(taken(&mailbox, 5), None);
        [8, 10].into_iter().for_each(|id| mailbox.add(event(id)));
        assert_eq!(taken(&mailbox, 7), None);
        mailbox.add_gap(Duration::ZERO);
        mailbox.add(event(11));
        assert_eq!(taken(&mailbox, 10), None);
        mailbox.clear();
        mailbox.add(event(11));
        assert_eq!(taken(&mailbox, 10), Some(vec![11]));
    }

    #[test]
    fn a_full_mailbox_makes_the_follower_read_the_log() {
        let mailbox = Mailbox::new(Duration::ZERO);
        (1..=1000).for_each(|id| mailbox.add(event(id)));
        assert!(mailbox.state().events.is_empty());
        assert_eq!(taken(&mailbox, 0), None);
    }
}
