//! A protected resource: who may talk to the server over HTTP, and what those are told who may not (A9, B28).
//!
//! Nothing here does I/O: what asks an issuer for its keys is in `issuer/`.

mod bearer;
mod challenge;
mod guard;
mod metadata;
#[cfg(feature = "auth-server")]
mod pages;
mod resource;
mod scope;
mod static_tokens;
mod verifier;

pub(crate) use bearer::{Token, presented};
pub(crate) use challenge::Refusal;
pub(crate) use guard::{Decide, Guard, No, Rules};
pub(crate) use metadata::{Metadata, WELL_KNOWN};
#[cfg(feature = "auth-server")]
pub(crate) use pages::{Beside, Pages, Place, Visit};
pub use resource::ProtectedResource;
#[cfg(feature = "auth-server")]
pub(crate) use scope::problem as scope_problem;
pub use static_tokens::StaticTokens;
pub use verifier::{Denied, TokenVerifier};
pub(crate) use verifier::{Verify, Verifying};
