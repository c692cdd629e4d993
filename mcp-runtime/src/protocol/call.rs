//! Path from a call back to its client: the destination, the channel and the response. Also contains the calls whose handlers have to wait.

use std::{
    collections::hash_map::Entry,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{self, Poll, Waker},
    time::Duration,
};

use mcp_runtime_wire::{Id, IdBuf, notification};

#[cfg(feature = "http")]
use super::outbox::ResponseRefusal;
use super::{
    encode,
    outbox::{Outbox, OutboxHold, ProgressSlot},
    revision::Revision,
    state::PeerState,
};
use crate::{
    call::context::{Carrier, Channel, ProgressReport},
    catalog::{Snapshot, Topic},
    dispatch::{Dispatched, PendingHandler},
    error::{Error, ErrorKind},
    limits::{Pool, Share},
    model::{Done, Level, OperationResult, TaskAnswer},
};

/// Outcome of one message or batch that the transport has to handle, in addition to the messages in the outbox.
#[derive(Default)]
pub(crate) struct Received {
    /// Calls whose handlers have to wait. The transport polls each of them to completion.
    pub(crate) waiting: Vec<PendingCall>,
    /// Reason why a request was refused before a handler ran, for transports that report it outside of the message, such as the status of
    /// an HTTP response.
    pub(crate) refusal: Option<RefusalStatus>,
}

/// Refusal before a handler runs that has its own status over HTTP. `ResponseRefusal` is for the responses of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RefusalStatus {
    /// The message is invalid, contradicts its headers or its session, or needs a revision, a capability or an extension that is missing.
    Malformed,
    /// The server does not have the method.
    UnknownMethod,
    /// A limit currently does not allow the call.
    Busy,
    /// The caller is not authorized for the request.
    #[cfg(feature = "auth")]
    NotAllowed(Box<crate::authorization::AuthRefusal>),
}

impl RefusalStatus {
    pub(super) fn because(self, error: Error) -> RefusedRequest {
        RefusedRequest { refusal: Some(self), error }
    }
}

/// Error of a request that is refused before a handler runs. `refusal` is set if transports report the error with a status of its own.
pub(super) struct RefusedRequest {
    pub(super) refusal: Option<RefusalStatus>,
    pub(super) error: Error,
}

impl From<Error> for RefusedRequest {
    fn from(error: Error) -> Self {
        Self { refusal: None, error }
    }
}

#[cfg(feature = "auth")]
impl From<crate::authorization::AccessError> for RefusedRequest {
    fn from(no: crate::authorization::AccessError) -> Self {
        if let Some(refusal) = &no.refusal {
            tracing::debug!("refused: {}", refusal.why());
        }
        let refusal = no.refusal.map(|refusal| RefusalStatus::NotAllowed(Box::new(refusal)));
        Self { refusal, error: no.error }
    }
}

/// Destination of the response to a request and of the messages before it.
#[derive(Clone)]
pub(crate) struct ReplyTo {
    pub(super) outbox: Arc<Outbox>,
    /// Batch that collects the response, if the request is part of a batch.
    batch: Option<Arc<ReplyBatch>>,
    /// Whether the client accepts only the response, and no messages before it.
    pub(super) only_response: bool,
    /// Whether the client can disconnect from the stream of messages and resume it later.
    pub(super) resumes: bool,
}

impl ReplyTo {
    /// Creates a destination that sends each message separately.
    pub(crate) fn each(outbox: Arc<Outbox>) -> Self {
        Self { outbox, batch: None, only_response: false, resumes: false }
    }

    /// Allows only the response, for a client that accepts one message but no stream.
    #[cfg(feature = "http")]
    pub(crate) fn only_response(mut self) -> Self {
        self.only_response = true;
        self
    }

    /// Allows the client to disconnect from the stream of messages and resume it later.
    #[cfg(feature = "http")]
    pub(crate) fn resumable(mut self) -> Self {
        self.resumes = true;
        self
    }

    /// Creates a destination that collects responses into one array.
    pub(super) fn batch(&self) -> Self {
        let batch = ReplyBatch { outbox: self.outbox.clone(), answers: Mutex::default() };
        Self { batch: Some(Arc::new(batch)), ..self.clone() }
    }

