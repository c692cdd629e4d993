//! The keys that an issuer publishes (RFC 7517), and the algorithms of their signatures (RFC 7518).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{
    self, EdDSAParameters, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Maximum number of usable keys of an issuer. Further keys of a key set are ignored.
const MOST: usize = 100;

/// Signature algorithm of a token (RFC 7518, section 3.1, and RFC 8037).
///
/// Restrict the accepted algorithms with [`Jwt::algorithms`](crate::auth::Jwt::algorithms). By default, all of these algorithms are
/// accepted. All of them use a public key. Algorithms with a shared key are not supported, because a server that can verify such tokens
/// could also forge them.
///
/// ```
/// use mcp_runtime::auth::{Algorithm, Jwt};
///
/// let verifier = Jwt::new("https://login.example.com", "https://api.example.com/mcp")
///     .algorithms([Algorithm::Es256, Algorithm::EdDsa]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Algorithm {
    /// RSA with SHA-256 and the padding of PKCS #1 v1.5 (`RS256`).
    Rs256,
    /// RSA with SHA-384 and the padding of PKCS #1 v1.5 (`RS384`).
    Rs384,
    /// RSA with SHA-512 and the padding of PKCS #1 v1.5 (`RS512`).
    Rs512,
    /// RSA with SHA-256 and PSS padding (`PS256`).
    Ps256,
    /// RSA with SHA-384 and PSS padding (`PS384`).
    Ps384,
    /// RSA with SHA-512 and PSS padding (`PS512`).
    Ps512,
    /// ECDSA over P-256 with SHA-256 (`ES256`).
    Es256,
    /// ECDSA over P-384 with SHA-384 (`ES384`).
    Es384,
    /// Ed25519 (`Ed25519`, and `EdDSA` before RFC 9864).
    EdDsa,
}

impl Algorithm {
    pub(super) const ALL: [Self; 9] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        // RFC 9864 gives each curve of `EdDSA` a name of its own.
        let name = if name == "Ed25519" { "EdDSA" } else { name };
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    fn rsa(self) -> Option<&'static RsaParameters> {
        Some(match self {
            Self::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Self::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Self::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Self::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
            Self::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
            Self::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
            Self::Es256 | Self::Es384 | Self::EdDsa => return None,
        })
    }

    /// Whether the algorithm uses keys of this type.
    pub(super) fn fits(self, key: &PublicKey) -> bool {
        match key {
            PublicKey::Rsa { .. } => self.rsa().is_some(),
            PublicKey::P256(_) => self == Self::Es256,
            PublicKey::P384(_) => self == Self::Es384,
            PublicKey::Ed25519(_) => self == Self::EdDsa,
        }
    }

    /// Whether this key has signed this message.
    pub(super) fn verify(self, key: &PublicKey, message: &[u8], signature: &[u8]) -> bool {
        const ED25519: &EdDSAParameters = &signature::ED25519;
        if !self.fits(key) {
            return false;
        }
        let verified = match (key, self.rsa()) {
            (PublicKey::Rsa { modulus: n, exponent: e }, Some(parameters)) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (PublicKey::Rsa { .. }, None) => return false,
            (PublicKey::P256(point), _) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature)
            }
            (PublicKey::P384(point), _) => {
                UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point)
                    .verify(message, signature)
            }
            (PublicKey::Ed25519(point), _) => {
                UnparsedPublicKey::new(ED25519, point).verify(message, signature)
            }
        };
        verified.is_ok()
    }
}

/// Public key of an issuer.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum PublicKey {
    /// Big-endian numbers without leading zeros.
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// Uncompressed point: the byte 4, then x, then y.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// Keys that verify signatures. Leaves out keys for other purposes, keys of unsupported types, symmetric keys and malformed keys.
#[derive(PartialEq, Eq)]
pub(super) struct KeySet(Vec<PublishedKey>);

#[derive(PartialEq, Eq)]
struct PublishedKey {
    id: Option<String>,
    /// The only algorithm that the key may be used with, if the key set names one.
    algorithm: Option<Algorithm>,
    key: PublicKey,
}

#[derive(Deserialize)]
struct KeySetDocument<'a> {
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
    /// Parses a key set. A set without keys is valid: the issuer has withdrawn them all.
    ///
    /// # Errors
    /// Fails if the document is not a key set, or if it has keys, but none that can be used.
    pub(super) fn parse(document: &[u8]) -> Result<Self, String> {
        let document: KeySetDocument<'_> = serde_json::from_slice(document)
            .map_err(|_| "it is not a JSON Web Key Set".to_owned())?;
        // A key that cannot be used is skipped, so that it does not affect the others.
        let read = |key: &&RawValue| PublishedKey::of(serde_json::from_str(key.get()).ok()?);
        let mut usable = document.keys.iter().filter_map(read);
        let known: Vec<_> = usable.by_ref().take(MOST).collect();
        if known.is_empty() && !document.keys.is_empty() {
            return Err("it has no key that verifies signatures".to_owned());
        }
        if usable.next().is_some() {
            tracing::warn!(
                "an issuer publishes more than {MOST} keys, and the further ones are ignored"
            );
        }
        Ok(Self(known))
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|known| known.id.as_deref())
    }

    /// Returns the keys that may have signed a token with this key id and algorithm.
    pub(super) fn candidates<'a>(
        &'a self,
        id: Option<&'a str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &'a PublicKey> {
        let fits = move |known: &&PublishedKey| {
            (id.is_none() || known.id.as_deref() == id)
                && known.algorithm.is_none_or(|own| own == algorithm)
                && algorithm.fits(&known.key)
        };
        // A token without a key id is checked with each key that fits, so the number of these keys is bounded.
        self.0.iter().filter(fits).map(|known| &known.key).take(4)
    }
}

impl PublishedKey {
    fn of(jwk: Jwk) -> Option<Self> {
        let is_for_us = jwk.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
            && jwk
                .key_ops
                .as_ref()
                .is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        let algorithm = match &jwk.alg {
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        let point = |length: usize| {
            let (x, y) = (bytes(&jwk.x)?, bytes(&jwk.y)?);
            (x.len() == length && y.len() == length).then(|| [&[4], &*x, &*y].concat())
        };
        let key = match (&*jwk.kty, jwk.crv.as_deref()) {
            ("RSA", _) => {
                PublicKey::Rsa { modulus: digits(bytes(&jwk.n)?), exponent: digits(bytes(&jwk.e)?) }
            }
            ("EC", Some("P-256")) => PublicKey::P256(point(32)?),
            ("EC", Some("P-384")) => PublicKey::P384(point(48)?),
            ("OKP", Some("Ed25519")) => {
                PublicKey::Ed25519(bytes(&jwk.x).filter(|point| point.len() == 32)?)
            }
            _ => return None,
        };
        is_for_us.then_some(Self { id: jwk.kid, algorithm, key })
    }
}

/// Removes leading zeros, which some issuers write.
fn digits(mut number: Vec<u8>) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.drain(..zeros);
    number
}
