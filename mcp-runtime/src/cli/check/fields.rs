//! Fields of objects in arguments, which not every client shows to models.

use serde_json::Value;

use super::{Item, Problem, member};

/// Finds arguments that are or hold objects, and whose description leaves out the name of a field. Fields of fields are not looked at: the
/// description of the outer field names them.
pub(super) fn unnamed(tool: &Item<'_>) -> Vec<Problem> {
    let root = &tool.value["inputSchema"];
    let is_given = tool.entry.and_then(|it| it.tool()).is_some_and(|it| it.given);
    let mut problems = Vec::new();
    for (name, schema) in tool.arguments() {
        let mut fields = Vec::new();
        collect(schema, root, 0, &mut fields);
        let described = member(schema, "description");
        // An argument without a description has a finding of its own.
        fields.retain(|it| !described.is_empty() && !is_named(described, it));
        if fields.is_empty() {
            continue;
        }
        let fields: Vec<_> = fields.iter().map(|it| format!("`{it}`")).collect();
        let what = format!(
            "the argument `{name}` holds objects: LlamaIndex shows models none of their fields"
        );
        let place = if is_given { "in its `description`" } else { "in its doc comment" };
        problems.push(Problem::new(what, format!("name them {place} too: {}", fields.join(", "))));
    }
    problems
}

/// Whether a description contains the name as a whole word.
fn is_named(description: &str, name: &str) -> bool {
    description.split(|it: char| !(it.is_alphanumeric() || it == '_')).any(|it| it == name)
}

fn collect<'a>(schema: &'a Value, root: &'a Value, depth: u8, found: &mut Vec<&'a str>) {
    // Definitions may refer to each other in a circle.
    if depth > 16 || !schema.is_object() {
        return;
    }
    let names = schema["properties"].as_object().into_iter().flatten().map(|it| it.0.as_str());
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        collect(&schema[keyword], root, depth + 1, found);
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for branch in schema[keyword].as_array().into_iter().flatten() {
            collect(branch, root, depth + 1, found);
        }
    }
    let reference = schema["$ref"].as_str().and_then(|it| root.pointer(it.strip_prefix('#')?));
    if let Some(definition) = reference {
        collect(definition, root, depth + 1, found);
    }
}
