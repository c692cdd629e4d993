//! The signal that asks the process to end.

use std::task::{Context, Poll};

/// Ready whenever somebody asks the process to end.
#[cfg(unix)]
pub(super) fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    use tokio::signal::unix::{SignalKind, signal};

    // Without the handler the signal ends the process at once, which is the worse answer but still one.
    let mut signals = signal(SignalKind::terminate()).ok();
    let bell = bell::Bell::new();
    move |cx| {
        let Some(signals) = &mut signals else { return Poll::Pending };
        // The task is woken for each message, and a look at the signals costs more than a look at the bell.
        if !bell.is_due(cx.waker()) {
            return Poll::Pending;
        }
        match signals.poll_recv(&mut Context::from_waker(&bell.clone().into())) {
            Poll::Ready(Some(())) => {
                // There may be another one, and nobody is told of it who does not look until he has to wait.
                bell.ring();
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }
}

#[cfg(not(unix))]
pub(super) fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    |_| Poll::Pending
}

#[cfg(unix)]
mod bell {
    use std::{
        sync::{
            Arc, Mutex, PoisonError,
            atomic::{AtomicBool, Ordering},
        },
        task::{Wake, Waker},
    };

    /// Remembers that it was woken, and wakes the task that listens.
    pub(super) struct Bell {
        has_rung: AtomicBool,
        listener: Mutex<Option<Waker>>,
    }

    impl Bell {
        pub(super) fn new() -> Arc<Self> {
            Arc::new(Self { has_rung: AtomicBool::new(true), listener: Mutex::default() })
        }

        /// Whether it has rung since the last time; the first time it has.
        pub(super) fn is_due(&self, listener: &Waker) -> bool {
            let mut known = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *known {
                Some(it) => it.clone_from(listener),
                None => *known = Some(listener.clone()),
            }
            drop(known);
            // In this order: who rings after this finds the listener.
            self.has_rung.swap(false, Ordering::AcqRel)
        }

        pub(super) fn ring(&self) {
            self.has_rung.store(true, Ordering::Release);
        }
    }

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.ring();
            let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(listener) = listener {
                listener.wake();
            }
        }
    }
}
