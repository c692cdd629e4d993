//! Facts about an item that its attributes set: the name of a tool, icons and rates.

use std::fmt;

/// Checks the name of a tool (rule TOOLS-02).
///
/// # Errors
/// Returns what is wrong with the name, in words for its author.
pub(crate) fn check_tool_name(name: &str) -> Result<(), String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    if (1..=128).contains(&name.len()) && name.bytes().all(fits) {
        Ok(())
    } else {
        Err(format!(
            "`{name}` is not a valid tool name: use 1 to 128 letters, digits, `_`, `-` and `.`"
        ))
    }
}

/// A picture a client may show for the server or an item (2025-11-25 and later).
///
/// `src` is an `https:` or `data:` URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icon {
    pub(crate) src: &'static str,
    pub(crate) mime_type: Option<&'static str>,
    pub(crate) sizes: &'static [&'static str],
}

impl Icon {
    /// Creates an icon with this URI.
    pub const fn new(src: &'static str) -> Self {
        Self { src, mime_type: None, sizes: &[] }
    }

    /// Sets the media type, such as `image/png`.
    #[must_use]
    pub const fn mime_type(mut self, mime_type: &'static str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }

    /// Sets the sizes, such as `48x48` or `any`.
    #[must_use]
    pub const fn sizes(mut self, sizes: &'static [&'static str]) -> Self {
        self.sizes = sizes;
        self
    }
}

/// How often one caller may call an item. Set it with `#[tool(rate = "10/s")]`, with [`Tool::rate`](crate::Tool::rate) for a tool that is
/// created at run time, or with [`Builder::rate`](crate::Builder::rate) as the default of all items.
///
/// After a pause, the calls of a whole period may come at once (10 calls for `10/s`), or as many as [`burst`](Self::burst) sets. Further
/// calls must be evenly spaced.
///
/// ```
/// use mcp_runtime::{limits::Rate, prelude::*};
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