    pub(super) fn is_batch(&self) -> bool {
        self.batch.is_some()
    }

    /// Sends an error.
    pub(super) fn error(&self, revision: Revision, id: Option<Id<'_>>, error: &Error) {
        encode::log_internal(error);
        self.write(|out| encode::error(out, revision, id, error));
    }

    pub(super) fn write(&self, write: impl FnOnce(&mut Vec<u8>)) {
        match &self.batch {
            None => self.outbox.push(write),
            Some(batch) => batch.push(write),
        }
    }
}

/// Responses to a batch. They are sent as one array when the last response is complete (rule RPC-09).
struct ReplyBatch {
    outbox: Arc<Outbox>,
    answers: Mutex<Vec<u8>>,
}

impl ReplyBatch {
    fn push(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let opening = if answers.is_empty() { b'[' } else { b',' };
        answers.push(opening);
        write(&mut answers);
    }
}

impl Drop for ReplyBatch {
    /// Sends the array. The last reference to the batch is dropped only after each of its calls has been answered or cancelled.
    fn drop(&mut self) {
        let answers = self.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !answers.is_empty() {
            answers.push(b']');
            self.outbox.push(|out| out.append(answers));
        }
    }
}

/// Method of the notification for a log message. The notification belongs to a session in the legacy era, and to one request in the modern
/// era.
const REQUEST_SCOPED_LOG: &str = "notifications/message";

/// Channel from a call to its client, for progress reports and log messages.
pub(super) struct CallChannel {
    outbox: Arc<Outbox>,
    slot: Arc<ProgressSlot>,
    resumes: bool,
    /// Whether the client wants progress reports. Otherwise, the channel is only for log messages.
    reports: bool,
}

impl CallChannel {
    pub(super) fn new(
        outbox: Arc<Outbox>,
        revision: Revision,
        token: Option<&str>,
        resumes: bool,
    ) -> Self {
        let slot = Arc::new(ProgressSlot::new(revision, token));
        Self { outbox, slot, resumes, reports: token.is_some() }
    }

    /// Turns the channel into the channel of a task, whose messages name the task.
    pub(super) fn of_task(self, task: Arc<str>) -> Self {
        Self { slot: Arc::new(self.slot.of_task(task)), ..self }
    }

    pub(super) fn slot(&self) -> Arc<ProgressSlot> {
        self.slot.clone()
    }
}

impl Channel for CallChannel {
    fn release(&self, retry: Duration) {
        if self.resumes {
            self.outbox.release(retry);
        }
    }

    fn progress(&self, report: ProgressReport) {
        if !self.reports {
            return;
        }
        self.slot.set(report);
        self.outbox.push_report(&self.slot);
    }

    fn log(&self, level: Level, logger: &str, data: &str) {
        self.outbox.push_log(|out| {
            notification(out, REQUEST_SCOPED_LOG, |params| {
                params.str("level", level.name()).str("logger", logger).raw("data", data);
                self.slot.write_task(params);
            });
        });
    }
}

/// Everything needed to turn the answer of a call into its response. Most calls are answered at once, so the parts are borrowed.
/// [`OwnedSink`] owns them for the other calls.
#[derive(Clone, Copy)]
pub(super) struct ResponseSink<'a> {
    pub(super) state: &'a Arc<PeerState>,
    pub(super) snapshot: &'a Arc<Snapshot>,
    pub(super) scope: encode::AnswerScope,
    pub(super) slot: Option<&'a Arc<ProgressSlot>>,
    pub(super) to: &'a ReplyTo,
}

