/// Not this one.
#[tool(
    name = "full.name",
    title = "Full",
    description = concat!("a", "b"),
    icon = "https://a",
    icon("https://b", mime_type = "image/png", sizes("48x48", "any")),
    read_only = false,
    destructive,
    idempotent = false,
    open_world,
    asks(elicitation, sampling, roots),
    rate("10/m", burst = 20),
    concurrency = 4,
    scopes("files:read", "files:write"),
    auth(|caller, access| caller.has_scope("admin") || access.is_listing()),
    order = -3,
    group = "admin",
    meta("vendor.com/key" = 1, other = "te\"xt"),
    lenient,
    schema = "full",
    input_schema = my_schema()
)]
fn f(
    /// Not this one.
    #[arg(name = "n-ame", title = "T", description = "D", default, range(-1.5..2), header = "Region")] a: f64,
) {
}
