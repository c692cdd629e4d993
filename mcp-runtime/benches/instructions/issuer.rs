//! Issuer that signs the tokens of the calls.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::signature::{Ed25519KeyPair, KeyPair as _};

use crate::Failure;

/// Audience that the example `rig` requires of tokens.
const AUDIENCE: &str = "https://rig.example/mcp";
/// Expiry time of the tokens in seconds since 1970: the beginning of the year 2100.
const EXPIRES: u64 = 4_102_444_800;

/// Issuer that listens until the process ends.
#[derive(Clone)]
pub(crate) struct Issuer {
    address: SocketAddr,
    key: Arc<Ed25519KeyPair>,
    signed: Arc<AtomicU64>,
}

impl Issuer {
    pub(crate) fn start() -> Result<Self, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let key =
            Ed25519KeyPair::from_seed_unchecked(&[7; 32]).map_err(|error| error.to_string())?;
        let address = listener.local_addr()?;
        let issuer = Self { address, key: Arc::new(key), signed: Arc::default() };
        let serving = issuer.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // The error is ignored, because the server repeats its request after a broken connection.
                let _ = serving.answer(&stream);
            }
        });
        Ok(issuer)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the header line, including its line end, of a token that was never used before.
    pub(crate) fn authorization(&self) -> String {
        let number = self.signed.fetch_add(1, Ordering::Relaxed);
        let head = r#"{"alg":"EdDSA","kid":"k","typ":"at+jwt"}"#;
        let claims = format!(
            r#"{{"iss":"{}","aud":"{AUDIENCE}","sub":"ada","exp":{EXPIRES},"scope":"rig:call","jti":"{number}"}}"#,
            self.url()
        );
        let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.key.sign(text.as_bytes()));
        format!("Authorization: Bearer {text}.{signature}\r\n")
    }

    fn answer(&self, mut stream: &TcpStream) -> Result<(), Failure> {
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next().ok_or("nothing is asked for")??;
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        let url = self.url();
        let body = if first.starts_with("GET /keys ") {
            let key = URL_SAFE_NO_PAD.encode(self.key.public_key());
            format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"k","x":"{key}"}}]}}"#)
        } else {
            format!(r#"{{"issuer":"{url}","jwks_uri":"{url}/keys"}}"#)
        };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
        write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
        Ok(())
    }
}
