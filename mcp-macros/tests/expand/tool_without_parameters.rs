#[tool]
fn ping() {}
