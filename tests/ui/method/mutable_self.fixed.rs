use mcp_runtime::prelude::*;

struct Notes(std::sync::Mutex<u32>);

#[handlers]
impl Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> u32 {
        *self.0.lock().unwrap() += 1;
        *self.0.lock().unwrap()
    }
}

fn main() {}
