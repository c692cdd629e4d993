//! Signal that asks the process to end.

use std::task::{Context, Poll};

/// Returns a function that is ready each time the process receives SIGTERM.
#[cfg(unix)]
pub(super) fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    use tokio::signal::unix::{SignalKind, signal};

    use crate::transport::alarm::Alarm;

    // If there is no handler, the signal ends the process at once, without a grace period.
    let mut signals = signal(SignalKind::terminate()).ok();
    let mut alarm = None;
    move |cx| {
        let Some(signals) = &mut signals else { return Poll::Pending };
        let alarm = alarm.get_or_insert_with(|| Alarm::new(cx.waker().clone()));
        // The task is set before the look, so a signal that comes after the look wakes this task.
        alarm.follow(cx.waker());
        if !alarm.take() {
            return Poll::Pending;
        }
        match signals.poll_recv(&mut Context::from_waker(&alarm.clone().into())) {
            Poll::Ready(Some(())) => {
                // The signals wake the alarm only after a poll that found none, so the next call has to poll again.
                alarm.ring();
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
