#[tool(blocking, timeout = "500ms")]
fn hash(#[arg(len(1..), pattern = "^[a-f]+$")] r#type: &[u8]) -> String {}
