//! Tools whose published schemas depend on the schema profile, on a server that publishes full schemas.

use mcp_runtime::{Builder, SchemaProfile, prelude::*};

pub fn server() -> Builder {
    mcp_runtime::server!(name = "fixture", version = "1.2.3", group = "profiles")
        .schema_profile(SchemaProfile::Full)
        .setup(add)
}

/// State of the `setup` function, which adds tools.
struct Added;

async fn add(server: Handle) -> Result<Added> {
    let pages = async |arguments: Pages, _: Context| arguments.pages.map_or(0, u32::from);
    server.add(
        Tool::new("added").description("Added with the server's profile").handler_with(pages),
    )?;
    let own = Tool::new("added_compatible").schema_profile(SchemaProfile::Compatible);
    server.add(own.description("Added with its own").handler_with(pages))?;
    Ok(Added)
}

#[data]
struct Pages {
    /// How many
    pages: Option<u8>,
}

/// Says nothing of its schemas.
#[tool(group = "profiles")]
fn silent(pages: Option<u8>) -> Json<Pages> {
    Json(Pages { pages })
}

/// Says so itself.
#[tool(group = "profiles", schema = "compatible")]
fn compatible(pages: Option<u8>) -> Json<Pages> {
    Json(Pages { pages })
}
