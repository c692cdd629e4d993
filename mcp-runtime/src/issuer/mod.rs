//! Verification of access tokens that an issuer has signed. This module finds and caches the keys of the issuer, and checks the tokens
//! (rule AUTH-05).
//!
//! `jwt` verifies a token and caches the result. `token` parses the token, `keys` finds the keys of the issuer, and `jwks` checks the
//! signature. `fetch` sends requests to the issuer, if `reachable` allows their URLs, and connects through `dial` and `proxy`.

mod dial;
mod fetch;
mod jwks;
mod jwt;
mod keys;
mod proxy;
mod reachable;
#[cfg(test)]
mod tests;
mod token;

pub use fetch::{Fetch, Web};
pub use jwks::Algorithm;
pub use jwt::Jwt;
pub use keys::discover;
