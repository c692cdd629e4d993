/// Not this one.
fn f(a: f64) {}
const _: fn() = || {
    ::core::option::Option::<::mcp_runtime::__private::ItemDef>::None
        .unwrap()
        .description(concat!("a", "b"))
        .title("Full")
        .icons(
            &[
                ::mcp_runtime::__private::Icon::new("https://a"),
                ::mcp_runtime::__private::Icon::new("https://b")
                    .mime_type("image/png")
                    .sizes(&["48x48", "any"]),
            ],
        )
        .group("admin")
        .order(-3)
        .meta(
            &[
                ("vendor.com/key", ::mcp_runtime::__private::MetaValue::Json("1")),
                ("other", ::mcp_runtime::__private::MetaValue::Json("\"te\\\"xt\"")),
            ],
        )
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(true)
        .rate(::mcp_runtime::__private::Rate::per_minute(10).burst(20))
        .concurrency(4)
        .scopes(::mcp_runtime::__private::scopes!("files:read", "files:write"))
        .policy(
            ::mcp_runtime::__private::policy!(
                | caller, access | caller.has_scope("admin") || access.is_listing()
            ),
        )
        .asks(::mcp_runtime::__private::Asks::new().elicitation().sampling().roots())
        .lenient()
        .profile(::mcp_runtime::__private::SchemaProfile::Full)
        .input_schema(|| ::mcp_runtime::__private::input_schema(my_schema()));
    ::mcp_runtime::__private::ArgDef::new("")
        .title("T")
        .description("D")
        .range(
            ::mcp_runtime::__private::Range::new().min_json(-1.5, "-1.5").below_int(2),
        )
        .header("Region")
        .default(::mcp_runtime::__private::Literal::Empty);
};
