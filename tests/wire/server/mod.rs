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
mod types;

use mcp_runtime::{Builder, prelude::*};

/// Returns the server with this name, which the `with` line of a transcript gives.
///
/// | name | items |
/// |---|---|
/// | `fixture` (default) | items of every kind; the lists can change |
/// | `catalog` | items with complete metadata and little behaviour; the lists cannot change |
/// | `pages` | the items of `catalog`, one per page |
/// | `bare` | one tool and nothing else |
/// | `asking` | items that send elicitation, sampling or roots requests |
/// | `impatient` | the items of `asking`; each such request waits for at most one second |
/// | `tasks` | tools whose calls continue as tasks |
/// | `single` | the tools of `tasks`; only one task may run at a time |
/// | `complaints` | tools of the kinds that clients have dropped |
/// | `profiles` | tools with full schemas and tools with compatible schemas |
/// | `types` | tools whose arguments have types of every form |
/// | `mirrored` | one tool, whose arguments are also sent in HTTP headers |
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
        "types" => types::server(),
        "mirrored" => {
            mcp_runtime::server!(name = "fixture", version = "1.2.3").items(items![mirrored::route])
        }
        other => panic!("no server is called `{other}`"),
    }
}
