//! Server side of a conversation. It determines the era of each message, and passes the message to the functions of that era.

use std::sync::Arc;

use mcp_runtime_wire::{self as wire, Id, Incoming, Invalid, Parsed, Raw, RpcMessage, RpcParams};

#[cfg(feature = "http")]
use super::saved_session::{self, SavedClient, SessionSettings};
use super::{
    call::{Received, RefusalStatus, ReplyTo},
    legacy, listen, modern,
    outbox::Outbox,
    questions,
    request::{ClientRequest, RequestMeta},
    revision::Revision,
    service::Service,
    state::{PeerState, Remembered},
};
use crate::{
    call::context::{Carrier, Context},
    error::{Error, ErrorKind, shown},
    limits::{CallerKey, Limit, Limits},
};
#[cfg(feature = "http")]
use crate::{limits::Tenant, node::NodeId};

/// Server side of a conversation: the calls and streams of both eras, and a session of the legacy era if one begins. A connection that
/// carries one message per line is one peer. Over HTTP, each session and each request without a session has a peer.
pub(crate) struct Peer {
    state: Arc<PeerState>,
}

/// Origin of a message, and destination of its response.
pub(crate) struct Arrival {
    pub(crate) to: ReplyTo,
    pub(crate) carrier: Carrier,
    pub(crate) era: Era,
}

/// Era of the protocol whose rules apply to a request.
#[derive(Clone, Copy)]
pub(crate) enum Era {
    /// Decided for each request by its `_meta` and its method: the transport serves both eras.
    OfRequest,
    /// Always the legacy era: HTTP+SSE exists only in that era, and so do the sessions whose messages other nodes pass on. Modern members of
    /// `_meta` have no meaning there.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has such a transport"))]
    Legacy,
    /// Always the modern era, which the transport has already determined.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has such a head"))]
    Modern,
}

impl Peer {
    /// Creates the peer of a connection that belongs to one client.
    pub(crate) fn new(service: Arc<Service>) -> Self {
        let remembered = Remembered::new(&service);
        let tenant =
            |service: &Service, number| Some(service.shares().tenant(CallerKey::Peer(number)));
        Self { state: Arc::new(PeerState::new(service, remembered, tenant)) }
    }

    /// Creates the peer of a session over HTTP. All requests of the session count for `tenant`. Sessions may share `remembered`.
    #[cfg(feature = "http")]
    pub(crate) fn of_tenant(
        service: Arc<Service>,
        remembered: Arc<Remembered>,
        tenant: Arc<Tenant>,
    ) -> Self {
        Self { state: Arc::new(PeerState::new(service, remembered, |_, _| Some(tenant))) }
    }

    /// Creates a peer for HTTP requests without a session. Each request counts for the tenant of its own caller.
    #[cfg(feature = "http")]
    pub(crate) fn remembering(service: Arc<Service>, remembered: Arc<Remembered>) -> Self {
        Self { state: Arc::new(PeerState::new(service, remembered, |_, _| None)) }
    }

    /// Returns the [`Arrival`] for a transport that adds no information of its own to a message.
    pub(crate) fn plainly(&self) -> Arrival {
        let to = ReplyTo::each(self.state.outbox.clone());
        Arrival { to, carrier: Carrier::default(), era: Era::OfRequest }
    }

    pub(crate) fn outbox(&self) -> &Arc<Outbox> {
        &self.state.outbox
    }

    /// Returns whether this peer can be used for the next request: there is no other reference to it, and its outbox is empty.
    #[cfg(feature = "http")]
    pub(crate) fn is_free(&mut self) -> bool {
        let Some(state) = Arc::get_mut(&mut self.state) else { return false };
        Arc::get_mut(&mut state.outbox).is_some_and(|outbox| outbox.is_empty())
    }

