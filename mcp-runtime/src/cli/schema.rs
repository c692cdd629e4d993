//! `schema`: the manifest, and who made the schemas in it.

use super::{Printed, Stop};
use crate::{
    builder::Builder,
    catalog::{Entry, Snapshot},
    contract::Published,
    model::ListKind,
};

/// The text of a lock file on stdout. What is no part of the contract goes to stderr.
pub(super) fn print(builder: Builder) -> Result<Printed, Stop> {
    let server = builder.build().map_err(Stop::failure)?;
    let snapshot = server.catalog.snapshot();
    let text = Published::of(&server.identity, &snapshot).manifest.text();
    Ok(Printed { aside: makers(&snapshot), ..text.into() })
}

/// A line for each tool: which of its schemas were there when the program started.
fn makers(snapshot: &Snapshot) -> String {
    let tools = snapshot.list(ListKind::Tools);
    let mut text = String::new();
    if !tools.is_empty() {
        text.push_str("schemas: static ones were made by the compiler, lazy ones at first use\n");
    }
    let width = tools.iter().map(|it| it.name.chars().count()).max().unwrap_or_default();
    for entry in tools {
        let schemas = schemas(entry);
        text.push_str(&format!("  {:width$}  {schemas:28}  {}\n", entry.name, entry.place()));
    }
    text
}

fn schemas(entry: &Entry) -> String {
    let Some(tool) = entry.tool() else { return String::new() };
    let schemas = tool.schemas();
    let word = |is_static: bool| if is_static { "static" } else { "lazy" };
    let input = if tool.given { "given" } else { word(schemas.input.is_static) };
    match &schemas.output {
        Some(output) => format!("input {input}, output {}", word(output.made.is_static)),
        None => format!("input {input}"),
    }
}
