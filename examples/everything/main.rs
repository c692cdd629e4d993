//! Everything at once: `cargo run --example everything`.
//!
//! These are the tools, resources and prompts that the official conformance suite asks of a server, by the names it asks for. The suite
//! checks every corner of the protocol, so this is also where to look up how any one of them is written.

mod asking;
mod calls;
mod changes;
mod content;
mod prompts;
mod resources;
mod schema;
mod tasks;

fn main() -> mcp_runtime::Exit {
    mcp_runtime::server!(
        title = "Everything",
        instructions = "Every tool, resource and prompt here shows one part of the protocol."
    )
    .run()
}
