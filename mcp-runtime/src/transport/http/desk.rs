use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::request::Parts;

use super::{endpoint::Endpoint, forwarded, pulse::Pulse};
use crate::protocol::{Outbox, Peer, Remembered};
use crate::{
    call::context::Carrier,
    limits::{Limit, Pool, Share},
};

/// State of a connection. A mounted service does not know its connections, and has a few of these for all of its requests.
pub(super) struct Desk {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) remembered: Arc<Remembered>,
    /// Address of the other end, which may be a proxy. Unknown in a mounted service.
    address: Option<IpAddr>,
    pub(super) pulse: Pulse,
    spare: Mutex<Spare>,
}

/// Buffers of a finished response, kept for reuse by the next request on this connection.
#[derive(Default)]
struct Spare {
    peer: Option<Peer>,
    outbox: Option<Arc<Outbox>>,
}

impl Desk {
    pub(super) fn new(endpoint: Arc<Endpoint>, address: Option<IpAddr>) -> Arc<Self> {
        let remembered = Remembered::new(&endpoint.service);
        let (pulse, spare) = (Pulse::opened_at(endpoint.open.now()), Mutex::default());
        Arc::new(Self { endpoint, remembered, address, pulse, spare })
    }

    /// Returns the address that a request comes from, behind the proxies that are trusted.
    #[inline]
    pub(super) fn address_of(&self, parts: &Parts) -> Option<IpAddr> {
        forwarded::address(self.address, &self.endpoint.settings.proxies, parts)
    }

    /// Whether the client of a request may keep one more connection for a call that waits or for a stream. Connections of an
    /// application's own server are not counted here.
    #[inline]
    pub(super) fn may_keep_connection(&self, carrier: &Carrier) -> bool {
        let (endpoint, most) = (&self.endpoint, self.endpoint.open.most());
        if self.address.is_none() || endpoint.service.shares().has_plenty(Pool::Connections, most) {
            return true;
        }
        let admitted = endpoint.tenant(carrier).admits(Pool::Connections, most.into());
        if admitted.is_err() {
            endpoint.service.tally().refuse(Limit::Connections);
        }
        admitted.is_ok()
    }

    /// Counts a connection that a call or a stream keeps from now on.
    pub(super) fn keep_connection(&self, parts: &Arc<Parts>) -> Option<Share> {
        self.address?;
        let carrier = Carrier::of_request(parts, self.address_of(parts));
        Some(self.endpoint.tenant(&carrier).hold(Pool::Connections))
    }

    #[inline]
    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the peer for a request without a session.
    #[inline]
    pub(super) fn peer(&self) -> Peer {
        let spare = self.spare().peer.take();
        let new = || Peer::remembering(self.endpoint.service.clone(), self.remembered.clone());
        spare.unwrap_or_else(new)
    }

    /// Takes back a peer that has answered, unless something of its request goes on.
    #[inline]
    pub(super) fn keep_peer(&self, mut peer: Peer) {
        if peer.is_free() {
            self.spare().peer = Some(peer);
        } else {
            peer.cancel_all();
        }
    }

    /// Returns the outbox for the response to a request of a session.
    #[inline]
    pub(super) fn outbox(&self) -> Arc<Outbox> {
        self.spare().outbox.take().unwrap_or_default()
    }

    /// Takes back an empty outbox, unless something may still write into it.
    #[inline]
    pub(super) fn keep_outbox(&self, mut outbox: Arc<Outbox>) {
        if Arc::get_mut(&mut outbox).is_some_and(|it| it.is_empty()) {
            self.spare().outbox = Some(outbox);
        }
    }
}
