// auth
pub fn server(builder: mcp_runtime::Builder) -> mcp_runtime::Builder {
    builder.policy(|caller, access| access.kind() != "tool" || caller.principal().as_str() != "guest") // mistake
}

fn main() {}
