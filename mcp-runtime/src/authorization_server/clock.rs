use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// What time it is, in seconds since 1970: what is kept outlasts the process. A system clock that is set back makes nothing last longer
/// while the process runs.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    started: Duration,
    since: Instant,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { started: system(), since: Instant::now() }
    }

    pub(super) fn now(&self) -> u64 {
        (self.started + self.since.elapsed()).max(system()).as_secs()
    }
}

fn system() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The same for whoever wants a time of the system.
pub(super) fn time(seconds: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(UNIX_EPOCH)
}
