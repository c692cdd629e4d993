//! Servers behind the port: each listens on a port of its own, which only this process uses.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::{TcpListener, TcpStream},
    process::Child,
    sync::watch,
    time::timeout,
};

use super::body::BodyError;
use crate::process::{self, LastWords, Launch};

/// Variable with the address at which a server reports that it listens.
pub const READY: &str = "MCP_RUNTIME_DEV_READY";

/// Time that the requests of a replaced server have to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Report of a server that listens.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ServerAddress {
    /// Id of the process of the server.
    pub process: u32,
    /// URL of its endpoint.
    pub url: String,
    /// URL of its playground, if it has one.
    pub playground: Option<String>,
}

impl ServerAddress {
    /// Returns the report as a line.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    fn socket(&self) -> Option<SocketAddr> {
        self.url.strip_prefix("http://")?.split('/').next()?.parse().ok()
    }
}

/// Server that listens.
pub(crate) struct Upstream {
    /// Number of the server, in the order of their starts.
    pub(crate) number: u64,
    pub(crate) report: ServerAddress,
    address: SocketAddr,
    /// Number of requests that are not answered yet, without streams that have no end.
    open: watch::Sender<usize>,
    is_stopping: watch::Sender<bool>,
    /// Text for clients about the end of the process.
    ended: watch::Sender<Option<String>>,
}

impl Upstream {
    /// Starts a server, and waits until it listens.
    ///
    /// # Errors
    /// Returns the text for clients if the server ends before that.
    pub(crate) async fn start(
        number: u64,
        program: &Path,
        launch: &Launch,
    ) -> Result<Arc<Self>, String> {
        let failed =
            |error: std::io::Error| format!("{} cannot be started: {error}", program.display());
        let ready = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let mut launch = launch.clone();
        let at = ready.local_addr().map_err(failed)?.to_string();
        launch.env.push((READY.into(), at.into()));
        let mut server = process::start(program, &launch, false).map_err(failed)?;
        let words = LastWords::default();
        let listening = tokio::spawn(words.clone().listen(server.stderr.take()));
        let process = server.id();
        let ended = tokio::select! {
            status = server.wait() => status.ok(),
            Some((report, address, connection)) = listens(&ready, process) => {
                let upstream = Arc::new(Self {
                    number,
                    report,
                    address,
                    open: watch::Sender::new(0),
                    is_stopping: watch::Sender::new(false),
                    ended: watch::Sender::new(None),
                });
                tokio::spawn(upstream.clone().run(server, connection, words));
                return Ok(upstream);
            }
        };
        let _ = timeout(Duration::from_secs(1), listening).await;
        Err(words.report(ended))
    }

    /// Waits for the end of the process. The server ends when the connection is closed.
    async fn run(self: Arc<Self>, mut server: Child, connection: TcpStream, words: LastWords) {
        let mut is_stopping = self.is_stopping.subscribe();
        let stopping = async move {
            let _ = is_stopping.wait_for(|is| *is).await;
            drop(connection);
        };
        let status = process::ended(&mut server, stopping).await;
        self.ended.send_replace(Some(words.report(status)));
    }

    /// Waits until the process has ended, and returns the text for clients.
    pub(crate) async fn ended(&self) -> String {
        let mut ended = self.ended.subscribe();
        let ended = ended.wait_for(Option::is_some).await;
        ended.ok().and_then(|report| report.clone()).unwrap_or_default()
    }

    /// Ends the server as soon as its requests are answered, or have had their time.
    pub(crate) async fn retire(&self) {
        let mut open = self.open.subscribe();
        let _ = timeout(PATIENCE, open.wait_for(|count| *count == 0)).await;
        self.stop();
    }

    /// Whether the server has been asked to end.
    pub(crate) fn is_stopping(&self) -> bool {
        *self.is_stopping.borrow()
    }

    pub(crate) fn stop(&self) {
        self.is_stopping.send_replace(true);
    }

    /// Sends a request on a connection of its own.
    ///
    /// # Errors
    /// Fails if the server does not answer.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, BodyError> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender.send_request(request).await?)
    }

    /// Counts a request until the returned value is dropped.
    pub(crate) fn open(self: &Arc<Self>) -> OpenExchange {
        self.open.send_modify(|count| *count += 1);
        OpenExchange(self.clone())
    }
}

/// Request that is not answered yet.
pub(crate) struct OpenExchange(Arc<Upstream>);

impl Drop for OpenExchange {
    fn drop(&mut self) {
        self.0.open.send_modify(|count| *count -= 1);
    }
}

/// Waits for the report of a process.
async fn listens(
    ready: &TcpListener,
    process: Option<u32>,
) -> Option<(ServerAddress, SocketAddr, TcpStream)> {
    loop {
        let (stream, _) = ready.accept().await.ok()?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        if reader.read_line(&mut line).await.is_err() {
            continue;
        }
        let report = serde_json::from_str::<ServerAddress>(&line).ok();
        let report = report.filter(|report| Some(report.process) == process);
        // A child of the server inherits the variable, and is not meant.
        let Some(report) = report else { continue };
        let address = report.socket()?;
        return Some((report, address, reader.into_inner()));
    }
}
