fn hash(r#type: &[u8]) -> String {}
const __mcp_tool_hash: ::mcp_runtime::__private::Registered = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 1] = [
        __mcp::ArgDef::new("type")
            .len(::core::option::Option::Some(1), ::core::option::Option::None)
            .pattern(
                "^[a-f]+$",
                {
                    static __REGEX: __mcp::CompiledPattern = __mcp::CompiledPattern::new();
                    &__REGEX
                },
            ),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.add(
            (&&&&__mcp::Probe::<&[u8]>::NEW)
                .tool_param()
                .check::<&[u8]>()
                .check_owned::<&[u8]>()
                .check_from_client::<&[u8]>(),
            &__ARGS[0],
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = (&&&&__mcp::Probe::<&[u8]>::NEW).tool_param();
        let __v0 = __p0.check_owned::<&[u8]>().read(&mut __call, &__ARGS[0]);
        let (true, ::core::option::Option::Some(mut __v0)) = (__call.accept(), __v0)
        else {
            return __call.refuse();
        };
        __call
            .blocking(move |__cx| match {
                type hash = ();
                use __mcp::stand_in::value1::*;
                use hash as __function;
                __function
            }(__p0.pass(__cx, &mut __v0)?) {
                __reply => __mcp::tool_reply::<String>(__reply),
            })
    }
    static __INPUT: __mcp::InputSchema = __mcp::InputSchema::new(
        &[
            __mcp::Property::new(
                &__ARGS[0],
                __mcp::Probe::<&[u8]>::IS_SERVER,
                __mcp::Probe::<&[u8]>::PARAM,
            ),
        ],
    );
    static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
    static __OUTPUT: __mcp::ConstantOutput = __mcp::Probe::<String>::OUTPUT;
    static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
    __mcp::register!(
        __mcp::ItemDef::tool("hash", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "hash"), || { type hash
        = (); use __mcp::stand_in:: *; use hash as __identified; __mcp::identity(&
        __identified) }, __params, __run, || (&& __mcp::Probe:: < String > ::NEW)
        .output()).timeout(__mcp::Duration::from_millis(500)).input(& __INPUT, &
        __INPUT_TEXT).output(& __OUTPUT_TEXT, __OUTPUT.is_object())
    );
    fn __placed() {
        type __mcp_tool_hash = ();
        use __mcp::stand_in::*;
        use __mcp_tool_hash as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
