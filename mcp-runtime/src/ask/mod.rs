//! Asking by being called again (2026-07-28): a call that needs an answer ends with its questions, and the client repeats it with the
//! answers. The handler starts from the top each time; what it has asked and done before comes back at once.
//!
//! Between two rounds everything travels through the client, sealed (feature `ask`): a server keeps nothing, and another one with the same key
//! can go on. Without the feature a call has one round.

#[cfg(feature = "ask")]
mod bound;
#[cfg(feature = "ask")]
mod canonical;
mod keeper;
mod rounds;
#[cfg(feature = "ask")]
mod seal;
#[cfg(feature = "ask")]
mod spent;
mod state;

#[cfg(feature = "ask")]
pub(crate) use bound::Bound;
pub(crate) use keeper::Keeper;
pub(crate) use rounds::{Rounds, asked_twice, lacking};
#[cfg(feature = "ask")]
pub(crate) use seal::Sealer;
#[cfg(feature = "ask")]
pub(crate) use spent::Spent;
