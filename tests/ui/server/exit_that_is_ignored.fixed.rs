#![deny(unused_must_use)]

fn main() -> mcp_runtime::Exit {
    mcp_runtime::server!().run()
}
