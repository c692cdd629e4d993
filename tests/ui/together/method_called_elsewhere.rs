use mcp_runtime::Items;
use mcp_runtime::prelude::*;

struct Notes(u32);

#[handlers]
impl Notes {
    /// Counts.
    #[tool(titel = "Count")] // mistake
    fn count(&self) -> u32 {
        self.0
    }

    fn double(&self) -> u32 {
        self.count() * 2
    }
}

fn main() {
    assert_eq!(Notes(2).double(), 4);
    let _: Items = items![Notes::count];
}
