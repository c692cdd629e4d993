//! HTTP client for the documents of issuers and clients. Each request is bounded in time and size, and follows no redirect.

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
use tokio::{
    io::{AsyncRead, AsyncWrite},
    task::JoinSet,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName},
};

use super::{
    dial::{Resolve, SystemResolver, dial},
    proxy::{HttpProxy, ProxySettings},
    reachable::{Reachable, Target},
};

/// Maximum time for one request, including the connection.
const PATIENCE: Duration = Duration::from_secs(3);

/// Maximum size of a response, in bytes.
const MOST: usize = 512 << 10;

/// HTTP client for issuer metadata and key sets.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot fetch documents",
    label = "does not implement `Fetch`",
    note = "`Web` fetches them over HTTPS"
)]
pub trait Fetch: Send + Sync + 'static {
    /// Fetches the document at a URL.
    ///
    /// # Errors
    /// Fails if the document cannot be fetched. The error states the reason.
    fn get(&self, url: &str) -> impl Future<Output = Result<Vec<u8>, String>> + Send;
}

/// HTTPS client for issuer metadata, key sets and client metadata.
pub struct Web<R = SystemResolver> {
    reachable: Result<Reachable, String>,
    resolver: R,
    proxies: ProxySettings,
    tls: OnceLock<TlsConnector>,
}

/// Connection with or without TLS, direct or through a proxy.
trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

impl Web {
    /// Creates a client for the documents of an issuer.
    pub fn from_issuer(issuer: &str) -> Self {
        Self::of(Reachable::from_issuer(issuer))
    }

    /// Also allows the host of this URL to have a private address, because the author has named the host.
    #[must_use]
    pub(crate) fn and(mut self, url: &str) -> Self {
        if let (Ok(reachable), Ok(target)) = (&mut self.reachable, Target::parse(url)) {
            reachable.name(&target);
        }
        self
    }

    /// Creates a client for URLs from untrusted sources. The client never connects to private networks. It connects to this machine only if
    /// `on_loopback` is set.
    pub fn of_strangers(on_loopback: bool) -> Self {
        Self::of(Ok(Reachable::to_strangers(on_loopback)))
    }

    fn of(reachable: Result<Reachable, String>) -> Self {
        Self::with(reachable, SystemResolver, ProxySettings::from_environment())
    }
}

impl<R: Resolve> Web<R> {
    fn with(reachable: Result<Reachable, String>, resolver: R, proxies: ProxySettings) -> Self {
        Self { reachable, resolver, proxies, tls: OnceLock::new() }
    }

    /// Describes the problem with the URL of the issuer. Returns `None` if the URL is valid.
    pub fn problem(&self) -> Option<&str> {
        self.reachable.as_ref().err().map(String::as_str)
    }

    /// Checks a URL before its host is looked up.
    ///
    /// # Errors
    /// Fails if the URL must not be fetched, whichever address its host has.
    pub fn check(&self, url: &str) -> Result<(), String> {
        let reachable = self.reachable.as_ref().map_err(Clone::clone)?;
        reachable.check(&Target::parse(url)?)
    }

    /// Connects to a target. A host name is looked up only once, so that the connection uses the address that was checked.
    async fn connect(&self, target: &Target) -> Result<Box<dyn ByteStream>, String> {
        let reachable = self.reachable.as_ref().map_err(Clone::clone)?;
        reachable.check(target)?;
        let Some(proxy) = self.proxies.find(target)? else {
            let addresses = self.addresses(reachable, target).await?;
            return Ok(Box::new(dial(addresses).await?));
        };
        // A host that the author has named may have any address, so the proxy may look up the host.
        if reachable.is_named(target) {
            return self.connect_through(proxy, &target.host_and_port()).await;
        }
        // For any other host, the proxy gets an address that was checked here. If the proxy got the name, it would look up the host itself,
        // and could find an address in a private network.
        let addresses = self.addresses(reachable, target).await.map_err(|why| {
            format!(
                "{why}; through a proxy the server connects only to addresses that it has looked up itself"
            )
        })?;
        let mut problem = String::new();
        for address in addresses {
            match self.connect_through(proxy, &address.to_string()).await {
                Ok(stream) => return Ok(stream),
                Err(why) => problem = why,
            }
        }
        Err(problem)
    }

    /// Returns the allowed addresses of a target, at least one.
    async fn addresses(
        &self,
        reachable: &Reachable,
        target: &Target,
    ) -> Result<Vec<SocketAddr>, String> {
        let found = self.resolve(target).await?;
        let allowed: Vec<_> =
            found.into_iter().filter(|address| reachable.may_be_at(target, address.ip())).collect();
        if allowed.is_empty() {
            return Err(format!("{} is in a private network", target.host));
        }
        Ok(allowed)
    }

