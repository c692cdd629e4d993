//! Protected resource: lets HTTP requests in by their access tokens, and tells the clients of rejected requests what to do.
//!
//! Nothing here does I/O: `issuer/` fetches the keys of an issuer.

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
