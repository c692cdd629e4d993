//! Refuses requests whose callers are not allowed to make them.

use std::sync::Arc;

use super::{
    peer::Peer,
    request::ClientRequest,
    turn::{Refusal, Refused},
};
use crate::{
    auth::AccessError,
    catalog::{Entry, Snapshot},
    dispatch::Request,
    model::ListKind,
};

impl Peer {
    /// Checks that the caller may use the item of the request.
    ///
    /// # Errors
    /// Returns the reason for the refusal.
    pub(super) fn permit(
        &self,
        snapshot: &Snapshot,
        target: Option<&Arc<Entry>>,
        request: &ClientRequest<'_>,
        operation: &Request<'_>,
    ) -> Result<(), Refused> {
        if !snapshot.is_guarded {
            return Ok(());
        }
        let dispatcher = &self.shared.service.dispatcher;
        Ok(dispatcher.permit(snapshot, target, request.carrier, operation)?)
    }

    /// Checks that the caller may subscribe to these resources.
    ///
    /// # Errors
    /// Returns a single refusal for all resources, with everything that they need together.
    pub(super) fn permit_uris<'a>(
        &self,
        snapshot: &Snapshot,
        request: &ClientRequest<'_>,
        uris: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Refused> {
        if !snapshot.guards(ListKind::Resources) && !snapshot.guards(ListKind::Templates) {
            return Ok(());
        }
        let dispatcher = &self.shared.service.dispatcher;
        let mut refused: Option<AccessError> = None;
        for uri in uris {
            if let Err(no) = dispatcher.permit_uri(snapshot, request.carrier, uri) {
                refused = Some(match refused {
                    None => no,
                    Some(before) => before.and(no),
                });
            }
        }
        refused.map_or(Ok(()), |it| Err(it.into()))
    }
}

impl From<AccessError> for Refused {
    fn from(no: AccessError) -> Self {
        if let Some(refusal) = &no.refusal {
            tracing::debug!("refused: {}", refusal.why());
        }
        let refusal = no.refusal.map(|it| Refusal::NotAllowed(Box::new(it)));
        Self { refusal, error: no.error }
    }
}
