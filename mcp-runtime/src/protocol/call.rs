use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    task::{self, Poll},
};

use super::{channel::ProgressSlot, encode, revision::Revision, shared::Shared};
use crate::{
    catalog::Snapshot,
    dispatch::Pending,
    model::Answer,
    wire::{Id, IdBuf},
};

/// Where the response to a request goes.
#[derive(Clone)]
pub(super) enum ReplyTo {
    /// A line of its own.
    Line,
    /// Into the array that answers a batch.
    Batch(Arc<Batch>),
}

/// The answers to a batch, which go out as one array when the last one is there (RPC-09).
pub(super) struct Batch {
    shared: Arc<Shared>,
    answers: Mutex<Vec<u8>>,
}

impl Batch {
    pub(super) fn new(shared: Arc<Shared>) -> Arc<Self> {
        Arc::new(Self { shared, answers: Mutex::default() })
    }

    pub(super) fn push(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let opening = if answers.is_empty() { b'[' } else { b',' };
        answers.push(opening);
        write(&mut answers);
    }
}

impl Drop for Batch {
    /// Whoever lets go last has answered, or has been cancelled.
    fn drop(&mut self) {
        let answers = self.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !answers.is_empty() {
            answers.push(b']');
            self.shared.outbox.push(|out| out.append(answers));
        }
    }
}

/// All that turns a call's answer into its response.
pub(super) struct WayBack {
    pub(super) shared: Arc<Shared>,
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) revision: Revision,
    pub(super) slot: Option<Arc<ProgressSlot>>,
    pub(super) to: ReplyTo,
}

impl WayBack {
    pub(super) fn answer(&self, id: Id<'_>, answer: &Answer) {
        let Self { shared, snapshot, revision, slot, to } = self;
        if let Err(error) = answer {
            encode::note(error);
        }
        let write = |out: &mut Vec<u8>| {
            encode::answer(out, &shared.service, snapshot, *revision, id, answer);
        };
        match to {
            ReplyTo::Line => shared.outbox.push_last(slot.as_ref(), write),
            ReplyTo::Batch(batch) => {
                if slot.is_some() {
                    shared.outbox.push_last(slot.as_ref(), |_| {});
                }
                batch.push(write);
            }
        }
    }
}

/// A request whose handler waits. A transport drives it to its end; its answer goes to the outbox by itself.
pub(crate) struct PendingCall {
    pending: Pending,
    id: IdBuf,
    way: WayBack,
    /// The last field, so that a batch has been answered before the call counts as done.
    _busy: Busy,
}

impl PendingCall {
    /// Enters the call into the table of calls in flight, where a cancellation finds it.
    pub(super) fn new(pending: Pending, id: IdBuf, way: WayBack) -> Self {
        way.shared.calls().insert(id.clone(), pending.context().clone());
        let busy = Busy::new(way.shared.clone());
        Self { pending, id, way, _busy: busy }
    }

    /// Takes the call out of the table, where a call that was cancelled has made room already, perhaps for another one of
    /// its id. Returns whether it was there still: else nobody wants the answer, though the handler was not told in time.
    fn leave(&self) -> bool {
        let mut calls = self.way.shared.calls();
        let is_there = calls.get(&self.id).is_some_and(|it| it.is(self.pending.context()));
        if is_there {
            calls.remove(&self.id);
        }
        is_there
    }
}

/// Counts as long as a call may still say something. A call that has left the table has not necessarily answered.
struct Busy(Arc<Shared>);

impl Busy {
    fn new(shared: Arc<Shared>) -> Self {
        shared.busy.fetch_add(1, Ordering::AcqRel);
        Self(shared)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
        // Whoever waits for the last call to end would not hear of one that ends in silence.
        self.0.outbox.wake();
    }
}

impl Future for PendingCall {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let answer = task::ready!(Pin::new(&mut self.pending).poll(cx));
        // Out of the table first: once the answer is on its way, the client may use the id again.
        let answer = if self.leave() { answer } else { None };
        match answer {
            Some(answer) => self.way.answer(self.id.as_id(), &answer),
            // Nothing may follow a cancellation, not even a report that was merged before it.
            None => self.way.slot.iter().for_each(|it| self.way.shared.outbox.forget(it)),
        }
        Poll::Ready(())
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.leave();
    }
}
