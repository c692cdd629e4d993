use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use super::{
    Service,
    call::{Batch, PendingCall, ReplyTo, reply},
    channel::{CallChannel, ProgressSlot},
    encode::{self, Feature},
    legacy::Session,
    listen::Listens,
    modern::{self, Envelopes},
    outbox::Outbox,
    params,
    revision::Revision,
};
use crate::{
    catalog::{Event, Listener, Snapshot},
    context::{Caller, Channel, Context, logging, meta_text},
    dispatch::Dispatched,
    error::{Error, Kind, shown},
    model::{ClientInfo, Level},
    wire::{self, Id, IdBuf, Incoming, Invalid, Message, Raw},
};

/// One connection: its legacy session, if it ever has one, and the calls and streams of both eras.
pub(crate) struct Peer {
    pub(super) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(super) service: Arc<Service>,
    pub(crate) outbox: Arc<Outbox>,
    pub(super) session: Mutex<Session>,
    pub(super) envelopes: Mutex<Envelopes>,
    pub(super) listens: Mutex<Listens>,
    calls: Mutex<HashMap<IdBuf, Context>>,
    /// Calls that may still say something.
    pub(super) busy: AtomicUsize,
    /// Kept until the catalog's epoch moves, so that a request takes no lock other connections take.
    snapshot: Mutex<Arc<Snapshot>>,
}

/// A request as both eras hand it on.
pub(super) struct Asked<'a> {
    pub(super) id: Id<'a>,
    pub(super) method: &'a str,
    pub(super) params: Option<Raw<'a>>,
    pub(super) meta: Option<Raw<'a>>,
}

/// What an era knows of the caller besides the request.
pub(super) struct From {
    pub(super) revision: Revision,
    pub(super) client: Arc<ClientInfo>,
    pub(super) log_level: Option<Level>,
}

impl Shared {
    pub(super) fn calls(&self) -> MutexGuard<'_, HashMap<IdBuf, Context>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn listens(&self) -> MutexGuard<'_, Listens> {
        self.listens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        let mut kept = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let catalog = &self.service.dispatcher.catalog;
        if kept.epoch != catalog.epoch() {
            *kept = catalog.snapshot();
        }
        kept.clone()
    }

    pub(super) fn error(
        &self,
        revision: Revision,
        id: Option<Id<'_>>,
        error: &Error,
        to: &ReplyTo,
    ) {
        encode::note(error);
        self.write(to, |out| encode::error(out, revision, id, error));
    }

    pub(super) fn write(&self, to: &ReplyTo, write: impl FnOnce(&mut Vec<u8>)) {
        match to {
            ReplyTo::Line => self.outbox.push(write),
            ReplyTo::Batch(batch) => batch.push(write),
        }
    }

    /// The revision to speak where no message says one: that of the session.
    pub(super) fn spoken(&self) -> Revision {
        self.session().revision().unwrap_or(Revision::NEWEST_LEGACY)
    }
}

impl Listener for Shared {
    fn notify(&self, event: &Event) {
        let of_session = self.session().notification(event);
        if let Some(message) = of_session {
            self.outbox.push_event(None, message);
        }
        // Under the lock, so that no stream ends between its message and the outbox.
        let listens = self.listens();
        for (id, message) in listens.notifications(event) {
            self.outbox.push_event(Some(id), message);
        }
    }
}

