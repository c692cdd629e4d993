//! Asking by being called again (2026-07-28): a call that needs an answer ends with its questions, and the client repeats it with the
//! answers. The handler starts from the top each time; what it has asked and done before comes back at once.
//!
//! The state of a call between two rounds is kept in this process ([`in_process`]). Where the author has set a key, the state is sealed and
//! sent to the client instead ([`sealed`], feature `state-key`), and another process with the same key can go on. Both storages bind the
//! state to the same call.

mod bound;
mod canonical;
mod in_process;
mod keeper;
mod rounds;
#[cfg(feature = "state-key")]
mod seal;
#[cfg(feature = "state-key")]
mod sealed;
#[cfg(feature = "state-key")]
mod spent;
mod state;
mod storage;

pub(crate) use bound::Bound;
pub(crate) use in_process::ProcessStorage;
pub(crate) use keeper::{Keeper, RoundStates};
pub(crate) use rounds::{Rounds, asked_twice, lacking};
#[cfg(feature = "state-key")]
pub(crate) use seal::Sealer;
#[cfg(feature = "state-key")]
pub(crate) use sealed::SealedStorage;
pub(crate) use storage::StateStorage;
