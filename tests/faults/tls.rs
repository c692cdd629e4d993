//! An issuer behind TLS. Its keys are accepted only if its certificate has its host name and is signed by an authority that the system
//! trusts.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::serve::Listener;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer as Authority, KeyPair};
use serde_json::json;
use support::examples::example;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
    server::TlsStream,
};

use crate::{
    client::{plain_call, run},
    issuer::{Issuer, Key, Manner},
    server::Server,
};

/// Certificate authority.
struct Certifier {
    authority: Authority<'static, KeyPair>,
    pem: String,
}

impl Certifier {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { authority: Authority::new(params, key), pem }
    }

    /// Returns a TLS acceptor with a certificate for this name.
    fn acceptor(&self, name: &str) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

struct Secure(TcpListener, TlsAcceptor);

impl Listener for Secure {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let Ok((stream, address)) = self.0.accept().await else { continue };
            // A client that rejects the certificate closes the connection.
            if let Ok(stream) = self.1.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

#[support::test]
fn keys_are_fetched_only_from_an_issuer_with_a_trusted_certificate() {
    // Builds the example before the deadline of the test begins.
    let rig = example("rig");
    run(async {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (known, unknown) = (Certifier::new(), Certifier::new());
        let roots = folder.join(format!("roots-{}.pem", std::process::id()));
        std::fs::write(&roots, &known.pem).unwrap();
        let cases = [
            (&known, "localhost", 200),
            (&known, "other.example", 503),
            (&unknown, "localhost", 503),
        ];
        for (certifier, name, status) in cases {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let listener = Secure(listener, certifier.acceptor(name));
            let key = Key::ed25519("k", 1);
            let issuer = Issuer::start_at(listener, "https", Manner::Good, &[&key]);
            let settings = [
                ("ISSUER", &*issuer.url),
                ("SSL_CERT_FILE", roots.to_str().expect("a path in UTF-8")),
            ];
            let server = Server::start_program(rig, &settings);
            let mut claims = issuer.claims();
            claims["aud"] = json!("https://rig.example/mcp");
            let call = plain_call(1, "echo", json!({ "message": "hello" }));
            let call = call.header("Authorization", format!("Bearer {}", key.token(&claims)));
            let reply = call.ask(server.address()).await;
            assert_eq!(reply.status(), status, "{name}: {reply:?}");
            if status == 200 {
                assert_eq!(reply.text(), "hello");
            }
            assert_eq!(issuer.asked(), usize::from(status == 200), "{name}");
        }
        std::fs::remove_file(roots).unwrap();
    });
}

/// Starts a proxy that connects every host name to this machine. Returns its address, and the first lines of the requests that it gets.
async fn proxy() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(client.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let line = head.lines().next().unwrap().to_owned();
            let port = line.split([' ', ':']).nth(2).and_then(|port| port.parse::<u16>().ok());
            log.lock().unwrap().push(line);
            let mut issuer = TcpStream::connect(("127.0.0.1", port.unwrap())).await.unwrap();
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
            tokio::spawn(async move { copy_bidirectional(&mut client, &mut issuer).await });
        }
    });
    (address, asked)
}

#[support::test]
fn keys_come_through_the_proxy_of_the_environment() {
    let rig = example("rig");
    run(async {
        let certifier = Certifier::new();
        let roots = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
        let roots = roots.join(format!("proxy-roots-{}.pem", std::process::id()));
        std::fs::write(&roots, &certifier.pem).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let listener = Secure(listener, certifier.acceptor("login.example"));
        let key = Key::ed25519("k", 1);
        let mut issuer = Issuer::start_at(listener, "https", Manner::Good, &[&key]);
        // Only the proxy can resolve this name.
        issuer.url = format!("https://login.example:{port}");
        let (address, asked) = proxy().await;
        let proxy = format!("http://{address}");
        let settings = [
            ("ISSUER", &*issuer.url),
            ("SSL_CERT_FILE", roots.to_str().expect("a path in UTF-8")),
            ("HTTPS_PROXY", &*proxy),
            ("https_proxy", ""),
            ("NO_PROXY", ""),
            ("no_proxy", ""),
        ];
        let server = Server::start_program(rig, &settings);
        let mut claims = issuer.claims();
        claims["aud"] = json!("https://rig.example/mcp");
        let call = plain_call(1, "echo", json!({ "message": "hello" }));
        let call = call.header("Authorization", format!("Bearer {}", key.token(&claims)));
        let reply = call.ask(server.address()).await;
        assert_eq!((reply.status(), reply.text()), (200, "hello".into()), "{reply:?}");
        let asked = asked.lock().unwrap().clone();
        assert_eq!(asked, vec![format!("CONNECT login.example:{port} HTTP/1.1"); 2]);
        std::fs::remove_file(roots).unwrap();
    });
}
