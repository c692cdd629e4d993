fn ping() {}
const __mcp_tool_ping: ::mcp_runtime::__private::Registered = {
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
            .ready(move |_| match {
                type ping = ();
                use __mcp::stand_in::value0::*;
                use ping as __function;
                __function
            }() {
                __reply => __mcp::tool_reply::<()>(__reply),
            })
    }
    static __INPUT: __mcp::InputSchema = __mcp::InputSchema::new(&[]);
    static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
    static __OUTPUT: __mcp::ConstantOutput = __mcp::Probe::<()>::OUTPUT;
    static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
    __mcp::register!(
        __mcp::ItemDef::tool("ping", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "ping"), || { type ping
        = (); use __mcp::stand_in:: *; use ping as __identified; __mcp::identity(&
        __identified) }, __params, __run, || (&& __mcp::Probe:: < () > ::NEW).output())
        .input(& __INPUT, & __INPUT_TEXT).output(& __OUTPUT_TEXT, __OUTPUT.is_object())
    );
    fn __placed() {
        type __mcp_tool_ping = ();
        use __mcp::stand_in::*;
        use __mcp_tool_ping as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
