//! Parses tokens: JWS in the compact form (RFC 7515, section 7.1), with the checks of RFC 8725.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, de::IgnoredAny};

use super::algorithm::Algorithm;

/// Token whose signature has not been checked yet.
pub(super) struct Unverified<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) key: Option<String>,
    /// Bytes that are signed.
    pub(super) message: &'a [u8],
    pub(super) signature: Vec<u8>,
    payload: &'a str,
}

/// Header of a token. Keys, and URLs of keys, that a header may contain are not read.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<IgnoredAny>,
}

impl<'a> Unverified<'a> {
    /// Parses a token without checking its signature.
    ///
    /// # Errors
    /// Fails if the text is no token that this server accepts, with any signature.
    pub(super) fn parse(token: &'a str) -> Result<Self, &'static str> {
        const SHAPE: &str = "the token is no signed JWT";
        let (message, signature) = token.rsplit_once('.').ok_or(SHAPE)?;
        let (header, payload) = message.split_once('.').ok_or(SHAPE)?;
        if payload.contains('.') {
            return Err(SHAPE);
        }
        let header = URL_SAFE_NO_PAD.decode(header).map_err(|_| SHAPE)?;
        let header: Header = serde_json::from_slice(&header).map_err(|_| SHAPE)?;
        let algorithm = Algorithm::named(&header.alg)
            .ok_or("the token is not signed with an algorithm that is allowed")?;
        if header.crit.is_some() {
            return Err("the token has a critical header that nobody here understands");
        }
        if header.typ.as_deref().is_some_and(|it| !is_access_token(it)) {
            return Err("the token is of another type than an access token");
        }
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| SHAPE)?;
        let message = message.as_bytes();
        Ok(Self { algorithm, key: header.kid, message, signature, payload })
    }

    /// Returns the claims as JSON text. Call it only after the signature has been checked.
    ///
    /// # Errors
    /// Fails if the payload is no text.
    pub(super) fn payload(&self) -> Result<String, &'static str> {
        const SHAPE: &str = "the token's claims cannot be read";
        let bytes = URL_SAFE_NO_PAD.decode(self.payload).map_err(|_| SHAPE)?;
        String::from_utf8(bytes).map_err(|_| SHAPE)
    }
}

/// Whether a token of this type is an access token. A token of another type may have the same claims for another purpose (RFC 8725, section
/// 3.11).
fn is_access_token(typ: &str) -> bool {
    ["JWT", "at+jwt", "application/at+jwt"].iter().any(|it| it.eq_ignore_ascii_case(typ))
}
