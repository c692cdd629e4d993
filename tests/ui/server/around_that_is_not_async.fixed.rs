fn main() {
    let _ = mcp_runtime::server!().around(async |call, next| next.run(call).await).build();
}
