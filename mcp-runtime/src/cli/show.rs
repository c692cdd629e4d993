//! Texts that the commands print: the lists of a server, the usage of its items, and the content of results.

use mcp_runtime_contract::collect::collect_by_insert;
use mcp_runtime_wire::Raw;
#[cfg(feature = "workbench")]
use mcp_runtime_workbench::ListedItem;
use serde_json::{Map, Value, json};

use super::{
    lists::{ServerLists, elements, member},
    screen::Screen,
};
use crate::{
    catalog::{Entry, Snapshot},
    model::ListKind,
    server::Identity,
    testing::ReadContents,
};

/// Returns the text of `list`. The `snapshot` provides what the protocol's lists do not contain, such as the scopes of an item.
#[cfg(feature = "workbench")]
pub(super) fn list(
    identity: &Identity,
    everything: &ServerLists,
    snapshot: &Snapshot,
    screen: &Screen,
) -> String {
    match screen.is_styled() {
        true => tables(identity, everything, snapshot, screen),
        false => lines(identity, everything, snapshot),
    }
}

/// Returns the text of `list`. The `snapshot` provides what the protocol's lists do not contain, such as the scopes of an item.
#[cfg(not(feature = "workbench"))]
pub(super) fn list(
    identity: &Identity,
    everything: &ServerLists,
    snapshot: &Snapshot,
    _: &Screen,
) -> String {
    lines(identity, everything, snapshot)
}

/// Returns the lists for a pipe or a file.
fn lines(identity: &Identity, everything: &ServerLists, snapshot: &Snapshot) -> String {
    let mut page = format!("{} {}\n", identity.name, identity.version);
    for (title, kind, list, usage) in sections(everything) {
        if list.is_empty() {
            continue;
        }
        page.push_str(&format!("\n{title}\n"));
        let usages: Vec<String> = list.iter().map(|item| usage(item, snapshot)).collect();
        let width =
            usages.iter().map(|usage| usage.chars().count()).max().unwrap_or_default().min(72);
        for (item, usage) in list.iter().zip(usages) {
            let description = member(item, "description").lines().next().unwrap_or_default();
            // A long usage gets a line of its own, so that the descriptions stay in one column.
            let is_long = usage.chars().count() > width;
            let usage = if is_long { format!("{usage}\n  {:width$}", "") } else { usage };
            page.push_str(format!("  {usage:width$}  {description}").trim_end());
            page.push_str(&mark_of(kind, item, snapshot));
            page.push('\n');
        }
    }
    page
}

/// Function that returns the usage of an item: its name or URI, and its arguments.
type ItemUsage = fn(&Value, &Snapshot) -> String;

