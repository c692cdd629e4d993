use super::{Permit, Taken};

/// Share of limits that a call holds while it runs: a permit of its item, and the bytes of a large request. Most calls have neither.
#[derive(Default)]
pub(crate) struct Reservation {
    permit: Option<Permit>,
    /// Bytes of the request, which the handler may keep in memory.
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