impl ResponseSink<'_> {
    pub(super) fn answer(&self, id: Id<'_>, answer: &OperationResult) {
        let Self { state, snapshot, scope, slot, to } = *self;
        let revision = scope.revision;
        if matches!(answer, Ok(Done::Task(TaskAnswer::Listening))) {
            return;
        }
        if let Err(error) = answer {
            encode::log_internal(error);
            #[cfg(feature = "http")]
            match error.kind() {
                ErrorKind::MissingCapability if revision.is_modern() => {
                    to.outbox.refuse(ResponseRefusal::MissingCapability);
                }
                ErrorKind::Unavailable if to.batch.is_none() => {
                    to.outbox.refuse(ResponseRefusal::Unavailable);
                }
                _ => {}
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
            state.register(Topic::Tasks);
            state.session().follow_task(&task.id, state.service.limits.tasks);
            // The task may have ended before the session followed it. In that case no event will arrive, so the session forgets the task
            // again.
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
    fn from(sink: ResponseSink<'_>) -> Self {
        Self {
            state: sink.state.clone(),
            snapshot: sink.snapshot.clone(),
            scope: sink.scope,
            slot: sink.slot.cloned(),
            to: sink.to.clone(),
        }
    }
}

/// Request whose handler was not ready at its first poll. The transport only polls the future, which adds the response to the outbox.
pub(crate) struct PendingCall {
    pending: PendingHandler,
    id: IdBuf,
    sink: OwnedSink,
    _share: Share,
    /// The last field, so that it is dropped last: dropping `sink` may add the responses of a batch to the outbox, whose
    /// reader has to wait for them.
    _hold: OutboxHold,
}

impl PendingCall {
    /// Adds the call to the table of calls in flight, where a cancellation finds it.
    ///
    /// Returns `None` if another call with this id is in the table already.
    pub(super) fn new(
        pending: PendingHandler,
        id: IdBuf,
        sink: ResponseSink<'_>,
        share: impl FnOnce() -> Share,
    ) -> Option<Self> {
        let is_free = match sink.state.ongoing_or_new().calls().entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(pending.context().clone());
                true
            }
        };
        if !is_free {
            return None;
        }
        let hold = sink.to.outbox.hold();
        Some(Self { pending, id, sink: sink.into(), _share: share(), _hold: hold })
    }

    /// Removes the call from the table, and returns whether it was there. If it was not there, the call has been cancelled, and the answer
    /// of its handler must be dropped. Another call may already use the same id.
    fn leave(&self) -> bool {
        let Some(ongoing) = self.sink.state.ongoing() else { return false };
        let mut calls = ongoing.calls();
        let is_there =
            calls.get(&self.id).is_some_and(|context| context.is(self.pending.context()));
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
        // The call is removed from the table first, because the client may use the id again as soon as it gets the response.
        let answer = if self.leave() { answer } else { None };
        match answer {
            Some(answer) => self.sink.borrow().answer(self.id.as_id(), &answer),
            // Drops an unsent progress report, because no message may follow a cancellation.
            None => self.sink.slot.iter().for_each(|slot| self.sink.to.outbox.forget(slot)),
        }
        Poll::Ready(())
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Answers a request, or leaves the call to the transport if its handler has to wait.
#[inline]
pub(super) fn drive(
    dispatched: Dispatched,
    id: Id<'_>,
    carrier: &Carrier,
    sink: ResponseSink<'_>,
    received: &mut Received,
) {
    match dispatched {
        Dispatched::Ready(answer) => sink.answer(id, &answer),
        Dispatched::Pending(mut pending) => {
            // Polls once here, so that a handler that is ready at once needs neither a tokio task nor an entry in the table.
            let mut cx = task::Context::from_waker(Waker::noop());
            match Pin::new(&mut pending).poll(&mut cx) {
                Poll::Ready(Some(answer)) => sink.answer(id, &answer),
                Poll::Ready(None) => {}
                Poll::Pending => {
                    let revision = sink.scope.revision;
                    let share = || sink.state.tenant(carrier, revision).hold(Pool::Calls);
                    match PendingCall::new(pending, id.to_owned(), sink, share) {
                        Some(call) => received.waiting.push(call),
                        None => sink.answer(id, &Err(id_in_use())),
                    }
                }
            }
        }
    }
}

/// Returns the error for a request whose id belongs to a running call or a listen stream (rule RPC-08).
pub(super) fn id_in_use() -> Error {
    Error::of(ErrorKind::InvalidRequest, "a request with this id is still running")
}
