use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Wake, Waker},
};

/// The waker of one thing among several that a task waits for. It remembers that it rang, so that whatever else wakes the task
/// costs no look at what rings seldom: a timer, a signal.
pub(crate) struct Alarm {
    has_rung: AtomicBool,
    task: Mutex<Waker>,
}

impl Alarm {
    /// One that is due, so that what rings it is looked at once.
    pub(crate) fn new(task: Waker) -> Arc<Self> {
        Arc::new(Self { has_rung: AtomicBool::new(true), task: Mutex::new(task) })
    }

    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From here on it wakes this task.
    pub(crate) fn follow(&self, task: &Waker) {
        self.task().clone_from(task);
    }

    /// Whether it has rung since the last time.
    pub(crate) fn take(&self) -> bool {
        // Most often it has not, and a look is cheaper than an exchange.
        self.has_rung.load(Ordering::Acquire) && self.has_rung.swap(false, Ordering::AcqRel)
    }

    /// Rings, and wakes nobody.
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
        // Not under the lock, since the task may run where it is woken.
        let task = self.task().clone();
        task.wake();
    }
}
