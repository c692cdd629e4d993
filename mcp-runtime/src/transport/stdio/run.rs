//! Serving one client on the standard streams, on a runtime of our own or on the caller's.

use std::{io::Write as _, pin::pin};

#[cfg(unix)]
use super::watchdog;
use super::{Guard, restore, terminated::terminated};
use crate::{
    builder::Builder,
    error::ServeError,
    protocol::{Peer, Service},
    server::{Identity, Server},
    transport::{block_on, stream},
};

/// Blocks until the client has left, on a runtime of its own: current-thread, because a stdio server has one client.
pub(crate) fn run(builder: Builder) -> Result<(), ServeError> {
    let server = builder.build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    block_on(runtime, pin!(serve(server, true)))
}

/// `owns_process` says that the process runs only this server and may be ended.
async fn serve(server: Server, owns_process: bool) -> Result<(), ServeError> {
    let (guard, input, output) = Guard::install()?;
    if input.is_terminal() {
        hint(&server.identity);
    }
    let started = server.start().await?;
    #[cfg(unix)]
    if owns_process {
        let catalog = started.dispatcher.catalog.clone();
        watchdog::arm(catalog, started.limits.grace, input.try_clone_polled());
    }
    #[cfg(not(unix))]
    let _ = owns_process;
    let peer = Peer::new(Service::new(&started));
    let served = stream::serve(&peer, input, output, terminated()).await;
    started.stop().await;
    drop(guard);
    restore();
    Ok(served?)
}

impl Builder {
    /// Serves one client on stdin and stdout, on the caller's runtime.
    ///
    /// The runtime needs I/O and time enabled. From the start of the call, stdout belongs to the protocol: anything that is printed goes to
    /// stderr.
    ///
    /// # Errors
    /// Fails if the server cannot be built, if `setup` fails, or if reading or writing fails.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        serve(self.build()?, false).await
    }
}

/// Tells a person at a terminal, who expects something to happen, how to use the program.
fn hint(identity: &Identity) {
    let program = std::env::args().next().unwrap_or_else(|| identity.name.clone());
    // If stderr is closed, the hint has no reader, so an error does not matter.
    let _ = writeln!(
        std::io::stderr(),
        "{} {}: an MCP server, waiting for a client on stdin (Ctrl-D ends it)
  what it has   {program} list
  try a tool    {program} call NAME key=value
  more          {program} help",
        identity.name,
        identity.version
    );
}
