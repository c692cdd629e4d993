#[cfg(unix)]
#[deprecated]
#[inline]
async fn f() {}
#[cfg(unix)]
#[allow(deprecated)]
const __mcp_tool_f: ::mcp_runtime::__private::Registered = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    fn __params(_: &mut __mcp::Params) {}
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        if !__call.accept() {
            return __call.refuse();
        }
        __call
            .future(move |_| async move {
                match {
                    type f = ();
                    use __mcp::stand_in::future0::*;
                    use f as __function;
                    __function
                }()
                    .await
                {
                    __reply => __mcp::tool_reply::<()>(__reply),
                }
            })
    }
    static __INPUT: __mcp::InputSchema = __mcp::InputSchema::new(&[]);
    static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
    static __OUTPUT: __mcp::ConstantOutput = __mcp::Probe::<()>::OUTPUT;
    static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
    __mcp::register!(
        __mcp::ItemDef::tool("f", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "f"), || { type f = ();
        use __mcp::stand_in:: *; use f as __identified; __mcp::identity(& __identified)
        }, __params, __run, || (&& __mcp::Probe:: < () > ::NEW).output()).input(&
        __INPUT, & __INPUT_TEXT).output(& __OUTPUT_TEXT, __OUTPUT.is_object())
    );
    fn __placed() {
        type __mcp_tool_f = ();
        use __mcp::stand_in::*;
        use __mcp_tool_f as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
