use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::request::Parts;

use super::{endpoint::Endpoint, forwarded, pulse::Pulse};
use crate::protocol::{Outbox, Peer, Remembered};

/// Where requests are worked on one after the other: one for each connection, where connections are our own.
pub(super) struct Desk {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) remembered: Arc<Remembered>,
    /// The other end, where the connection is our own; a proxy's, maybe.
    address: Option<IpAddr>,
    pub(super) pulse: Pulse,
    spare: Mutex<Spare>,
}

/// What an answer has used up that was there at once, for the next request.
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

    /// The address that a request comes from, behind proxies that are believed.
    pub(super) fn address_of(&self, parts: &Parts) -> Option<IpAddr> {
        forwarded::address(self.address, &self.endpoint.settings.proxies, parts)
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One for a request that stands alone.
    pub(super) fn peer(&self) -> Peer {
        let spare = self.spare().peer.take();
        let new = || Peer::remembering(self.endpoint.service.clone(), self.remembered.clone());
        spare.unwrap_or_else(new)
    }

    /// Takes back one that has answered, unless something of the request goes on.
    pub(super) fn keep_peer(&self, mut peer: Peer) {
        if peer.is_free() {
            self.spare().peer = Some(peer);
        } else {
            peer.cancel_all();
        }
    }

    /// One for the answer to a request of a session.
    #[inline]
    pub(super) fn outbox(&self) -> Arc<Outbox> {
        self.spare().outbox.take().unwrap_or_default()
    }

    /// Takes back one that is empty, unless somebody may still write into it.
    #[inline]
    pub(super) fn keep_outbox(&self, mut outbox: Arc<Outbox>) {
        if Arc::get_mut(&mut outbox).is_some_and(|it| it.is_empty()) {
            self.spare().outbox = Some(outbox);
        }
    }
}
