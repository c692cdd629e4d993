use super::{Permit, Taken};

/// What a call takes up as long as it runs: a place among the calls of its item, and the bytes of a large request. A plain call has
/// neither.
#[derive(Default)]
pub(crate) struct Reservation {
    permit: Option<Permit>,
    /// Bytes that the handler may hold of the request.
    request: Option<Taken>,
}

impl Reservation {
    pub(crate) fn new(permit: Option<Permit>, request: Option<Taken>) -> Self {
        Self { permit, request }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.permit.is_none() && self.request.is_none()
    }
}
