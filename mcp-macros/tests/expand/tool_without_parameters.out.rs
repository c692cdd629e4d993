fn ping() {}
const _: () = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    fn __params(__to: &mut __mcp::Params) {
        __to.in_place();
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        if !__call.accept() {
            return __call.refuse();
        }
        __call
            .ready(move |_| match ping() {
                __reply => __mcp::tool_reply::<()>(__reply),
            })
    }
    __mcp::register!(
        __mcp::ItemDef::tool("ping", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "ping"), ||
        __mcp::identity(& ping), __params, __run, || (&& __mcp::Probe:: < () > ::NEW)
        .output())
    );
};
