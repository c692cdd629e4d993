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
const _: fn() = || {
    ::core::option::Option::<::mcp_runtime::__private::ItemDef>::None
        .unwrap()
        .read_only(true)
        .idempotent(true)
        .timeout(::mcp_runtime::__private::Duration::from_millis(30000));
    ::mcp_runtime::__private::ArgDef::new("")
        .range(::mcp_runtime::__private::Range::new().min_int(1).max_int(10))
        .example("3")
        .default(::mcp_runtime::__private::Literal::Empty);
    let _ = || -> u8 { 1 };
    ::mcp_runtime::__private::ArgDef::new("")
        .default(::mcp_runtime::__private::Literal::Empty);
};
