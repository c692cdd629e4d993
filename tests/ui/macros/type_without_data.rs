use mcp_runtime::prelude::*;

struct Point;

macro_rules! tools {
    ($name:ident $type:ty) => {
        /// Counts.
        #[tool]
        fn $name(to: $type) {
            let _ = to;
        }
    };
}

tools!(go Point);

fn main() {}
