//! Rules about an item's texts and media type, about arguments without a description, and about fields that no description names.

use std::collections::BTreeSet;

use serde_json::Value;

use super::finding::{CheckedItem, CheckedServer, Problem};
use crate::{
    catalog::Entry,
    cli::lists::{elements, member},
};

/// Maximum length of a description, in characters. OpenAI's API has rejected longer descriptions.
const LONG: usize = 1024;

/// Number of characters after which Claude Code cuts off descriptions and instructions.
const CUT_OFF: usize = 2048;

pub(super) fn long_instructions(published: &CheckedServer) -> Vec<Problem> {
    let length = published
        .identity
        .instructions
        .as_deref()
        .map_or(0, |instructions| instructions.chars().count());
    if length <= CUT_OFF {
        return Vec::new();
    }
    let what = format!(
        "the instructions have {length} characters; Claude Code drops everything after the first {CUT_OFF}"
    );
    vec![Problem::new(what, "shorten them, and put the most important part first")]
}

pub(super) fn no_description(tool: &CheckedItem<'_>) -> Vec<Problem> {
    if !member(tool.value, "description").trim().is_empty() {
        return Vec::new();
    }
    let what = "it has no description: models do not know what it is for, and models on Amazon Bedrock refuse the request";
    let fix = match tool.is_added() {
        true => "`.description(\"…\")` on the `Tool`",
        false => "a doc comment above the function",
    };
    vec![Problem::new(what, fix)]
}

pub(super) fn long_description(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let length = member(tool.value, "description").chars().count();
    if length <= LONG {
        return Vec::new();
    }
    let cut_off = if length > CUT_OFF {
        format!(", and Claude Code silently drops everything after the first {CUT_OFF}")
    } else {
        String::new()
    };
    let what = format!(
        "its description has {length} characters: OpenAI's API has refused more than {LONG}{cut_off}"
    );
    vec![Problem::new(
        what,
        "shorten it to what the tool does and when to use it; move the rest to the descriptions of the arguments, or to the repository",
    )]
}

/// Finds descriptions that contain `*/`. Clients that generate TypeScript for a tool put its descriptions into comments, which `*/` would
/// end.
pub(super) fn ends_of_comments(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let ends = |value: &Value| member(value, "description").contains("*/");
    let own = ends(tool.value).then(|| "its description".to_owned());
    let arguments = tool.arguments().filter(|(_, schema)| ends(schema));
    let arguments = arguments.map(|(name, _)| format!("the description of the argument `{name}`"));
    let problem = |place: String| {
        let what = format!(
            "{place} has `*/`, which ends the comment that mcporter writes it into, so that the generated TypeScript is not valid"
        );
        Problem::new(
            what,
            "use another example or another word, such as `src/*.rs` in place of `src/**/*.rs`",
        )
    };
    own.into_iter().chain(arguments).map(problem).collect()
}

pub(super) fn no_media_type(resource: &CheckedItem<'_>) -> Vec<Problem> {
    if !member(resource.value, "mimeType").is_empty() {
        return Vec::new();
    }
    let what = "it has no media type, and some hosts cannot show it without one";
    let fix = match resource.is_added() {
        true => {
            "`.mime_type(\"…\")` on the `Resource`, with the type of its contents, such as `image/png`"
        }
        false => "add `mime_type = \"…\"` with the type of its contents, such as `image/png`",
    };
    vec![Problem::new(what, fix)]
}

/// Maximum number of arguments that a finding names. Further arguments are only counted.
const MOST: usize = 12;

/// Names of the fields of std types that serialize as objects. Authors cannot document these fields, and the names are self-explanatory.
static OF_STD: [&[&str]; 7] = [
    &["nanos", "secs"],
    &["nanos_since_epoch", "secs_since_epoch"],
    &["end", "start"],
    &["Ok"],
    &["Err"],
    &["Included"],
    &["Excluded"],
];

