//! A thread that ends the process when a handler keeps the reactor from doing so.
//!
//! `run` promises that the server ends five seconds after the client has closed stdin or sent SIGTERM, or at a second SIGTERM. One thread
//! reads the wire and runs handlers, so a handler that computes keeps it from hearing of either.

use std::{
    future::{Future as _, poll_fn},
    io::{self, Write as _},
    os::fd::OwnedFd,
    pin::{Pin, pin},
    process,
    sync::Arc,
    task::{Context, Poll},
    thread,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
    time::sleep,
};

use crate::{catalog::Catalog, dispatch::ReactorActivity};

/// Time between two looks at one poll: long for a poll, short for somebody who waits for the process to end.
const LOOK: Duration = Duration::from_millis(100);

/// Lets a thread watch the reactor of this one, from the first call on.
pub(super) fn arm(catalog: Arc<Catalog>, grace: Duration, stdin: Option<OwnedFd>) {
    let activity = ReactorActivity::of_this_thread();
    activity.before_first_call(move || {
        let watch = move || {
            // Without a thread or a runtime the server is as it is without a watchdog.
            let _ = watch(activity, &catalog, grace, stdin);
        };
        let _ = thread::Builder::new().name("mcp-watchdog".to_owned()).spawn(watch);
    });
}

/// Waits until the process shall end, and ends it with exit code 1 if a handler still holds the reactor after the grace.
fn watch(
    activity: &ReactorActivity,
    catalog: &Catalog,
    grace: Duration,
    stdin: Option<OwnedFd>,
) -> io::Result<()> {
    // A reactor of its own: the other one does not look at signals while a handler holds it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut terminated = signal(SignalKind::terminate())?;
        let mut hangup = stdin.map(hangup);
        poll_fn(|cx| {
            if poll_signal(&mut terminated, cx) {
                return Poll::Ready(());
            }
            match hangup.as_mut().map(|it| Pin::new(it).poll(cx)) {
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
            if let Some(held) = before.filter(|it| activity.current() == Some(*it)) {
                let problem = held.problem(&catalog.snapshot());
                // Where nobody reads stderr, the exit code is left.
                let _ = writeln!(io::stderr(), "error: {problem}");
                super::restore();
                process::exit(1);
            }
        }
    })
}

fn poll_signal(signal: &mut Signal, cx: &mut Context<'_>) -> bool {
    matches!(signal.poll_recv(cx), Poll::Ready(Some(())))
}

/// Tells when the other end of stdin is closed, without reading it and without waking for what comes in. That needs a thread: tokio waits
/// for a hangup only together with input.
fn hangup(stdin: OwnedFd) -> oneshot::Receiver<()> {
    let (tell, told) = oneshot::channel();
    let wait = move || {
        let waits = || poll(&mut [PollFd::new(&stdin, PollFlags::empty())], None);
        while waits() == Err(Errno::INTR) {}
        let _ = tell.send(());
    };
    // Without the thread nobody is told.
    let _ = thread::Builder::new().name("mcp-stdin-end".to_owned()).spawn(wait);
    told
}
