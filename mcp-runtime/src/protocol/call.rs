use std::{
    collections::hash_map::Entry,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{self, Poll},
};

use super::{
    channel::ProgressSlot,
    encode,
    outbox::{Outbox, OutboxHold},
    shared::PeerState,
};
use crate::{
    catalog::{Snapshot, Topic},
    dispatch::Pending,
    limits::Share,
    model::{Answer, Done, TaskAnswer},
    wire::{Id, IdBuf},
};

/// Destination of the response to a request and of the messages before it.
#[derive(Clone)]
pub(crate) struct ReplyTo {
    pub(super) outbox: Arc<Outbox>,
    /// Batch that the response is an element of.
    batch: Option<Arc<Batch>>,
    /// Whether only the response can be sent.
    pub(super) quiet: bool,
    /// Whether the client can leave the stream of messages and resume it.
    pub(super) resumes: bool,
}

impl ReplyTo {
    /// Makes a destination that gets each message on its own.
    pub(crate) fn each(outbox: Arc<Outbox>) -> Self {
        Self { outbox, batch: None, quiet: false, resumes: false }
    }

    /// Allows only the response, for a reader that takes one message and no stream.
    #[cfg(feature = "http")]
    pub(crate) fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// Allows the client to leave the stream of messages and resume it.
    #[cfg(feature = "http")]
    pub(crate) fn resumable(mut self) -> Self {
        self.resumes = true;
        self
    }

    /// Makes a destination that collects responses into one array.
    pub(super) fn batch(&self) -> Self {
        let batch = Batch { outbox: self.outbox.clone(), answers: Mutex::default() };
        Self { batch: Some(Arc::new(batch)), ..self.clone() }
    }

    pub(super) fn is_batch(&self) -> bool {
        self.batch.is_some()
    }

    pub(super) fn write(&self, write: impl FnOnce(&mut Vec<u8>)) {
        match &self.batch {
            None => self.outbox.push(write),
            Some(batch) => batch.push(write),
        }
    }
}

/// Responses to a batch. They go out as one array when the last one is there (rule RPC-09).
struct Batch {
    outbox: Arc<Outbox>,
    answers: Mutex<Vec<u8>>,
}

impl Batch {
    fn push(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let opening = if answers.is_empty() { b'[' } else { b',' };
        answers.push(opening);
        write(&mut answers);
    }
}

impl Drop for Batch {
    /// When the last owner lets go, each call of the batch has been answered or cancelled.
    fn drop(&mut self) {
        let answers = self.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !answers.is_empty() {
            answers.push(b']');
            self.outbox.push(|out| out.append(answers));
        }
    }
}

/// Everything that turns the answer of a call into its response. Borrowed, because most calls are answered at once.
#[derive(Clone, Copy)]
pub(super) struct ResponseSink<'a> {
    pub(super) state: &'a Arc<PeerState>,
    pub(super) snapshot: &'a Arc<Snapshot>,
    pub(super) scope: encode::AnswerScope,
    pub(super) slot: Option<&'a Arc<ProgressSlot>>,
    pub(super) to: &'a ReplyTo,
}

impl ResponseSink<'_> {
    pub(super) fn answer(&self, id: Id<'_>, answer: &Answer) {
        let Self { state, snapshot, scope, slot, to } = *self;
        let revision = scope.revision;
        if let Err(error) = answer {
            encode::log_internal(error);
            #[cfg(feature = "http")]
            if revision.is_modern() && error.kind() == crate::error::Kind::MissingCapability {
                to.outbox.refuse();
            }
        }
        let write = |out: &mut Vec<u8>| {
            encode::answer(out, &state.service, snapshot, scope, id, answer);
        };
        match &to.batch {
            None => to.outbox.push_last(slot, write),
            Some(batch) => {
                if slot.is_some() {
                    to.outbox.push_last(slot, |_| {});
                }
                batch.push(write);
            }
        }
        if let Ok(Done::Task(TaskAnswer::Created(task))) = answer
            && !revision.is_modern()
        {
            let tasks = &state.service.tasks;
            state.hear(Topic::Tasks);
            state.session().follow_task(&task.id, state.service.limits.tasks);
            // A task that has ended by now causes no further events.
            if !tasks.runs(&task.id) {
                state.session().forget_task(&task.id);
            }
        }
    }
}

/// Owned [`ResponseSink`], for a call that is answered later.
struct OwnedSink {
    state: Arc<PeerState>,
    snapshot: Arc<Snapshot>,
    scope: encode::AnswerScope,
    slot: Option<Arc<ProgressSlot>>,
    to: ReplyTo,
}

impl OwnedSink {
    fn borrow(&self) -> ResponseSink<'_> {
        let Self { state, snapshot, scope, slot, to } = self;
        ResponseSink { state, snapshot, scope: *scope, slot: slot.as_ref(), to }
    }
}

impl From<ResponseSink<'_>> for OwnedSink {
    fn from(way: ResponseSink<'_>) -> Self {
        Self {
            state: way.state.clone(),
            snapshot: way.snapshot.clone(),
            scope: way.scope,
            slot: way.slot.cloned(),
            to: way.to.clone(),
        }
    }
}

/// Request whose handler waits. A transport only drives the future: the response goes to the outbox.
pub(crate) struct PendingCall {
    pending: Pending,
    id: IdBuf,
    way: OwnedSink,
    _share: Share,
    /// The last field, so that a batch has been answered before the call counts as done.
    _hold: OutboxHold,
}

impl PendingCall {
    /// Enters the call into the table of calls in flight, where a cancellation finds it.
    ///
    /// Returns `None` if another call with this id is in the table already.
    pub(super) fn new(
        pending: Pending,
        id: IdBuf,
        way: ResponseSink<'_>,
        share: impl FnOnce() -> Share,
    ) -> Option<Self> {
        let is_free = match way.state.begin().calls().entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(it) => {
                it.insert(pending.context().clone());
                true
            }
        };
        if !is_free {
            return None;
        }
        let hold = way.to.outbox.hold();
        Some(Self { pending, id, way: way.into(), _share: share(), _hold: hold })
    }

    /// Removes the call from the table, and returns whether it was there. If not, the call was cancelled and its answer is dropped, even if
    /// the handler noticed too late. Another call may have its id by now.
    fn leave(&self) -> bool {
        let Some(ongoing) = self.way.state.ongoing() else { return false };
        let mut calls = ongoing.calls();
        let is_there = calls.get(&self.id).is_some_and(|it| it.is(self.pending.context()));
        if is_there {
            calls.remove(&self.id);
        }
        is_there
    }
}

impl Future for PendingCall {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let answer = task::ready!(Pin::new(&mut self.pending).poll(cx));
        // The call leaves the table first: once the response is on its way, the client may use the id again.
        let answer = if self.leave() { answer } else { None };
        match answer {
            Some(answer) => self.way.borrow().answer(self.id.as_id(), &answer),
            // Nothing may follow a cancellation, not even a report that was merged before it.
            None => self.way.slot.iter().for_each(|it| self.way.to.outbox.forget(it)),
        }
        Poll::Ready(())
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.leave();
    }
}