/// Finds undocumented arguments and fields inside of arguments. A tool has at most one such finding.
pub(super) fn undocumented_arguments(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let root = &tool.value["inputSchema"];
    let mut walk =
        DescriptionWalk { root, seen: BTreeSet::new(), silent: Vec::new(), has_fields: false };
    walk.inside(root, "", false);
    let Some(subject) = subject(&walk.silent) else { return Vec::new() };
    let is_given = tool.entry.and_then(|entry| entry.tool()).is_some_and(|tool| tool.given);
    let fix = match (is_given, walk.has_fields) {
        (true, _) => "a `description` for each in `input_schema = …`",
        (false, false) => "a doc comment above each of these parameters or fields",
        (false, true) => {
            "a doc comment above each of these parameters, fields or variants, or above its type; if the type is from another \
             crate, use a type of your own"
        }
    };
    vec![Problem::new(format!("{subject} no description: models guess"), fix)]
}

/// Finds undocumented arguments of a prompt. Arguments with completion are left out, because the suggestions show the user what to fill in.
pub(super) fn undocumented_prompt_arguments(prompt: &CheckedItem<'_>) -> Vec<Problem> {
    let known = prompt.entry.map(Entry::arguments).unwrap_or_default();
    let is_completed =
        |name: &str| known.iter().any(|known| known.name == name && known.can_complete());
    let arguments = elements(&prompt.value["arguments"]).iter();
    let silent: Vec<String> = arguments
        .filter(|argument| is_blank(argument))
        .map(|argument| member(argument, "name").to_owned())
        .filter(|name| !is_completed(name))
        .collect();
    let Some(subject) = subject(&silent) else { return Vec::new() };
    let what =
        format!("{subject} no description: the user who fills in the prompt sees only a name");
    let fix = match prompt.is_added() {
        true => "the second parameter of each `.argument(…)`",
        false => "a doc comment above each of these parameters",
    };
    vec![Problem::new(what, fix)]
}

/// Returns the beginning of the finding, such as "the arguments `a`, `order.items[].sku` have". Returns `None` if `silent` is empty.
fn subject(silent: &[String]) -> Option<String> {
    let named: Vec<String> = silent.iter().take(MOST).map(|silent| format!("`{silent}`")).collect();
    let more = match silent.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match named.as_slice() {
        [] => None,
        [one] => Some(format!("the argument {one} has")),
        _ => Some(format!("the arguments {}{more} have", named.join(", "))),
    }
}

fn is_blank(schema: &Value) -> bool {
    member(schema, "description").trim().is_empty()
}

struct DescriptionWalk<'a> {
    root: &'a Value,
    /// References to definitions that were visited. Each definition is visited once.
    seen: BTreeSet<String>,
    silent: Vec<String>,
    /// Whether some entries of `silent` are fields inside of arguments.
    has_fields: bool,
}

impl<'a> DescriptionWalk<'a> {
    /// Collects the undocumented members below `place`. If `is_told` is set, the schema is a variant with a description. That description
    /// also covers the member of a variant with a single member, because the author cannot document such a member separately.
    fn inside(&mut self, schema: &'a Value, place: &str, is_told: bool) {
        if let Some(reference) = schema["$ref"].as_str()
            && let Some(definition) = self.definition(schema)
            && self.seen.insert(reference.to_owned())
        {
            self.inside(definition, place, is_told);
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            for branch in elements(&schema[keyword]) {
                self.inside(branch, place, keyword != "allOf" && !is_blank(branch));
            }
        }
        let members = schema["properties"].as_object().into_iter().flatten();
        let mut names: Vec<&str> = members.clone().map(|member| member.0.as_str()).collect();
        names.sort_unstable();
        let is_argument = place.is_empty();
        let is_of_std = !is_argument && OF_STD.contains(&&*names);
        let is_alone = members.clone().filter(|member| !is_constant(member.1)).count() == 1;
        for (name, member) in members {
            let place = if is_argument { name.clone() } else { format!("{place}.{name}") };
            let needs_none = is_of_std || is_told && is_alone || is_constant(member);
            if !needs_none && !self.is_described(member) && !self.silent.contains(&place) {
                self.silent.push(place.clone());
                self.has_fields |= !is_argument;
            }
            self.inside(member, &place, false);
        }
        for (keyword, step) in [("items", "[]"), ("additionalProperties", "{}")] {
            if let Some(schema) = schema.get(keyword) {
                self.inside(schema, &format!("{place}{step}"), false);
            }
        }
        for element in elements(&schema["prefixItems"]) {
            self.inside(element, &format!("{place}[]"), false);
        }
    }

