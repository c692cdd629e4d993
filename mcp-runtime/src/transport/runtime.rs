//! Runs a future to completion, and provides wakers for tasks that wait for several events.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Wake, Waker},
};

use tokio::runtime::Runtime;

/// Waker for one of several events that a task waits for. The alarm records whether its event has woken the task. After a wakeup for
/// another reason, the task need not poll a rare event, such as a timer or a signal.
pub(crate) struct Alarm {
    has_rung: AtomicBool,
    task: Mutex<Waker>,
}

impl Alarm {
    /// Makes an alarm that has rung already, so that its event is polled at once.
    pub(crate) fn new(task: Waker) -> Arc<Self> {
        Arc::new(Self { has_rung: AtomicBool::new(true), task: Mutex::new(task) })
    }

    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the alarm wake this task from now on.
    pub(crate) fn follow(&self, task: &Waker) {
        self.task().clone_from(task);
    }

    /// Returns whether the alarm has rung since the last call, and resets it.
    pub(crate) fn take(&self) -> bool {
        // Usually the alarm has not rung, and a load is cheaper than a swap.
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
        // The lock is released first, since the task may run inside of `wake`.
        let task = self.task().clone();
        task.wake();
    }
}

/// Blocks until the future is ready, and does not wait for other work on the runtime. A blocking job that loops would keep the process
/// alive for ever, although its answer is no longer needed.
///
/// The compiler repeats `Runtime::block_on`, with all the code of the future, for each kind of runtime and each type of future. The pointer
/// hides the type of the future, so there is only one copy.
pub(crate) fn block_on<T>(runtime: Runtime, future: Pin<&mut dyn Future<Output = T>>) -> T {
    let output = runtime.block_on(future);
    runtime.shutdown_background();
    output
}
