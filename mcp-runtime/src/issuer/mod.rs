//! Access tokens that an issuer has signed: finds and caches the issuer's keys, and checks the tokens (rule AUTH-05).
//!
//! `jwt` verifies a token: `token` parses it, `keys` finds the key (with `discovery` and `jwks`), `algorithm` checks the signature, and
//! `claims` the rest. `fetch` sends requests to the issuer, and connects with `dial` and `proxy`. `seen` caches verified tokens.

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
