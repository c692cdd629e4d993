//! Rules about names that the specification allows but hosts reject, and about reserved words of programming languages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::finding::{CheckedItem, CheckedServer, Problem};
use crate::cli::lists::{elements, member};

/// Maximum length of a name that both OpenAI's and Anthropic's APIs accept, in characters.
const LONGEST: usize = 64;

/// Maximum length of the names of a tool and its server together, in characters. Cursor hides tools with longer names.
const LONGEST_WITH_SERVER: usize = 59;

fn is_usual(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Returns the name with `_` in place of every character other than ASCII letters, digits, `_` and `-`.
fn cleaned(name: &str) -> String {
    name.chars().map(|c| if is_usual(c) { c } else { '_' }).collect()
}

fn rename(name: &str) -> String {
    format!("name = \"{name}\"")
}

pub(super) fn characters(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let Some(other) = tool.key.chars().find(|c| !is_usual(*c)) else { return Vec::new() };
    let what = format!(
        "its name has a `{other}`: hosts that allow only letters, digits, `_` and `-` reject all tools of the \
         server"
    );
    vec![Problem::new(what, rename(&cleaned(tool.key)))]
}

pub(super) fn start(tool: &CheckedItem<'_>) -> Vec<Problem> {
    if tool.key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Vec::new();
    }
    let what = "its name does not begin with a letter or `_`, which Gemini requires of every tool";
    vec![Problem::new(what, rename(&format!("_{}", cleaned(tool.key))))]
}

pub(super) fn length(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let length = tool.key.chars().count();
    if length <= LONGEST {
        return Vec::new();
    }
    let what = format!("its name has {length} characters; model APIs accept at most {LONGEST}");
    vec![Problem::new(what, "a shorter name: `name = \"…\"`")]
}

pub(super) fn length_with_server(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let (name, server) = (tool.key.chars().count(), tool.server.chars().count());
    if name > LONGEST || name + server <= LONGEST_WITH_SERVER {
        return Vec::new();
    }
    let what = format!(
        "its name has {name} characters, {} with the server's name `{}`: Cursor hides tools with more than \
         {LONGEST_WITH_SERVER}",
        name + server,
        tool.server,
    );
    vec![Problem::new(what, "a shorter name for it (`name = \"…\"`) or for the server")]
}

pub(super) fn arguments(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let fits = |c: char| is_usual(c) || c == '.';
    let wrong =
        |name: &str| !name.chars().all(fits) || !(1..=LONGEST).contains(&name.chars().count());
    let wrong = tool.arguments().filter(|(name, _)| wrong(name));
    let problem = |(name, _): (&str, _)| {
        let what = format!(
            "the argument `{name}` has a name for which Anthropic's API refuses the whole request: a name must have 1 to {LONGEST} \
             letters, digits, `_`, `-` and `.`"
        );
        Problem::new(what, tool.rename(name, &cleaned(name)))
    };
    wrong.map(problem).collect()
}

/// Finds prompt names with a space. Hosts offer prompts as slash commands, and such a command ends at its first space.
pub(super) fn prompt(prompt: &CheckedItem<'_>) -> Vec<Problem> {
    if !prompt.key.contains(char::is_whitespace) {
        return Vec::new();
    }
    let what = "its name has a space: prompts are slash commands, and users cannot type this one";
    let name = prompt.key.split_whitespace().collect::<Vec<_>>().join("-");
    vec![Problem::new(what, rename(&name))]
}

/// Finds tools whose names are equal after `fold` is applied, but differ after `finer` is applied.
fn folded(
    published: &CheckedServer,
    fold: fn(&str) -> String,
    finer: fn(&str) -> String,
    why: &str,
) -> Vec<Problem> {
    // The first tool of each folded name, and the first tool that differs from it after `finer`.
    let (mut firsts, mut others) = (BTreeMap::new(), BTreeMap::new());
    for tool in &published.everything.tools {
        let name = member(tool, "name");
        let folded = fold(name);
        let first = firsts.entry(folded.clone()).or_insert_with(|| name.to_owned());
        if finer(name) != finer(first) {
            others.entry(folded).or_insert_with(|| name.to_owned());
        }
    }
    let problem = |(folded, other): (String, String)| {
        let what = format!("the tools `{}` and `{other}` {why}", firsts[&folded]);
        Problem::new(what, "another name for one of them: `name = \"…\"`")
    };
    others.into_iter().map(problem).collect()
}

