use std::{
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Moment in milliseconds since 1970, for times that are stored or sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Timestamp(pub(crate) u64);

impl Timestamp {
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(millis(since))
    }

    pub(crate) fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(millis(time)))
    }

    /// Returns the time until this moment, or zero if it has passed.
    pub(crate) fn remaining(self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(Self::now().0))
    }
}

pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl fmt::Display for Timestamp {
    /// Writes the moment in ISO 8601, in UTC.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0 / 1000, self.0 % 1000);
        let (day, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = date(day);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Returns year, month and day of a day since 1970-01-01. Years are counted from March, so that the leap day is the last day of a year.
fn date(day: u64) -> (u64, u64, u64) {
    const ERA: u64 = 146_097;
    let day = day + 719_468;
    let (era, day) = (day / ERA, day % ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_iso_8601() {
        let check = |millis, expected: &str| assert_eq!(Timestamp(millis).to_string(), expected);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(951_868_800_000, "2000-03-01T00:00:00.000Z");
        check(1_735_689_599_001, "2024-12-31T23:59:59.001Z");
        check(1_735_689_600_000, "2025-01-01T00:00:00.000Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }
}
