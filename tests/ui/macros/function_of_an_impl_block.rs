use mcp_runtime::prelude::*;

struct Notes;

macro_rules! tools {
    ($name:ident) => {
        /// Counts.
        #[tool]
        fn $name(&self) {}
    };
}

#[handlers]
impl Notes {
    tools!(count);
}

fn main() {}
