//! Refuses requests whose callers are not allowed to make them.

use std::sync::Arc;

use super::{
    peer::Peer,
    request::ClientRequest,
    turn::{RefusalStatus, RefusedRequest},
};
use crate::{
    auth::No,
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
    ) -> Result<(), RefusedRequest> {
        if !snapshot.is_guarded {
            return Ok(());
        }
        let dispatcher = &self.state.service.dispatcher;
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
    ) -> Result<(), RefusedRequest> {
        if !snapshot.guards(ListKind::Resources) && !snapshot.guards(ListKind::Templates) {
            return Ok(());
        }
        let dispatcher = &self.state.service.dispatcher;
        let mut refused: Option<No> = None;
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

impl From<No> for RefusedRequest {
    fn from(no: No) -> Self {
        if let Some(refusal) = &no.refusal {
            tracing::debug!("refused: {}", refusal.why());
        }
        let refusal = no.refusal.map(|it| RefusalStatus::NotAllowed(Box::new(it)));
        Self { refusal, error: no.error }
    }
}
