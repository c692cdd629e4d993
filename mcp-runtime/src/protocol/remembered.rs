use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{Service, modern::Envelopes};
use crate::{catalog::Snapshot, model::ClientInfo, wire::Raw};

/// What a connection keeps so as not to do it again for each request. Nothing of it changes an answer (ERA-01).
pub(crate) struct Remembered {
    envelopes: Mutex<Envelopes>,
    /// Known until the catalog's epoch moves, so that a request takes no lock other connections take. Who idles keeps nothing of
    /// what the catalog was once.
    snapshot: Mutex<Weak<Snapshot>>,
}

impl Remembered {
    pub(crate) fn new(service: &Service) -> Arc<Self> {
        let snapshot = Mutex::new(Arc::downgrade(&service.dispatcher.catalog.snapshot()));
        Arc::new(Self { envelopes: Mutex::default(), snapshot })
    }

    pub(super) fn client(&self, info: Option<Raw<'_>>, capabilities: Raw<'_>) -> Arc<ClientInfo> {
        let mut envelopes = self.envelopes.lock().unwrap_or_else(PoisonError::into_inner);
        envelopes.client(info, capabilities)
    }

    pub(super) fn snapshot(&self, service: &Service) -> Arc<Snapshot> {
        let mut kept = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let catalog = &service.dispatcher.catalog;
        if let Some(snapshot) = kept.upgrade().filter(|it| it.epoch == catalog.epoch()) {
            return snapshot;
        }
        let snapshot = catalog.snapshot();
        *kept = Arc::downgrade(&snapshot);
        snapshot
    }
}
