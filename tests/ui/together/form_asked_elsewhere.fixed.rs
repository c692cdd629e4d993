use mcp_runtime::prelude::*;

#[form]
enum Size {
    #[arg(title = "S")] // mistake
    Small,
    Large,
}

#[form]
struct Order {
    size: Size,
}

/// Orders.
#[tool]
async fn order(ask: Elicit) -> Result<&'static str> {
    let Order { size } = ask.form("size", "Which one?").await?;
    Ok(match size {
        Size::Small => "small",
        Size::Large => "large",
    })
}

fn main() {}
