//! Changes of lists and resources while the server runs, and their notifications.

use mcp_runtime::prelude::*;

/// Adds a tool and takes it away again, so that every client hears of a changed list.
#[tool]
fn test_trigger_tool_change(server: Handle) -> &'static str {
    blink(&server, "test_simple_text");
    "The tools have changed."
}

/// Adds a prompt and takes it away again, so that every client hears of a changed list.
#[tool]
fn test_trigger_prompt_change(server: Handle) -> &'static str {
    blink(&server, "test_simple_prompt");
    "The prompts have changed."
}

/// Disables an item and enables it again. Unlike `add`, this applies to all nodes, so the clients of all nodes are notified.
fn blink(server: &Handle, name: &str) {
    server.disable(name);
    server.enable(name);
}

/// Tells the subscribers of `test://watched-resource` that it has changed.
#[tool]
fn touch_watched_resource(server: Handle) -> &'static str {
    server.updated("test://watched-resource");
    "The resource has changed."
}
