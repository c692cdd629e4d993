// http
use mcp_runtime::HeaderMap; // mistake

pub fn count(headers: &HeaderMap) -> usize {
    headers.len()
}

fn main() {}
