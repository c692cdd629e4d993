fn main() -> Result<mcp_runtime::Exit, Box<dyn std::error::Error>> {
    Ok(mcp_runtime::server!().run())
}
