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
    static __INPUT: __mcp::InputSchema = __mcp::InputSchema::new(&[]);
    static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
    static __OUTPUT: __mcp::ConstantOutput = __mcp::Probe::<()>::OUTPUT;
    static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
    __mcp::register!(
        __mcp::ItemDef::tool("ping", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "ping"), ||
        __mcp::identity(& ping), __params, __run, || (&& __mcp::Probe:: < () > ::NEW)
        .output()).input(& __INPUT, & __INPUT_TEXT).output(& __OUTPUT_TEXT, __OUTPUT
        .is_object())
    );
};
