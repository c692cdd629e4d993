//! Serves one client on the standard streams, on a new runtime or on the caller's.

use std::{
    future::Future,
    io::Write as _,
    pin::pin,
    task::{Context, Poll},
};

use super::guard::{StdioGuard, restore};
#[cfg(unix)]
use super::watchdog;
#[cfg(unix)]
use crate::transport::runtime::Alarm;
use crate::{
    error::ServeError,
    protocol::{Peer, Service},
    server::{Identity, Server},
    transport::{
        runtime::{block_on, once},
        stream,
    },
};

/// Serves on a new runtime, and blocks until the client disconnects. The runtime is single-threaded, because a stdio server has one client.
///
/// # Errors
/// Fails if `setup` fails, or if reading or writing fails.
pub(crate) fn run(server: Server) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    block_on(runtime, pin!(serve_while(server, true, terminated)))
}

/// Serves one client on the caller's runtime, until it disconnects or the process receives SIGTERM.
///
/// # Errors
/// Fails if `setup` fails, or if reading or writing fails.
pub(crate) async fn serve(server: Server) -> Result<(), ServeError> {
    serve_while(server, false, terminated).await
}

/// Like [`serve`], until `stop` is ready instead of SIGTERM.
pub(crate) async fn serve_until(
    server: Server,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    serve_while(server, false, || once(stop)).await
}

/// Serves one client until it disconnects or `stop` is ready. A second time that `stop` is ready ends the grace period. `stop` is made after
/// `setup` has run, so that a signal ends a process that is still in `setup`. Set `owns_process` if the process runs only this server, so that
/// a watchdog may end the process.
async fn serve_while<S: FnMut(&mut Context<'_>) -> Poll<()>>(
    server: Server,
    owns_process: bool,
    stop: impl FnOnce() -> S,
) -> Result<(), ServeError> {
    let (guard, input, output) = StdioGuard::install()?;
    guard.relay_stderr();
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
    let served = stream::serve(&peer, input, output, stop()).await;
    started.stop().await;
    drop(guard);
    restore();
    Ok(served?)
}

/// Prints a usage hint for a person who has started the program in a terminal.
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

/// Returns a poll function that is ready each time the process receives SIGTERM.
#[cfg(unix)]
fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    use tokio::signal::unix::{SignalKind, signal};

    // If the handler cannot be installed, the signal ends the process at once, without a grace period.
    let mut signals = signal(SignalKind::terminate()).ok();
    let mut alarm = None;
    move |cx| {
        let Some(signals) = &mut signals else { return Poll::Pending };
        let alarm = alarm.get_or_insert_with(|| Alarm::new(cx.waker().clone()));
        // The task is set before the alarm is checked, so a signal that arrives after the check wakes this task.
        alarm.follow(cx.waker());
        if !alarm.take() {
            return Poll::Pending;
        }
        match signals.poll_recv(&mut Context::from_waker(&alarm.clone().into())) {
            Poll::Ready(Some(())) => {
                // `signals` wakes the alarm only after a poll that found no signal. The alarm is rung here, so that the next call polls
                // again.
                alarm.ring();
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }
}

#[cfg(not(unix))]
fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    |_| Poll::Pending
}
