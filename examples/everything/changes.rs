//! Changes of lists and resources while the server runs, and their notifications.

use mcp_runtime::prelude::*;

/// Adds a tool and takes it away again, so that every client hears of a changed list.
#[tool]
fn test_trigger_tool_change(server: Handle) -> Result<&'static str> {
    let tool = Tool::new("for_a_moment").description("Is gone before anybody calls it");
    server.add(tool.handler(async |_| "It was there."))?;
    server.remove("for_a_moment");
    Ok("The tools have changed.")
}

/// Adds a prompt and takes it away again, so that every client hears of a changed list.
#[tool]
fn test_trigger_prompt_change(server: Handle) -> Result<&'static str> {
    let prompt = Prompt::new("for_a_moment").description("Is gone before anybody gets it");
    server.add(prompt.handler(async |_, _| "It was there."))?;
    server.remove("for_a_moment");
    Ok("The prompts have changed.")
}

/// Tells the subscribers of `test://watched-resource` that it has changed.
#[tool]
fn touch_watched_resource(server: Handle) -> &'static str {
    server.updated("test://watched-resource");
    "The resource has changed."
}
