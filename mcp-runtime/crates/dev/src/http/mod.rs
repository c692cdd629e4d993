//! Serves clients over HTTP: holds the port, and runs the servers behind it.

// `exchange` answers a request with the help of `hub`, which knows the server of the moment (`upstream`) and the sessions that outlast it
// (`session`). `ready` receives the report that a server listens, and knows the file that a server leaves to the next server. `answer_stream`,
// `sse` and `body` write the answers. `access` restricts the answers of `dev` itself to this machine.

mod access;
mod answer_stream;
mod body;
mod exchange;
mod hub;
mod ready;
mod session;
mod sse;
#[cfg(test)]
mod tests;
mod upstream;

use std::{convert::Infallible, io::Write as _, path::Path, pin::pin, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
    time::timeout,
};

pub use self::ready::{KeptFile, ServerAddress, Supervisor};
use self::{hub::Hub, upstream::Upstream};
use crate::{
    builds::{self, ALONE, BESIDE, BuildStep, build_after_changes, say},
    copies::{self, Copies, ProgramCopy, ProgramStamp},
    error::DevError,
    process::{self, Launch},
    project::Project,
};

/// Time that the servers have to end together with this process.
const FAREWELL: Duration = Duration::from_secs(8);

/// Time after the end of the servers in which clients read the last answers.
const REST: Duration = Duration::from_secs(1);

/// Channel that is closed when no connection is open any longer.
type OpenConnections = mpsc::Sender<Infallible>;

/// Serves clients at `address` until this process is asked to end. `name` is that of the server, for the user.
///
/// # Errors
/// Fails if the address is not a loopback address or is in use, or if the sources cannot be watched.
pub async fn serve_http(
    name: &str,
    project: Project,
    launch: Launch,
    address: &str,
) -> Result<(), DevError> {
    let failed = |error| DevError::new(format_args!("{address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr()?;
    if !bound.ip().is_loopback() {
        return Err(DevError::new(format_args!(
            "{address}: `dev` shows the errors of the compiler to its clients, so it listens only on this machine: use `dev --http 127.0.0.1:{}`",
            bound.port()
        )));
    }
    let hub = Arc::<Hub>::default();
    let (sender, steps) = mpsc::unbounded_channel();
    let mut servers = HttpServers::new(&project, launch, hub.clone())?;
    servers.start(project.program());
    let (open, closed) = mpsc::channel(1);
    let announced = announce(name, bound.to_string(), hub.clone());
    let result = tokio::select! {
        () = process::asked_to_end() => Ok(()),
        () = accept(listener, &hub, open) => Ok(()),
        watched = build_after_changes(project, sender) => watched,
        () = servers.follow(steps) => Ok(()),
        () = announced => Ok(()),
    };
    if let Some(starting) = servers.starting.take() {
        starting.abort();
        let _ = starting.await;
    }
    end_all(&hub, closed).await;
    result
}

/// Ends all servers in order, also those that have been replaced and still answer. Requests that wait for another server are answered, too.
async fn end_all(hub: &Hub, mut connections: mpsc::Receiver<Infallible>) {
    hub.phase.send_modify(|phase| phase.is_ending = true);
    let running = hub.running();
    running.iter().for_each(|upstream| upstream.stop());
    let ended = async {
        for upstream in &running {
            upstream.ended().await;
        }
    };
    let _ = timeout(FAREWELL, ended).await;
    let _ = timeout(REST, connections.recv()).await;
}

async fn accept(listener: TcpListener, hub: &Arc<Hub>, open: OpenConnections) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, hub.clone(), open.clone()))),
            // There are too many open files, for example.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn serve(stream: TcpStream, hub: Arc<Hub>, _open: OpenConnections) {
    // A connection without this setting is only slower.
    let _ = stream.set_nodelay(true);
    let mut phases = hub.phase.subscribe();
    let service = service_fn(|request| {
        let hub = hub.clone();
        async move { Ok::<_, Infallible>(exchange::answer(hub, request).await) }
    });
    // The client sees the end of its connection, so the reason does not matter.
    let mut connection =
        pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        _ = &mut connection => return,
        _ = phases.wait_for(|phase| phase.is_ending) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Tells the user the addresses as soon as the first server listens.
async fn announce(name: &str, address: String, hub: Arc<Hub>) {
    let mut phases = hub.phase.subscribe();
    let report = phases.wait_for(|phase| phase.current.is_some()).await;
    let report = report.ok().and_then(|phase| Some(phase.current.as_ref()?.report.clone()));
    if let Some(ServerAddress { url, playground, .. }) = report {
        let public = |url: &str| {
            let path = url.splitn(4, '/').nth(3).unwrap_or_default();
            format!("http://{address}/{path}")
        };
        let playground =
            playground.map(|url| format!("dev: the playground is at {}\n", public(&url)));
        // If stderr is closed, the text has no reader, so an error does not matter.
        let _ = write!(
            std::io::stderr(),
            "dev: {name} is at {}, and changes with its sources\n{}",
            public(&url),
            playground.unwrap_or_default()
        );
    }
    std::future::pending().await
}

/// Starts the servers. The newest server that listens answers clients.
struct HttpServers {
    launch: Launch,
    copies: Copies,
    kept: KeptFile,
    hub: Arc<Hub>,
    count: u64,
    /// Server that starts.
    starting: Option<JoinHandle<()>>,
    /// State of the program of the last server.
    stamp: ProgramStamp,
}

