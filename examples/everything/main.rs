//! Every feature of the protocol in one server: `cargo run -p example-everything`.
//!
//! The server has the tools, resources and prompts that the official conformance suite expects, under the names that the suite uses. The
//! suite tests every feature of the protocol, so you can look up here how each of them is written.
//!
//! With `MCP_REDIS_URL`, several processes are nodes of one server. The suite tests them behind nginx, too.

mod asking;
mod calls;
mod changes;
mod content;
mod prompts;
mod resources;
mod schema;
mod tasks;

// Otherwise the linker leaves out the store for `MCP_REDIS_URL`.
use mcp_runtime_redis as _;

fn main() -> mcp_runtime::Exit {
    mcp_runtime::server!(
        title = "Everything",
        instructions = "Every tool, resource and prompt here shows one part of the protocol."
    )
    .run()
}
