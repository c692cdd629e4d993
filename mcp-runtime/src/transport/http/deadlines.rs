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
    transport::alarm::Alarm,
};

/// How long a connection may wait for its client: for the head of a request, and for the client to read on. Looked at a few
/// times in that time instead of being set anew for each request and each write, so either may take a quarter longer.
pub(super) struct Deadlines {
    look: Pin<Box<Sleep>>,
    alarm: Arc<Alarm>,
    waker: Waker,
    period: Duration,
    head: Countdown,
    write: Countdown,
}

/// Why a connection is closed whose client may want more of it.
pub(super) enum Overdue {
    /// No request has come.
    Head,
    /// The client does not read.
    Write,
    /// Another connection takes its place.
    Displaced,
}

impl Deadlines {
    /// `timers` is the runtime whose clock is looked at. A reactor has none to look at then while its connections wait, and its
    /// processor need not be told when to wake up for it.
    pub(super) fn new(limits: &Limits, timers: &Handle, alarm: &Arc<Alarm>, task: &Waker) -> Self {
        let _entered = timers.enter();
        let period = limits.body_time.min(limits.write_time) / 4;
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

    /// Whether the connection has to end.
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
    /// The limit that has passed, unless it has been counted already.
    pub(super) fn limit(&self) -> Option<Limit> {
        match self {
            Self::Write => Some(Limit::WriteTime),
            Self::Head | Self::Displaced => None,
        }
    }
}

/// Looks until something has taken too long.
struct Countdown {
    /// How often it had begun at the last look.
    begun: u32,
    looks: u32,
    left: u32,
}

impl Countdown {
    fn new(time: Duration, period: Duration) -> Self {
        let looks = time.as_nanos().div_ceil(period.as_nanos().max(1));
        let looks = u32::try_from(looks).unwrap_or(u32::MAX - 1);
        Self { begun: 0, looks, left: looks }
    }

    /// Counts one look at something that goes on, or does not, and has begun so often.
    fn is_over(&mut self, begun: u32, goes_on: bool) -> bool {
        if begun != self.begun || !goes_on {
            // How long it has taken since is not known, so it counts from here.
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
