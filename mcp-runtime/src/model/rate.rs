use std::fmt;

/// How often one caller may call an item. `#[tool(rate = "10/s")]` says it in an attribute, [`Tool::rate`](crate::Tool::rate) of a
/// tool made by value, and [`Builder::rate`](crate::Builder::rate) of all items that say nothing.
///
/// After a pause so many calls may come at once as are counted for the time that is said, or the [`burst`](Self::burst); after that
/// they come evenly.
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
    /// So many calls a second.
    pub const fn per_second(count: u32) -> Self {
        Self { count, unit: Unit::Second, burst: None }
    }

    /// So many calls a minute.
    pub const fn per_minute(count: u32) -> Self {
        Self { count, unit: Unit::Minute, burst: None }
    }

    /// So many calls an hour.
    pub const fn per_hour(count: u32) -> Self {
        Self { count, unit: Unit::Hour, burst: None }
    }

    /// How many calls may come at once after a pause.
    #[must_use]
    pub const fn burst(mut self, calls: u32) -> Self {
        self.burst = Some(calls);
        self
    }

    /// Why no call could ever pass.
    pub(crate) fn problem(self) -> Option<&'static str> {
        let lets_nothing_through = self.count == 0 || self.burst == Some(0);
        lets_nothing_through.then_some("with a rate or burst of 0 nothing could be called")
    }

    /// Nanoseconds between two calls that come evenly; rounded up, so that there are never more than is said.
    pub(crate) fn interval(self) -> u64 {
        let seconds: u64 = match self.unit {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3600,
        };
        (seconds * 1_000_000_000).div_ceil(u64::from(self.count.max(1)))
    }

    /// How many nanoseconds too early a call may come.
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
