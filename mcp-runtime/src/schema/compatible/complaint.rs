//! Complaints of the command `check` about a schema that is not in the form that all known clients read.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use super::{
    rewrite::{compatible, rewrite_by},
    rules::{RULES, RewriteRule, RewriteStage},
};
use crate::schema::{
    SchemaSide,
    definitions::{definition_name, has_keyword},
};

/// Complaint of one rule about a published schema that the rule would rewrite.
#[derive(Debug)]
pub(crate) struct Complaint {
    pub(crate) rule: &'static str,
    /// First place that the rule would rewrite, such as `filter.and[]`; empty for the root.
    pub(crate) place: String,
    /// Predicate of a sentence whose subject is the place, such as "has no type".
    pub(crate) says: String,
    /// Whether some known client rejects the schema.
    pub(crate) refused: bool,
    /// Public issue threads (`owner/repository#number`) that show the problem.
    pub(crate) because: &'static [&'static str],
}

/// Returns the complaints about a schema that is published unchanged, one for each rule that would rewrite the schema.
pub(crate) fn complaints(schema: &Value, side: SchemaSide) -> Vec<Complaint> {
    let by = |rules: &[RewriteRule]| rewrite_by(rules, schema.clone(), side);
    let (untouched, rewritten) = (by(&[]), by(RULES));
    if untouched == rewritten {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    for (at, rule) in RULES.iter().enumerate().filter(|(_, rule)| rule.sides.contains(&side)) {
        // A rule gets a complaint if the rule alone changes the schema, or if the result differs without the rule. The first test misses
        // rules that run on the output of another rule. The second test misses rules whose work another rule does in their absence.
        let others: Vec<RewriteRule> = [&RULES[..at], &RULES[at + 1..]].concat();
        let alone = first_difference(&untouched, &by(std::slice::from_ref(rule)));
        if let Some(path) = alone.or_else(|| first_difference(&by(&others), &rewritten)) {
            // For a result, only rules about the dialect, references and recursion report that a client rejects the schema. The other
            // rules exist for models, which do not read the schema of a result. Clients use it only to validate results.
            let matters = side == SchemaSide::Argument
                || matches!(
                    rule.stage,
                    RewriteStage::Dialect | RewriteStage::References | RewriteStage::Recursion
                );
            complaints.push(Complaint {
                rule: rule.name,
                place: place(&untouched, &path),
                says: rule.says.replace("{}", &keywords_at(rule.keywords, &untouched, &path)),
                refused: rule.refused && matters,
                because: rule.because,
            });
        }
    }
    complaints
}

/// Keyword that Gemini's API lacks, and that no rule replaces.
pub(crate) struct ForeignKeyword {
    pub(crate) keyword: &'static str,
    /// First place where the keyword occurs.
    pub(crate) place: String,
    /// Whether the published schema has the keyword somewhere. Otherwise only its compatible form has it, in place of other keywords.
    pub(crate) is_published: bool,
}

/// Returns the foreign keywords of a schema. `$ref` is left out, because it has a rule of its own.
pub(crate) fn foreign_keywords(arguments: &Value) -> Vec<ForeignKeyword> {
    static FOREIGN: [&str; 13] = [
        "const",
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "minContains",
        "maxContains",
        "dependentSchemas",
        "dependencies",
        "additionalItems",
        "$dynamicRef",
    ];
    let mut found: Vec<ForeignKeyword> = Vec::new();
    let mut open = vec![(compatible(arguments.clone()), Vec::new())];
    while let Some((schema, path)) = open.pop() {
        let Value::Object(map) = schema else { continue };
        for keyword in FOREIGN.into_iter().filter(|keyword| map.contains_key(*keyword)) {
            if found.iter().all(|found| found.keyword != keyword) {
                found.push(ForeignKeyword {
                    keyword,
                    place: place(arguments, &path),
                    is_published: has_keyword(arguments, keyword),
                });
            }
        }
        let below = |keyword: &str, name: Option<&str>| {
            let names = [Some(keyword), name].into_iter().flatten().map(str::to_owned);
            path.iter().cloned().chain(names).collect::<Vec<_>>()
        };
        for (keyword, value) in &map {
            match (keyword.as_str(), value) {
                ("items" | "additionalProperties", schema) => {
                    open.push((schema.clone(), below(keyword, None)));
                }
                ("anyOf" | "allOf", Value::Array(schemas)) => {
                    open.extend(
                        schemas.iter().map(|schema| (schema.clone(), below(keyword, None))),
                    );
                }
                ("properties", Value::Object(schemas)) => open.extend(
                    schemas
                        .iter()
                        .map(|(name, schema)| (schema.clone(), below(keyword, Some(name)))),
                ),
                _ => {}
            }
        }
    }
    found.sort_by_key(|found| found.keyword);
    found
}

/// Returns the path to the first place where two schemas differ.
fn first_difference(a: &Value, b: &Value) -> Option<Vec<String>> {
    fn differ(a: &Value, b: &Value, path: &mut Vec<String>) -> bool {
        match (a, b) {
            (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
                a.iter().any(|(name, value)| {
                    path.push(name.clone());
                    let found = differ(value, &b[name], path);
                    if !found {
                        path.pop();
                    }
                    found
                })
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                a.iter().zip(b).enumerate().any(|(at, (a, b))| {
                    path.push(at.to_string());
                    let found = differ(a, b, path);
                    if !found {
                        path.pop();
                    }
                    found
                })
            }
            _ => a != b,
        }
    }
    let mut path = Vec::new();
    differ(a, b, &mut path).then_some(path)
}

/// Returns those of the keywords that the schema at the path has, or all of them if it has none.
fn keywords_at(keywords: &[&str], root: &Value, path: &[String]) -> String {
    let schema = path.iter().try_fold(root, |schema, step| match schema {
        Value::Array(list) => list.get(step.parse::<usize>().ok()?),
        schema => schema.get(step),
    });
    let has = |keyword: &&&str| schema.is_some_and(|schema| schema.get(**keyword).is_some());
    let last = |keyword: &&&str| path.last().is_some_and(|last| last == **keyword);
    let mut found: Vec<_> =
        keywords.iter().filter(|keyword| has(keyword) || last(keyword)).collect();
    if found.is_empty() {
        found = keywords.iter().collect();
    }
    found.iter().map(|keyword| format!("`{keyword}`")).collect::<Vec<_>>().join(", ")
}

/// Formats a path for people: `properties, filter, properties, and, items` becomes `filter.and[]`. A path into a definition of `root`
/// continues the first path that leads to the definition.
fn place(root: &Value, path: &[String]) -> String {
    let (mut place, path) = match path {
        [keyword, name, inside @ ..] if keyword == "$defs" || keyword == "definitions" => {
            (place_of_definition(root, name), inside)
        }
        path => (String::new(), path),
    };
    let mut segments = path.iter().peekable();
    while let Some(segment) = segments.next() {
        match segment.as_str() {
            "properties" => {
                let dot = if place.is_empty() { "" } else { "." };
                place.extend(segments.next().map(|name| format!("{dot}{name}")));
            }
            "items" | "prefixItems" => place.push_str("[]"),
            // Without a further segment, the rule rewrites the keyword and not the schema of the members.
            "additionalProperties" if segments.peek().is_some() => place.push_str("{}"),
            _ => {}
        }
    }
    place
}

/// Returns the first place in `root` that refers to a definition, or the name of the definition if no place does.
fn place_of_definition(root: &Value, definition: &str) -> String {
    let mut seen = BTreeSet::new();
    let mut open = VecDeque::from([(root, String::new())]);
    while let Some((schema, place)) = open.pop_front() {
        if let Some(name) = schema["$ref"].as_str().and_then(definition_name) {
            if name == definition {
                return place;
            }
            let definitions = ["$defs", "definitions"].map(|keyword| &root[keyword][&*name]);
            if seen.insert(name) {
                open.extend(definitions.map(|schema| (schema, place.clone())));
            }
        }
        let dot = if place.is_empty() { "" } else { "." };
        let members = schema["properties"].as_object().into_iter().flatten();
        open.extend(members.map(|(name, schema)| (schema, format!("{place}{dot}{name}"))));
        for (keyword, step) in [("items", "[]"), ("additionalProperties", "{}")] {
            open.push_back((&schema[keyword], format!("{place}{step}")));
        }
        for (keyword, step) in [("prefixItems", "[]"), ("anyOf", ""), ("oneOf", ""), ("allOf", "")]
        {
            let schemas = schema[keyword].as_array().into_iter().flatten();
            open.extend(schemas.map(|schema| (schema, format!("{place}{step}"))));
        }
    }
    definition.to_owned()
}
