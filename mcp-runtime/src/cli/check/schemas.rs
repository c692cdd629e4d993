//! Rules about the schemas of a tool.

use serde_json::Value;

use super::finding::{CheckFinding, CheckedItem, Problem, Severity};
use crate::{
    catalog::ToolEntry,
    cli::lists::elements,
    schema::{
        SchemaProfile, SchemaSide,
        compatible::complaint::{ForeignKeyword, complaints, foreign_keywords},
        has_keyword,
    },
};

/// Checks the published schemas against all rules of the compatible form, and returns the findings.
pub(super) fn findings(tool: &CheckedItem<'_>) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for (side, key) in [(SchemaSide::Argument, "inputSchema"), (SchemaSide::Result, "outputSchema")]
    {
        let Some(schema) = tool.value.get(key) else { continue };
        for complaint in complaints(schema, side) {
            let where_ = place(side, &complaint.place);
            findings.push(CheckFinding {
                rule: complaint.rule,
                severity: if complaint.refused { Severity::Error } else { Severity::Warning },
                problem: Problem::new(format!("{where_} {}", complaint.says), fix(tool, side)),
                because: complaint.because,
            });
        }
    }
    findings
}

fn place(side: SchemaSide, place: &str) -> String {
    match (side, place) {
        (SchemaSide::Argument, "") => "its input schema".to_owned(),
        (SchemaSide::Result, "") => "its output schema".to_owned(),
        (SchemaSide::Argument, place) => format!("the argument `{place}`"),
        (SchemaSide::Result, place) => format!("`{place}` of its output schema"),
    }
}

/// Returns the fix that the author can apply.
fn fix(tool: &CheckedItem<'_>, side: SchemaSide) -> String {
    match tool.entry.and_then(|entry| entry.tool()) {
        Some(tool) if tool.given && side == SchemaSide::Argument => {
            "change it in `input_schema = …`".to_owned()
        }
        Some(tool) if tool.given_output && side == SchemaSide::Result => {
            "change it in `output_schema = …`".to_owned()
        }
        Some(full) if full.profile() == SchemaProfile::Full => {
            format!("{}: the compatible form avoids this", less(full, tool.is_added()))
        }
        _ => "use another type, or describe this one differently with `#[schemars(…)]`".to_owned(),
    }
}

/// Returns the change that gives a tool the compatible form. The change depends on where the full form is set: on the tool, on the server
/// or on both.
fn less(tool: &ToolEntry, is_added: bool) -> String {
    let (full, compatible) = match is_added {
        false => ("schema = \"full\"", "schema = \"compatible\""),
        true => {
            (".schema_profile(SchemaProfile::Full)", ".schema_profile(SchemaProfile::Compatible)")
        }
    };
    match (tool.own_profile, tool.server_profile) {
        (Some(_), SchemaProfile::Compatible) => format!("remove `{full}`"),
        (Some(_), SchemaProfile::Full) => {
            format!(
                "use `{compatible}` in place of `{full}`, which is also set for the whole server"
            )
        }
        (None, _) => format!(
            "remove `.schema_profile(SchemaProfile::Full)` from the server, or set `{compatible}` on this tool"
        ),
    }
}

pub(super) fn no_properties(tool: &CheckedItem<'_>) -> Vec<Problem> {
    if tool.value["inputSchema"]["properties"].is_object() {
        return Vec::new();
    }
    let what = "its input schema has no `properties`, which OpenAI's API requires even if there are no arguments";
    vec![Problem::new(what, "add `\"properties\": {}` to `input_schema = …`")]
}

/// Finds keywords that Gemini rejects and that the rules of the compatible form do not remove.
pub(super) fn foreign(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let problem = |found: ForeignKeyword| {
        let ForeignKeyword { keyword, place: at, is_published } = found;
        let has = if is_published { "has" } else { "needs" };
        let without = if is_published { "" } else { " in the form for all clients" };
        let what = format!(
            "{} {has} `{keyword}`{without}, which Gemini's API has no field for: the API refuses every request with this keyword",
            place(SchemaSide::Argument, &at)
        );
        Problem::new(
            what,
            "state the rule in the description, and check it when the tool is called",
        )
    };
    let found = foreign_keywords(&tool.value["inputSchema"]).into_iter();
    // `choice_at_the_root` reports `allOf` at the root, so it is left out here.
    found
        .filter(|found| !(found.keyword == "allOf" && found.place.is_empty()))
        .map(problem)
        .collect()
}

pub(super) fn choice_at_the_root(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let schema = &tool.value["inputSchema"];
    let Some(keyword) =
        ["anyOf", "oneOf", "allOf"].into_iter().find(|keyword| !schema[*keyword].is_null())
    else {
        return Vec::new();
    };
    let what = format!(
        "its input schema has `{keyword}` at the root: Anthropic's API refuses every request with it"
    );
    vec![Problem::new(
        what,
        "leave it out and state in the description which arguments go together, or take one argument for the choice",
    )]
}

pub(super) fn required_but_unknown(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let mut names = Vec::new();
    let mut open = vec![&tool.value["inputSchema"]];
    while let Some(schema) = open.pop() {
        // A schema without `properties`, such as a branch of `anyOf`, may require properties of the schema around it, so it is not checked.
        let has_some = schema["properties"].is_object();
        let required = elements(&schema["required"]).iter().filter(|_| has_some);
        names.extend(
            required
                .filter_map(Value::as_str)
                .filter(|required| schema["properties"][*required].is_null()),
        );
        match schema {
            Value::Object(map) => open.extend(map.values()),
            Value::Array(list) => open.extend(list),
            _ => {}
        }
    }
    names.sort_unstable();
    names.dedup();
    let problem = |name| {
        let what = format!(
            "`{name}` is required but not among the `properties`: Gemini refuses every request with it"
        );
        Problem::new(what, "add it to the `properties`, or remove it from `required`")
    };
    names.into_iter().map(problem).collect()
}

/// Finds references that remain in the compatible form. That form inlines references unless the result would be too large.
pub(super) fn too_large(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let entry = tool.entry.and_then(|entry| entry.tool());
    let compatible = entry.filter(|entry| entry.profile() == SchemaProfile::Compatible);
    let mut problems = Vec::new();
    for (key, is_ours) in [
        ("inputSchema", compatible.is_some_and(|entry| !entry.given)),
        ("outputSchema", compatible.is_some_and(|entry| !entry.given_output)),
    ] {
        if is_ours && has_keyword(&tool.value[key], "$ref") {
            let what = format!(
                "its `{key}` is too large to be spelled out without references (`$ref`), which clients refuse"
            );
            problems.push(Problem::new(
                what,
                "use smaller types, or `serde_json::Value` for the innermost ones",
            ));
        }
    }
    problems
}
