//! Server that the fixture runs for a recording, and that a test then replays in its own process.

use mcp_runtime::{Builder, prelude::*};

/// Writes a line to the log, and returns the text.
#[tool(group = "diary")]
fn write_down(text: String) -> String {
    // The default target is the path of the module, which begins with the name of the program.
    tracing::info!(target: "diary", "written: {text}");
    text
}

/// Returns the server.
pub(crate) fn server() -> Builder {
    mcp_runtime::server!(name = "diary", group = "diary")
}
