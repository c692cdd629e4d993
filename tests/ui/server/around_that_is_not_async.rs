fn main() {
    let _ = mcp_runtime::server!().around(|call, next| next.run(call).await).build();
}
