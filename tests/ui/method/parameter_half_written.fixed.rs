use mcp_runtime::prelude::*;

struct Sum;

#[handlers]
impl Sum {
    /// Adds two numbers.
    #[tool]
    fn add(&self, #[arg(range(0..))] a: i64, b: i64) -> i64 {
        a + b
    }

    /// Adds three numbers.
    #[tool]
    fn add_three(&self, a: i64, b: i64, c: i64) -> i64 {
        self.add(self.add(a, b), c)
    }
}

fn main() {}
