use mcp_runtime::prelude::*;

#[config]
struct Config {
    #[config(default = 2)]
    digits: usize,
    na: String,
    #[config(default = "EUR")]
    currency: String,
}

/// Adds two numbers.
#[tool]
fn add(a: f64, b: f64, config: &Config) -> String {
    format!("{:.*} {}", config.digits, a + b, config.currency)
}

fn main() {}
