//! Reserved words among the names of arguments and fields. Clients that generate code from schemas fail at them.

use serde_json::Value;

use super::{Item, Problem};

/// Reserved words of Python.
static PYTHON: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Reserved words of JavaScript and TypeScript.
static JAVASCRIPT: [&str; 48] = [
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Proposed names in place of reserved words. All other reserved words get a suffix.
static OTHERS: [(&str, &str); 12] = [
    ("class", "category"),
    ("default", "fallback"),
    ("delete", "remove"),
    ("export", "export_to"),
    ("from", "source"),
    ("import", "import_from"),
    ("in", "within"),
    ("is", "equals"),
    ("new", "replacement"),
    ("not", "excluded"),
    ("or", "alternative"),
    ("package", "package_name"),
];

fn other(name: &str) -> String {
    let known = OTHERS.iter().find(|it| it.0 == name);
    known.map_or_else(|| format!("{name}_value"), |it| it.1.to_owned())
}

/// Returns what goes wrong in clients with a name, if the name is reserved.
fn consequence(name: &str) -> Option<&'static str> {
    match (PYTHON.contains(&name), JAVASCRIPT.contains(&name)) {
        (true, true) => Some(
            "reserved in Python and JavaScript: mcp-use drops it, and neither the Python of smolagents nor the TypeScript of \
             mcporter is valid with it",
        ),
        (true, false) => Some(
            "reserved in Python: mcp-use drops it, and the code that smolagents writes is not valid with it",
        ),
        (false, true) => {
            Some("reserved in JavaScript: the TypeScript that mcporter writes is not valid with it")
        }
        (false, false) => None,
    }
}

pub(super) fn names(tool: &Item<'_>) -> Vec<Problem> {
    let mut found = Vec::new();
    collect(&tool.value["inputSchema"], "", &mut found);
    let is_given = tool.entry.and_then(|it| it.tool()).is_some_and(|it| it.given);
    let problem = |(place, name): (String, &str)| {
        let why = consequence(name)?;
        let other = other(name);
        let fix = match (is_given, place == name) {
            (true, _) => format!("call it `{other}` in `input_schema = …`"),
            (false, true) => {
                format!("call the parameter or field `{other}`, or `#[arg(name = \"{other}\")]`")
            }
            (false, false) => {
                format!("call the field `{other}`, or `#[serde(rename = \"{other}\")]`")
            }
        };
        Some(Problem::new(format!("the argument `{place}` has a name that is {why}"), fix))
    };
    found.into_iter().filter_map(problem).collect()
}

/// Collects the reserved names in a schema with their places, each place once.
fn collect<'a>(schema: &'a Value, place: &str, found: &mut Vec<(String, &'a str)>) {
    if !schema.is_object() {
        return;
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        let is_new = !found.iter().any(|it| it.0 == place);
        if consequence(name).is_some() && is_new {
            found.push((place.clone(), name));
        }
        collect(member, &place, found);
    }
    for (keyword, step) in [("items", "[]"), ("additionalProperties", "{}")] {
        collect(&schema[keyword], &format!("{place}{step}"), found);
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for branch in schema[keyword].as_array().into_iter().flatten() {
            collect(branch, place, found);
        }
    }
    for keyword in ["$defs", "definitions"] {
        for definition in schema[keyword].as_object().into_iter().flatten() {
            collect(definition.1, definition.0, found);
        }
    }
}
