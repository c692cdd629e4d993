//! Thread that ends the process if a handler blocks the server's thread and thereby keeps the server from stopping.
//!
//! `run` promises that the server ends at a second SIGTERM, or when the grace period (five seconds by default) has passed after the client
//! has closed stdin or sent SIGTERM. A single thread reads stdin, receives signals and runs the handlers. While a handler blocks this
//! thread, the server does not notice these events, so the watchdog waits for them on a thread of its own.

use std::{
    future::{Future as _, poll_fn},
    io::{self, Write as _},
    os::fd::OwnedFd,
    pin::{Pin, pin},
    process,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
    time::sleep,
};

use super::{
    guard::restore,
    system_calls::{Readiness, wait},
};
use crate::{
    catalog::Catalog,
    dispatch::ReactorActivity,
    transport::runtime::{block_on, start_thread},
};

/// Time between two checks whether the same poll is still running. A poll should take far less time, and a user who waits for the process
/// to end hardly notices the delay.
const LOOK: Duration = Duration::from_millis(100);

/// Registers a watchdog for the handlers that run on the current thread. The watchdog runs on a thread of its own, which starts before the
/// first call.
pub(super) fn arm(catalog: Arc<Catalog>, grace: Duration, stdin: Option<OwnedFd>) {
    let activity = ReactorActivity::of_this_thread();
    activity.before_first_call(move || {
        let watch = move || {
            // If the thread or its runtime cannot be created, the server runs without a watchdog.
            let _ = watch(activity, &catalog, grace, stdin);
        };
        let _ = start_thread("mcp-watchdog", Box::new(watch));
    });
}

/// Waits until the client closes stdin or the process receives SIGTERM. Then ends the process with exit code 1 if a handler still blocks
/// the server's thread after the grace period.
fn watch(
    activity: &ReactorActivity,
    catalog: &Catalog,
    grace: Duration,
    stdin: Option<OwnedFd>,
) -> io::Result<()> {
    // The watchdog needs a tokio runtime of its own, because the server's runtime does not see signals while a handler blocks its thread.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = async {
        let mut terminated = signal(SignalKind::terminate())?;
        let mut hangup = stdin.map(hangup);
        poll_fn(|cx| {
            if poll_signal(&mut terminated, cx) {
                return Poll::Ready(());
            }
            match hangup.as_mut().map(|hangup| Pin::new(hangup).poll(cx)) {
                Some(Poll::Ready(Ok(()))) => return Poll::Ready(()),
                Some(Poll::Ready(Err(_))) => hangup = None,
                Some(Poll::Pending) | None => {}
            }
            Poll::Pending
        })
        .await;
        let mut over = pin!(sleep(grace));
        poll_fn(|cx| {
            if poll_signal(&mut terminated, cx) {
                return Poll::Ready(());
            }
            over.as_mut().poll(cx)
        })
        .await;
        loop {
            let before = activity.current();
            sleep(LOOK).await;
            if let Some(held) = before.filter(|poll| activity.current() == Some(*poll)) {
                let problem = held.problem(&catalog.snapshot());
                // If stderr is closed, the exit code still reports the failure.
                let _ = writeln!(io::stderr(), "error: {problem}");
                restore();
                process::exit(1);
            }
        }
    };
    block_on(runtime, pin!(work))
}

fn poll_signal(signal: &mut Signal, cx: &mut Context<'_>) -> bool {
    matches!(signal.poll_recv(cx), Poll::Ready(Some(())))
}

/// Returns a receiver that is ready when the client closes its end of stdin. Waiting consumes no input, and input does not end the wait.
/// The wait runs on a thread of its own, because tokio can wait for a hangup only together with input.
fn hangup(stdin: OwnedFd) -> oneshot::Receiver<()> {
    let (tell, told) = oneshot::channel();
    let wait = move || {
        // An error counts as a hangup, because without stdin there is no client.
        let _ = wait(&stdin, Readiness::Hangup);
        let _ = tell.send(());
    };
    // If the thread cannot be started, the sender is dropped, and the receiver gets an error.
    let _ = start_thread("mcp-stdin-end", Box::new(wait));
    told
}
