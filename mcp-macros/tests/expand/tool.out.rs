/// Adds two numbers.
pub async fn add(
    a: i64,
    mut times: u8,
    name: &str,
    db: State<Db>,
    ctx: &Context,
) -> Result<i64> {
    body()
}
const __mcp_tool_add: ::mcp_runtime::__private::Registered = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 5] = [
        __mcp::ArgDef::new("a").description("First addend"),
        __mcp::ArgDef::new("times")
            .range(__mcp::Range::new().min_int(1).max_int(10))
            .example("3")
            .default(__mcp::Literal::Json("1")),
        __mcp::ArgDef::new("name").default(__mcp::Literal::Text("you")),
        __mcp::ArgDef::new("db"),
        __mcp::ArgDef::new("ctx"),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.add(
            (&&&&__mcp::Probe::<i64>::NEW)
                .tool_param()
                .check::<i64>()
                .check_owned::<i64>(),
            &__ARGS[0],
        );
        __to.add_default(
            (&&&&__mcp::Probe::<u8>::NEW)
                .tool_param()
                .check::<u8>()
                .check_owned::<u8>()
                .check_from_client::<u8>(),
            &__ARGS[1],
            || 1,
        );
        __to.add_default(
            (&&&&__mcp::Probe::<&str>::NEW)
                .tool_param()
                .check::<&str>()
                .check_owned::<&str>()
                .check_from_client::<&str>(),
            &__ARGS[2],
            || __mcp::from_text("you"),
        );
        __to.add(
            (&&&&__mcp::Probe::<State<Db>>::NEW)
                .tool_param()
                .check::<State<Db>>()
                .check_owned::<State<Db>>(),
            &__ARGS[3],
        );
        __to.add(
            (&&&&__mcp::Probe::<&Context>::NEW)
                .tool_param()
                .check::<&Context>()
                .check_owned::<&Context>(),
            &__ARGS[4],
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = (&&&&__mcp::Probe::<i64>::NEW).tool_param();
        let __p1 = (&&&&__mcp::Probe::<u8>::NEW).tool_param();
        let __p2 = (&&&&__mcp::Probe::<&str>::NEW).tool_param();
        let __p3 = (&&&&__mcp::Probe::<State<Db>>::NEW).tool_param();
        let __p4 = (&&&&__mcp::Probe::<&Context>::NEW).tool_param();
        let __v0 = __p0.check_owned::<i64>().read(&mut __call, &__ARGS[0]);
        let __v1 = __p1
            .check_owned::<u8>()
            .check_from_client::<u8>()
            .read_or(&mut __call, &__ARGS[1], || 1);
        let __v2 = __p2
            .check_owned::<&str>()
            .check_from_client::<&str>()
            .read_or(&mut __call, &__ARGS[2], || __mcp::from_text("you"));
        let __v3 = __p3.check_owned::<State<Db>>().read(&mut __call, &__ARGS[3]);
        let __v4 = __p4.check_owned::<&Context>().read(&mut __call, &__ARGS[4]);
        let (
            true,
            ::core::option::Option::Some(mut __v0),
            ::core::option::Option::Some(mut __v1),
            ::core::option::Option::Some(mut __v2),
            ::core::option::Option::Some(mut __v3),
            ::core::option::Option::Some(mut __v4),
        ) = (__call.accept(), __v0, __v1, __v2, __v3, __v4) else {
            return __call.refuse();
        };
        __call
            .future(move |__cx| async move {
                match {
                    type add = ();
                    use __mcp::stand_in::future5::*;
                    use add as __function;
                    __function
                }(
                        __p0.pass(&__cx, &mut __v0)?,
                        __p1.pass(&__cx, &mut __v1)?,
                        __p2.pass(&__cx, &mut __v2)?,
                        __p3.pass(&__cx, &mut __v3)?,
                        __p4.pass(&__cx, &mut __v4)?,
                    )
                    .await
                {
                    __reply => __mcp::tool_reply::<Result<i64>>(__reply),
                }
            })
    }
    const _: () = __mcp::judge_form(&__ARGS[3], __mcp::Probe::<State<Db>>::BOUND);
    static __INPUT: __mcp::InputSchema = __mcp::InputSchema::new(
        &[
            __mcp::Property::new(
                &__ARGS[0],
                __mcp::Probe::<i64>::IS_SERVER,
                __mcp::Probe::<i64>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[1],
                __mcp::Probe::<u8>::IS_SERVER,
                __mcp::Probe::<u8>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[2],
                __mcp::Probe::<&str>::IS_SERVER,
                __mcp::Probe::<&str>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[3],
                __mcp::Probe::<State<Db>>::IS_SERVER,
                __mcp::Probe::<State<Db>>::PARAM,
            ),
            __mcp::Property::new(
                &__ARGS[4],
                __mcp::Probe::<&Context>::IS_SERVER,
                __mcp::Probe::<&Context>::PARAM,
            ),
        ],
    );
    static __INPUT_TEXT: [u8; __INPUT.len()] = __INPUT.render();
    static __OUTPUT: __mcp::ConstantOutput = __mcp::Probe::<Result<i64>>::OUTPUT;
    static __OUTPUT_TEXT: [u8; __OUTPUT.len()] = __OUTPUT.render();
    __mcp::register!(
        __mcp::ItemDef::tool("add", __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"),
        ::core::module_path!(), ::core::file!(), ::core::line!(), "add"), || { type add =
        (); use __mcp::stand_in:: *; use add as __identified; __mcp::identity(&
        __identified) }, __params, __run, || (&& __mcp::Probe:: < Result < i64 > > ::NEW)
        .output()).description("Adds two numbers.").read_only(true).idempotent(true)
        .timeout(__mcp::Duration::from_millis(30000)).input(& __INPUT, & __INPUT_TEXT)
        .output(& __OUTPUT_TEXT, __OUTPUT.is_object())
    );
    fn __placed() {
        type __mcp_tool_add = ();
        use __mcp::stand_in::*;
        use __mcp_tool_add as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
