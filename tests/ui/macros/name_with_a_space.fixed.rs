use mcp_runtime::prelude::*;

macro_rules! tools {
    ($name:ident $title:literal) => {
        /// Counts.
        #[tool(name = $title)]
        fn $name() {}
    };
}

tools!(go "go_on");

fn main() {}
