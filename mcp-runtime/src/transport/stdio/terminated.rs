//! The signal that asks the process to end.

use std::task::{Context, Poll};

/// Ready whenever somebody asks the process to end.
#[cfg(unix)]
pub(super) fn terminated() -> impl FnMut(&mut Context<'_>) -> Poll<()> {
    use tokio::signal::unix::{SignalKind, signal};

    use crate::transport::alarm::Alarm;

    // Without the handler the signal ends the process at once, which is the worse answer but still one.
    let mut signals = signal(SignalKind::terminate()).ok();
    let mut alarm = None;
    move |cx| {
        let Some(signals) = &mut signals else { return Poll::Pending };
        let alarm = alarm.get_or_insert_with(|| Alarm::new(cx.waker().clone()));
        // In this order: who rings after the look finds this task.
        alarm.follow(cx.waker());
        if !alarm.take() {
            return Poll::Pending;
        }
        match signals.poll_recv(&mut Context::from_waker(&alarm.clone().into())) {
            Poll::Ready(Some(())) => {
                // It rings again only for one who has looked until there was nothing.
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
