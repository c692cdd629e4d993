//! Encryption of upstream tokens, so that a stolen file does not reveal them.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use super::refusal::Refusal;

/// Cipher with one key and a random nonce for each text. The number of texts is far below what random nonces of 96 bits allow.
pub(crate) struct Sealer(Option<LessSafeKey>);

impl Sealer {
    /// Uses this key, or a random one that is lost with the process.
    pub(crate) fn new(key: Option<[u8; 32]>) -> Self {
        let key = key.or_else(|| {
            let mut made = [0; 32];
            getrandom::fill(&mut made).ok().map(|()| made)
        });
        let key = key.and_then(|it| UnboundKey::new(&CHACHA20_POLY1305, &it).ok());
        Self(key.map(LessSafeKey::new))
    }

    /// Seals a text. It can be opened only with the same `bound`.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn seal(&self, text: Vec<u8>, bound: &str) -> Result<String, Refusal> {
        let broken = || Refusal::broken("nothing can be sealed", &"no random numbers");
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(|_| broken())?;
        let mut sealed = text;
        let key = self.0.as_ref().ok_or_else(broken)?;
        let aad = Aad::from(bound.as_bytes());
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed)
            .map_err(|_| broken())?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// Opens a text that was sealed with this key and the same `bound`.
    pub(crate) fn open(&self, sealed: &str, bound: &str) -> Option<Vec<u8>> {
        let mut bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk_mut::<NONCE_LEN>()?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.as_ref()?.open_in_place(nonce, Aad::from(bound.as_bytes()), sealed);
        opened.ok().map(|it| it.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_token_opens_only_with_the_same_key_and_grant() {
        let own = Sealer::new(Some([1; 32]));
        let sealed = own.seal(b"token".to_vec(), "grant").unwrap();
        assert_eq!(own.open(&sealed, "grant").as_deref(), Some(&b"token"[..]));
        assert_eq!(Sealer::new(Some([1; 32])).open(&sealed, "grant"), own.open(&sealed, "grant"));
        assert_eq!(own.open(&sealed, "other"), None);
        assert_eq!(Sealer::new(Some([2; 32])).open(&sealed, "grant"), None);
        assert_eq!(Sealer::new(None).open(&sealed, "grant"), None);
        assert_ne!(sealed, own.seal(b"token".to_vec(), "grant").unwrap());
        for at in 0..sealed.len() {
            let mut other = sealed.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(own.open(&String::from_utf8(other).unwrap(), "grant"), None, "{at}");
        }
        assert_eq!(own.open("", "grant"), None);
    }
}
