use super::call::PendingCall;
use crate::error::Error;

/// Result of one message or batch for its transport, in addition to the messages in the outbox.
#[derive(Default)]
pub(crate) struct Turn {
    /// Calls that have to wait. The transport drives them to their ends.
    pub(crate) waiting: Vec<PendingCall>,
    /// Why a request was refused before a handler ran, for transports that report this outside of the message.
    pub(crate) refusal: Option<Refusal>,
}

/// Refusal that has a status of its own over HTTP. Every other error is an ordinary response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The body is no message, or the message contradicts itself, its headers or its session.
    Malformed,
    /// The server does not have the method.
    UnknownMethod,
    /// There is no room for the call now.
    Busy,
    /// The caller may not do this.
    #[cfg(feature = "auth")]
    NotAllowed(Box<crate::auth::AuthRefusal>),
}

impl Refusal {
    pub(super) fn because(self, error: Error) -> Refused {
        Refused { refusal: Some(self), error }
    }
}

/// Error of a request that is not run, with a refusal if transports have a status for it.
pub(super) struct Refused {
    pub(super) refusal: Option<Refusal>,
    pub(super) error: Error,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { refusal: None, error }
    }
}
