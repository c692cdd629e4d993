//! Rules about names that the specification allows and hosts reject.

use std::collections::BTreeMap;

use super::{Item, Problem, Published, member};

/// Longest name in characters that both OpenAI's and Anthropic's APIs accept.
const LONGEST: usize = 64;

/// Largest number of characters in the names of a tool and its server together. Cursor hides tools with more.
const LONGEST_WITH_SERVER: usize = 59;

fn is_usual(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Returns the name with `_` in place of every other character.
fn cleaned(name: &str) -> String {
    name.chars().map(|c| if is_usual(c) { c } else { '_' }).collect()
}

fn rename(name: &str) -> String {
    format!("name = \"{name}\"")
}

pub(super) fn characters(tool: &Item<'_>) -> Vec<Problem> {
    let Some(other) = tool.key.chars().find(|c| !is_usual(*c)) else { return Vec::new() };
    let what = format!(
        "its name has a `{other}`: hosts that know only letters, digits, `_` and `-` take no tool of a server that has \
         such a one"
    );
    vec![Problem::new(what, rename(&cleaned(tool.key)))]
}

pub(super) fn start(tool: &Item<'_>) -> Vec<Problem> {
    if tool.key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return Vec::new();
    }
    let what = "its name does not begin with a letter or `_`, which Gemini wants of every tool";
    vec![Problem::new(what, rename(&format!("_{}", cleaned(tool.key))))]
}

pub(super) fn length(tool: &Item<'_>) -> Vec<Problem> {
    let length = tool.key.chars().count();
    if length <= LONGEST {
        return Vec::new();
    }
    let what = format!("its name has {length} characters; models take at most {LONGEST}");
    vec![Problem::new(what, "a shorter name: `name = \"…\"`")]
}

pub(super) fn length_with_server(tool: &Item<'_>) -> Vec<Problem> {
    let (name, server) = (tool.key.chars().count(), tool.server.chars().count());
    if name > LONGEST || name + server <= LONGEST_WITH_SERVER {
        return Vec::new();
    }
    let what = format!(
        "its name has {name} characters, {} with the server's name `{}`: Cursor leaves out what has more than \
         {LONGEST_WITH_SERVER}",
        name + server,
        tool.server,
    );
    vec![Problem::new(what, "a shorter name for it (`name = \"…\"`) or for the server")]
}

pub(super) fn arguments(tool: &Item<'_>) -> Vec<Problem> {
    let fits = |c: char| is_usual(c) || c == '.';
    let wrong =
        |name: &str| !name.chars().all(fits) || !(1..=LONGEST).contains(&name.chars().count());
    let wrong = tool.arguments().filter(|(name, _)| wrong(name));
    let problem = |(name, _): (&str, _)| {
        let what = format!(
            "the argument `{name}` has a name that Anthropic's API refuses with all tools of the request: 1 to {LONGEST} \
             letters, digits, `_`, `-` and `.`"
        );
        Problem::new(what, format!("`#[arg(name = \"{}\")]`", cleaned(name)))
    };
    wrong.map(problem).collect()
}

/// Finds prompt names with a space. Hosts offer prompts as slash commands, and such a command ends at its first space.
pub(super) fn prompt(prompt: &Item<'_>) -> Vec<Problem> {
    if !prompt.key.contains(char::is_whitespace) {
        return Vec::new();
    }
    let what = "its name has a space: prompts are slash commands, and nobody can type this one";
    let name = prompt.key.split_whitespace().collect::<Vec<_>>().join("-");
    vec![Problem::new(what, rename(&name))]
}

/// Finds tools whose names are equal after `fold`, but not after `finer`.
fn folded(
    published: &Published,
    fold: fn(&str) -> String,
    finer: fn(&str) -> String,
    why: &str,
) -> Vec<Problem> {
    let mut seen: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for tool in &published.everything.tools {
        let name = member(tool, "name");
        seen.entry(fold(name)).or_default().push(name);
    }
    let mut problems = Vec::new();
    for names in seen.into_values() {
        let [first, others @ ..] = names.as_slice() else { continue };
        if let Some(other) = others.iter().find(|other| finer(other) != finer(first)) {
            let what = format!("the tools `{first}` and `{other}` {why}");
            problems.push(Problem::new(what, "another name for one of them: `name = \"…\"`"));
        }
    }
    problems
}

fn underscores(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

pub(super) fn alike(published: &Published) -> Vec<Problem> {
    let why =
        "become one where hosts write `_` for every `-` and `.`: a call may reach the wrong one";
    folded(published, underscores, str::to_owned, why)
}

pub(super) fn alike_but_for_case(published: &Published) -> Vec<Problem> {
    let why = "differ only in capitals, which people and models mix up";
    folded(published, |it| underscores(it).to_lowercase(), underscores, why)
}
