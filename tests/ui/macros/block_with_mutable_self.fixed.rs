use mcp_runtime::prelude::*;

struct Notes;

macro_rules! notes {
    ($name:ident) => {
        #[server]
        impl Notes {
            /// Counts.
            #[tool]
            fn $name(&self) {}
        }
    };
}

notes!(count);

fn main() {}
