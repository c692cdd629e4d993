use std::fmt;

/// How often one caller may call an item. Set it with `#[tool(rate = "10/s")]`, with [`Tool::rate`](crate::Tool::rate) for a tool made by
/// value, or with [`Builder::rate`](crate::Builder::rate) as the default of all items.
///
/// After a pause, the calls of a whole period may come at once (10 calls for `10/s`), or as many as [`burst`](Self::burst) sets. Further
/// calls must be evenly spaced.
///
/// ```
/// use mcp_runtime::{Rate, prelude::*};
///
/// let tool = Tool::new("search").rate(Rate::per_second(10).burst(20)).handler(async |_: Context| "found");
/// # let _ = tool;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    count: u32,
    unit: Unit,
    burst: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Second,
    Minute,
    Hour,
}

impl Rate {
    /// Allows `count` calls a second.
    pub const fn per_second(count: u32) -> Self {
        Self { count, unit: Unit::Second, burst: None }
    }

    /// Allows `count` calls a minute.
    pub const fn per_minute(count: u32) -> Self {
        Self { count, unit: Unit::Minute, burst: None }
    }

    /// Allows `count` calls an hour.
    pub const fn per_hour(count: u32) -> Self {
        Self { count, unit: Unit::Hour, burst: None }
    }

    /// Sets how many calls may come at once after a pause. The default is the count of the rate.
    #[must_use]
    pub const fn burst(mut self, calls: u32) -> Self {
        self.burst = Some(calls);
        self
    }

    /// Returns why the rate would reject every call, if it would.
    pub(crate) fn problem(self) -> Option<&'static str> {
        let lets_nothing_through = self.count == 0 || self.burst == Some(0);
        lets_nothing_through.then_some("with a rate or burst of 0 nothing could be called")
    }

    /// Returns the nanoseconds between two evenly spaced calls, rounded up so that the rate is never exceeded.
    pub(crate) fn interval(self) -> u64 {
        let seconds: u64 = match self.unit {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3600,
        };
        (seconds * 1_000_000_000).div_ceil(u64::from(self.count.max(1)))
    }

    /// Returns how many nanoseconds before its due time a call may come.
    pub(crate) fn slack(self) -> u64 {
        let burst = self.burst.unwrap_or(self.count);
        self.interval().saturating_mul(u64::from(burst.saturating_sub(1)))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Second => "a second",
            Unit::Minute => "a minute",
            Unit::Hour => "an hour",
        };
        match self.count {
            1 => write!(f, "once {unit}"),
            2 => write!(f, "twice {unit}"),
            count => write!(f, "{count} times {unit}"),
        }
    }
}
