use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicUsize},
};

use super::{
    Service, call::ReplyTo, encode, legacy::Session, listen::Listens, modern::Envelopes,
    outbox::Outbox, request::ClientRequest, revision::Revision,
};
use crate::{
    catalog::{Event, Listener, Snapshot},
    context::Context,
    error::Error,
    wire::{Id, IdBuf},
};

/// What a connection and its calls share. No two of its locks are held at once but `calls` before `listens`.
pub(crate) struct Shared {
    pub(super) service: Arc<Service>,
    pub(crate) outbox: Arc<Outbox>,
    session: Mutex<Session>,
    envelopes: Mutex<Envelopes>,
    listens: Mutex<Listens>,
    calls: Mutex<HashMap<IdBuf, Context>>,
    /// Calls that may still say something.
    pub(super) busy: AtomicUsize,
    /// Kept until the catalog's epoch moves, so that a request takes no lock other connections take.
    snapshot: Mutex<Arc<Snapshot>>,
}

impl Shared {
    pub(super) fn new(service: Arc<Service>) -> Self {
        let snapshot = service.dispatcher.catalog.snapshot();
        Self {
            service,
            outbox: Arc::default(),
            session: Mutex::default(),
            envelopes: Mutex::default(),
            listens: Mutex::default(),
            calls: Mutex::default(),
            busy: AtomicUsize::new(0),
            snapshot: Mutex::new(snapshot),
        }
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, HashMap<IdBuf, Context>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn listens(&self) -> MutexGuard<'_, Listens> {
        self.listens.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn envelopes(&self) -> MutexGuard<'_, Envelopes> {
        self.envelopes.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Answers a request with an error.
    pub(super) fn refuse(&self, request: &ClientRequest<'_>, revision: Revision, error: &Error) {
        self.error(revision, Some(request.id), error, request.to);
    }

    /// Answers a request with an empty result.
    pub(super) fn acknowledge(&self, request: &ClientRequest<'_>, revision: Revision) {
        self.write(request.to, |out| encode::empty(out, &self.service, revision, request.id));
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