    async fn resolve(&self, target: &Target) -> Result<Vec<SocketAddr>, String> {
        let found = self.resolver.resolve(&target.host, target.port).await;
        let found =
            found.map_err(|error| format!("{} cannot be resolved: {error}", target.host))?;
        if found.is_empty() {
            return Err(format!("{} cannot be resolved: it has no address", target.host));
        }
        Ok(found)
    }

    /// Connects through a proxy. The operator has named the proxy, so it may have any address.
    async fn connect_through(
        &self,
        proxy: &HttpProxy,
        authority: &str,
    ) -> Result<Box<dyn ByteStream>, String> {
        let target = &proxy.target;
        let stream = async { dial(self.resolve(target).await?).await };
        let stream = stream.await.map_err(|why| format!("the proxy {}: {why}", target.authority));
        let mut stream: Box<dyn ByteStream> = Box::new(stream?);
        if target.has_tls {
            stream = self.secured(target, stream).await?;
        }
        Ok(Box::new(proxy.tunnel(stream, authority).await?))
    }

    /// Starts TLS with a target, and checks that its certificate is valid for the target's host.
    async fn secured(
        &self,
        target: &Target,
        stream: Box<dyn ByteStream>,
    ) -> Result<Box<dyn ByteStream>, String> {
        let name = ServerName::try_from(target.host.clone()).map_err(|error| error.to_string())?;
        let stream = self.tls().await?.connect(name, stream).await;
        Ok(Box::new(stream.map_err(|error| error.to_string())?))
    }

    async fn tls(&self) -> Result<TlsConnector, String> {
        if let Some(tls) = self.tls.get() {
            return Ok(tls.clone());
        }
        // Reading the certificates of the system blocks the thread.
        let made = tokio::task::spawn_blocking(connector).await;
        let made = made.map_err(|error| error.to_string())??;
        Ok(self.tls.get_or_init(|| made).clone())
    }

    /// Sends a request to its target, and returns the response. A redirection is an error.
    async fn ask(
        &self,
        target: &Target,
        request: Request<String>,
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let mut stream = self.connect(target).await?;
        if target.has_tls {
            stream = self.secured(target, stream).await?;
        }
        exchange(TokioIo::new(stream), request).await
    }

    async fn ask_in_time(
        &self,
        target: &Target,
        request: Request<String>,
    ) -> Result<(StatusCode, Vec<u8>), String> {
        let asked = tokio::time::timeout(PATIENCE, self.ask(target, request)).await;
        asked.map_err(|_| format!("no answer within {} s", PATIENCE.as_secs()))?
    }

    /// Posts a form, with the header `Authorization` if a value is given. Returns the status and the body of the response.
    ///
    /// # Errors
    /// Fails if there is no response. The error states the reason.
    pub async fn post(
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

/// Adds the headers that every request has.
fn of(request: http::request::Builder, target: &Target) -> http::request::Builder {
    request
        .header(header::HOST, &*target.authority)
        .header(header::ACCEPT, "application/json")
        .header(header::CONNECTION, "close")
}

impl<R: Resolve> Fetch for Web<R> {
    async fn get(&self, url: &str) -> Result<Vec<u8>, String> {
        let target = Target::parse(url)?;
        let request = of(Request::get(&*target.path), &target).body(String::new());
        let request = request.map_err(|error| error.to_string())?;
        match self.ask_in_time(&target, request).await? {
            (StatusCode::OK, document) => Ok(document),
            (status, _) => Err(format!("it responded with {status}")),
        }
    }
}

/// Creates a TLS connector. The connector names its crypto provider, so it does not depend on the default provider of the program.
fn connector() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        return Err("this system has no CA certificates".to_owned());
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
    // Dropping the set at the end of this function aborts the tokio task that drives the connection.
    let mut driven = JoinSet::new();
    driven.spawn(connection);
    let response = sender.send_request(request).await.map_err(broke)?;
    let status = response.status();
    if status.is_redirection() {
        return Err(format!("it redirects ({status}), and redirects are not followed"));
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

#[cfg(test)]
mod tests {
    use std::{io, sync::Mutex};

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpSocket, TcpStream},
    };

    use super::*;

    /// Resolver that knows only these names.
    #[derive(Default)]
    struct Names(Vec<(&'static str, SocketAddr)>);

    impl Resolve for Names {
        async fn resolve(&self, host: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
            let found: Vec<_> =
                self.0.iter().filter(|name| name.0 == host).map(|name| name.1).collect();
            if found.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(found) }
        }
    }

    fn direct() -> ProxySettings {
        ProxySettings::read(|_| None)
    }

    /// Listens on loopback. Returns the listener and its address.
    async fn listen() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// Reads the head of a request.
    async fn head(stream: &mut TcpStream) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            bytes.push(stream.read_u8().await.unwrap());
        }
        String::from_utf8(bytes).unwrap()
    }

