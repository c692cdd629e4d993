//! Current time in any time zone, and conversion between zones: `cargo run -p example-time`.

use jiff::{
    Zoned,
    civil::Time,
    tz::{self, TimeZone},
};
use mcp_runtime::prelude::*;

/// A moment, as the clocks of one zone show it.
#[data]
struct Moment {
    /// The zone's IANA name
    timezone: String,
    /// ISO 8601, with the offset from UTC
    datetime: String,
    /// In English
    day_of_week: String,
    /// Whether daylight saving time is in force
    is_dst: bool,
}

impl From<Zoned> for Moment {
    fn from(moment: Zoned) -> Self {
        Self {
            timezone: moment.time_zone().iana_name().unwrap_or("unnamed").to_owned(),
            datetime: moment.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            day_of_week: moment.strftime("%A").to_string(),
            is_dst: moment.time_zone().to_offset_info(moment.timestamp()).dst().is_dst(),
        }
    }
}

/// A moment in two zones.
#[data]
struct Conversion {
    source: Moment,
    target: Moment,
    /// How far the target's clocks are ahead of the source's: "+5.75h"
    time_difference: String,
}

/// The current time in a time zone.
#[tool(title = "Current time", read_only, open_world = false)]
fn get_current_time(
    /// IANA name, such as "Europe/London"; the zone of this machine if not given
    timezone: Option<String>,
) -> Result<Json<Moment>> {
    Ok(Json(Zoned::now().with_time_zone(zone(timezone)?).into()))
}

/// Converts a time of today from one time zone to another.
#[tool(title = "Convert a time", read_only, open_world = false)]
fn convert_time(
    /// IANA name of the zone the time is in; the zone of this machine if not given
    source_timezone: Option<String>,
    /// 24-hour clock, HH:MM
    #[arg(pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$", example = "14:30")]
    time: String,
    /// IANA name of the zone wanted; the zone of this machine if not given
    target_timezone: Option<String>,
) -> Result<Json<Conversion>> {
    let today = Zoned::now().with_time_zone(zone(source_timezone)?);
    let source = today.with().time(time.parse::<Time>()?).build()?;
    let target = source.with_time_zone(zone(target_timezone)?);
    let seconds = target.offset().seconds() - source.offset().seconds();
    Ok(Json(Conversion {
        time_difference: format!("{:+}h", f64::from(seconds) / 3600.0),
        source: source.into(),
        target: target.into(),
    }))
}

/// The current time in a time zone.
#[resource("time://{+zone}", title = "Current time")]
fn now_in(#[complete(zones)] zone: &str) -> Option<Json<Moment>> {
    Some(Json(Zoned::now().in_tz(zone).ok()?.into()))
}

#[completion]
fn zones() -> Vec<String> {
    tz::db().available().map(|name| name.to_string()).collect()
}

/// Returns the zone of this name, or without a name the zone of this machine.
fn zone(name: Option<String>) -> Result<TimeZone> {
    let Some(name) = name else { return Ok(TimeZone::system()) };
    tz::db().get(&name).map_err(|_| {
        let wanted = name.to_lowercase().replace(' ', "_");
        let alike = zones().into_iter().filter(|zone| zone.to_lowercase().contains(&wanted));
        match alike.take(5).collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => Error::msg(format!(
                "there is no time zone `{name}`: give an IANA name, such as Europe/London"
            )),
            alike => Error::msg(format!("there is no time zone `{name}`; did you mean {alike}?")),
        }
    })
}

fn main() -> Exit {
    server!().run()
}
