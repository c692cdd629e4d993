/// Reviews code.
fn review(language: &str, city: Option<City>) -> String {}
const __mcp_prompt_review: ::mcp_runtime::__private::Registered = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 2] = [
        __mcp::ArgDef::new("language")
            .complete(__mcp::Completer::Values(&["rust", "go"])),
        __mcp::ArgDef::new("city")
            .complete(
                __mcp::Completer::Function(|| {
                    use __mcp::unmarked::*;
                    let __function = &__Completion;
                    use places::cities as __Completion;
                    __mcp::completed::<__Completion, _>(__function)
                }),
            ),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.in_place();
        __to.add(
            (&&&&__mcp::Probe::<&str>::NEW)
                .text_param()
                .check::<&str>()
                .check_owned::<&str>()
                .check_in_place::<&str>()
                .check_from_client::<&str>(),
            &__ARGS[0],
        );
        __to.add(
            (&&&&__mcp::Probe::<Option<City>>::NEW)
                .text_param()
                .check::<Option<City>>()
                .check_owned::<Option<City>>()
                .check_in_place::<Option<City>>()
                .check_from_client::<Option<City>>(),
            &__ARGS[1],
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = (&&&&__mcp::Probe::<&str>::NEW).text_param();
        let __p1 = (&&&&__mcp::Probe::<Option<City>>::NEW).text_param();
        let __v0 = __p0.check_owned::<&str>().read(&mut __call, &__ARGS[0]);
        let __v1 = __p1.check_owned::<Option<City>>().read(&mut __call, &__ARGS[1]);
        let (
            true,
            ::core::option::Option::Some(mut __v0),
            ::core::option::Option::Some(mut __v1),
        ) = (__call.accept(), __v0, __v1) else {
            return __call.refuse();
        };
        __call
            .ready(move |__cx| match {
                type review = ();
                use __mcp::stand_in::value2::*;
                use review as __function;
                __function
            }(__p0.pass(__cx, &mut __v0)?, __p1.pass(__cx, &mut __v1)?) {
                __reply => __mcp::prompt_reply::<String>(__reply),
            })
    }
    const _: () = __mcp::judge_text(
        &__ARGS[0],
        __mcp::Probe::<&str>::IS_SERVER || __mcp::Probe::<&str>::IS_PARSED,
        __mcp::Probe::<&str>::PARAM,
    );
    const _: () = __mcp::judge_text(
        &__ARGS[1],
        __mcp::Probe::<Option<City>>::IS_SERVER
            || __mcp::Probe::<Option<City>>::IS_PARSED,
        __mcp::Probe::<Option<City>>::PARAM,
    );
    __mcp::register!(
        __mcp::ItemDef::prompt("review",
        __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"), ::core::module_path!(),
        ::core::file!(), ::core::line!(), "review"), || { type review = (); use
        __mcp::stand_in:: *; use review as __identified; __mcp::identity(& __identified)
        }, __params, __run).description("Reviews code.").title("Review")
    );
    fn __placed() {
        type __mcp_prompt_review = ();
        use __mcp::stand_in::*;
        use __mcp_prompt_review as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
