//! The keys that an issuer publishes (RFC 7517).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::algorithm::{Algorithm, Key};

/// Maximum number of keys of one issuer, old and new ones together. No issuer needs more.
const MOST: usize = 100;

/// Keys that verify signatures. Keys for other purposes, of unsupported types, malformed keys and all symmetric keys are left out.
#[derive(PartialEq, Eq)]
pub(super) struct KeySet(Vec<Known>);

#[derive(PartialEq, Eq)]
struct Known {
    id: Option<String>,
    /// Algorithm that the key is for, if it is for one only.
    algorithm: Option<Algorithm>,
    key: Key,
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Parses a key set.
    ///
    /// # Errors
    /// Fails if the document is no key set, or has no key that could verify anything.
    pub(super) fn parse(document: &[u8]) -> Result<Self, String> {
        let document: Document<'_> =
            serde_json::from_slice(document).map_err(|_| "it is no JSON Web Key Set".to_owned())?;
        // A key that cannot be used does not affect the others.
        let read = |it: &&RawValue| Known::of(serde_json::from_str(it.get()).ok()?);
        let known: Vec<_> = document.keys.iter().filter_map(read).take(MOST).collect();
        if known.is_empty() {
            return Err("it has no key that verifies signatures".to_owned());
        }
        Ok(Self(known))
    }

    /// Returns the keys that a token with this header may be signed with.
    pub(super) fn candidates<'a>(
        &'a self,
        id: Option<&'a str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &'a Key> {
        let fits = move |it: &&Known| {
            (id.is_none() || it.id.as_deref() == id)
                && it.algorithm.is_none_or(|it| it == algorithm)
                && algorithm.fits(&it.key)
        };
        // A token without a key id is checked with several keys, so their number is bounded.
        self.0.iter().filter(fits).map(|it| &it.key).take(4)
    }
}

impl Known {
    fn of(jwk: Jwk) -> Option<Self> {
        let is_for_us = jwk.purpose.as_deref().is_none_or(|it| it == "sig")
            && jwk.key_ops.as_ref().is_none_or(|it| it.iter().any(|it| it == "verify"));
        let algorithm = match &jwk.alg {
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        let bytes = |it: &Option<String>| URL_SAFE_NO_PAD.decode(it.as_deref()?).ok();
        let point = |length: usize| {
            let (x, y) = (bytes(&jwk.x)?, bytes(&jwk.y)?);
            (x.len() == length && y.len() == length).then(|| [&[4], &*x, &*y].concat())
        };
        let key = match (&*jwk.kty, jwk.crv.as_deref()) {
            ("RSA", _) => {
                Key::Rsa { modulus: digits(bytes(&jwk.n)?), exponent: digits(bytes(&jwk.e)?) }
            }
            ("EC", Some("P-256")) => Key::P256(point(32)?),
            ("EC", Some("P-384")) => Key::P384(point(48)?),
            ("OKP", Some("Ed25519")) => Key::Ed25519(bytes(&jwk.x).filter(|it| it.len() == 32)?),
            _ => return None,
        };
        is_for_us.then_some(Self { id: jwk.kid, algorithm, key })
    }
}

/// Removes leading zeros, which some issuers write.
fn digits(mut number: Vec<u8>) -> Vec<u8> {
    let zeros = number.iter().take_while(|it| **it == 0).count();
    number.drain(..zeros);
    number
}
