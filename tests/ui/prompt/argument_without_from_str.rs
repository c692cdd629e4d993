use mcp_runtime::prelude::*;

struct Tone;

/// Writes.
#[prompt]
fn write(tone: Tone) -> String {
    let _ = tone;
    String::new()
}

fn main() {}
