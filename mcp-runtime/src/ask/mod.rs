//! Asking by being called again (2026-07-28): a call that needs an answer ends with its questions, and the client repeats it with the
//! answers. The handler starts from the top each time; what it has asked and done before comes back at once.

mod bound;
mod canonical;
mod rounds;
#[cfg(feature = "ask")]
mod seal;
mod spent;
mod state;

pub(crate) use bound::Bound;
pub(crate) use rounds::{Given, Rounds, asked_twice};
#[cfg(feature = "ask")]
pub(crate) use seal::{Sealer, random};
pub(crate) use spent::Spent;
