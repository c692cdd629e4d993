use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
};

use super::desk::Desk;

/// Activity of a connection: whether it waits for its client, and since when.
///
/// Only the thread that serves the connection writes here, except that another thread may displace the connection.
#[derive(Default)]
pub(super) struct Pulse {
    requests: AtomicU32,
    /// Requests that have no answer yet, and answers that are still being streamed.
    at_work: AtomicU32,
    /// Rises when the client stops reading and when it reads on.
    turns: AtomicU32,
    /// Time when the connection last began to wait for its client, as a number of accepted connections.
    since: AtomicU64,
    /// Bytes of large answers that the client has not read.
    unread: AtomicUsize,
    /// The client reads more slowly than the server writes.
    is_blocked: AtomicBool,
    /// Part of the body of a request is still to come.
    is_receiving: AtomicBool,
    /// The last request was refused, and the rest of its body is still to come.
    has_unread_body: AtomicBool,
    /// The connection has to end to make room for another one, unless it has a request by then.
    is_displaced: AtomicBool,
}

impl Pulse {
    pub(super) fn opened_at(now: u64) -> Self {
        Self { since: AtomicU64::new(now), ..Self::default() }
    }

    /// Whether nothing can happen before the client sends or reads something.
    pub(super) fn is_waiting(&self) -> bool {
        !self.is_working() || self.is_blocked() || self.is_receiving.load(Relaxed)
    }

    /// Whether a request has no answer yet, or an answer is still being streamed.
    pub(super) fn is_working(&self) -> bool {
        self.at_work.load(Relaxed) > 0
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.is_blocked.load(Relaxed)
    }

    pub(super) fn waits_since(&self) -> u64 {
        self.since.load(Relaxed)
    }

    pub(super) fn requests(&self) -> u32 {
        self.requests.load(Relaxed)
    }

    pub(super) fn turns(&self) -> u32 {
        self.turns.load(Relaxed)
    }

    /// Notes that the client has stopped reading, or that it reads again.
    #[cold]
    pub(super) fn block(&self, is_blocked: bool, now: u64) {
        self.turns.fetch_add(1, Relaxed);
        self.is_blocked.store(is_blocked, Relaxed);
        self.since.store(now, Relaxed);
    }

    /// Notes that the rest of a body is still to come.
    #[cold]
    pub(super) fn receive(&self, now: u64) {
        self.is_receiving.store(true, Relaxed);
        self.since.store(now, Relaxed);
    }

    /// Notes that the body has come, or that it will not come.
    #[cold]
    pub(super) fn has_received(&self) {
        self.is_receiving.store(false, Relaxed);
    }

    /// Notes that the connection ends before the body of its last request.
    pub(super) fn leave_body(&self) {
        self.has_unread_body.store(true, Relaxed);
    }

    pub(super) fn has_unread_body(&self) -> bool {
        self.has_unread_body.load(Relaxed)
    }

    /// Returns the number of bytes of large answers that the client has not read.
    pub(super) fn unread(&self) -> usize {
        self.unread.load(Relaxed)
    }

    pub(super) fn hold(&self, bytes: usize) {
        self.unread.fetch_add(bytes, Relaxed);
    }

    pub(super) fn let_go(&self, bytes: usize) {
        self.unread.fetch_sub(bytes, Relaxed);
    }

    pub(super) fn is_displaced(&self) -> bool {
        self.is_displaced.load(Relaxed)
    }

    pub(super) fn displace(&self) {
        self.is_displaced.store(true, Relaxed);
    }

    /// Takes back that the connection has to end. Returns whether it had to.
    pub(super) fn spare(&self) -> bool {
        self.is_displaced.swap(false, Relaxed)
    }
}

/// Guard that counts a request as being answered.
pub(super) struct Work(Arc<Desk>);

impl Work {
    #[inline]
    pub(super) fn at(desk: Arc<Desk>) -> Self {
        desk.pulse.at_work.fetch_add(1, Relaxed);
        desk.pulse.requests.fetch_add(1, Relaxed);
        Self(desk)
    }

    pub(super) fn desk(&self) -> &Arc<Desk> {
        &self.0
    }
}

impl Clone for Work {
    fn clone(&self) -> Self {
        Self::at(self.0.clone())
    }
}

impl Drop for Work {
    #[inline]
    fn drop(&mut self) {
        let Desk { pulse, endpoint, .. } = &*self.0;
        if pulse.at_work.fetch_sub(1, Relaxed) == 1 {
            pulse.since.store(endpoint.open.now(), Relaxed);
        }
    }
}
