//! Calls in several rounds (protocol revision 2026-07-28). A question to the client is an elicitation, sampling or roots request. A call
//! with an open question ends with this question, and the client repeats the call with the answer. Each round runs the handler from the
//! beginning. Answers and results of earlier rounds are available to the handler at once.
//!
//! The state of a call between two rounds is kept in this process ([`in_process`]). If the author has set a key, or several servers share a
//! store, the state is sealed and sent to the client instead ([`sealed`], feature `state-key`). Another process with the same key can then
//! continue the call. Servers that share a store make the key themselves ([`shared_keys`]). Both storages return a state only to the call
//! that stored it.

mod bound;
mod codec;
mod in_process;
mod rounds;
#[cfg(feature = "state-key")]
mod sealed;
#[cfg(feature = "state-key")]
mod shared_keys;
mod storage;

pub(crate) use bound::CallBinding;
pub(crate) use codec::{RoundStates, StateCodec, StateSettings};
pub(crate) use rounds::{Rounds, asked_twice, missing_capability};
#[cfg(all(feature = "state-key", feature = "bench"))]
pub(crate) use sealed::StateSealer;
