//! Access tokens that an issuer has signed: its keys, found and kept, and what is in the tokens (AUTH-05).
//!
//! `jwt` → `token` takes a token apart, `keys` finds the key for it (`discovery`, `jwks`), `algorithm` checks the signature. `fetch` asks the
//! issuer, and connects with `dial` and `proxy`. A token that was good a moment ago is remembered (`seen`).

mod algorithm;
mod claims;
mod dial;
mod discovery;
mod fetch;
mod jwks;
mod jwt;
mod keys;
mod proxy;
mod reachable;
mod seen;
#[cfg(test)]
mod tests;
mod token;

pub use algorithm::Algorithm;
#[cfg(feature = "auth-server")]
pub(crate) use discovery::discover;
#[cfg(feature = "auth-server")]
pub(crate) use fetch::{Fetch, Web};
pub use jwt::Jwt;
