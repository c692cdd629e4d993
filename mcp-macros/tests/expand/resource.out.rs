/// The settings.
fn config() -> String {}
const __mcp_resource_config: ::mcp_runtime::__private::Registered = {
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
            .ready(move |__cx| match {
                type config = ();
                use __mcp::stand_in::value0::*;
                use config as __function;
                __function
            }() {
                __reply => __mcp::resource_reply::<String>(__cx, __reply),
            })
    }
    __mcp::register!(
        __mcp::ItemDef::resource("config", "config://app", & [],
        __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"), ::core::module_path!(),
        ::core::file!(), ::core::line!(), "config"), || { type config = (); use
        __mcp::stand_in:: *; use config as __identified; __mcp::identity(& __identified)
        }, __params, __run).usual_mime_type(|| (&& __mcp::Probe:: < String > ::NEW)
        .media_type()).description("The settings.").subscribe(true)
        .mime_type("application/json").size(1000000).audience(& [__mcp::Role::User,
        __mcp::Role::Assistant]).priority(0.5).cache(__mcp::CachePolicy::new().public()
        .ttl(__mcp::Duration::from_millis(300000)))
    );
    fn __placed() {
        type __mcp_resource_config = ();
        use __mcp::stand_in::*;
        use __mcp_resource_config as __itself;
        __mcp::placed(__itself);
    }
    __mcp::Registered
};
