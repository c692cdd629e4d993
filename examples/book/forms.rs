//! Forms that the user fills in.

use std::fmt;

use mcp_runtime::prelude::*;

/// When the kitchen serves.
#[form]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sitting {
    /// At 18:00, in time for the theatre
    #[serde(rename = "18:00")]
    Early,
    /// At 20:30, as long as you like
    #[serde(rename = "20:30")]
    Late,
}

/// Evening on which the user would like to come.
#[form]
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    #[arg(title = "Day", format = "date")]
    pub(crate) day: String,
    #[arg(title = "Time", default = Sitting::Late)]
    pub(crate) time: Sitting,
    /// How many come, children too
    #[arg(title = "Guests", default = 2, range(1..=8))]
    pub(crate) guests: u8,
}

/// A part of the house.
#[form]
#[derive(Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Area {
    /// By the window
    Window,
    /// In the garden
    Garden,
    /// In the hall
    Hall,
}

/// Details of a small party, which may choose its table.
#[form]
pub(crate) struct Few {
    #[arg(title = "Name", len(1..=80))]
    pub(crate) name: String,
    /// Place where you would like to sit, if it is free
    #[arg(title = "Table", default = Area::Window)]
    pub(crate) area: Area,
    /// Food that the kitchen must leave out
    #[arg(title = "Allergies", len(..=200))]
    pub(crate) allergies: Option<String>,
}

/// Details of a group. Only one table is large enough, and the restaurant needs an email address.
#[form]
pub(crate) struct Group {
    #[arg(title = "Name", len(1..=80))]
    pub(crate) name: String,
    #[arg(title = "Email", format = "email")]
    pub(crate) email: String,
    /// Food that the kitchen must leave out, and the number of guests
    #[arg(title = "Allergies", len(..=200))]
    pub(crate) allergies: Option<String>,
}

/// Offer of a free table to a user who has waited.
#[form]
pub(crate) struct Offer {
    #[arg(title = "Take it", default = true)]
    pub(crate) take: bool,
}

impl fmt::Display for Visit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = match self.time {
            Sitting::Early => "18:00",
            Sitting::Late => "20:30",
        };
        write!(f, "{} at {time} for {}", self.day, self.guests)
    }
}
