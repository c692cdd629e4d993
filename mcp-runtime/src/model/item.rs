//! Properties that the attributes of an item set: the name of a tool, icons and rates.

use std::fmt;

/// Checks the name of a tool (rule TOOLS-02).
///
/// # Errors
/// Fails if the name is not valid. The error tells the author of the tool what to use instead.
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

/// Icon that clients may show for a server or for an item (2025-11-25 and later).
///
/// For an item, use the attribute key `icon` instead. The source is an `https:` or `data:` URI.
///
/// ```
/// use mcp_runtime::content::Icon;
///
/// let icon =
///     Icon::new("https://example.com/icon.png").mime_type("image/png").sizes(&["48x48"]);
/// let server = mcp_runtime::server!().icon(icon);
/// ```
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

/// Rate limit: how often one caller may call an item.
///
/// Set it with `#[tool(rate = "10/s")]`, with [`Tool::rate`](crate::Tool::rate) for a tool that is created at run time, or with
/// [`Builder::rate`](crate::Builder::rate) as the default of all items. To limit how many calls run at once, use
/// [`Builder::concurrency`](crate::Builder::concurrency).
///
/// After a pause, as many calls may come at once as the rate allows in one period, such as 10 calls for `10/s`. [`burst`](Self::burst) sets
/// another number. Further calls must be evenly spaced.
///
/// ```
/// use mcp_runtime::{limits::Rate, prelude::*};
///
/// let tool = Tool::new("search")
///     .rate(Rate::per_second(10).burst(20))
///     .handler(async |_: Context| "found");
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
    /// Creates a rate of `count` calls per second.
    pub const fn per_second(count: u32) -> Self {
        Self { count, unit: Unit::Second, burst: None }
    }

    /// Creates a rate of `count` calls per minute.
    pub const fn per_minute(count: u32) -> Self {
        Self { count, unit: Unit::Minute, burst: None }
    }

    /// Creates a rate of `count` calls per hour.
    pub const fn per_hour(count: u32) -> Self {
        Self { count, unit: Unit::Hour, burst: None }
    }

    /// Sets how many calls may come at once after a pause. Default: the count of the rate.
    #[must_use]
    pub const fn burst(mut self, calls: u32) -> Self {
        self.burst = Some(calls);
        self
    }

    /// Returns a description of the problem if the rate would reject every call.
    pub(crate) fn problem(self) -> Option<&'static str> {
        let lets_nothing_through = self.count == 0 || self.burst == Some(0);
        lets_nothing_through.then_some("with a rate or burst of 0 nothing could be called")
    }

    /// Returns the time between two evenly spaced calls in nanoseconds. The time is rounded up, so that the rate is never exceeded.
    pub(crate) fn interval(self) -> u64 {
        let seconds: u64 = match self.unit {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3600,
        };
        (seconds * 1_000_000_000).div_ceil(u64::from(self.count.max(1)))
    }

    /// Returns the time by which a call may precede its due time, in nanoseconds.
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
