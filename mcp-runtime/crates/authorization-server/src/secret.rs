//! Random secrets, the digests that are stored instead of secrets, and the encryption of upstream tokens.

use std::sync::{OnceLock, PoisonError, RwLock};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    digest::{SHA256, digest},
    hmac,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use subtle::ConstantTimeEq as _;

use crate::oauth_error::OAuthError;

/// Returns `N` random bytes as base64url, which needs no escaping in headers, forms and URLs.
///
/// # Errors
/// Fails if the operating system provides no random numbers.
pub(crate) fn random<const N: usize>() -> Result<String, OAuthError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        OAuthError::server_error("the system provides no random numbers", &error)
    })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Derives secrets from other secrets with a key that only this process has, or that only the nodes of this server have.
#[derive(Default)]
pub(crate) struct SecretChain(OnceLock<hmac::Key>);

impl SecretChain {
    /// Creates a chain with the key of all nodes.
    pub(crate) fn of(key: hmac::Key) -> Self {
        Self(OnceLock::from(key))
    }

    /// Derives a secret from `secret` for this purpose. Calls with the same arguments return the same secret.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn next(&self, purpose: &str, secret: &str) -> Result<String, OAuthError> {
        let key = match self.0.get() {
            Some(key) => key,
            None => {
                let made = hmac::Key::new(hmac::HMAC_SHA256, random::<32>()?.as_bytes());
                self.0.get_or_init(|| made)
            }
        };
        // A secret contains no space, so the signed text is unambiguous.
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

    /// Returns the first byte. Its values are evenly distributed, so it can select a part of a table.
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
        Self::parse(&text).ok_or_else(|| de::Error::custom("invalid digest"))
    }
}

/// Cipher with one key for all texts, and a random nonce for each text. The number of texts stays far below the safe maximum for random
/// nonces of 96 bits.
pub(crate) struct TokenSealer {
    /// Keys that open texts. The first one seals them.
    keys: RwLock<Vec<LessSafeKey>>,
    /// Whether the author has set the key, so that no other key replaces it.
    is_configured: bool,
}

impl TokenSealer {
    /// Creates a cipher with this key, or with a random key that is lost when the process ends.
    pub(crate) fn new(key: Option<[u8; 32]>) -> Self {
        let is_configured = key.is_some();
        let key = key.or_else(|| {
            let mut made = [0; 32];
            getrandom::fill(&mut made).ok().map(|()| made)
        });
        let keys = RwLock::new(key.into_iter().filter_map(cipher).collect());
        Self { keys, is_configured }
    }

    /// Replaces a random key by the keys of all nodes, of which the first one seals. A key that the author has set stays.
    pub(crate) fn share(&self, keys: impl Iterator<Item = [u8; 32]>) {
        if !self.is_configured {
            let mut own = self.keys.write().unwrap_or_else(PoisonError::into_inner);
            *own = keys.filter_map(cipher).collect();
        }
    }

    /// Seals a text and binds it to `bound`. The sealed text can be opened only with the same key and the same `bound`.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn seal(&self, text: Vec<u8>, bound: &str) -> Result<String, OAuthError> {
        let broken = || {
            OAuthError::server_error(
                "the text cannot be sealed",
                &"the system provides no random numbers",
            )
        };
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| broken())?;
        let mut sealed = text;
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let key = keys.first().ok_or_else(broken)?;
        let aad = Aad::from(bound.as_bytes());
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
            .map_err(|_| broken())?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// Opens a text that was sealed with one of the keys and the same `bound`.
    pub(crate) fn open(&self, sealed: &str, bound: &str) -> Option<Vec<u8>> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.iter().find_map(|key| {
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let mut text = sealed.to_vec();
            let opened = key.open_in_place(nonce, Aad::from(bound.as_bytes()), &mut text);
            opened.ok().map(|text| text.to_vec())
        })
    }
}

fn cipher(key: [u8; 32]) -> Option<LessSafeKey> {
    UnboundKey::new(&CHACHA20_POLY1305, &key).ok().map(LessSafeKey::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_token_opens_only_with_the_same_key_and_grant() {
        let own = TokenSealer::new(Some([1; 32]));
        let sealed = own.seal(b"token".to_vec(), "grant").unwrap();
        assert_eq!(own.open(&sealed, "grant").as_deref(), Some(&b"token"[..]));
        assert_eq!(
            TokenSealer::new(Some([1; 32])).open(&sealed, "grant"),
            own.open(&sealed, "grant")
        );
        assert_eq!(own.open(&sealed, "other"), None);
        assert_eq!(TokenSealer::new(Some([2; 32])).open(&sealed, "grant"), None);
        assert_eq!(TokenSealer::new(None).open(&sealed, "grant"), None);
        assert_ne!(sealed, own.seal(b"token".to_vec(), "grant").unwrap());
        for at in 0..sealed.len() {
            let mut other = sealed.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(own.open(&String::from_utf8(other).unwrap(), "grant"), None, "{at}");
        }
        assert_eq!(own.open("", "grant"), None);
    }

    #[test]
    fn a_shared_key_replaces_a_random_key_but_no_configured_key() {
        let nodes = [TokenSealer::new(None), TokenSealer::new(None)];
        nodes.iter().for_each(|node| node.share([[3; 32], [4; 32]].into_iter()));
        let sealed = nodes[0].seal(b"token".to_vec(), "grant").unwrap();
        assert_eq!(nodes[1].open(&sealed, "grant").as_deref(), Some(&b"token"[..]));
        let older = TokenSealer::new(Some([4; 32])).seal(b"old".to_vec(), "grant").unwrap();
        assert_eq!(nodes[1].open(&older, "grant").as_deref(), Some(&b"old"[..]));
        let configured = TokenSealer::new(Some([1; 32]));
        configured.share([[3; 32]].into_iter());
        assert_eq!(configured.open(&sealed, "grant"), None);
    }
}
