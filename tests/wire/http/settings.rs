//! Configures the server of a transcript as the line `settings` of the transcript says.

use std::time::Duration;

use mcp_runtime::{Builder, limits::Limits};
use serde::Deserialize;
use serde_json::Value;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    path: Option<String>,
    allow_host: Vec<String>,
    allow_origin: Vec<String>,
    legacy_sse: bool,
    limits: Limited,
}

/// Limits of the server. Times are in seconds.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Limited {
    message: Option<usize>,
    streams: Option<usize>,
    all_streams: Option<usize>,
    sessions: Option<usize>,
    session_idle: Option<u64>,
    events: Option<usize>,
    question_time: Option<u64>,
}

/// Returns the server with these settings.
pub(super) fn applied(mut server: Builder, settings: &Value) -> Builder {
    let settings = if settings.is_null() {
        Settings::default()
    } else {
        Settings::deserialize(settings).unwrap_or_else(|error| panic!("{error}: {settings}"))
    };
    if let Some(path) = settings.path {
        server = server.path(path);
    }
    for host in &settings.allow_host {
        server = server.allow_host(host);
    }
    for origin in &settings.allow_origin {
        server = server.allow_origin(origin);
    }
    let mut limits = Limits::new();
    let limited = settings.limits;
    limits = limited.message.map_or(limits, |bytes| limits.message(bytes));
    limits = limited.streams.map_or(limits, |count| limits.streams(count));
    limits = limited.all_streams.map_or(limits, |count| limits.all_streams(count));
    limits = limited.sessions.map_or(limits, |count| limits.sessions(count));
    limits = limited.events.map_or(limits, |count| limits.events(count));
    let thinking = limited.question_time.map(Duration::from_secs);
    limits = thinking.map_or(limits, |time| limits.question_time(time));
    let idle = limited.session_idle.map(Duration::from_secs);
    limits = idle.map_or(limits, |time| limits.session_idle(time));
    server.legacy_sse(settings.legacy_sse).limits(limits)
}
