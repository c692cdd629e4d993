use super::call::PendingCall;
use crate::error::Error;

/// What one message or batch leaves to its transport, beside what it put into the outbox.
#[derive(Default)]
pub(crate) struct Turn {
    /// Calls that have to wait: to be driven to their ends.
    pub(crate) waiting: Vec<PendingCall>,
    /// Why a request was refused before anything ran, for transports that say so outside of the message.
    pub(crate) refusal: Option<Refusal>,
}

/// Refusals that have a status of their own over HTTP. Every other error is an answer like any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No message, or one that contradicts itself, its headers or its session.
    Malformed,
    /// A method this server does not have.
    UnknownMethod,
    /// There is no room for the call now.
    Busy,
    /// The caller may not do this.
    #[cfg(feature = "auth")]
    NotAllowed(Box<crate::auth::Refusal>),
}

impl Refusal {
    pub(super) fn because(self, error: Error) -> Refused {
        Refused { refusal: Some(self), error }
    }
}

/// Why a request is not run, and whether a transport has a status of its own for that.
pub(super) struct Refused {
    pub(super) refusal: Option<Refusal>,
    pub(super) error: Error,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { refusal: None, error }
    }
}
