use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{modern::LastClient, service::Service};
use crate::{catalog::Snapshot, model::ClientInfo, wire::Raw};

/// Results that a connection keeps, so that requests need not compute them again. They never change an answer (rule ERA-01).
pub(crate) struct Remembered {
    envelopes: Mutex<LastClient>,
    /// Snapshot that is valid until the epoch of the catalog changes, so that a request takes no lock that other connections take. It is
    /// weak, so that an idle connection does not keep an old catalog alive.
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