impl Peer {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        let snapshot = service.dispatcher.catalog.snapshot();
        let shared = Arc::new(Shared {
            service,
            outbox: Arc::default(),
            session: Mutex::default(),
            envelopes: Mutex::default(),
            listens: Mutex::default(),
            calls: Mutex::default(),
            busy: AtomicUsize::new(0),
            snapshot: Mutex::new(snapshot),
        });
        let listener: Arc<dyn Listener> = shared.clone();
        shared.service.dispatcher.catalog.bus.listen(Arc::downgrade(&listener));
        Self { shared }
    }

    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        &self.shared.outbox
    }

    /// Handles one message or batch. What can be answered at once is in the outbox when this returns; calls that have to wait are
    /// added to `waiting`, for the transport to drive.
    pub(crate) fn receive(&self, bytes: &[u8], waiting: &mut Vec<PendingCall>) {
        let shared = &self.shared;
        let limits = shared.service.limits;
        match wire::parse(bytes, wire::Limits { depth: limits.depth, batch: limits.batch }) {
            Err(malformed) => {
                let error = Error::of(Kind::Parse, malformed);
                shared.error(shared.spoken(), None, &error, &ReplyTo::Line);
            }
            Ok(Incoming::One(message)) => self.message(message, &ReplyTo::Line, waiting),
            Ok(Incoming::EmptyBatch) => self.refuse_array("an empty array is no message"),
            Ok(Incoming::Batch(messages)) => {
                let batches = shared.session().revision().is_some_and(|it| it.features().batches);
                if !batches {
                    return self.refuse_array(
                        "one message at a time: this revision has no arrays of messages",
                    );
                }
                let to = ReplyTo::Batch(Batch::new(shared.clone()));
                for message in messages {
                    self.message(message, &to, waiting);
                }
            }
        }
    }

    /// A line that was too long to be kept.
    pub(crate) fn too_long(&self) {
        let limit = self.shared.service.limits.message;
        let error = Error::of(
            Kind::InvalidRequest,
            format_args!("the message is longer than {limit} bytes"),
        );
        self.shared.error(self.shared.spoken(), None, &error, &ReplyTo::Line);
    }

    fn refuse_array(&self, reason: &str) {
        self.shared.error(
            self.shared.spoken(),
            None,
            &Error::of(Kind::InvalidRequest, reason),
            &ReplyTo::Line,
        );
    }

    fn message(
        &self,
        message: Result<Message<'_>, Invalid<'_>>,
        to: &ReplyTo,
        waiting: &mut Vec<PendingCall>,
    ) {
        match message {
            Err(invalid) if !invalid.answer => {
                tracing::debug!("ignored a message: {}", invalid.reason)
            }
            Err(invalid) => {
                let error = Error::of(Kind::InvalidRequest, invalid.reason);
                self.shared.error(self.shared.spoken(), invalid.id, &error, to);
            }
            Ok(Message::Request { id, method, params }) => {
                let meta = params.and_then(|it| it.get("_meta"));
                let request = Asked { id, method: &method, params, meta };
                if modern::claims(&method, meta) {
                    // A session of 2025-03-26 does not bring its arrays to the other era (RPC-11).
                    if matches!(to, ReplyTo::Batch(_)) {
                        let text = "a request of this revision cannot be part of a batch";
                        let error = Error::of(Kind::InvalidRequest, text);
                        return self.shared.error(Revision::MODERN[0], Some(id), &error, to);
                    }
                    self.modern_request(&request, to, waiting);
                } else {
                    self.legacy_request(&request, to, waiting);
                }
            }
            Ok(Message::Notification { method, params }) => match &*method {
                // It carries no envelope in either era, so one table serves both.
                "notifications/cancelled" => self.cancel(params),
                "notifications/initialized" => self.shared.session().set_initialized(),
                // Progress of ours, roots that changed: nothing here asks for them yet. The rest is unknown and stays unanswered.
                _ => {}
            },
            // Nothing was asked of the client.
            Ok(Message::Response { .. }) => {}
        }
    }

    /// Malformed ones, and those that come too late, are ignored (CANC-02).
    fn cancel(&self, params: Option<Raw<'_>>) {
        let Some(id) = params.and_then(|it| it.get("requestId")).and_then(Id::parse) else {
            return;
        };
        let id = id.to_owned();
        if let Some(reason) = params.and_then(|it| it.get("reason")).and_then(Raw::string) {
            tracing::debug!("request {} was cancelled: {reason}", id.as_id().as_str());
        }
        let context = self.shared.calls().remove(&id);
        match context {
            Some(context) => {
                // A blocking handler learns of it late; what it reports until then is not sent (STDIO-05).
                context.close();
                context.set_cancelled();
            }
            None => self.end_listen(&id),
        }
    }

    /// Whether the id is free and there is room for one more call. Answers when not.
    pub(super) fn admit(&self, revision: Revision, id: Id<'_>, to: &ReplyTo) -> bool {
        let shared = &self.shared;
        let problem = {
            let calls = shared.calls();
            let limit = shared.service.limits.in_flight;
            if self.is_in_flight(&calls, id) {
                Some(Error::of(Kind::InvalidRequest, "a request with this id is still running"))
            } else if calls.len() >= limit {
                let text = format!("{limit} calls are running already: wait for some of them");
                Some(Error::of(Kind::Failed, text))
            } else {
                None
            }
        };
        match problem {
            None => true,
            Some(error) => {
                shared.error(revision, Some(id), &error, to);
                false
            }
        }
    }

    /// Whether a call or a listen stream has this id (RPC-08).
    fn is_in_flight(&self, calls: &HashMap<IdBuf, Context>, id: Id<'_>) -> bool {
        let listens = self.shared.listens();
        if calls.is_empty() && listens.is_empty() {
            return false;
        }
        let id = id.to_owned();
        calls.contains_key(&id) || listens.contains(&id)
    }

    /// Runs a request that both eras have: the items' methods.
    pub(super) fn operate(
        &self,
        from: From,
        request: &Asked<'_>,
        to: &ReplyTo,
        waiting: &mut Vec<PendingCall>,
    ) {
        let shared = &self.shared;
        let (revision, id) = (from.revision, request.id);
        let snapshot = shared.snapshot();
        let Some((feature, operation)) = params::operation(request.method, request.params) else {
            return shared.error(revision, Some(id), &unknown_method(request.method), to);
        };
        // 2024-11-05 has completion without a capability, so any prompt or template may be asked for it.
        let served = feature.is_served(&snapshot)
            || (feature == Feature::Completions
                && !revision.features().completions_capability
                && (Feature::Prompts.is_served(&snapshot)
                    || Feature::Resources.is_served(&snapshot)));
        if !served {
            return shared.error(revision, Some(id), &unknown_method(request.method), to);
        }
        let operation = match operation {
            Ok(operation) => operation,
            Err(error) => return shared.error(revision, Some(id), &error, to),
        };
        if !self.admit(revision, id, to) {
            return;
        }
        let token = request.meta.and_then(|it| it.get("progressToken")).filter(is_token);
        let (caller, slot) = caller(shared, &from, request.meta, token);
        match shared.service.dispatcher.dispatch(&snapshot, caller, operation) {
            Dispatched::Ready(answer) => {
                let id = id.to_owned();
                reply(shared, &snapshot, revision, &id, &answer, slot.as_ref(), to);
            }
            Dispatched::Pending(mut pending) => {
                // Polled where it stands: a handler that is ready at once costs no task and no entry in the table.
                let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
                if let Poll::Ready(answer) = Pin::new(&mut pending).poll(&mut cx) {
                    if let Some(answer) = answer {
                        reply(
                            shared,
                            &snapshot,
                            revision,
                            &id.to_owned(),
                            &answer,
                            slot.as_ref(),
                            to,
                        );
                    }
                    return;
                }
                waiting.push(PendingCall::new(
                    pending,
                    shared.clone(),
                    snapshot.clone(),
                    revision,
                    id.to_owned(),
                    slot,
                    to.clone(),
                ));
            }
        }
    }

    pub(crate) fn message_limit(&self) -> usize {
        self.shared.service.limits.message
    }

    /// How many calls wait for their handlers.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.calls().len()
    }

    /// Whether some call may still say something.
    pub(crate) fn is_busy(&self) -> bool {
        self.shared.busy.load(Ordering::Acquire) > 0
    }

    /// Gives up everything that runs; nothing is answered any more.
    pub(crate) fn cancel_all(&self) {
        let calls: Vec<Context> = self.shared.calls().drain().map(|it| it.1).collect();
        for context in calls {
            context.set_cancelled();
        }
    }
}

/// A string or an integer.
fn is_token(token: &Raw<'_>) -> bool {
    Id::parse(*token).is_some()
}

fn caller(
    shared: &Arc<Shared>,
    from: &From,
    meta: Option<Raw<'_>>,
    token: Option<Raw<'_>>,
) -> (Caller, Option<Arc<ProgressSlot>>) {
    let log_level = from.log_level.filter(|_| logging::is_installed());
    let mut caller = Caller {
        client: from.client.clone(),
        meta: meta_text(meta),
        log_level,
        ..Caller::default()
    };
    let mut slot = None;
    if token.is_some() || log_level.is_some() {
        let channel =
            CallChannel::new(shared.outbox.clone(), from.revision, token.map(Raw::as_str));
        slot = token.map(|_| channel.slot());
        caller.wants_progress = token.is_some();
        caller.channel = Some(Arc::new(channel) as Arc<dyn Channel>);
    }
    (caller, slot)
}

pub(super) fn unknown_method(method: &str) -> Error {
    Error::of(Kind::MethodNotFound, format_args!("method not found: {}", shown(method)))
}

#[cfg(test)]
mod tests;
