//! Random secrets, and the digests that are stored in their place.

use std::sync::OnceLock;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    hmac,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use subtle::ConstantTimeEq as _;

use super::refusal::Refusal;

/// Returns `N` random bytes as base64url, which headers, forms and URLs take without escaping.
///
/// # Errors
/// Fails if the operating system provides no random numbers.
pub(crate) fn random<const N: usize>() -> Result<String, Refusal> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Refusal::broken("no random numbers", &error))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Derives secrets from other secrets with a key that only this process has.
#[derive(Default)]
pub(crate) struct Chain(OnceLock<hmac::Key>);

impl Chain {
    /// Returns the secret that follows `secret` for this purpose. The result is the same each time.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn next(&self, purpose: &str, secret: &str) -> Result<String, Refusal> {
        let key = match self.0.get() {
            Some(key) => key,
            None => {
                let made = hmac::Key::new(hmac::HMAC_SHA256, random::<32>()?.as_bytes());
                self.0.get_or_init(|| made)
            }
        };
        // A secret has no space in it, so the signed text is unambiguous.
        let tag = hmac::sign(key, format!("{secret} {purpose}").as_bytes());
        Ok(URL_SAFE_NO_PAD.encode(tag))
    }
}

/// SHA-256 digest that is stored in place of a secret. A secret of 256 random bits needs no salt and no slow hash.
#[derive(Clone, Copy, Hash, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(text: &str) -> Self {
        Self(digest(&SHA256, text.as_bytes()).as_ref().try_into().unwrap_or_default())
    }

    /// Returns the first byte, which is as evenly distributed as the others.
    pub(crate) fn first(&self) -> u8 {
        self.0[0]
    }

    /// Whether this is the digest of `text`. The comparison takes constant time.
    pub(crate) fn is_of(&self, text: &str) -> bool {
        self.0.ct_eq(&Self::of(text).0).into()
    }

    pub(crate) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(Self(URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("no digest"))
    }
}
