use mcp_runtime::prelude::*;

struct Tone;

impl std::str::FromStr for Tone {
    type Err = String;

    fn from_str(_: &str) -> std::result::Result<Self, String> {
        Ok(Tone)
    }
}

/// Writes.
#[prompt]
fn write(tone: Tone) -> String {
    let _ = tone;
    String::new()
}

fn main() {}
