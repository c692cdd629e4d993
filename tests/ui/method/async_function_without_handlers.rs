use mcp_runtime::prelude::*;

struct Notes;

impl Notes {
    /// Finds a note.
    #[resource("notes://{index}/{part}")]
    async fn note(index: usize, part: &str, of: &Notes) -> Result<String> {
        let _ = of;
        Ok(format!("{part} of {index}"))
    }
}

fn main() {}
