async fn f<'a>(
    a: &'a str,
    b: Cow<'static, str>,
    c: fn(for<'x> fn(&'x u8)),
    ctx: &'a Context,
) -> Cow<'a, str> {}
const __mcp_tool_f: ::mcp_runtime::__private::Registered = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 4] = [
        __mcp::ArgDef::new("a"),
        __mcp::ArgDef::new("b"),
        __mcp::ArgDef::new("c"),
        __mcp::ArgDef::new("ctx"),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.add(
            (&&&&__mcp::Probe::<&'_ str>::NEW)
                .tool_param()
                .check::<&'_ str>()
                .check_owned::<&'_ str>(),
            &__ARGS[0],
        );
        __to.add(
            (&&&&__mcp::Probe::<Cow<'static, str>>::NEW)
                .tool_param()
                .check::<Cow<'static, str>>()
                .check_owned::<Cow<'static, str>>(),
            &__ARGS[1],
        );
        __to.add(
            (&&&&__mcp::Probe::<fn(for<'x> fn(&'x u8))>::NEW)
                .tool_param()
                .check::<fn(for<'x> fn(&'x u8))>()
                .check_owned::<fn(for<'x> fn(&'x u8))>(),
            &__ARGS[2],
        );
        __to.add(
            (&&&&__mcp::Probe::<&'_ Context>::NEW)
                .tool_param()
                .check::<&'_ Context>()
                .check_owned::<&'_ Context>(),
            &__ARGS[3],
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = (&&&&__mcp::Probe::<&'_ str>::NEW).tool_param();
        let __p1 = (&&&&__mcp::Probe::<Cow<'static, str>>::NEW).tool_param();
        let __p2 = (&&&&__mcp::Probe::<fn(for<'x> fn(&'x u8))>::NEW).tool_param();
        let __p3 = (&&&&__mcp::Probe::<&'_ Context>::NEW).tool_param();
        let __v0 = __p0.check_owned::<&'_ str>().read(&mut __call, &__ARGS[0]);
        let __v1 = __p1.check_owned::<Cow<'static, str>>().read(&mut __call, &__ARGS[1]);
        let __v2 = __p2
            .check_owned::<fn(for<'x> fn(&'x u8))>()
            .read(&mut __call, &__ARGS[2]);
        let __v3 = __p3.check_owned::<&'_ Context>().read(&mut __call, &__ARGS[3]);
        let (
            true,
            ::core::option::Option::Some(mut __v0),
            ::core::option::Option::Some(mut __v1),
            ::core::option::Option::Some(mut __v2),
            ::core::option::Option::Some(mut __v3),
        ) = (__call.accept(), __v0, __v1, __v2, __v3) else {
            return __call.refuse();
        };
        __call
            .future(move |__cx| async move {
                match {
                    type f = ();
                    use __mcp::stand_in::future4::*;
                    use f as __function;
                    __function
                }(
                        __p0.pass(&__cx, &mut __v0)?,
                        __p1.pass(&__cx, &mut __v1)?,
                        __p2.pass(&__cx, &mut __v2)?,
                        __p3.pass(&__cx, &mut __v3)?,
                    )
                    .await
                {
                    __reply => __mcp::tool_reply::<Cow<'_, str>>(__reply),
                }
            })
    }
    static __INPUT: __mcp::InputSchema = __mcp::InputSchema::new(
        &[
            __mcp::Property::new(
                &__ARGS[0],
                __mcp::Probe::<&'_ str>::IS_SERVER,
                __mcp::Probe::<&'_ str>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[1],
                __mcp::Probe::<Cow<'static, str>>::IS_SERVER,
                __mcp::Probe::<Cow<'static, str>>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[2],
                __mcp::Probe::<fn(for<'x> fn(&'x u8))>::IS_SERVER,
                __mcp::Probe::<fn(for<'x> fn(&'x u8))>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[3],
                __mcp::Probe::<&'_ Context>::IS_SERVER,
                __mcp::Probe::<&'_ Context>::PARAM,
            ),
        ],
    );
    static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
    static __OUTPUT: __mcp::ConstantOutput = __mcp::Probe::<Cow<'_, str>>::OUTPUT;
    static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
    __mcp::register!(
        __mcp::ItemDef::tool("f", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "f"), || { type f = ();
        use __mcp::stand_in:: *; use f as __identified; __mcp::identity(& __identified)
        }, __params, __run, || (&& __mcp::Probe:: < Cow < '_, str > > ::NEW).output())
        .input(& __INPUT, & __INPUT_TEXT).output(& __OUTPUT_TEXT, __OUTPUT.is_object())
    );
    fn __placed() {
        type __mcp_tool_f = ();
        use __mcp::stand_in::*;
        use __mcp_tool_f as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
