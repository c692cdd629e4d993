//! State that a connection keeps between its requests, and guards that count its running requests and its unread responses.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::request::Parts;

use super::{endpoint::Endpoint, head::caller_address, open_connections::ActivityClock};
use crate::{
    call::context::Carrier,
    limits::{Limit, Pool, Share, TakenBytes},
    protocol::{Outbox, Peer, Remembered},
};

/// State of a connection. A mounted service does not see its connections, and uses a few shared states for all of its requests.
pub(super) struct ConnectionState {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) remembered: Arc<Remembered>,
    /// Address of the remote end, which may be a proxy. `None` in a mounted service.
    address: Option<IpAddr>,
    pub(super) activity: Arc<ActivityClock>,
    buffers: Mutex<SpareBuffers>,
}

/// Buffers of a finished response, kept for reuse by the next request on this connection.
#[derive(Default)]
struct SpareBuffers {
    peer: Option<Peer>,
    outbox: Option<Arc<Outbox>>,
}

impl ConnectionState {
    pub(super) fn new(endpoint: Arc<Endpoint>, address: Option<IpAddr>) -> Arc<Self> {
        let remembered = Remembered::new(&endpoint.service);
        let activity = Arc::new(ActivityClock::opened_at(endpoint.connections.now()));
        let buffers = Mutex::default();
        Arc::new(Self { endpoint, remembered, address, activity, buffers })
    }

    /// Returns the address of the caller of a request, as reported by trusted proxies.
    #[inline]
    pub(super) fn address_of(&self, parts: &Parts) -> Option<IpAddr> {
        caller_address(self.address, &self.endpoint.settings.proxies, parts)
    }

    /// Whether the client of a request may occupy one more connection with a waiting call or a stream. Always true in a mounted service,
    /// whose connections are not counted.
    #[inline]
    pub(super) fn may_keep_connection(&self, carrier: &Carrier) -> bool {
        let (endpoint, most) = (&self.endpoint, self.endpoint.connections.most());
        if self.address.is_none() || endpoint.service.shares().has_plenty(Pool::Connections, most) {
            return true;
        }
        let admitted = endpoint.tenant(carrier).admits(Pool::Connections, most.into());
        if admitted.is_err() {
            endpoint.service.tally().refuse(Limit::Connections);
        }
        admitted.is_ok()
    }

    /// Counts a connection that a waiting call or a stream occupies, until the returned share is dropped.
    pub(super) fn keep_connection(&self, parts: &Arc<Parts>) -> Option<Share> {
        self.address?;
        let carrier = Carrier::of_request(parts, self.address_of(parts));
        Some(self.endpoint.tenant(&carrier).hold(Pool::Connections))
    }

    #[inline]
    fn buffers(&self) -> MutexGuard<'_, SpareBuffers> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a peer for a request without a session. If possible, this is the peer of an earlier request.
    #[inline]
    pub(super) fn peer(&self) -> Peer {
        let spare = self.buffers().peer.take();
        let new = || Peer::remembering(self.endpoint.service.clone(), self.remembered.clone());
        spare.unwrap_or_else(new)
    }

    /// Keeps a peer for the next request, if this is the last reference to the peer and its outbox is empty. Otherwise cancels the calls
    /// of the peer.
    #[inline]
    pub(super) fn keep_peer(&self, mut peer: Peer) {
        if peer.is_free() {
            self.buffers().peer = Some(peer);
        } else {
            peer.cancel_all();
        }
    }

    /// Returns an outbox for the response to a request of a session. If possible, this is the outbox of an earlier request.
    #[inline]
    pub(super) fn outbox(&self) -> Arc<Outbox> {
        self.buffers().outbox.take().unwrap_or_default()
    }

    /// Keeps the outbox for the next request, if it is empty and this is the last reference to it.
    #[inline]
    pub(super) fn keep_outbox(&self, mut outbox: Arc<Outbox>) {
        if Arc::get_mut(&mut outbox).is_some_and(|outbox| outbox.is_empty()) {
            self.buffers().outbox = Some(outbox);
        }
    }
}

/// Guard that counts a request as being answered.
pub(super) struct ActiveRequest(Arc<ConnectionState>);

impl ActiveRequest {
    #[inline]
    pub(super) fn at(state: Arc<ConnectionState>) -> Self {
        state.activity.begin();
        Self(state)
    }

    pub(super) fn state(&self) -> &Arc<ConnectionState> {
        &self.0
    }
}

impl Clone for ActiveRequest {
    fn clone(&self) -> Self {
        Self::at(self.0.clone())
    }
}

impl Drop for ActiveRequest {
    #[inline]
    fn drop(&mut self) {
        let ConnectionState { activity, endpoint, .. } = &*self.0;
        activity.end(|| endpoint.connections.now());
    }
}

/// Guard that counts the bytes of a large response against the limit of all connections, until the client has read the response.
pub(super) struct HeldAnswer {
    _taken: TakenBytes,
    activity: Arc<ActivityClock>,
    bytes: usize,
}

impl HeldAnswer {
    /// Counts the bytes of a response. If the limit is exceeded, closes connections whose clients do not read, until enough bytes are
    /// freed. Returns `None` if that would not free enough bytes.
    pub(super) fn take(state: &Arc<ConnectionState>, bytes: usize) -> Option<Self> {
        let endpoint = &state.endpoint;
        let mut taken = TakenBytes::default();
        if !taken.grow(&endpoint.answers, bytes, endpoint.limits().all_answers) {
            let tally = endpoint.service.tally();
            tally.refuse(Limit::AllAnswers);
            if !endpoint.connections.displace_unread(bytes) {
                return None;
            }
            // The closed connections release their bytes shortly afterwards. Until then, the limit is exceeded.
            taken.grow_over(&endpoint.answers, bytes);
        }
        state.activity.hold(bytes);
        Some(Self { _taken: taken, activity: state.activity.clone(), bytes })
    }
}

impl Drop for HeldAnswer {
    fn drop(&mut self) {
        self.activity.let_go(self.bytes);
    }
}
