//! Request bodies without needless wakeups.
//!
//! hyper passes a body on through a channel, and wakes the sender for each piece that is taken. The sender is the task of the connection,
//! which is running at that moment, because it takes the piece itself. After the last piece that task would run again for nothing.

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
    /// This thread is taking a piece of a body.
    static IS_TAKING: Cell<bool> = const { Cell::new(false) };
    /// The waker was called while the piece was taken.
    static HAS_RUNG: Cell<bool> = const { Cell::new(false) };
}

/// Waker of a connection. While this thread takes a piece of a body, only the channel of that body can call the waker from this thread.
pub(super) struct Bell {
    task: Waker,
    waker: Waker,
}

impl Bell {
    pub(super) fn of(task: &Waker) -> Self {
        Self { task: task.clone(), waker: Arc::new(Clapper(task.clone())).into() }
    }

    /// Whether the bell wakes this task.
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

/// Body whose last piece causes no wakeup. Its connection must be driven with a [`Bell`].
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
