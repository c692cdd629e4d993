//! Asking an issuer: one GET, within bounds of time and size, and no further than it was sent.

use std::{
    future::{Future, poll_fn},
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use http::{Request, Response, StatusCode, header};
use http_body::Body as _;
use hyper::{
    body::Incoming,
    client::conn::http1,
    rt::{Read, Write},
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, task::JoinSet};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};

use super::reachable::{Reachable, Target};

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long it may be.
const MOST: usize = 512 << 10;

/// How documents are had.
pub(crate) trait Fetch: Send + Sync + 'static {
    /// The document at an address.
    ///
    /// # Errors
    /// Why it is not had.
    fn get(&self, url: &str) -> impl Future<Output = Result<Vec<u8>, String>> + Send;
}

/// The network.
pub(crate) struct Web {
    reachable: Result<Reachable, String>,
    tls: OnceLock<TlsConnector>,
}

impl Web {
    pub(crate) fn from_issuer(issuer: &str) -> Self {
        Self { reachable: Reachable::from_issuer(issuer), tls: OnceLock::new() }
    }

    /// For what nobody here has named: nothing in private networks, and nothing of this machine unless that is said.
    #[cfg(feature = "auth-server")]
    pub(crate) fn of_strangers(on_loopback: bool) -> Self {
        Self { reachable: Ok(Reachable::to_strangers(on_loopback)), tls: OnceLock::new() }
    }

    /// What is wrong with the issuer.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.reachable.as_ref().err().map(String::as_str)
    }

    /// # Errors
    /// Why nothing is asked for at this address, wherever its host is.
    pub(crate) fn check(&self, url: &str) -> Result<(), String> {
        let reachable = self.reachable.as_ref().map_err(Clone::clone)?;
        reachable.check(&Target::parse(url)?)
    }

    /// A connection to one of the addresses that a host may be at. What is connected to is what has been checked: a name is looked
    /// up once.
    async fn connect(&self, target: &Target) -> Result<TcpStream, String> {
        let reachable = self.reachable.as_ref().map_err(Clone::clone)?;
        reachable.check(target)?;
        let found = tokio::net::lookup_host((&*target.host, target.port)).await;
        let found = found.map_err(|error| format!("{} is not known: {error}", target.host))?;
        let found: Vec<SocketAddr> =
            found.filter(|it| reachable.may_be_at(target, it.ip())).collect();
        let mut problem = format!("{} is in a private network", target.host);
        for address in found {
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => problem = format!("{address} does not answer: {error}"),
            }
        }
        Err(problem)
    }

    async fn tls(&self) -> Result<TlsConnector, String> {
        if let Some(tls) = self.tls.get() {
            return Ok(tls.clone());
        }
        // Certificates are files.
        let made = tokio::task::spawn_blocking(connector).await;
        let made = made.map_err(|error| error.to_string())??;
        Ok(self.tls.get_or_init(|| made).clone())
    }

    /// Sends a request to where its target is, and reads the answer whatever it says.
    async fn ask(
        &self,
        target: &Target,
        request: Request<String>,
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let stream = self.connect(target).await?;
        if !target.has_tls {
            return exchange(TokioIo::new(stream), request).await;
        }
        let name = ServerName::try_from(target.host.clone()).map_err(|error| error.to_string())?;
        let stream = self.tls().await?.connect(name, stream).await;
        exchange(TokioIo::new(stream.map_err(|error| error.to_string())?), request).await
    }

    async fn ask_in_time(
        &self,
        target: &Target,
        request: Request<String>,
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let asked = tokio::time::timeout(PATIENCE, self.ask(target, request)).await;
        asked.map_err(|_| format!("no answer within {} s", PATIENCE.as_secs()))?
    }

    /// What is answered to a form, with its status. The value of `Authorization` goes with it where there is one.
    ///
    /// # Errors
    /// Why there is no answer.
    #[cfg(feature = "auth-server")]
    pub(crate) async fn post(
        &self,
        url: &str,
        form: String,
        authorization: Option<http::HeaderValue>,
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let target = Target::parse(url)?;
        let kind = "application/x-www-form-urlencoded";
        let mut request = Request::post(&*target.path).header(header::CONTENT_TYPE, kind);
        if let Some(authorization) = authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let length = form.len();
        let request = of(request, &target).header(header::CONTENT_LENGTH, length).body(form);
        self.ask_in_time(&target, request.map_err(|error| error.to_string())?).await
    }
}

/// What every request says.
fn of(request: http::request::Builder, target: &Target) -> http::request::Builder {
    request
        .header(header::HOST, &*target.authority)
        .header(header::ACCEPT, "application/json")
        .header(header::CONNECTION, "close")
}

impl Fetch for Web {
    async fn get(&self, url: &str) -> Result<Vec<u8>, String> {
        let target = Target::parse(url)?;
        let request = of(Request::get(&*target.path), &target).body(String::new());
        let request = request.map_err(|error| error.to_string())?;
        match self.ask_in_time(&target, request).await? {
            (StatusCode::OK, document) => Ok(document),
            (status, _) => Err(format!("it answers {status}")),
        }
    }
}

/// With a provider of its own, so that it does not matter which one the program has chosen.
fn connector() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        return Err("this system has no certificates of authorities".to_owned());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

async fn exchange<S>(stream: S, request: Request<String>) -> Result<(StatusCode, Vec<u8>), String>
where
    S: Read + Write + Unpin + Send + 'static,
{
    let broke = |error: hyper::Error| format!("the connection broke: {error}");
    let (mut sender, connection) = http1::handshake::<_, String>(stream).await.map_err(broke)?;
    // It ends with this function.
    let mut driven = JoinSet::new();
    driven.spawn(connection);
    let response = sender.send_request(request).await.map_err(broke)?;
    let status = response.status();
    if status.is_redirection() {
        return Err(format!("it redirects ({status}), which is not followed"));
    }
    Ok((status, read(response).await?))
}

async fn read(response: Response<Incoming>) -> Result<Vec<u8>, String> {
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|error| format!("the connection broke: {error}"))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > MOST {
            return Err(format!("the document is longer than {MOST} bytes"));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}
