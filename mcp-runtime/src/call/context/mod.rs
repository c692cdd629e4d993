//! The context of a running call: the server's state, the caller, and the channels to the client.

#[cfg(feature = "auth")]
mod access;
mod ask;
#[cfg(feature = "auth")]
mod authorization;
mod call_context;
mod cancel;
mod carrier;
mod channel;
pub(crate) mod logging;
mod principal;
mod progress;
mod rounds;

#[cfg(feature = "auth")]
pub(crate) use access::AccessArguments;
#[cfg(feature = "auth")]
pub use access::{Access, Policy, decide};
pub use ask::{AskAll, Asked};
#[cfg(feature = "auth")]
pub use authorization::Authorization;
#[cfg(feature = "auth")]
pub(crate) use authorization::Hierarchy;
pub(crate) use call_context::{Caller, Environment, States, WeakStates, meta_text};
pub use call_context::{Context, HasContext, LazyContext};
pub use cancel::Cancel;
pub(crate) use carrier::Carrier;
pub(crate) use channel::{
    AnswerFuture, Asker, BeginFuture, Channel, ProgressReport, TaskBegin, TaskBeginning,
};
#[cfg(feature = "client-log")]
pub(crate) use logging::current;
pub(crate) use logging::enter;
pub use principal::Principal;
pub use progress::{Amount, Progress, ProgressIter, ProgressStream};