    /// Returns an address that accepts no more connections. The queue of the listener is full, so Linux drops the packets. The first
    /// returned value keeps the queue full.
    async fn black_hole() -> ((TcpListener, JoinSet<io::Result<TcpStream>>), SocketAddr) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = JoinSet::new();
        for _ in 0..4 {
            queue.spawn(TcpStream::connect(address));
        }
        // When the first connection has succeeded, the others have been attempted too, so the queue is full.
        queue.join_next().await.unwrap().unwrap().unwrap();
        ((listener, queue), address)
    }

    #[tokio::test]
    async fn a_fetch_goes_on_to_the_next_address_if_an_address_is_silent() {
        let (_hole, hole) = black_hole().await;
        let (listener, address) = listen().await;
        let names = Names(vec![("localhost", hole), ("localhost", address)]);
        let reachable = Reachable::from_issuer("http://localhost:1");
        let web = Web::with(reachable, names, direct());
        let answer = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            head(&mut stream).await;
            let response = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nkeys";
            stream.write_all(response).await.unwrap();
        });
        let document = web.get("http://localhost:1/keys").await;
        answer.abort();
        assert_eq!(document.as_deref(), Ok(&b"keys"[..]));
    }

    /// Requests `url` through a test proxy. Returns the head of each request to the proxy, and the error of the request.
    async fn asked_of_proxy(
        reachable: Reachable,
        names: Vec<(&'static str, SocketAddr)>,
        url: &str,
        status: &'static str,
    ) -> (Vec<String>, String) {
        let (listener, address) = listen().await;
        let mut names = names;
        names.push(("proxy.example", address));
        let proxies = ProxySettings::read(|name| {
            (name == "HTTPS_PROXY").then(|| "http://user:secret@proxy.example:3128".to_owned())
        });
        let web = Web::with(Ok(reachable), Names(names), proxies);
        let heads = Arc::new(Mutex::new(Vec::new()));
        let log = heads.clone();
        let proxy = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let head = head(&mut stream).await;
                log.lock().unwrap().push(head);
                stream.write_all(format!("HTTP/1.1 {status}\r\n\r\n").as_bytes()).await.unwrap();
                let mut first = [0; 3];
                if status.starts_with("200") {
                    stream.read_exact(&mut first).await.unwrap();
                    // The client starts a TLS handshake: record type 22, major version 3.
                    assert_eq!(first[..2], [22, 3]);
                }
            }
        });
        let error = web.get(url).await.unwrap_err();
        proxy.abort();
        let heads = heads.lock().unwrap().clone();
        (heads, error)
    }

    #[tokio::test]
    async fn a_proxy_resolves_the_host_that_the_author_has_configured() {
        let issuer = Reachable::from_issuer("https://login.example:8443").unwrap();
        let url = "https://login.example:8443/keys";
        let (heads, _) = asked_of_proxy(issuer, Vec::new(), url, "200 OK").await;
        let [head] = &heads[..] else { panic!("{heads:?}") };
        assert!(head.starts_with("CONNECT login.example:8443 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\nhost: login.example:8443\r\n"), "{head}");
        let sign_in = "\r\nproxy-authorization: Basic dXNlcjpzZWNyZXQ=\r\n";
        assert!(head.contains(sign_in), "{head}");
    }

    #[tokio::test]
    async fn a_proxy_gets_a_checked_address_for_a_host_from_issuer_metadata() {
        let address = |text: &str| SocketAddr::new(text.parse().unwrap(), 443);
        let issuer = || Reachable::from_issuer("https://login.example").unwrap();
        let names = || {
            vec![
                ("keys.example", address("10.0.0.1")),
                ("keys.example", address("93.184.216.34")),
                ("intranet.example", address("10.0.0.1")),
                ("10.0.0.1", address("10.0.0.1")),
            ]
        };
        let url = "https://keys.example/k";
        let (heads, _) = asked_of_proxy(issuer(), names(), url, "200 OK").await;
        let [head] = &heads[..] else { panic!("{heads:?}") };
        assert!(head.starts_with("CONNECT 93.184.216.34:443 HTTP/1.1\r\n"), "{head}");
        for (url, says) in [
            ("https://intranet.example/k", "private network"),
            ("https://unknown.example/k", "unknown.example cannot be resolved"),
            ("https://10.0.0.1/k", "private network"),
        ] {
            let (heads, error) = asked_of_proxy(issuer(), names(), url, "200 OK").await;
            assert_eq!(heads, [""; 0], "{url}");
            assert!(error.contains(says), "{error}");
        }
    }

    #[tokio::test]
    async fn the_refusal_of_a_proxy_names_the_proxy_and_no_password() {
        let issuer = Reachable::from_issuer("https://login.example").unwrap();
        let status = "407 Proxy Authentication Required";
        let url = "https://login.example/keys";
        let (_, error) = asked_of_proxy(issuer, Vec::new(), url, status).await;
        assert!(
            error.contains(
                "the proxy proxy.example:3128 did not open a tunnel to login.example:443"
            ),
            "{error}"
        );
        assert!(error.contains("407") && !error.contains("secret"), "{error}");
    }
}
