use mcp_runtime::prelude::*;

enum Tone {
    Warm,
    Cold,
}

/// Writes.
#[prompt]
fn write(tone: Tone) -> String {
    let _ = tone;
    String::new()
}

fn main() {}
