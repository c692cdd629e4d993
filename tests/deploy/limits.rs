//! Defaults of the limits. Their values are not public, so they come from the debug output.

use std::{str::FromStr, time::Duration};

use mcp_runtime::limits::Limits;

/// Returns the default of a limit in seconds, such as `grace`.
pub(crate) fn default_time(name: &str) -> Duration {
    Duration::from_secs(value(name, "s"))
}

/// Returns the default of a limit that is a number, such as `connections`.
pub(crate) fn default_number(name: &str) -> usize {
    value(name, "")
}

fn value<T: FromStr>(name: &str, unit: &str) -> T {
    let limits = format!("{:?}", Limits::new());
    let text = limits.split(&format!(" {name}: ")).nth(1);
    let text = text.and_then(|rest| rest.split([',', ' ']).next()?.strip_suffix(unit));
    text.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name}: {limits}"))
}
