//! Protected resource: accepts or rejects HTTP requests by their access tokens. The response to a rejected request tells the client how to
//! get access.
//!
//! This module does no I/O. The module `issuer` fetches the keys of an issuer.

mod bearer;
mod challenge;
mod guard;
mod pages;
mod resource;
mod static_tokens;
mod verifier;

pub(crate) use challenge::AuthRefusal;
pub use challenge::scope_problem;
pub(crate) use guard::{AccessError, ItemGuard, Rules, SharedPolicy};
pub use pages::{
    AuthorizationPages, LOGIN_PARTITION, PageRequest, SEAL_KEY, ServedResource, VerifierPages,
};
pub use resource::ProtectedResource;
pub(crate) use resource::WELL_KNOWN;
pub use static_tokens::StaticTokens;
pub(crate) use verifier::Verifying;
pub use verifier::{Denied, TokenVerifier};
