//! Where the connections of a server are served that brings its own runtime.

use std::{io, pin::pin, sync::Arc, thread};

use tokio::{
    net::TcpStream,
    runtime::{self, Handle},
    sync::oneshot,
    task::JoinSet,
};

use crate::{error::ServeError, transport::block_on};

/// Threads that each drive the connections they were given, from the first byte to the last: a request is never handed
/// from one thread to another, and none wakes another one up.
pub(super) struct Reactors(Vec<Reactor>);

struct Reactor {
    handle: Handle,
    /// Held by each of its connections.
    load: Arc<()>,
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

impl Reactor {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (runs, ended) = oneshot::channel::<()>();
        let run = move || {
            let ended = pin!(async {
                // An error is the end too.
                let _ = ended.await;
                Ok::<(), ServeError>(())
            });
            block_on(runtime, ended)
        };
        thread::Builder::new().name(format!("mcp-http-{number}")).spawn(run)?;
        Ok(Self { handle, load: Arc::default(), _runs: runs })
    }
}
