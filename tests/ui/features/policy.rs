// auth
pub fn server(builder: mcp_runtime::Builder) -> mcp_runtime::Builder {
    builder.policy(|caller, access| access.kind() != "tool" || caller.principal() != "guest") // mistake
}

fn main() {}
