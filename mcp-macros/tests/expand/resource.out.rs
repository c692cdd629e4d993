/// The settings.
fn config() -> String {}
const _: () = {
    use ::mcp_runtime::__private as __mcp;
    fn __params(__to: &mut __mcp::Params) {
        __to.in_place();
    }
    fn __run(mut __call: __mcp::Call<'_>) -> __mcp::Running {
        if !__call.accept() {
            return __call.refuse();
        }
        __call
            .ready(move |__cx| match config() {
                __reply => __mcp::resource_reply::<String>(__cx, __reply),
            })
    }
    __mcp::register!(
        __mcp::ItemDef::resource("config", "config://app", & [],
        __mcp::Origin::new(::core::env!("CARGO_PKG_NAME"), ::core::module_path!(),
        ::core::file!(), ::core::line!(), "config"), || __mcp::identity(& config),
        __params, __run).description("The settings.").subscribe(true)
        .mime_type("application/json").size(1000000).audience(& [__mcp::Role::User,
        __mcp::Role::Assistant]).priority(0.5).cache(__mcp::CachePolicy::new().public()
        .ttl(__mcp::Duration::from_millis(300000)))
    );
};
