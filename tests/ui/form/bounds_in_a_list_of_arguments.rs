use mcp_runtime::prelude::*;

#[form]
struct Guest {
    #[arg(len(1..=80))]
    name: String,
}

/// Invites guests.
#[tool]
fn invite(guests: Vec<Guest>) -> String {
    guests.into_iter().map(|guest| guest.name).collect()
}

fn main() {}
