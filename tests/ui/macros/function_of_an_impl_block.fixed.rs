use mcp_runtime::prelude::*;

struct Notes;

macro_rules! tools {
    ($name:ident) => {
        #[handlers]
        impl Notes {
            /// Counts.
            #[tool]
            fn $name(&self) {}
        }
    };
}

tools!(count);

fn main() {}
