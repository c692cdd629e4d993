use ring::signature::{
    self, EdDSAParameters, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey,
};

/// Algorithm that a token is signed with (RFC 7518, section 3.1, and RFC 8037). All of them use a public key: a server that verifies tokens
/// with a shared key could forge them too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Algorithm {
    /// RSA with SHA-256, in the padding of PKCS #1 v1.5.
    Rs256,
    /// RSA with SHA-384, in the padding of PKCS #1 v1.5.
    Rs384,
    /// RSA with SHA-512, in the padding of PKCS #1 v1.5.
    Rs512,
    /// RSA with SHA-256, in the padding PSS.
    Ps256,
    /// RSA with SHA-384, in the padding PSS.
    Ps384,
    /// RSA with SHA-512, in the padding PSS.
    Ps512,
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// ECDSA over P-384 with SHA-384.
    Es384,
    /// Ed25519.
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
        Self::ALL.into_iter().find(|it| it.name() == name)
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

    /// Whether a key of this type can have made a signature of this algorithm.
    pub(super) fn fits(self, key: &Key) -> bool {
        match key {
            Key::Rsa { .. } => self.rsa().is_some(),
            Key::P256(_) => self == Self::Es256,
            Key::P384(_) => self == Self::Es384,
            Key::Ed25519(_) => self == Self::EdDsa,
        }
    }

    /// Whether this key has signed this message.
    pub(super) fn verify(self, key: &Key, message: &[u8], signature: &[u8]) -> bool {
        const ED25519: &EdDSAParameters = &signature::ED25519;
        if !self.fits(key) {
            return false;
        }
        let verified = match (key, self.rsa()) {
            (Key::Rsa { modulus: n, exponent: e }, Some(parameters)) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature)
            }
            (Key::Rsa { .. }, None) => return false,
            (Key::P256(point), _) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature)
            }
            (Key::P384(point), _) => {
                UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point)
                    .verify(message, signature)
            }
            (Key::Ed25519(point), _) => {
                UnparsedPublicKey::new(ED25519, point).verify(message, signature)
            }
        };
        verified.is_ok()
    }
}

/// Public key.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// Big-endian numbers without leading zeros.
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// Uncompressed point: 4, x, y.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}
