//! Rules about formats: which ones are published, and the sentences for the others.

use serde_json::{Value, json};

use super::super::constant::equal;
use super::said::say;
use super::{Map, Side};

/// Formats that OpenAI lists.
static FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Whether a format stays in the schema.
pub(in crate::schema) const fn is_published(name: &str, side: Side) -> bool {
    if let Side::Argument = side {
        return equal(name, "date-time");
    }
    let mut i = 0;
    while i < FORMATS.len() {
        if equal(FORMATS[i], name) {
            return true;
        }
        i += 1;
    }
    false
}

/// Returns a sentence about texts of the format; `None` if only the name of the format is known.
pub(in crate::schema) const fn in_words(name: &str) -> Option<&'static str> {
    static ALL: [(&str, &str); 14] = [
        ("date", "A date, as in `2030-12-31`."),
        ("time", "A time of day, as in `14:30:00Z`."),
        ("partial-time", "A time of day, as in `14:30:00`."),
        ("partial-date-time", "A date and a time, as in `2030-12-31T14:30:00`."),
        ("duration", "A duration, as in `PT1H30M`."),
        ("email", "An email address."),
        ("hostname", "The name of a host."),
        ("ip", "An IP address."),
        ("ipv4", "An IPv4 address."),
        ("ipv6", "An IPv6 address."),
        ("uuid", "A UUID."),
        ("uri", "A URI."),
        ("uri-reference", "A URI, or one relative to another."),
        ("regex", "A regular expression."),
    ];
    let mut i = 0;
    while i < ALL.len() {
        if equal(ALL[i].0, name) {
            return Some(ALL[i].1);
        }
        i += 1;
    }
    None
}

pub(super) fn format(map: &mut Map, side: Side) {
    let Some(name) = map.get("format").and_then(Value::as_str) else { return };
    if is_published(name, side) {
        return;
    }
    let sentence = match in_words(name) {
        Some(sentence) => sentence.to_owned(),
        None => format!("In the format `{name}`."),
    };
    map.remove("format");
    // The format of a number tells its width, as its bounds do.
    if side == Side::Argument && map.get("type") == Some(&json!("string")) {
        say(map, sentence);
    }
}