/// Returns the title, the kind, the items and their usage of each list.
fn sections(everything: &ServerLists) -> [(&'static str, ListKind, &[Value], ItemUsage); 4] {
    [
        ("tools", ListKind::Tools, &everything.tools, usage_of_tool),
        ("resources", ListKind::Resources, &everything.resources, |resource, _| {
            member(resource, "uri").to_owned()
        }),
        ("templates", ListKind::Templates, &everything.templates, |template, _| {
            member(template, "uriTemplate").to_owned()
        }),
        ("prompts", ListKind::Prompts, &everything.prompts, |prompt, _| usage_of_prompt(prompt)),
    ]
}

/// Returns the lists as a person at a terminal sees them.
#[cfg(feature = "workbench")]
fn tables(
    identity: &Identity,
    everything: &ServerLists,
    snapshot: &Snapshot,
    screen: &Screen,
) -> String {
    let sections = sections(everything).map(|(title, kind, list, usage)| {
        let items = list.iter().map(|item| {
            let usage = usage(item, snapshot);
            let (name, arguments) = usage.split_once(' ').unwrap_or((&usage, ""));
            ListedItem {
                name: name.to_owned(),
                arguments: arguments.to_owned(),
                about: member(item, "description").lines().next().unwrap_or_default().to_owned(),
                marks: mark_of(kind, item, snapshot).trim_start().to_owned(),
            }
        });
        (title, items.collect())
    });
    screen.list(&format!("{} {}", identity.name, identity.version), &sections)
}

/// Returns the marks of an item in a list of the protocol.
fn mark_of(kind: ListKind, item: &Value, snapshot: &Snapshot) -> String {
    let key = ["uriTemplate", "uri", "name"].into_iter().find(|key| item[*key].is_string());
    let entry = snapshot.find(kind, member(item, key.unwrap_or_default()));
    entry.map(|entry| mark(entry)).unwrap_or_default()
}

/// Returns the marks of an item, such as ` (task; asks elicitation; needs notes:write)`. They show the task support, the capabilities that
/// the client needs, and the scopes that the caller needs.
fn mark(entry: &Entry) -> String {
    let task = entry.task().map(|task| if task.required { "task required" } else { "task" });
    let list = |verb: &str, names: Vec<&str>| {
        (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
    };
    let asks = list("asks", entry.asks.names().collect());
    let needs = list("needs", entry.scopes().collect());
    let marks: Vec<String> = task.map(str::to_owned).into_iter().chain(asks).chain(needs).collect();
    if marks.is_empty() { String::new() } else { format!(" ({})", marks.join("; ")) }
}

/// Returns the name of a tool with its arguments, in the order of the function's parameters. Only the text of the schema keeps that order,
/// because [`Value`] sorts its members.
pub(super) fn usage_of_tool(tool: &Value, snapshot: &Snapshot) -> String {
    let schema = &tool["inputSchema"];
    let is_required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name))
    };
    let mut usage = member(tool, "name").to_owned();
    let entry = snapshot.find(ListKind::Tools, &usage);
    let properties = entry.and_then(|entry| entry.tool()).and_then(|tool| {
        let [properties] = Raw::trusted(&tool.schemas.input.text).pick(["properties"]);
        properties
    });
    for (name, _) in properties.unwrap_or(Raw::EMPTY_OBJECT).members() {
        let kind = kind_of(&schema["properties"][&*name]);
        usage.push_str(&if is_required(&name) {
            format!(" {name}=<{kind}>")
        } else {
            format!(" [{name}=<{kind}>]")
        });
    }
    usage
}

/// Describes the values of a property in a few words: `integer 1..=5, default 1`.
pub(super) fn kind_of(property: &Value) -> String {
    let mut kind = match property["enum"].as_array() {
        Some(values) => values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        None => property["type"].as_str().unwrap_or("value").to_owned(),
    };
    let (least, most) = (&property["minimum"], &property["maximum"]);
    match (least.is_null(), most.is_null()) {
        (false, false) => kind.push_str(&format!(" {least}..={most}")),
        (false, true) if *least != json!(0) => kind.push_str(&format!(" {least}..")),
        (true, false) => kind.push_str(&format!(" ..={most}")),
        _ => {}
    }
    if let Some(default) = property.get("default") {
        kind.push_str(&format!(", default {default}"));
    }
    kind
}

/// Returns the values to choose from, each with its title.
pub(super) fn choices(property: &Value) -> Vec<(String, String)> {
    let of = if property["type"] == "array" { &property["items"] } else { property };
    if let Some(values) = of["enum"].as_array() {
        let names = of["enumNames"].as_array();
        let title = |at: usize| names.and_then(|names| names.get(at)).and_then(Value::as_str);
        let values = values.iter().filter_map(Value::as_str).enumerate();
        return values
            .map(|(at, value)| (value.to_owned(), title(at).unwrap_or(value).to_owned()))
            .collect();
    }
    let titled = of["oneOf"].as_array().or_else(|| of["anyOf"].as_array());
    let titled = titled.into_iter().flatten();
    // A branch without `const` is a type, not a value.
    let value = |choice: &Value| {
        let value = choice["const"].as_str()?.to_owned();
        Some((value, member(choice, "title").to_owned()))
    };
    titled.filter_map(value).collect()
}

