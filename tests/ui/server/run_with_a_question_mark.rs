fn main() -> Result<(), Box<dyn std::error::Error>> {
    mcp_runtime::server!().run()?;
    Ok(())
}
