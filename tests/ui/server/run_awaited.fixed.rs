fn start() -> mcp_runtime::Exit {
    mcp_runtime::server!().run()
}

fn main() {
    let _ = start();
}
