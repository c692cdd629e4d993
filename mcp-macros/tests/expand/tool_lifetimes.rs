#[tool]
async fn f<'a>(a: &'a str, b: Cow<'static, str>, c: fn(for<'x> fn(&'x u8)), ctx: &'a Context) -> Cow<'a, str> {}
