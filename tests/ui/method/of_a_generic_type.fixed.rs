use mcp_runtime::prelude::*;

struct Notes<T>(Vec<T>);

#[handlers]
impl Notes<usize> {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        self.0.len()
    }
}

fn main() {}
