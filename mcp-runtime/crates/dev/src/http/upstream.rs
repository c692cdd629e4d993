//! Servers behind the port: each listens on a port of its own, which only this process uses.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, process::Child, sync::watch, time::timeout};

use super::{
    body::BodyError,
    ready::{KeptFile, READY, Reports, ServerAddress},
};
use crate::process::{self, LastWords, Launch};

/// Time that the requests of a replaced server have to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time that logins have to end before the next server starts without them.
const LOGINS: Duration = Duration::from_secs(5);

/// Server that listens.
pub(crate) struct Upstream {
    /// Number of the server, in the order of their starts.
    pub(crate) number: u64,
    pub(crate) report: ServerAddress,
    address: SocketAddr,
    open: watch::Sender<OpenCount>,
    is_stopping: watch::Sender<bool>,
    /// Text for clients about the end of the process.
    ended: watch::Sender<Option<String>>,
}

/// Numbers of requests that are not answered yet. Streams without an end are not counted.
#[derive(Default)]
struct OpenCount {
    all: usize,
    /// Requests that may change the logins.
    logins: usize,
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
        kept: &KeptFile,
    ) -> Result<Arc<Self>, String> {
        let failed =
            |error: std::io::Error| format!("{} cannot be started: {error}", program.display());
        let reports = Reports::open().await.map_err(failed)?;
        let mut launch = launch.clone();
        launch.env.push((READY.into(), reports.variable(kept).into()));
        let mut server = process::start(program, &launch, false).map_err(failed)?;
        let words = LastWords::default();
        let listening = tokio::spawn(words.clone().listen(server.stderr.take()));
        let process = server.id();
        let ended = tokio::select! {
            status = server.wait() => status.ok(),
            (report, address, connection) = reports.report_of(process) => {
                let upstream = Arc::new(Self {
                    number,
                    report,
                    address,
                    open: watch::Sender::default(),
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

    /// Whether the end of the process is known.
    pub(crate) fn is_gone(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Whether the process has ended, which it does soon after it has closed its connections.
    pub(crate) async fn has_ended(&self) -> bool {
        timeout(Duration::from_secs(1), self.ended()).await.is_ok()
    }

    /// Ends the server as soon as its requests are answered, or have had their time.
    pub(crate) async fn retire(&self) {
        let mut open = self.open.subscribe();
        let _ = timeout(PATIENCE, open.wait_for(|count| count.all == 0)).await;
        self.stop();
    }

    /// Waits until the requests that may change logins are answered, for at most [`LOGINS`]. The next server reads the logins at its start.
    pub(crate) async fn logins_end(&self) {
        let mut open = self.open.subscribe();
        let _ = timeout(LOGINS, open.wait_for(|count| count.logins == 0)).await;
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
    pub(crate) fn open(self: &Arc<Self>, may_log_in: bool) -> OpenExchange {
        self.open.send_modify(|count| {
            count.all += 1;
            count.logins += usize::from(may_log_in);
        });
        OpenExchange { upstream: self.clone(), may_log_in }
    }
}

/// Request that is not answered yet.
pub(crate) struct OpenExchange {
    upstream: Arc<Upstream>,
    may_log_in: bool,
}

impl Drop for OpenExchange {
    fn drop(&mut self) {
        self.upstream.open.send_modify(|count| {
            count.all -= 1;
            count.logins -= usize::from(self.may_log_in);
        });
    }
}

/// Mock server of a test.
#[cfg(test)]
impl Upstream {
    pub(crate) fn of_test(number: u64, address: SocketAddr) -> Arc<Self> {
        let url = format!("http://{address}/mcp");
        Arc::new(Self {
            number,
            report: ServerAddress { process: 0, url, playground: None },
            address,
            open: watch::Sender::default(),
            is_stopping: watch::Sender::new(false),
            ended: watch::Sender::new(None),
        })
    }

    /// Waits until the server is asked to end.
    pub(crate) async fn stopping(&self) {
        let _ = self.is_stopping.subscribe().wait_for(|is| *is).await;
    }

    /// Reports the end of the server.
    pub(crate) fn end(&self) {
        self.ended.send_replace(Some("the server has ended".to_owned()));
    }
}
