fn cities(typed: &str, country: Option<String>, db: State<Db>) -> Vec<String> {}
#[doc(hidden)]
type cities = ::mcp_runtime::__private::Completes;
const __mcp_completion_cities: ::mcp_runtime::__private::Registered = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 3] = [
        __mcp::ArgDef::new("typed"),
        __mcp::ArgDef::new("country"),
        __mcp::ArgDef::new("db"),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.add(
            (&&&&__mcp::Probe::<&str>::NEW)
                .completion_param()
                .check::<&str>()
                .check_owned::<&str>(),
            &__ARGS[0],
        );
        __to.add(
            (&&&&__mcp::Probe::<Option<String>>::NEW)
                .completion_param()
                .check::<Option<String>>()
                .check_owned::<Option<String>>(),
            &__ARGS[1],
        );
        __to.add(
            (&&&&__mcp::Probe::<State<Db>>::NEW)
                .completion_param()
                .check::<State<Db>>()
                .check_owned::<State<Db>>(),
            &__ARGS[2],
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = (&&&&__mcp::Probe::<&str>::NEW).completion_param();
        let __p1 = (&&&&__mcp::Probe::<Option<String>>::NEW).completion_param();
        let __p2 = (&&&&__mcp::Probe::<State<Db>>::NEW).completion_param();
        let __v0 = __p0.check_owned::<&str>().read(&mut __call, &__ARGS[0]);
        let __v1 = __p1.check_owned::<Option<String>>().read(&mut __call, &__ARGS[1]);
        let __v2 = __p2.check_owned::<State<Db>>().read(&mut __call, &__ARGS[2]);
        let (
            true,
            ::core::option::Option::Some(mut __v0),
            ::core::option::Option::Some(mut __v1),
            ::core::option::Option::Some(mut __v2),
        ) = (__call.accept(), __v0, __v1, __v2) else {
            return __call.refuse();
        };
        __call
            .blocking(move |__cx| match {
                type cities = ();
                use __mcp::stand_in::value3::*;
                use cities as __function;
                __function
            }(
                __p0.pass(__cx, &mut __v0)?,
                __p1.pass(__cx, &mut __v1)?,
                __p2.pass(__cx, &mut __v2)?,
            ) {
                __reply => __mcp::completion_reply::<Vec<String>>(__reply),
            })
    }
    __mcp::register!(
        __mcp::ItemDef::completion("cities",
        __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"), ::core::module_path!(),
        ::core::file!(), ::core::line!(), "cities"), || { type cities = (); use
        __mcp::stand_in:: *; use cities as __identified; __mcp::identity(& __identified)
        }, __params, __run)
    );
    fn __placed() {
        type __mcp_completion_cities = ();
        use __mcp::stand_in::*;
        use __mcp_completion_cities as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
