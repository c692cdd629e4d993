//! Helpers for the transports: [`block_on`] runs a future to completion, [`start_thread`] starts a thread, an [`Alarm`] wakes a task that
//! waits for several events, and [`once`] turns a future into such an event.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};
#[cfg(feature = "stdio")]
use std::{io, thread};

use tokio::runtime::Runtime;

/// Returns a poll function that is ready once, as soon as the future is.
pub(crate) fn once(event: impl Future<Output = ()>) -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    let mut event = Some(Box::pin(event));
    move |cx| {
        let Some(waiting) = &mut event else { return Poll::Pending };
        let polled = waiting.as_mut().poll(cx);
        if polled.is_ready() {
            event = None;
        }
        polled
    }
}

/// Waker for one of several events that a task waits for. The alarm records whether this event caused the wakeup, so that after a wakeup
/// for a different reason, the task can skip the poll of a rare event, such as a timer or a signal.
pub(crate) struct Alarm {
    has_rung: AtomicBool,
    task: Mutex<Waker>,
}

impl Alarm {
    /// Returns an alarm that has already rung, so that the task polls the event at once.
    pub(crate) fn new(task: Waker) -> Arc<Self> {
        Arc::new(Self { has_rung: AtomicBool::new(true), task: Mutex::new(task) })
    }

    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the task that the alarm wakes.
    pub(crate) fn follow(&self, task: &Waker) {
        self.task().clone_from(task);
    }

    /// Returns whether the alarm has rung since the last call, and resets it.
    pub(crate) fn take(&self) -> bool {
        // Usually the alarm has not rung. The load is enough to find this out, and costs less than a swap.
        self.has_rung.load(Ordering::Acquire) && self.has_rung.swap(false, Ordering::AcqRel)
    }

    /// Marks the alarm as rung without waking the task.
    pub(crate) fn ring(&self) {
        self.has_rung.store(true, Ordering::Release);
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.has_rung.store(true, Ordering::Release);
        // Clones the waker to release the lock before the call, because `wake` may run the task, which takes the lock.
        let task = self.task().clone();
        task.wake();
    }
}

/// Runs a future to completion, without waiting for other work on the runtime afterwards. A blocking job that never ends would otherwise
/// keep the process alive.
///
/// The future is passed as a trait object, because `Runtime::block_on` is generic: the compiler would otherwise generate one instance of it
/// for each type of future, and copy the code of the future into that instance. For the same reason the output does not pass through
/// `Runtime::block_on`.
pub(crate) fn block_on<T>(runtime: Runtime, future: Pin<&mut dyn Future<Output = T>>) -> T {
    let mut output = None;
    let work: Pin<&mut dyn Future<Output = ()>> = pin!(async { output = Some(future.await) });
    runtime.block_on(work);
    runtime.shutdown_background();
    output.expect("`block_on` returns when the future has ended")
}

/// Starts a thread. The work is passed as a trait object, because the compiler would otherwise generate one instance of `spawn` for each
/// thread.
#[cfg(feature = "stdio")]
pub(crate) fn start_thread(name: &str, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}
