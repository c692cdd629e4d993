use mcp_runtime::prelude::*;

struct Notes;

macro_rules! notes {
    ($name:ident) => {
        #[handlers]
        impl Notes {
            /// Counts.
            #[tool]
            fn $name(&mut self) {}
        }
    };
}

notes!(count);

fn main() {}
