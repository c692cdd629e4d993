use mcp_runtime::Items;
use mcp_runtime::prelude::*;

mod notes {
    use mcp_runtime::prelude::*;

    /// Counts.
    #[tool]
    pub fn count() {}
}

fn main() {
    let _: Items = items![notes::count];
}
