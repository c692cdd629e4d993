use mcp_runtime::prelude::*;

macro_rules! tools {
    ($name:ident $type:ty) => {
        /// Counts.
        #[tool]
        fn $name() -> $type {
            <$type>::default()
        }
    };
}

tools!(go Vec<String>);

fn main() {}