fn underscores(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

pub(super) fn alike(published: &CheckedServer) -> Vec<Problem> {
    let why = "have the same name in hosts that replace every `-` and `.` with `_`: a call may reach the wrong tool";
    folded(published, underscores, str::to_owned, why)
}

pub(super) fn alike_but_for_case(published: &CheckedServer) -> Vec<Problem> {
    let why = "differ only in upper and lower case, which people and models mix up";
    folded(published, |name| underscores(name).to_lowercase(), underscores, why)
}

/// Reserved words of Python. They are a single text, because a slice would take another 40 bytes of the program for each word.
const PYTHON: &str = "False None True and as assert async await break class continue def del elif else except \
    finally for from global if import in is lambda nonlocal not or pass raise return try \
    while with yield";

/// Reserved words of JavaScript and TypeScript.
const JAVASCRIPT: &str = "arguments await break case catch class const continue debugger default delete do else \
    enum eval export extends false finally for function if implements import in instanceof \
    interface let new null package private protected public return static super switch this \
    throw true try typeof var void while with yield";

/// Examples of names in place of reserved words. The right name depends on the meaning of the argument. For all other reserved words, the
/// example is the name with a suffix.
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

fn replacement(name: &str) -> String {
    let known = OTHERS.iter().find(|other| other.0 == name);
    known.map_or_else(|| format!("{name}_value"), |known| known.1.to_owned())
}

/// Returns the problem that a reserved name causes in clients. Returns `None` if the name is not reserved.
fn consequence(name: &str) -> Option<&'static str> {
    let is_in = |words: &str| words.split(' ').any(|word| word == name);
    match (is_in(PYTHON), is_in(JAVASCRIPT)) {
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

/// Finds reserved words among the names of arguments and fields. Clients that generate code from schemas fail with such names.
pub(super) fn reserved(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let root = &tool.value["inputSchema"];
    let mut found = Vec::new();
    collect_reserved(root, root, "", &mut BTreeSet::new(), &mut found);
    let is_given = tool.entry.and_then(|entry| entry.tool()).is_some_and(|tool| tool.given);
    let problem = |(place, name): (String, &str)| {
        let why = consequence(name)?;
        let other = replacement(name);
        let fix = match (is_given, place == name) {
            (true, _) => format!("another name in `input_schema = …`, such as `{other}`"),
            (false, true) => {
                format!(
                    "another name for the parameter or field, such as `{other}`, or {}",
                    tool.rename(name, &other)
                )
            }
            (false, false) => {
                format!(
                    "another name for the field, such as `{other}`, or `#[serde(rename = \"{other}\")]`"
                )
            }
        };
        Some(Problem::new(format!("the argument `{place}` has a name that is {why}"), fix))
    };
    found.into_iter().filter_map(problem).collect()
}

/// Collects the reserved names in a part of `root`, each with its path. Each path is collected once. `seen` has the references whose
/// definitions were visited; each definition is visited once.
fn collect_reserved<'a>(
    schema: &'a Value,
    root: &'a Value,
    place: &str,
    seen: &mut BTreeSet<String>,
    found: &mut Vec<(String, &'a str)>,
) {
    if !schema.is_object() {
        return;
    }
    if let Some(reference) = schema["$ref"].as_str()
        && let Some(pointer) = reference.strip_prefix('#')
        && let Some(definition) = root.pointer(pointer)
        && seen.insert(reference.to_owned())
    {
        collect_reserved(definition, root, place, seen, found);
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        let is_new = !found.iter().any(|found| found.0 == place);
        if consequence(name).is_some() && is_new {
            found.push((place.clone(), name));
        }
        collect_reserved(member, root, &place, seen, found);
    }
    for (keyword, step) in [("items", "[]"), ("additionalProperties", "{}")] {
        collect_reserved(&schema[keyword], root, &format!("{place}{step}"), seen, found);
    }
    for (keyword, step) in [("prefixItems", "[]"), ("anyOf", ""), ("oneOf", ""), ("allOf", "")] {
        for branch in elements(&schema[keyword]) {
            collect_reserved(branch, root, &format!("{place}{step}"), seen, found);
        }
    }
}
