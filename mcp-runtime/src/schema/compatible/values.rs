//! Rules about schemas that list their values.

use serde_json::{Value, json};

use super::super::definitions::compare;
use super::said::{SAID, say, sentences};
use super::{Map, Side, conjoin};
use crate::collect::collect_by_insert;

/// Replaces a string `const` by an `enum` of one value.
pub(super) fn constant(map: &mut Map, _: Side) {
    if let Some(Value::String(value)) = map.get("const")
        && !map.contains_key("enum")
    {
        let value = json!([value]);
        map.remove("const");
        map.insert("enum".into(), value);
        map.entry("type").or_insert_with(|| json!("string"));
    }
}

/// Replaces values of an argument that are not strings by their type, their bounds, and a sentence that lists them.
pub(super) fn other_values(map: &mut Map, _: Side) {
    let keyword = if map.contains_key("enum") { "enum" } else { "const" };
    let values = match map.get_mut(keyword) {
        Some(Value::Array(values)) => {
            if values.len() > 1 {
                values.retain(|value| value != "");
            }
            values.clone()
        }
        Some(value) => vec![value.clone()],
        None => return,
    };
    let kind = if values.iter().all(Value::is_boolean) {
        "boolean"
    } else if values.iter().all(|it| it.is_i64() || it.is_u64()) {
        "integer"
    } else if values.iter().all(Value::is_number) {
        "number"
    } else {
        return;
    };
    if values.is_empty() || map.get("type").is_some_and(|it| it != kind && it != "number") {
        return;
    }
    map.remove(keyword);
    map.entry("type").or_insert_with(|| kind.into());
    if kind != "boolean" {
        let order = |a: &&Value, b: &&Value| compare(a, b).unwrap_or(std::cmp::Ordering::Equal);
        for (bound, value) in
            [("minimum", values.iter().min_by(order)), ("maximum", values.iter().max_by(order))]
        {
            let value = collect_by_insert(value.map(|it| (bound.to_owned(), it.clone())));
            *map = conjoin(value, std::mem::take(map));
        }
    }
    let listed: Vec<_> = values.iter().map(|it| format!("`{it}`")).collect();
    let sentence = match listed.as_slice() {
        [only] => format!("Always {only}."),
        several => format!("One of {}.", several.join(", ")),
    };
    say(map, sentence);
}

/// Replaces a choice between named strings by one `enum`. The description of each name moves to the description.
pub(super) fn named_values(map: &mut Map, _: Side) {
    for union in ["oneOf", "anyOf"] {
        if map.contains_key("enum") || map.contains_key("const") {
            return;
        }
        let Some(Value::Array(branches)) = map.get(union) else { continue };
        let Some(named) = branches.iter().map(NamedValues::read).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let Some(first) = named.first() else { continue };
        let name = first.name.to_owned();
        if named.iter().any(|branch| branch.name != name)
            || map.get("type").is_some_and(|present| *present != json!(name))
        {
            continue;
        }

        let mut values: Vec<Value> = Vec::new();
        let mut lines = Vec::new();
        for branch in &named {
            for value in &branch.values {
                if !values.contains(value) {
                    values.push((*value).clone());
                }
                if let Some(text) = &branch.description {
                    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                    lines.push(format!("- `{}`: {text}", value.as_str().unwrap_or_default()));
                }
            }
        }
        let description = match map.get("description").and_then(Value::as_str) {
            Some(text) if !lines.is_empty() => format!("{text}\n\n{}", lines.join("\n")),
            Some(text) => text.to_owned(),
            None => lines.join("\n"),
        };
        map.remove(union);
        map.insert("type".into(), json!(name));
        map.insert("enum".into(), Value::Array(values));
        if !description.is_empty() {
            map.insert("description".into(), description.into());
        }
    }
}

/// A branch that only lists strings.
struct NamedValues<'a> {
    name: &'a str,
    values: Vec<&'a Value>,
    description: Option<String>,
}

impl<'a> NamedValues<'a> {
    fn read(branch: &'a Value) -> Option<Self> {
        let branch = branch.as_object()?;
        let known = ["type", "enum", "description", "title", SAID];
        if !branch.keys().all(|key| known.contains(&key.as_str())) {
            return None;
        }
        let values: Vec<_> = branch.get("enum")?.as_array()?.iter().collect();
        let name = branch.get("type").and_then(Value::as_str).unwrap_or("string");
        if name != "string" || !values.iter().all(|value| value.is_string()) {
            return None;
        }
        let described = branch.get("description").or_else(|| branch.get("title"));
        let described = described.and_then(Value::as_str).map(str::to_owned);
        let texts: Vec<_> = described.into_iter().chain(sentences(branch)).collect();
        let description = (!texts.is_empty()).then(|| texts.join(" "));
        Some(Self { name, values, description })
    }
}
