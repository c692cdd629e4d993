fn main() {
    {
        #[allow(unused_imports)]
        const _: () = {
            use my_tools::*;
            use more::*;
        };
        ::mcp_runtime::__private::builder(
                ::mcp_runtime::__private::Identity::new(
                    ::core::env!("CARGO_PKG_NAME"),
                    ::core::option_env!("CARGO_BIN_NAME"),
                    ::core::env!("CARGO_PKG_VERSION"),
                    ::core::env!("CARGO_PKG_DESCRIPTION"),
                ),
            )
            .with(&["my_tools", "more"])
            .group("admin")
            .instructions(include_str!("x.md"))
            .title(TITLE)
            .website("https://b")
            .name("n")
            .version("1")
            .icon(::mcp_runtime::__private::Icon::new("https://a").sizes(&["any"]))
            .max_result(16777216u64)
    }
}
