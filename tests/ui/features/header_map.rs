// http
use mcp_runtime::http::HeaderMap; // mistake

pub fn count(headers: &HeaderMap) -> usize {
    headers.len()
}

fn main() {}
