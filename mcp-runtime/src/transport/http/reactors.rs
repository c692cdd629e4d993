//! Where the connections of a server are served that brings its own runtime.

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
    transport::block_on,
};

/// Threads that each drive the connections they were given, from the first byte to the last: a request is never handed
/// from one thread to another, and none wakes another one up.
pub(super) struct Reactors(Vec<Reactor>);

struct Reactor {
    handle: Handle,
    /// Held by each of its connections.
    load: Arc<()>,
    activity: &'static ReactorActivity,
    /// Dropped when the thread shall end.
    _runs: oneshot::Sender<()>,
}

impl Reactors {
    /// One for each processor but one, which is left to whoever lets connections in, blocks, or runs beside the server; at least one.
    ///
    /// # Errors
    /// When the system gives no thread, or nothing to wait with.
    pub(super) fn start() -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, |it| it.get() - 1).max(1);
        (0..count).map(Reactor::start).collect::<io::Result<_>>().map(Self)
    }

    /// Ends the remaining connections.
    ///
    /// # Errors
    /// A handler does not let go of its reactor. It is not waited for.
    pub(super) async fn shut_down(
        &self,
        connections: &mut JoinSet<()>,
        snapshot: &Snapshot,
    ) -> Result<(), Unresponsive> {
        connections.abort_all();
        for _ in 0..LOOKS {
            let before: Vec<_> = self.0.iter().map(|it| it.activity.current()).collect();
            let all = async { while connections.join_next().await.is_some() {} };
            if tokio::time::timeout(LOOK, all).await.is_ok() {
                return Ok(());
            }
            let mut polls = self.0.iter().zip(before);
            let held = polls.find_map(|(reactor, before)| {
                before.filter(|it| reactor.activity.current() == Some(*it))
            });
            if let Some(poll) = held {
                return Err(poll.problem(snapshot));
            }
        }
        Err(Unresponsive("code that is no item of this server".to_owned()))
    }

    /// Lets the one that has the fewest connections serve this one.
    pub(super) fn spawn<F>(
        &self,
        connections: &mut JoinSet<()>,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        let Some(reactor) = self.0.iter().min_by_key(|it| Arc::strong_count(&it.load)) else {
            return;
        };
        // It was accepted elsewhere, where nobody shall hear of it any more.
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

/// Time between two looks at the activity of a reactor.
const LOOK: Duration = Duration::from_millis(100);

/// Number of looks at a reactor that runs no item and ends no connection.
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
                // An error is the end too.
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