    /// Handles the bytes of one message or batch. Responses that are ready at once are in the outbox when this returns.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn receive(&self, bytes: &[u8], received: &mut Received) {
        self.receive_as(bytes, &self.plainly(), received);
    }

    /// Handles the bytes of one message or batch, with an [`Arrival`] that the transport provides.
    pub(crate) fn receive_as(&self, bytes: &[u8], arrival: &Arrival, received: &mut Received) {
        let limits = &self.state.service.limits;
        match wire::parse(bytes, limits.of_wire(), &mut Parsed::default()) {
            Err(malformed) => {
                self.state.service.note_malformed(&malformed);
                self.refuse_unread(&Error::of(ErrorKind::Parse, malformed), &arrival.to);
            }
            Ok(incoming) => self.handle(&incoming, arrival, received),
        }
    }

    /// Handles a parsed message or batch. Responses that are ready at once are in the outbox when this returns.
    pub(crate) fn handle(
        &self,
        incoming: &Incoming<'_>,
        arrival: &Arrival,
        received: &mut Received,
    ) {
        let refuse = |received: &mut Received, text: &str| {
            received.refusal = Some(RefusalStatus::Malformed);
            let error = Error::of(ErrorKind::InvalidRequest, text);
            arrival.to.error(self.state.revision(), None, &error);
        };
        match incoming {
            Incoming::One(message) => self.message(message, arrival, received),
            Incoming::EmptyBatch => refuse(received, "an empty array is no message"),
            Incoming::Batch(messages) => {
                let batches = self
                    .state
                    .session()
                    .revision()
                    .is_some_and(|revision| revision.features().batches);
                if !batches {
                    let text = "one message at a time: this revision has no arrays of messages";
                    return refuse(received, text);
                }
                let arrival = Arrival {
                    to: arrival.to.batch(),
                    carrier: arrival.carrier.clone(),
                    era: arrival.era,
                };
                // A refused element of a batch gets its own error, and the rest of the batch is handled, so the refusal is dropped here.
                let mut elements = Received::default();
                for message in messages {
                    self.message(message, &arrival, &mut elements);
                }
                received.waiting.append(&mut elements.waiting);
            }
        }
    }

    /// Rejects a line that was too long to be buffered.
    pub(crate) fn too_long(&self) {
        let limit = self.state.service.limits.message;
        let text = format!("the message is longer than {limit} bytes");
        self.state.service.tally().refuse(Limit::Message);
        self.refuse_unread(&Error::of(ErrorKind::InvalidRequest, text), &self.plainly().to);
    }

    /// Answers a line that was not parsed. The ids of its requests are unknown.
    fn refuse_unread(&self, error: &Error, to: &ReplyTo) {
        to.error(self.state.revision(), None, error);
    }

    fn message(
        &self,
        message: &Result<RpcMessage<'_>, Invalid<'_>>,
        arrival: &Arrival,
        received: &mut Received,
    ) {
        let to = &arrival.to;
        match message {
            Err(invalid) if !invalid.answer => {
                tracing::debug!("ignored a message: {}", invalid.reason)
            }
            Err(invalid) => {
                received.refusal = Some(RefusalStatus::Malformed);
                self.state.service.note_invalid(invalid);
                let error = Error::of(ErrorKind::InvalidRequest, &invalid.reason);
                to.error(self.state.revision(), invalid.id, &error);
            }
            Ok(RpcMessage::Request { id, method, params }) => {
                let params = params.unwrap_or(&RpcParams::NONE);
                let meta = RequestMeta::read(params.meta());
                let carrier = &arrival.carrier;
                let request = ClientRequest { id: *id, method, params, meta, to, carrier };
                let is_modern = match arrival.era {
                    Era::OfRequest => request.meta.claims(method),
                    Era::Legacy => false,
                    Era::Modern => true,
                };
                if !is_modern {
                    legacy::answer_request(&self.state, &request, received);
                } else if to.is_batch() {
                    // Only revision 2025-03-26 has batches, so they cannot contain requests of the modern era (rule RPC-11).
                    let text = "a request of this revision cannot be part of a batch";
                    let error = Error::of(ErrorKind::InvalidRequest, text);
                    request.refuse(Revision::MODERN[0], &error);
                } else {
                    modern::answer_request(&self.state, &request, received);
                }
            }
            Ok(RpcMessage::Notification { method, params }) => match &**method {
                // The era of a cancellation is unknown, because its `_meta` names no protocol version in either era. Both eras therefore
                // share one table of calls.
                "notifications/cancelled" => self.cancel(*params),
                "notifications/initialized" => self.state.session().set_initialized(true),
                "notifications/roots/list_changed" => questions::forget_roots(&self.state),
                // Progress notifications are ignored, because the server's requests never ask for progress. Unknown notifications are
                // ignored too.
                _ => {}
            },
            Ok(RpcMessage::Response { id, result }) => {
                questions::receive_answer(&self.state, *id, *result)
            }
        }
    }

    /// Cancels a call or a listen stream. A notification that is malformed or comes too late is ignored (rule CANC-02).
    fn cancel(&self, params: Option<&RpcParams<'_>>) {
        let [id, reason] = params.unwrap_or(&RpcParams::NONE).pick(["requestId", "reason"]);
        let Some(id) = id.and_then(Id::parse) else { return };
        if let Some(reason) = reason.and_then(Raw::string) {
            let id = shown(id.as_str());
            tracing::debug!("request {id} was cancelled: {}", shown(&reason));
        }
        let context = self.state.ongoing().and_then(|ongoing| ongoing.calls().remove(id.as_str()));
        match context {
            Some(context) => {
                // A blocking handler may notice the cancellation late. Closing the context drops the reports that it sends until then (rule
                // STDIO-05).
                context.close();
                context.set_cancelled();
            }
            None => listen::end(&self.state, id),
        }
    }

    /// Counts a request that the transport has refused because of this limit.
    #[cfg(feature = "http")]
    pub(crate) fn refuse(&self, limit: Limit) {
        self.state.service.tally().refuse(limit);
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.state.service.limits
    }

    /// Returns the revision of the session, or the newest legacy revision before there is a session.
    #[cfg(feature = "http")]
    pub(crate) fn revision(&self) -> Revision {
        self.state.revision()
    }

    /// Returns whether `initialize` has begun a session.
    #[cfg(feature = "http")]
    pub(crate) fn has_begun(&self) -> bool {
        self.state.session().revision().is_some()
    }

    /// Returns the client of the session in the form that other nodes read, or `None` before the session has begun.
    #[cfg(feature = "http")]
    pub(crate) fn saved_client(&self, principal: &str, caller: String) -> Option<SavedClient> {
        saved_session::saved_client(&self.state, principal, caller)
    }

    /// Returns the settings of the session.
    #[cfg(feature = "http")]
    pub(crate) fn settings(&self) -> SessionSettings {
        saved_session::settings(&self.state)
    }

    /// Replaces the settings of the session by those that the store has, or by those before a change that the store has not taken.
    #[cfg(feature = "http")]
    pub(crate) fn set_settings(&self, settings: &SessionSettings, tenant: &Arc<Tenant>) {
        saved_session::set_settings(&self.state, settings, tenant);
    }

    /// Continues a session that began at another node.
    #[cfg(feature = "http")]
    pub(crate) fn restore(&self, saved: &SavedClient) {
        saved_session::restore(&self.state, saved);
    }

    /// Replaces the client of a session that has continued with a new client at another node.
    #[cfg(feature = "http")]
    pub(crate) fn replace_client(&self, saved: &SavedClient) {
        saved_session::replace_client(&self.state, saved);
    }

    /// Sets whether this node notifies the client of changed lists and resources. For each session, only one node does so.
    #[cfg(feature = "http")]
    pub(crate) fn set_hears(&self, hears: bool) {
        self.state.session().set_hears(hears);
    }

    #[cfg(feature = "http")]
    pub(crate) fn hears(&self) -> bool {
        self.state.session().hears()
    }

    /// Returns whether a message, or a message of a batch, may be for another node. Such a message answers a question of a call that runs at
    /// the other node, cancels such a call, or reports that the roots of the client have changed. A request is never for another node.
    #[cfg(feature = "http")]
    pub(crate) fn is_for_others(&self, incoming: &Incoming<'_>) -> bool {
        match incoming {
            Incoming::One(message) => {
                message.as_ref().is_ok_and(|message| self.is_message_for_others(message))
            }
            Incoming::Batch(messages) => {
                self.revision().features().batches
                    && messages.iter().flatten().any(|message| self.is_message_for_others(message))
            }
            Incoming::EmptyBatch => false,
        }
    }

    #[cfg(feature = "http")]
    fn is_message_for_others(&self, message: &RpcMessage<'_>) -> bool {
        let ongoing = self.state.ongoing();
        match message {
            RpcMessage::Request { .. } => false,
            // Questions have only ids in this range. Other responses answer no question, and must not fill the log of the nodes.
            RpcMessage::Response { id, .. } => {
                id.as_str().parse().is_ok_and(NodeId::is_in_range)
                    && !ongoing.is_some_and(|ongoing| ongoing.questions().waits_for(*id))
            }
            RpcMessage::Notification { method, params } => match &**method {
                "notifications/cancelled" => {
                    let params = params.unwrap_or(&RpcParams::NONE);
                    let id = params.get("requestId").and_then(Id::parse);
                    let runs = |id: Id<'_>| {
                        ongoing.is_some_and(|ongoing| ongoing.calls().contains_key(id.as_str()))
                    };
                    id.is_some_and(|id| !runs(id))
                }
                // Every node may have cached the roots of the client.
                "notifications/roots/list_changed" => true,
                _ => false,
            },
        }
    }

    /// Returns whether a message for which [`is_for_others`](Self::is_for_others) holds can have an effect here: a call runs, a question waits
    /// for its answer, or the roots of the client are stored.
    #[cfg(feature = "http")]
    pub(crate) fn may_need_messages(&self) -> bool {
        self.state
            .ongoing()
            .is_some_and(|ongoing| !ongoing.calls().is_empty() || ongoing.questions().is_in_use())
    }

    /// Returns the number of calls that wait for their handlers.
    pub(crate) fn in_flight(&self) -> usize {
        self.state.ongoing().map_or(0, |ongoing| ongoing.calls().len())
    }

    /// Returns whether a call or stream may still add messages.
    pub(crate) fn is_busy(&self) -> bool {
        self.state.outbox.is_held()
    }

    /// Returns the memory of this peer in bytes, without parts that are shared with other peers.
    #[cfg(all(test, feature = "http"))]
    pub(crate) fn kept(&self) -> usize {
        self.state.kept()
    }

    /// Ends all listen streams. A connection may carry several streams, so the specification requires a cancellation of each stream before
    /// its result (rule SUB-04).
    pub(crate) fn close(&self) {
        listen::close_all(&self.state);
    }

    /// Cancels all calls, and abandons all open questions. The calls get no response.
    pub(crate) fn cancel_all(&self) {
        let Some(ongoing) = self.state.ongoing() else { return };
        let calls: Vec<Context> = ongoing.calls().drain().map(|call| call.1).collect();
        for context in calls {
            context.set_cancelled();
        }
        questions::give_up(&self.state);
    }
}

#[cfg(test)]
mod tests;
