use mcp_runtime::prelude::*;

struct Notes<T>(Vec<T>);

#[handlers]
impl<T: Send + Sync> Notes<T> {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        self.0.len()
    }
}

fn main() {}
