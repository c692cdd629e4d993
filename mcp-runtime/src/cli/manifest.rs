//! The command `schema` prints the manifest, and reports for each tool whether its schemas are static or lazy.

use super::{
    command::{CommandWords, apart},
    exit::{CommandError, CommandOutput},
};
use crate::{
    builder::Builder,
    catalog::{Entry, Snapshot, ToolEntry},
    contract,
    model::ListKind,
    schema::{SchemaProfile, constant::short},
};

pub(super) fn run(builder: Builder, _: CommandWords) -> Result<(), CommandError> {
    apart(Box::new(|_| Box::pin(async move { manifest(builder) })))
}

/// Returns the text of a lock file for stdout. Information that is not part of the contract goes to stderr.
fn manifest(builder: Builder) -> Result<CommandOutput, CommandError> {
    let server = builder.build().map_err(CommandError::failure)?;
    let snapshot = server.catalog.snapshot();
    let text = contract::manifest(&server.identity, &snapshot).text();
    Ok(CommandOutput { aside: makers(&snapshot), ..text.into() })
}

/// Returns one line for each tool, which says whether its schemas are static or lazy. The lines below it give the reasons for the lazy
/// schemas.
fn makers(snapshot: &Snapshot) -> String {
    let tools = snapshot.list(ListKind::Tools);
    let mut text = String::new();
    let width = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or_default();
    let mut is_all_known = true;
    for entry in tools {
        let schemas = schemas(entry);
        text.push_str(&format!("  {:width$}  {schemas:28}  {}\n", entry.name, entry.place()));
        for reason in entry.tool().into_iter().flat_map(|tool| reasons(entry, tool)) {
            is_all_known &= !(reason.starts_with("input: ") || reason.starts_with("output: "));
            text.push_str(&format!("    {reason}\n"));
        }
    }
    if tools.is_empty() {
        return text;
    }
    let head = "schemas: static ones are made at compile time, lazy ones when the server starts\n";
    let advice = match is_all_known {
        true => "",
        false => {
            "  `#[data]` makes the schema of a type known at compile time, unless the type has attributes of schemars, has `#[serde(try_from)]`, or contains itself; \
             schemas of types from other crates are lazy\n"
        }
    };
    format!("{head}{text}{advice}")
}

fn schemas(entry: &Entry) -> String {
    let Some(tool) = entry.tool() else { return String::new() };
    let schemas = &tool.schemas;
    let word = |is_static: bool| if is_static { "static" } else { "lazy" };
    let input = if tool.given { "given" } else { word(schemas.input.is_static) };
    match &schemas.output {
        Some(_) if tool.given_output => format!("input {input}, output given"),
        Some(output) => format!("input {input}, output {}", word(output.schema.is_static)),
        None => format!("input {input}"),
    }
}

/// Returns the reasons why schemas of the tool are lazy.
fn reasons(entry: &Entry, tool: &ToolEntry) -> Vec<String> {
    let schemas = &tool.schemas;
    let lazy_input = !tool.given && !schemas.input.is_static;
    let lazy_output = !tool.given_output
        && schemas.output.as_ref().is_some_and(|output| !output.schema.is_static);
    if !lazy_input && !lazy_output {
        return Vec::new();
    }
    if entry.origin.is_none() {
        return vec![
            "it was added at run time, so none of its schemas is made at compile time".to_owned(),
        ];
    }
    if tool.profile() == SchemaProfile::Full {
        return vec![
            "only schemas in the compatible form are made at compile time, and this one is in the full form"
                .to_owned(),
        ];
    }
    let mut reasons = Vec::new();
    if let Some(input) = tool.constant.input.filter(|_| lazy_input) {
        reasons.extend(input.gaps().into_iter().map(|gap| format!("input: {gap}")));
    }
    if let Some(output) = tool.output.filter(|_| lazy_output) {
        let name = short((output.name)());
        reasons.push(format!("output: the compiler does not know all of `{name}`"));
    }
    reasons
}
