/// Not this one.
fn f(a: f64) {}
const __mcp_tool_f: ::mcp_runtime::__private::Registered = {
    use ::mcp_runtime::__private as __mcp;
    use __mcp::param::*;
    static __ARGS: [__mcp::ArgDef; 1] = [
        __mcp::ArgDef::new("n-ame")
            .title("T")
            .description("D")
            .range(__mcp::Range::new().min_json(-1.5, "-1.5").below_int(2))
            .header("Region")
            .default(__mcp::Literal::Empty),
    ];
    fn __params(__to: &mut __mcp::Params) {
        __to.in_place();
        __to.add_default(
            (&&&&__mcp::Probe::<f64>::NEW)
                .tool_param()
                .check::<f64>()
                .check_owned::<f64>()
                .check_in_place::<f64>()
                .check_from_client::<f64>(),
            &__ARGS[0],
            || __mcp::from_default(),
        );
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        let __p0 = (&&&&__mcp::Probe::<f64>::NEW).tool_param();
        let __v0 = __p0
            .check_owned::<f64>()
            .check_from_client::<f64>()
            .read_or(&mut __call, &__ARGS[0], || __mcp::from_default());
        let (true, ::core::option::Option::Some(mut __v0)) = (__call.accept(), __v0)
        else {
            return __call.refuse();
        };
        __call
            .ready(move |__cx| match {
                type f = ();
                use __mcp::stand_in::value1::*;
                use f as __function;
                __function
            }(__p0.pass(__cx, &mut __v0)?) {
                __reply => __mcp::tool_reply::<()>(__reply),
            })
    }
    __mcp::register!(
        __mcp::ItemDef::tool("full.name",
        __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"), ::core::module_path!(),
        ::core::file!(), ::core::line!(), "f"), || { type f = (); use __mcp::stand_in::
        *; use f as __identified; __mcp::identity(& __identified) }, __params, __run, ||
        (&& __mcp::Probe:: < () > ::NEW).output()).description(concat!("a", "b"))
        .title("Full").icons(& [__mcp::Icon::new("https://a"),
        __mcp::Icon::new("https://b").mime_type("image/png").sizes(& ["48x48", "any"])])
        .group("admin").order(- 3).meta(& [("vendor.com/key",
        __mcp::MetaValue::Json("1")), ("other", __mcp::MetaValue::Json("\"te\\\"xt\""))])
        .read_only(false).destructive(true).idempotent(false).open_world(true)
        .rate(__mcp::Rate::per_minute(10).burst(20)).concurrency(4)
        .scopes(__mcp::scopes!("files:read", "files:write")).policy(__mcp::policy!(|
        caller, access | caller.has_scope("admin") || access.is_listing()))
        .asks(__mcp::Asks::new().elicitation().sampling().roots()).lenient()
        .profile(__mcp::SchemaProfile::Full).input_schema(||
        __mcp::input_schema(my_schema()))
    );
    fn __placed() {
        type __mcp_tool_f = ();
        use __mcp::stand_in::*;
        use __mcp_tool_f as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