    fn definition(&self, schema: &Value) -> Option<&'a Value> {
        self.root.pointer(schema["$ref"].as_str()?.strip_prefix('#')?)
    }

    /// Returns whether a member or its type has a description. The type is the definition that the member refers to. If the member has
    /// branches, it is the only branch other than `null`, or the definition to which that branch refers.
    fn is_described(&self, schema: &Value) -> bool {
        if !is_blank(schema)
            || self.definition(schema).is_some_and(|definition| !is_blank(definition))
        {
            return true;
        }
        let branches = ["anyOf", "oneOf", "allOf"]
            .into_iter()
            .filter_map(|keyword| schema[keyword].as_array());
        let mut types = branches.flatten().filter(|branch| branch["type"] != "null");
        match (types.next(), types.next()) {
            (Some(one), None) => {
                !is_blank(one)
                    || self.definition(one).is_some_and(|definition| !is_blank(definition))
            }
            _ => false,
        }
    }
}

/// Returns whether only one value is possible, as for the tag of an enum.
fn is_constant(schema: &Value) -> bool {
    !schema["const"].is_null() || schema["enum"].as_array().is_some_and(|values| values.len() == 1)
}

/// Finds arguments that are or contain objects, and whose description does not name all of their fields. Fields of nested objects are not
/// checked, because the description of the outer field can name them.
pub(super) fn unnamed_fields(tool: &CheckedItem<'_>) -> Vec<Problem> {
    let root = &tool.value["inputSchema"];
    let is_given = tool.entry.and_then(|entry| entry.tool()).is_some_and(|tool| tool.given);
    let mut problems = Vec::new();
    for (name, schema) in tool.arguments() {
        let mut fields = Vec::new();
        collect_fields(schema, root, 0, &mut fields);
        let described = member(schema, "description");
        // An argument without a description has a finding of its own, so its fields are not reported here.
        fields.retain(|field| !described.is_empty() && !is_named(described, field));
        if fields.is_empty() {
            continue;
        }
        let fields: Vec<_> = fields.iter().map(|field| format!("`{field}`")).collect();
        let what = format!(
            "the argument `{name}` holds objects: LlamaIndex shows models none of their fields"
        );
        let place = if is_given { "in its `description`" } else { "in its doc comment" };
        problems.push(Problem::new(what, format!("name them {place} too: {}", fields.join(", "))));
    }
    problems
}

/// Returns whether a description contains the name as a whole word.
fn is_named(description: &str, name: &str) -> bool {
    description.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|part| part == name)
}

fn collect_fields<'a>(schema: &'a Value, root: &'a Value, depth: u8, found: &mut Vec<&'a str>) {
    // The depth is limited, because definitions may refer to each other in a cycle.
    if depth > 16 || !schema.is_object() {
        return;
    }
    let names =
        schema["properties"].as_object().into_iter().flatten().map(|property| property.0.as_str());
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        collect_fields(&schema[keyword], root, depth + 1, found);
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for branch in elements(&schema[keyword]) {
            collect_fields(branch, root, depth + 1, found);
        }
    }
    let reference =
        schema["$ref"].as_str().and_then(|reference| root.pointer(reference.strip_prefix('#')?));
    if let Some(definition) = reference {
        collect_fields(definition, root, depth + 1, found);
    }
}
