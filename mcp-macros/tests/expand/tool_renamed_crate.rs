#[tool(crate = crate::facade)]
async fn f(#[serde(default)] a: u8) {}
