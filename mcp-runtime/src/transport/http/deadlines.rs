use std::{
    future::Future as _,
    pin::Pin,
    sync::Arc,
    task::{Context, Waker},
    time::Duration,
};

use tokio::{
    runtime::Handle,
    time::{Instant, Sleep, sleep},
};

use super::{open::Opened, pulse::Pulse};
use crate::{
    limits::{Limit, Limits},
    transport::runtime::Alarm,
};

/// Deadlines of a connection that waits for its client: for the head of a request, and for the client to read. A timer checks both a few
/// times within their duration, instead of being set for each request and each write. So either may take a quarter longer.
pub(super) struct Deadlines {
    look: Pin<Box<Sleep>>,
    alarm: Arc<Alarm>,
    waker: Waker,
    period: Duration,
    head: Countdown,
    write: Countdown,
}

/// Reason for which a connection is closed although its client may go on using it.
pub(super) enum Overdue {
    /// No request has come.
    Head,
    /// The client does not read.
    Write,
    /// The connection must make room for another one.
    Displaced,
}

impl Deadlines {
    /// Makes the deadlines. `timers` is the runtime that drives the timer. A reactor that has no timers waits without a timeout, and its
    /// thread sets no timer of the processor.
    pub(super) fn new(limits: &Limits, timers: &Handle, alarm: &Arc<Alarm>, task: &Waker) -> Self {
        let _entered = timers.enter();
        // With a period of zero the connection would look for ever instead of waiting.
        let period = (limits.body_time.min(limits.write_time) / 4).max(Duration::from_millis(1));
        alarm.follow(task);
        // The timer is set at the first look.
        alarm.ring();
        Self {
            look: Box::pin(sleep(period)),
            alarm: alarm.clone(),
            waker: alarm.clone().into(),
            period,
            head: Countdown::new(limits.body_time, period),
            write: Countdown::new(limits.write_time, period),
        }
    }

    /// Returns the reason if the connection has to end.
    pub(super) fn look(&mut self, opened: &Opened) -> Option<Overdue> {
        if !self.alarm.take() {
            return None;
        }
        let pulse = &opened.desk.pulse;
        if pulse.is_displaced() {
            if pulse.is_waiting() {
                return Some(Overdue::Displaced);
            }
            opened.desk.endpoint.open.spare(&opened.desk);
        }
        while self.look.as_mut().poll(&mut Context::from_waker(&self.waker)).is_ready() {
            if let Some(overdue) = self.count(pulse) {
                return Some(overdue);
            }
            self.look.as_mut().reset(Instant::now() + self.period);
        }
        None
    }

    fn count(&mut self, pulse: &Pulse) -> Option<Overdue> {
        let waits_for_head = !pulse.is_working() && !pulse.is_blocked();
        if self.head.is_over(pulse.requests(), waits_for_head) {
            Some(Overdue::Head)
        } else if self.write.is_over(pulse.turns(), pulse.is_blocked()) {
            Some(Overdue::Write)
        } else {
            None
        }
    }
}

impl Overdue {
    /// Returns the limit to count, unless it has been counted already.
    pub(super) fn limit(&self) -> Option<Limit> {
        match self {
            Self::Write => Some(Limit::WriteTime),
            Self::Head | Self::Displaced => None,
        }
    }
}

/// Countdown for a condition that must not last too long. It counts looks instead of time.
struct Countdown {
    /// Number of times that the condition had begun, at the last look.
    begun: u32,
    looks: u32,
    left: u32,
}

impl Countdown {
    fn new(time: Duration, period: Duration) -> Self {
        let looks = time.as_nanos().div_ceil(period.as_nanos());
        let looks = u32::try_from(looks).unwrap_or(u32::MAX - 1);
        Self { begun: 0, looks, left: looks }
    }

    /// Counts one look. `begun` is the number of times that the condition has begun, and `goes_on` says whether it holds now.
    fn is_over(&mut self, begun: u32, goes_on: bool) -> bool {
        if begun != self.begun || !goes_on {
            // The condition has begun at an unknown time, so the countdown starts at this look.
            (self.begun, self.left) = (begun, self.looks.saturating_add(1));
        }
        self.left -= 1;
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_countdown_ends_when_nothing_new_begins() {
        let mut countdown = Countdown::new(Duration::from_secs(60), Duration::from_secs(15));
        let mut look = |begun, goes_on| countdown.is_over(begun, goes_on);
        assert!(!look(0, true) && !look(0, true) && !look(0, true));
        assert!(!look(1, true), "something has begun");
        assert!(!look(1, true) && !look(1, true) && !look(1, false), "nothing goes on");
        assert!(!look(1, true) && !look(1, true) && !look(1, true) && look(1, true));
    }
}
