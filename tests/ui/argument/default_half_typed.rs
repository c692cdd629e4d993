use mcp_runtime::prelude::*;

#[data]
enum Delivery {
    Standard,
    NextDay,
}

/// Orders an article.
#[tool(read_only)]
fn order(
    article: &str,
    #[arg(default = Delivery::)] delivery: Delivery,
) -> String {
    match delivery {
        Delivery::Standard => format!("{article} comes in three days"),
        Delivery::NextDay => format!("{article} comes tomorrow"),
    }
}

fn main() {}
