//! Threads that serve connections, for a server that creates its own tokio runtimes.

use std::{
    io,
    pin::pin,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use tokio::{
    net::TcpStream,
    runtime::{self, Handle},
    sync::oneshot,
    task::JoinSet,
};

use crate::{
    catalog::Snapshot,
    dispatch::{ReactorActivity, Unresponsive},
    error::ServeError,
    transport::runtime::block_on,
};

/// Threads that serve connections, each with its own tokio runtime. A connection stays on one thread from the first byte to the last, so no
/// request moves to a different thread, and no thread has to wake another.
pub(super) struct Reactors(Vec<Reactor>);

struct Reactor {
    handle: Handle,
    /// Each connection of the thread holds a clone, so the reference count grows with the number of connections.
    load: Arc<()>,
    activity: &'static ReactorActivity,
    /// Dropping this sender ends the thread.
    _runs: oneshot::Sender<()>,
}

impl Reactors {
    /// Starts one thread for each processor except one, and at least one thread. The remaining processor is for accepting connections, for
    /// blocking code, and for other programs.
    ///
    /// # Errors
    /// Fails if the system cannot start a thread, or cannot create the runtime of a thread.
    pub(super) fn start() -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, |count| count.get() - 1).max(1);
        (0..count).map(Reactor::start).collect::<io::Result<_>>().map(Self)
    }

    /// Aborts the remaining connections, and waits until their tokio tasks have ended.
    ///
    /// # Errors
    /// Fails if a handler or other code still blocks a thread. This function does not wait for such code to finish.
    pub(super) async fn shut_down(
        &self,
        connections: &mut JoinSet<()>,
        snapshot: &Snapshot,
    ) -> Result<(), Unresponsive> {
        connections.abort_all();
        for _ in 0..LOOKS {
            let before: Vec<_> = self.0.iter().map(|reactor| reactor.activity.current()).collect();
            let all = async { while connections.join_next().await.is_some() {} };
            if tokio::time::timeout(LOOK, all).await.is_ok() {
                return Ok(());
            }
            let mut polls = self.0.iter().zip(before);
            let held = polls.find_map(|(reactor, before)| {
                before.filter(|poll| reactor.activity.current() == Some(*poll))
            });
            if let Some(poll) = held {
                return Err(poll.problem(snapshot));
            }
        }
        Err(Unresponsive("code that is not an item of this server".to_owned()))
    }

    /// Serves a connection on the thread that has the fewest connections.
    pub(super) fn spawn<F>(
        &self,
        connections: &mut JoinSet<()>,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        let Some(reactor) = self.0.iter().min_by_key(|reactor| Arc::strong_count(&reactor.load))
        else {
            return;
        };
        // The stream is still registered with the runtime that accepted it. `into_std` deregisters it, so that the other runtime can
        // register it.
        let Ok(stream) = stream.into_std() else { return };
        let load = reactor.load.clone();
        let served = async move {
            if let Ok(stream) = TcpStream::from_std(stream) {
                serve(stream).await;
            }
            drop(load);
        };
        connections.spawn_on(served, &reactor.handle);
    }
}

/// Time between two checks of the threads during a shutdown.
const LOOK: Duration = Duration::from_millis(100);

/// Number of checks after which a shutdown fails if connections are still open, even if no item was found to block a thread.
const LOOKS: usize = 20;

impl Reactor {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (runs, ended) = oneshot::channel::<()>();
        let (told, activity) = mpsc::channel();
        let run = move || {
            let _ = told.send(ReactorActivity::of_this_thread());
            let ended = pin!(async {
                // The sender never sends a value. Dropping it completes `ended` with an error, which ends the thread.
                let _ = ended.await;
                Ok::<(), ServeError>(())
            });
            block_on(runtime, ended)
        };
        thread::Builder::new().name(format!("mcp-http-{number}")).spawn(run)?;
        let activity = activity.recv().map_err(io::Error::other)?;
        Ok(Self { handle, load: Arc::default(), activity, _runs: runs })
    }
}
