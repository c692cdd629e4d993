//! Issuer of access tokens on this machine. The issuer can misbehave, and its keys can sign invalid tokens.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
    serve::Listener,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        self, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
        RsaKeyPair,
    },
};
use serde_json::{Value, json};
use support::clock::unix_seconds;
use tokio::net::TcpListener;

use crate::mounted::Application;

pub(crate) const AUDIENCE: &str = "https://api.example.com/mcp";

/// Behaviour of the issuer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Manner {
    Good,
    /// The metadata names a different issuer.
    Foreign,
    Slow,
    Huge,
    /// The metadata is a redirect to another path of the issuer.
    Redirecting,
    /// The metadata names this address for the keys.
    Elsewhere(&'static str),
    Broken,
}

pub(crate) struct Issuer {
    pub(crate) url: String,
    shared: Arc<Shared>,
    application: Application,
}

struct Shared {
    scheme: &'static str,
    manner: Manner,
    keys: Mutex<Vec<Value>>,
    asked: AtomicUsize,
    /// Number of requests for a path that the server must not fetch.
    strayed: AtomicUsize,
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let host = request.headers()[header::HOST].to_str().unwrap().to_owned();
    let own = format!("{}://{host}", shared.scheme);
    let manner = &shared.manner;
    match request.uri().path() {
        "/.well-known/oauth-authorization-server" => match manner {
            Manner::Slow => std::future::pending().await,
            Manner::Redirecting => {
                (StatusCode::FOUND, [(header::LOCATION, format!("{own}/stray"))]).into_response()
            }
            Manner::Broken => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            Manner::Huge => "x".repeat(4 << 20).into_response(),
            Manner::Foreign => {
                let other = json!({ "issuer": "https://other.example", "jwks_uri": format!("{own}/stray") });
                other.to_string().into_response()
            }
            Manner::Elsewhere(address) => {
                json!({ "issuer": own, "jwks_uri": address }).to_string().into_response()
            }
            Manner::Good => {
                let keys = format!("{own}/keys");
                json!({ "issuer": own, "jwks_uri": keys }).to_string().into_response()
            }
        },
        "/keys" => {
            shared.asked.fetch_add(1, Ordering::Relaxed);
            let keys = shared.keys.lock().unwrap().clone();
            json!({ "keys": keys }).to_string().into_response()
        }
        "/stray" => {
            shared.strayed.fetch_add(1, Ordering::Relaxed);
            StatusCode::OK.into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

impl Issuer {
    pub(crate) async fn start(manner: Manner, keys: &[&Key]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut issuer = Self::start_at(listener, "http", manner, keys);
        issuer.url = format!("http://{}", issuer.application.address);
        issuer
    }

    /// Starts an issuer whose URL has the host name `localhost`, which a certificate can name.
    pub(crate) fn start_at(
        listener: impl Listener<Addr = SocketAddr>,
        scheme: &'static str,
        manner: Manner,
        keys: &[&Key],
    ) -> Self {
        let keys = Mutex::new(keys.iter().map(|key| key.public()).collect());
        let (asked, strayed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let shared = Arc::new(Shared { scheme, manner, keys, asked, strayed });
        let router = Router::new().fallback(answer).with_state(shared.clone());
        let application = Application::start_at(listener, router);
        let url = format!("{scheme}://localhost:{}", application.address.port());
        Self { url, shared, application }
    }

    pub(crate) fn publish(&self, keys: &[&Key]) {
        *self.shared.keys.lock().unwrap() = keys.iter().map(|key| key.public()).collect();
    }

    /// Returns how often the keys were fetched.
    pub(crate) fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::Relaxed)
    }

    pub(crate) fn strayed(&self) -> usize {
        self.shared.strayed.load(Ordering::Relaxed)
    }

    pub(crate) async fn end(self) {
        // A slow issuer never answers, so a graceful shutdown would wait for its requests without end.
        if self.shared.manner != Manner::Slow {
            self.application.end().await;
        }
    }

    /// Returns the claims of a valid token.
    pub(crate) fn claims(&self) -> Value {
        json!({ "iss": self.url, "aud": AUDIENCE, "sub": "ada", "exp": now() + 600, "email": "ada@example.com", "scope": "notes:read notes:write" })
    }
}

pub(crate) fn now() -> i64 {
    i64::try_from(unix_seconds()).unwrap()
}

/// Key pair that signs tokens.
pub(crate) struct Key {
    pub(crate) id: &'static str,
    pair: Pair,
}

enum Pair {
    Rsa(Box<RsaKeyPair>),
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Key {
    pub(crate) fn ed25519(id: &'static str, seed: u8) -> Self {
        Self { id, pair: Pair::Ed25519(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()) }
    }

    pub(crate) fn p256(id: &'static str) -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        Self { id, pair: Pair::P256(pair) }
    }

    /// Returns the key of RFC 7515, appendix A.2.
    pub(crate) fn rsa(id: &'static str) -> Self {
        let number = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let components = ring::rsa::KeyPairComponents {
            public_key: ring::rsa::PublicKeyComponents { n: number(N), e: number("AQAB") },
            d: number(D),
            p: number(P),
            q: number(Q),
            dP: number(DP),
            dQ: number(DQ),
            qInv: number(QI),
        };
        let pair = RsaKeyPair::from_components(&components).unwrap();
        Self { id, pair: Pair::Rsa(Box::new(pair)) }
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::P256(_) => "ES256",
            Pair::Ed25519(_) => "EdDSA",
        }
    }

    pub(crate) fn public(&self) -> Value {
        match &self.pair {
            Pair::Rsa(_) => {
                json!({ "kty": "RSA", "kid": self.id, "use": "sig", "n": N, "e": "AQAB" })
            }
            Pair::P256(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "kid": self.id, "x": encode(x), "y": encode(y) })
            }
            Pair::Ed25519(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": encode(pair.public_key()) })
            }
        }
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let padding: &dyn signature::RsaEncoding = match algorithm {
                    "PS256" => &signature::RSA_PSS_SHA256,
                    "RS512" => &signature::RSA_PKCS1_SHA512,
                    _ => &signature::RSA_PKCS1_SHA256,
                };
                pair.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
            Pair::P256(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    pub(crate) fn token(&self, claims: &Value) -> String {
        self.token_as(self.algorithm(), claims)
    }

    pub(crate) fn token_as(&self, algorithm: &str, claims: &Value) -> String {
        self.token_with(&json!({ "alg": algorithm, "kid": self.id, "typ": "at+jwt" }), claims)
    }

    pub(crate) fn token_with(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let algorithm = header["alg"].as_str().unwrap_or_default();
        format!("{message}.{}", encode(self.sign(algorithm, message.as_bytes())))
    }

    /// Returns a token signed with the public half of the key, as if that were a shared secret.
    pub(crate) fn confused(&self, claims: &Value) -> String {
        let header = json!({ "alg": "HS256", "kid": self.id });
        let message = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.public().to_string().as_bytes());
        format!("{message}.{}", encode(hmac::sign(&key, message.as_bytes())))
    }
}

/// Returns a token without a signature.
pub(crate) fn unsigned(algorithm: &str, claims: &Value) -> String {
    let header = json!({ "alg": algorithm });
    format!("{}.{}.", encode(header.to_string()), encode(claims.to_string()))
}

const N: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
const D: &str = "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ";
const P: &str = "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc";
const Q: &str = "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc";
const DP: &str = "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0";
const DQ: &str = "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU";
const QI: &str = "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U";
