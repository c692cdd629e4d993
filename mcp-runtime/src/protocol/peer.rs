use std::sync::{Arc, atomic::Ordering};

use super::{
    Service,
    call::{Batch, PendingCall, ReplyTo},
    modern::RequestMeta,
    outbox::Outbox,
    request::ClientRequest,
    revision::Revision,
    shared::Shared,
};
use crate::{
    catalog::Listener,
    context::Context,
    error::{Error, Kind},
    wire::{self, Id, Incoming, Invalid, Message, Raw},
};

/// One connection: its legacy session, if it ever has one, and the calls and streams of both eras.
pub(crate) struct Peer {
    pub(super) shared: Arc<Shared>,
}

impl Peer {
    pub(crate) fn new(service: Arc<Service>) -> Self {
        let shared = Arc::new(Shared::new(service));
        let listener: Arc<dyn Listener> = shared.clone();
        shared.service.dispatcher.catalog.bus.listen(Arc::downgrade(&listener));
        Self { shared }
    }

    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        &self.shared.outbox
    }

    /// Handles one message or batch. What can be answered at once is in the outbox when this returns; calls
    /// that have to wait are added to `waiting`, for the transport to drive.
    pub(crate) fn receive(&self, bytes: &[u8], waiting: &mut Vec<PendingCall>) {
        let shared = &self.shared;
        let limits = shared.service.limits;
        match wire::parse(bytes, wire::Limits { depth: limits.depth, batch: limits.batch }) {
            Err(malformed) => {
                self.refuse_unread(&Error::of(Kind::Parse, malformed));
            }
            Ok(Incoming::One(message)) => self.message(message, &ReplyTo::Line, waiting),
            Ok(Incoming::EmptyBatch) => {
                let text = "an empty array is no message";
                self.refuse_unread(&Error::of(Kind::InvalidRequest, text));
            }
            Ok(Incoming::Batch(messages)) => {
                let batches = shared.session().revision().is_some_and(|it| it.features().batches);
                if !batches {
                    let text = "one message at a time: this revision has no arrays of messages";
                    return self.refuse_unread(&Error::of(Kind::InvalidRequest, text));
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
        let text = format!("the message is longer than {limit} bytes");
        self.refuse_unread(&Error::of(Kind::InvalidRequest, text));
    }

    /// Answers a line whose ids, if it has any, are not known.
    fn refuse_unread(&self, error: &Error) {
        self.shared.error(self.shared.spoken(), None, error, &ReplyTo::Line);
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
                let params = params.unwrap_or(Raw::EMPTY_OBJECT);
                let meta = RequestMeta::read(params.get("_meta"));
                let request = ClientRequest { id, method: &method, params, meta, to };
                if !request.meta.claims(&method) {
                    self.legacy_request(&request, waiting);
                } else if matches!(to, ReplyTo::Batch(_)) {
                    // A session of 2025-03-26 does not bring its arrays to the other era (RPC-11).
                    let text = "a request of this revision cannot be part of a batch";
                    let error = Error::of(Kind::InvalidRequest, text);
                    self.shared.refuse(&request, Revision::MODERN[0], &error);
                } else {
                    self.modern_request(&request, waiting);
                }
            }
            Ok(Message::Notification { method, params }) => match &*method {
                // It carries no envelope in either era, so one table serves both.
                "notifications/cancelled" => self.cancel(params),
                "notifications/initialized" => self.shared.session().set_initialized(),
                // Progress of ours, roots that changed: nothing here asks for them yet. The rest is unknown
                // and stays unanswered.
                _ => {}
            },
            // Nothing was asked of the client.
            Ok(Message::Response { .. }) => {}
        }
    }

    /// Malformed ones, and those that come too late, are ignored (CANC-02).
    fn cancel(&self, params: Option<Raw<'_>>) {
        let [id, reason] = params.unwrap_or(Raw::EMPTY_OBJECT).pick(["requestId", "reason"]);
        let Some(id) = id.and_then(Id::parse) else { return };
        if let Some(reason) = reason.and_then(Raw::string) {
            tracing::debug!("request {id} was cancelled: {reason}");
        }
        let context = self.shared.calls().remove(id.as_str());
        match context {
            Some(context) => {
                // A blocking handler learns of it late; what it reports until then is not sent (STDIO-05).
                context.close();
                context.set_cancelled();
            }
            None => self.end_listen(id),
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

#[cfg(test)]
mod tests;