/// Returns a value that fits a schema, for error messages. An object has its required members, or all members if none is required.
pub(super) fn example_of(schema: &Value) -> Value {
    let kind = schema["type"].as_str();
    if kind == Some("array") {
        return json!([example_of(&schema["items"])]);
    }
    if let Some((value, _)) = choices(schema).into_iter().next() {
        return value.into();
    }
    match kind {
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten();
            let mut names: Vec<&str> = required.filter_map(Value::as_str).collect();
            let properties = schema["properties"].as_object();
            if names.is_empty() {
                names.extend(properties.into_iter().flatten().map(|(name, _)| name.as_str()));
            }
            let member = |name: &str| (name.to_owned(), example_of(&schema["properties"][name]));
            collect_by_insert::<Map<_, _>, _>(names.into_iter().map(member)).into()
        }
        Some("boolean") => json!(true),
        Some("integer" | "number") => match &schema["minimum"] {
            Value::Null => json!(1),
            least => least.clone(),
        },
        _ => json!("…"),
    }
}

pub(super) fn usage_of_prompt(prompt: &Value) -> String {
    let mut usage = member(prompt, "name").to_owned();
    for argument in elements(&prompt["arguments"]) {
        let one = format!("{}=…", member(argument, "name"));
        usage.push(' ');
        usage.push_str(&if argument["required"] == true { one } else { format!("[{one}]") });
    }
    usage
}

pub(super) fn messages(messages: &[Value]) -> String {
    let one = |message: &Value| {
        format!(
            "[{}]\n{}",
            member(message, "role"),
            content(std::slice::from_ref(&message["content"]))
        )
    };
    messages.iter().map(one).collect()
}

pub(super) fn contents(contents: &[ReadContents]) -> String {
    let one = |contents: &ReadContents| match &contents.text {
        Some(text) => format!("{text}\n"),
        None => {
            format!("[{} at {}]\n", contents.mime_type.as_deref().unwrap_or("bytes"), contents.uri)
        }
    };
    contents.iter().map(one).collect()
}

/// Renders blocks of content. A block without text is shown by its name, type or URI.
pub(super) fn content(blocks: &[Value]) -> String {
    let one = |block: &Value| match (block["type"].as_str(), block["resource"]["text"].as_str()) {
        (Some("text"), _) => format!("{}\n", member(block, "text")),
        (Some("resource_link"), _) => {
            format!("{}: {}\n", member(block, "name"), member(block, "uri"))
        }
        (Some("resource"), Some(text)) => format!("{text}\n"),
        (Some("resource"), None) => format!("[{}]\n", member(&block["resource"], "uri")),
        (other, _) => {
            format!("[{} {}]\n", other.unwrap_or("content"), member(block, "mimeType"))
        }
    };
    blocks.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_its_values_range_and_default() {
        let check = |property, expected| assert_eq!(kind_of(&property), expected);
        check(
            json!({ "type": "integer", "minimum": 1, "maximum": 5, "default": 1 }),
            "integer 1..=5, default 1",
        );
        check(json!({ "type": "string", "enum": ["low", "high"] }), "low|high");
        check(
            json!({ "type": "string", "enum": ["low", "high"], "default": "low" }),
            "low|high, default \"low\"",
        );
    }

    #[test]
    fn an_example_fits_its_schema() {
        let check = |schema: Value, expected: Value| {
            assert_eq!(example_of(&schema), expected, "{schema}");
        };
        let number = json!({ "type": "integer", "minimum": 3 });
        check(json!({ "type": "array", "items": number }), json!([3]));
        check(json!({ "type": "array", "items": { "enum": ["low", "high"] } }), json!(["low"]));
        check(json!({ "type": "array" }), json!(["…"]));
        let properties =
            json!({ "name": { "type": "string" }, "at": number, "is_new": { "type": "boolean" } });
        let object = json!({ "type": "object", "properties": properties });
        check(object, json!({ "at": 3, "is_new": true, "name": "…" }));
        let some = json!({ "type": "object", "properties": properties, "required": ["at"] });
        check(some, json!({ "at": 3 }));
        check(json!({}), json!("…"));
    }
}
