use mcp_runtime::prelude::*;

macro_rules! tools {
    ($name:ident $type:ty) => {
        /// Counts.
        #[tool]
        fn $name() -> Json<$type> {
            Json(<$type>::default())
        }
    };
}

tools!(go Vec<String>);

fn main() {}
