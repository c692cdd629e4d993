use mcp_runtime::prelude::*;

#[data]
struct Page {
    /// What is on it
    text: String,
}

/// Opens a page.
#[tool(schema = "static")]
fn open(number: u32) -> Json<Page> {
    Json(Page { text: number.to_string() })
}

fn main() {}
