//! Rules about arguments without a description.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Item, Problem, member};
use crate::catalog::Entry;

/// Largest number of arguments that a finding names. It gives only the number of the others.
const MOST: usize = 12;

/// Fields of std's types that are serialized as objects. Authors cannot comment these fields, and their names are clear.
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
pub(super) fn arguments(tool: &Item<'_>) -> Vec<Problem> {
    let root = &tool.value["inputSchema"];
    let mut walk = Walk { root, seen: BTreeSet::new(), silent: Vec::new(), has_fields: false };
    walk.inside(root, "", false);
    let Some(subject) = subject(&walk.silent) else { return Vec::new() };
    let is_given = tool.entry.and_then(|it| it.tool()).is_some_and(|it| it.given);
    let fix = match (is_given, walk.has_fields) {
        (true, _) => "a `description` for each in `input_schema = …`",
        (false, false) => "a doc comment above each of these parameters or fields",
        (false, true) => {
            "a doc comment above each of these parameters, fields or variants, or above the type of one; where the type is \
             not yours, take one that is"
        }
    };
    vec![Problem::new(format!("{subject} no description: models guess"), fix)]
}

/// Finds undocumented arguments of a prompt. Arguments with completion are left out, because the suggestions show the user what to fill in.
pub(super) fn prompt_arguments(prompt: &Item<'_>) -> Vec<Problem> {
    let known = prompt.entry.map(Entry::arguments).unwrap_or_default();
    let is_completed = |name: &str| known.iter().any(|it| it.name == name && it.can_complete());
    let arguments = prompt.value["arguments"].as_array().into_iter().flatten();
    let silent: Vec<String> = arguments
        .filter(|it| is_blank(it))
        .map(|it| member(it, "name").to_owned())
        .filter(|it| !is_completed(it))
        .collect();
    let Some(subject) = subject(&silent) else { return Vec::new() };
    let what =
        format!("{subject} no description: whoever fills in the prompt sees no more than a name");
    let fix = match prompt.is_added() {
        true => "the second parameter of each `.argument(…)`",
        false => "a doc comment above each of these parameters",
    };
    vec![Problem::new(what, fix)]
}

/// Returns the subject of the finding, such as: the arguments `a`, `order.items[].sku` have. Returns `None` if `silent` is empty.
fn subject(silent: &[String]) -> Option<String> {
    let named: Vec<String> = silent.iter().take(MOST).map(|it| format!("`{it}`")).collect();
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

struct Walk<'a> {
    root: &'a Value,
    /// References to definitions that were visited. Each definition is visited once.
    seen: BTreeSet<&'a str>,
    silent: Vec<String>,
    /// Whether some of these are fields inside of arguments.
    has_fields: bool,
}

impl<'a> Walk<'a> {
    /// Collects the undocumented members below `place`. With `is_told` the schema is a variant that has a description. That description
    /// also covers the only member of the variant, because the author cannot write another one there.
    fn inside(&mut self, schema: &'a Value, place: &str, is_told: bool) {
        if let Some(reference) = schema["$ref"].as_str()
            && let Some(definition) = self.definition(schema)
            && self.seen.insert(reference)
        {
            self.inside(definition, place, is_told);
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            for branch in schema[keyword].as_array().into_iter().flatten() {
                self.inside(branch, place, keyword != "allOf" && !is_blank(branch));
            }
        }
        let members = schema["properties"].as_object().into_iter().flatten();
        let mut names: Vec<&str> = members.clone().map(|it| it.0.as_str()).collect();
        names.sort_unstable();
        let is_argument = place.is_empty();
        let is_of_std = !is_argument && OF_STD.contains(&&*names);
        let is_alone = members.clone().filter(|it| !is_constant(it.1)).count() == 1;
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
        for element in schema["prefixItems"].as_array().into_iter().flatten() {
            self.inside(element, &format!("{place}[]"), false);
        }
    }

    fn definition(&self, schema: &Value) -> Option<&'a Value> {
        self.root.pointer(schema["$ref"].as_str()?.strip_prefix('#')?)
    }

    /// Whether a member or its type has a description. The type is what the member refers to, or its only alternative to `null`.
    fn is_described(&self, schema: &Value) -> bool {
        if !is_blank(schema) || self.definition(schema).is_some_and(|it| !is_blank(it)) {
            return true;
        }
        let branches =
            ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|it| schema[it].as_array());
        let mut types = branches.flatten().filter(|it| it["type"] != "null");
        match (types.next(), types.next()) {
            (Some(one), None) => {
                !is_blank(one) || self.definition(one).is_some_and(|it| !is_blank(it))
            }
            _ => false,
        }
    }
}

/// Whether only one value is possible, as for the tag of an enum.
fn is_constant(schema: &Value) -> bool {
    !schema["const"].is_null() || schema["enum"].as_array().is_some_and(|it| it.len() == 1)
}