impl HttpServers {
    /// # Errors
    /// Fails if the system has no random numbers.
    fn new(project: &Project, launch: Launch, hub: Arc<Hub>) -> Result<Self, DevError> {
        let copies = Copies::new(&project.copies());
        let kept = KeptFile::with_random_key(copies.file("kept.jsonl"))?;
        Ok(Self { launch, copies, kept, hub, count: 0, starting: None, stamp: None })
    }

    /// Carries out the steps of the builds.
    async fn follow(&mut self, mut steps: mpsc::UnboundedReceiver<BuildStep>) {
        while let Some(step) = steps.recv().await {
            match step {
                BuildStep::Changed => {
                    self.hub.phase.send_modify(|phase| phase.is_building = true);
                }
                BuildStep::Fresh => {
                    self.hub.phase.send_modify(|phase| phase.is_building = false);
                }
                BuildStep::Failed(text) => self.hub.phase.send_modify(|phase| {
                    phase.is_building = false;
                    phase.build_error = Some(text.into());
                }),
                BuildStep::Built(program) => {
                    let is_running = self.hub.phase.borrow().number() == Some(self.count);
                    if is_running && self.stamp == copies::stamp(&program) {
                        self.hub.phase.send_modify(|phase| {
                            phase.is_building = false;
                            phase.build_error = None;
                            phase.broken = None;
                        });
                    } else {
                        self.start(&program);
                    }
                }
            }
        }
    }

    /// Starts a server, which takes over as soon as it listens. A server that does not listen yet is dropped.
    fn start(&mut self, program: &Path) {
        if let Some(starting) = self.starting.take() {
            starting.abort();
        }
        self.hub.phase.send_modify(|phase| {
            phase.is_building = false;
            phase.build_error = None;
            phase.is_starting = true;
        });
        // The number in between is for a server of the last program, which starts again if the new program cannot start.
        self.count += 2;
        let hub = self.hub.clone();
        match self.copies.make(program) {
            Ok((copy, stamp)) => {
                self.stamp = stamp;
                let work = replace(hub, self.count, copy, self.launch.clone(), self.kept.clone());
                self.starting = Some(tokio::spawn(work));
            }
            Err(error) => {
                fail(&hub, &format!("{} cannot be copied: {error}", program.display()));
            }
        }
    }
}

/// Starts a server, lets it take over, and reports its end. If the server cannot start, the last server ends, and the server starts once more,
/// because both may need the same lock or port. If that fails, the last program starts again as the server `number - 1`.
async fn replace(
    hub: Arc<Hub>,
    number: u64,
    program: Arc<ProgramCopy>,
    launch: Launch,
    kept: KeptFile,
) {
    let last = hub.phase.borrow().current.clone();
    if let Some(last) = &last {
        last.logins_end().await;
    }
    let start = || Upstream::start(number, program.path(), &launch, &kept);
    let has_good = hub.good().is_some();
    let mut started = start_beside(last.as_ref(), has_good, start()).await;
    if let (Err(StartFailure::Ended(_)), Some(last)) = (&started, last) {
        last.retire().await;
        last.ended().await;
        started = start_beside(None, has_good, start()).await;
    }
    let (upstream, program, broken) = match (started, hub.good()) {
        (Ok(upstream), _) => (upstream, program, None),
        (Err(failure), None) => return fail(&hub, failure.text()),
        (Err(failure), Some(good)) => {
            let start = Upstream::start(number - 1, good.path(), &launch, &kept);
            match timeout(ALONE, start).await {
                Ok(Ok(upstream)) => (upstream, good, Some(failure.text().to_owned())),
                _ => return fail(&hub, failure.text()),
            }
        }
    };
    if let Some(last) = hub.take_over(&upstream, &program, broken) {
        tokio::spawn(async move { last.retire().await });
    }
    tokio::spawn(async move {
        let report = upstream.ended().await;
        drop(program);
        hub.forget(upstream.number);
        hub.phase.send_modify(|phase| {
            if phase.number() == Some(upstream.number) {
                phase.current = None;
                phase.broken = Some(report.into());
            }
        });
    });
}

/// Reason why a new server does not take over.
#[derive(Debug)]
enum StartFailure {
    /// The server has ended, with this text for clients.
    Ended(String),
    /// The server was not ready within [`ALONE`].
    NeverReady,
}

impl StartFailure {
    /// Returns the text for clients.
    fn text(&self) -> &str {
        match self {
            Self::Ended(report) => report,
            Self::NeverReady => builds::NEVER_READY,
        }
    }
}

/// Waits for a server that starts beside `last`. If it is not ready within [`BESIDE`], `last` ends, because both may need the same lock or port. If a
/// server that starts alone is not ready within [`ALONE`], and `has_good` tells that another program can start instead, the start fails.
///
/// # Errors
/// Returns the reason if the server does not start.
async fn start_beside(
    last: Option<&Arc<Upstream>>,
    has_good: bool,
    start: impl Future<Output = Result<Arc<Upstream>, String>>,
) -> Result<Arc<Upstream>, StartFailure> {
    let mut start = pin!(async { start.await.map_err(StartFailure::Ended) });
    if let Some(last) = last {
        if let Ok(started) = timeout(BESIDE, &mut start).await {
            return started;
        }
        say(builds::LAST_ENDS);
        tokio::select! {
            started = &mut start => return started,
            () = async {
                last.retire().await;
                last.ended().await;
            } => {}
        }
    }
    match timeout(ALONE, &mut start).await {
        Ok(started) => started,
        Err(_) if has_good => Err(StartFailure::NeverReady),
        Err(_) => start.await,
    }
}

/// Notes that no server could start.
fn fail(hub: &Hub, report: &str) {
    hub.phase.send_modify(|phase| {
        phase.is_starting = false;
        phase.broken = Some(report.into());
    });
}
