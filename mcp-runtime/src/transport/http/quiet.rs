//! Bodies that come whole, without the noise they make.
//!
//! hyper hands a body on through a channel, whose sender it wakes for each piece that is taken. The sender is the connection
//! itself, which takes the piece at that very moment: after the last one it would be run again for nothing.

use std::{
    cell::Cell,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

thread_local! {
    /// A piece is being taken on this thread.
    static IS_TAKING: Cell<bool> = const { Cell::new(false) };
    /// Meanwhile somebody rang.
    static HAS_RUNG: Cell<bool> = const { Cell::new(false) };
}

/// The waker of a connection. While this thread takes a piece of a body, only the body's own channel can ring it from here.
pub(super) struct Bell {
    task: Waker,
    waker: Waker,
}

impl Bell {
    pub(super) fn of(task: &Waker) -> Self {
        Self { task: task.clone(), waker: Arc::new(Clapper(task.clone())).into() }
    }

    /// Whether it wakes this task.
    pub(super) fn rings(&self, task: &Waker) -> bool {
        self.task.will_wake(task)
    }

    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }
}

struct Clapper(Waker);

impl Wake for Clapper {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if IS_TAKING.get() {
            HAS_RUNG.set(true);
        } else {
            self.0.wake_by_ref();
        }
    }
}

/// A body whose last piece wakes nobody. Its connection is driven with a [`Bell`].
pub(super) struct Quiet(pub(super) Incoming);

impl Body for Quiet {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        IS_TAKING.set(true);
        let polled = Pin::new(&mut self.0).poll_frame(cx);
        IS_TAKING.set(false);
        if HAS_RUNG.replace(false) && !self.0.is_end_stream() {
            cx.waker().wake_by_ref();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
