use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Clock that returns seconds since 1970, because stored times outlast the process. Setting the system clock back extends no lifetime while
/// the process runs.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    started: Duration,
    since: Instant,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self { started: system(), since: Instant::now() }
    }

    pub(crate) fn now(&self) -> u64 {
        (self.started + self.since.elapsed()).max(system()).as_secs()
    }
}

fn system() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Converts seconds since 1970 to a `SystemTime`.
pub(crate) fn time(seconds: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(UNIX_EPOCH)
}
