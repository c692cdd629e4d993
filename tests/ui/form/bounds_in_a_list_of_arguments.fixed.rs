use mcp_runtime::prelude::*;

#[data]
struct Guest {
    name: String,
}

/// Invites guests.
#[tool]
fn invite(guests: Vec<Guest>) -> String {
    guests.into_iter().map(|guest| guest.name).collect()
}

fn main() {}
