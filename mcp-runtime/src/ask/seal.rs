//! Seals state that travels through the client. Only a server with the key can read or make it (rule MRTR-05).

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chacha20poly1305::{
    Key, KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};

use crate::{error::Error, random::random};

/// Size of a nonce in bytes, large enough that random nonces do not collide.
pub(crate) const NONCE: usize = 24;

/// Keys of a server.
#[derive(Clone)]
pub(crate) struct Sealer {
    /// Key that seals new state and opens state.
    newest: [u8; 32],
    /// Keys that only open state.
    older: Vec<[u8; 32]>,
}

/// Error for a text that cannot be opened. It carries no reason, because a reason would help to forge a text.
pub(crate) struct Broken;

impl Sealer {
    /// Makes a sealer. The first key seals, and every key opens. Returns `None` if there is no key.
    pub(crate) fn new(mut keys: Vec<[u8; 32]>) -> Option<Self> {
        (!keys.is_empty()).then(|| Self { newest: keys.remove(0), older: keys })
    }

    fn keys(&self) -> impl Iterator<Item = &[u8; 32]> {
        std::iter::once(&self.newest).chain(&self.older)
    }

    /// Seals a text, which can be opened only with the same `bound`.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn seal(&self, text: &[u8], bound: &[u8]) -> Result<String, Error> {
        let nonce: [u8; NONCE] = random()?;
        let cipher = XChaCha20Poly1305::new(&Key::from(self.newest));
        let sealed = cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: text, aad: bound })
            .map_err(|_| Error::internal("the state could not be sealed"))?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// Returns a short digest of a text, for use in sealed state. Without the key no other text with the same digest can be found. Random
    /// nonces do not collide with the fixed nonce that is used here.
    pub(super) fn digest(&self, text: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(tag(&self.newest, text))
    }

    /// Whether one of the keys has made this digest of the text.
    pub(super) fn is_digest(&self, digest: &str, text: &[u8]) -> bool {
        self.keys().any(|key| URL_SAFE_NO_PAD.encode(tag(key, text)) == digest)
    }

    /// Opens a text that one of the keys has sealed for the same `bound`. Also returns its nonce, which no other sealed text has.
    pub(crate) fn open(
        &self,
        sealed: &str,
        bound: &[u8],
    ) -> Result<(Vec<u8>, [u8; NONCE]), Broken> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| Broken)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>().ok_or(Broken)?;
        let open = |key: &[u8; 32]| {
            let cipher = XChaCha20Poly1305::new(&Key::from(*key));
            cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: bound }).ok()
        };
        self.keys().find_map(open).map(|it| (it, *nonce)).ok_or(Broken)
    }
}

/// Returns a shortened authentication tag: seals an empty message with the text as associated data. The tag may be short because it is
/// sealed with the state.
fn tag(key: &[u8; 32], text: &[u8]) -> [u8; 12] {
    let sealed = XChaCha20Poly1305::new(&Key::from(*key))
        .encrypt(&XNonce::from([0xff; NONCE]), Payload { msg: b"", aad: text });
    sealed.ok().and_then(|it| it.first_chunk().copied()).unwrap_or_default()
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("keys", &self.keys().count()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealer(keys: &[u8]) -> Sealer {
        Sealer::new(keys.iter().map(|it| [*it; 32]).collect()).unwrap()
    }

    fn opened(sealer: &Sealer, sealed: &str, bound: &[u8]) -> Option<Vec<u8>> {
        sealer.open(sealed, bound).ok().map(|it| it.0)
    }

    #[test]
    fn a_sealed_state_opens_only_with_the_same_key_and_purpose() {
        let own = sealer(&[1]);
        let sealed = own.seal(b"text", b"call").unwrap();
        assert_eq!(opened(&own, &sealed, b"call").as_deref(), Some(&b"text"[..]));
        assert_eq!(opened(&own, &sealed, b"another"), None);
        assert_eq!(opened(&sealer(&[2]), &sealed, b"call"), None);
        assert_ne!(sealed, own.seal(b"text", b"call").unwrap());
    }

    #[test]
    fn keys_can_be_rotated() {
        let sealed = sealer(&[1]).seal(b"text", b"").unwrap();
        let rotated = sealer(&[2, 1]);
        assert!(opened(&rotated, &sealed, b"").is_some());
        let newer = rotated.seal(b"text", b"").unwrap();
        assert_eq!(opened(&sealer(&[1]), &newer, b""), None);
        assert!(opened(&sealer(&[2]), &newer, b"").is_some());
    }

    #[test]
    fn a_digest_is_of_one_text_and_survives_a_rotation() {
        let digest = sealer(&[1]).digest(b"text");
        assert_eq!(digest.len(), 16);
        assert!(sealer(&[1]).is_digest(&digest, b"text"));
        assert!(sealer(&[2, 1]).is_digest(&digest, b"text"));
        assert!(!sealer(&[1]).is_digest(&digest, b"test"));
        assert!(!sealer(&[2]).is_digest(&digest, b"text"));
    }

    #[test]
    fn a_changed_sealed_state_does_not_open() {
        let own = sealer(&[1]);
        let sealed = own.seal(b"text", b"").unwrap();
        for at in 0..sealed.len() {
            let mut other = sealed.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            // The last base64 digit may have unused bits. A text in which they are changed is not accepted either.
            assert_eq!(opened(&own, &other, b""), None, "{at}");
        }
        for wrong in ["", "A", "-TAMPERED", &format!("{sealed}-TAMPERED"), &sealed[1..]] {
            assert_eq!(opened(&own, wrong, b""), None, "{wrong}");
        }
    }
}
