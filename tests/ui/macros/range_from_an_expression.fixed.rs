use mcp_runtime::prelude::*;

macro_rules! tools {
    ($name:ident $most:expr) => {
        /// Counts.
        #[tool]
        fn $name(#[arg(range(..=$most))] to: u8) -> u8 {
            to
        }
    };
}

tools!(count 5);

fn main() {}
