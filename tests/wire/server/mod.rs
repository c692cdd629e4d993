//! The servers against which the transcripts are replayed, written as a user would write them.

mod asking;
mod catalog;
mod complaints;
mod gate;
mod mirrored;
mod profiles;
mod prompts;
mod resources;
mod tasks;
mod tools;

use mcp_runtime::{Builder, prelude::*};

/// Returns the server with this name, which the `with` line of a transcript gives.
///
/// | name | items |
/// |---|---|
/// | `fixture` (default) | items that do things; its lists can change |
/// | `catalog` | items that are fully described and do little; its lists cannot change |
/// | `pages` | those of `catalog`, one item a page |
/// | `bare` | one tool and nothing else |
/// | `asking` | items that ask the client |
/// | `impatient` | those of `asking`; a question waits for at most one second |
/// | `tasks` | tools whose calls go on as tasks |
/// | `single` | those of `tasks`; only one task may run at a time |
/// | `complaints` | tools of the kinds that clients have dropped |
/// | `profiles` | tools whose schemas have one profile or the other |
/// | `mirrored` | one tool, whose arguments are repeated in headers |
pub fn named(name: &str) -> Builder {
    match name {
        "fixture" => {
            mcp_runtime::server!(name = "fixture", version = "1.2.3").state(gate::Gate::default())
        }
        "catalog" => catalog::server(),
        "pages" => catalog::server().tools_per_page(1).items_per_page(1),
        "bare" => {
            mcp_runtime::server!(name = "fixture", version = "1.2.3").items(items![tools::text])
        }
        "asking" => asking::server(),
        "impatient" => asking::impatient(),
        "tasks" => tasks::server(),
        "single" => tasks::single(),
        "complaints" => complaints::server(),
        "profiles" => profiles::server(),
        "mirrored" => {
            mcp_runtime::server!(name = "fixture", version = "1.2.3").items(items![mirrored::route])
        }
        other => panic!("no server is called `{other}`"),
    }
}
