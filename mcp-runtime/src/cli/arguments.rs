//! Parses arguments in the form `NAME=VALUE`, according to the schema of the item.

use mcp_runtime_contract::{collect::collect_by_insert, suggest::nearest};
use serde_json::{Map, Value};

use super::{
    exit::CommandError,
    lists::{elements, member},
    show,
};
use crate::{catalog::Snapshot, model::ListKind};

/// Parses the arguments of a tool call. A value that the schema does not declare as a string is parsed as JSON. Text that is not valid JSON
/// stays a string.
pub(super) fn for_tool(
    tool: &Value,
    snapshot: &Snapshot,
    given: &[String],
) -> Result<Value, CommandError> {
    let properties = &tool["inputSchema"]["properties"];
    let known: Vec<&str> = properties
        .as_object()
        .map(|property| property.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let required = elements(&tool["inputSchema"]["required"]).iter();
    let required = required.filter_map(Value::as_str).collect();
    let entry = snapshot.find(ListKind::Tools, member(tool, "name"));
    let known = match entry.and_then(|entry| entry.tool()) {
        Some(tool) if tool.lenient => None,
        _ => Some(known.as_slice()),
    };
    let mut arguments = Map::new();
    let usage = || show::usage_of_tool(tool, snapshot) + &examples(properties);
    for (name, text) in pairs(given, known, required, &usage)? {
        arguments.insert(name.to_owned(), value(name, text, &properties[name])?);
    }
    Ok(Value::Object(arguments))
}

/// Returns a line with an example for each argument that is written as JSON. The usage names neither its fields nor its elements.
fn examples(properties: &Value) -> String {
    let written = properties.as_object().into_iter().flatten();
    let written =
        written.filter(|(_, schema)| ["array", "object"].contains(&member(schema, "type")));
    let lines = written.map(|(name, schema)| {
        format!("\nwrite `{name}` as in {name}='{}'", show::example_of(schema))
    });
    lines.collect()
}

/// Converts the text of an argument to the type that its schema declares.
///
/// # Errors
/// Fails if the schema declares a list or an object, and the text is not JSON.
fn value(name: &str, text: &str, schema: &Value) -> Result<Value, CommandError> {
    let kind = schema["type"].as_str();
    if kind == Some("string") {
        return Ok(text.into());
    }
    match (serde_json::from_str(text), kind) {
        (Ok(json), _) => Ok(json),
        (Err(error), Some(kind @ ("array" | "object"))) => {
            let why = match kind {
                "array" if !text.trim_start().starts_with('[') => {
                    "a list starts with `[`".to_owned()
                }
                "object" if !text.trim_start().starts_with('{') => {
                    "an object starts with `{`".to_owned()
                }
                _ => error.to_string(),
            };
            Err(CommandError::usage(format!(
                "`{name}` is not JSON: {why}\nwrite it as in {name}='{}'",
                show::example_of(schema)
            )))
        }
        (Err(_), _) => Ok(text.into()),
    }
}

pub(super) fn for_prompt(prompt: &Value, given: &[String]) -> Result<Value, CommandError> {
    let list = elements(&prompt["arguments"]);
    let known: Vec<&str> = list.iter().map(|argument| member(argument, "name")).collect();
    let required = list.iter().filter(|argument| argument["required"] == true);
    let required = required.map(|argument| member(argument, "name")).collect();
    let pairs = pairs(given, Some(&known), required, &|| show::usage_of_prompt(prompt))?;
    let pairs = pairs.into_iter().map(|(name, text)| (name.to_owned(), text.into()));
    Ok(Value::Object(collect_by_insert(pairs)))
}

/// Splits words into names and values. `known` are the names that the item accepts, or `None` if it accepts every name.
///
/// # Errors
/// Returns the problem and the usage of the item if a word has no name, if a name is unknown or occurs twice, or if a required name is
/// missing.
fn pairs<'a>(
    given: &'a [String],
    known: Option<&[&str]>,
    mut required: Vec<&str>,
    usage: &dyn Fn() -> String,
) -> Result<Vec<(&'a str, &'a str)>, CommandError> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for word in given {
        let Some((name, text)) = word.split_once('=') else {
            return Err(CommandError::usage(format!(
                "`{word}` is not NAME=VALUE\nusage: {}",
                usage()
            )));
        };
        let name = name.trim();
        if let Some(known) = known.filter(|known| !known.contains(&name)) {
            let hint = match nearest(name, known.iter().copied()) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => String::new(),
            };
            return Err(CommandError::usage(format!(
                "unknown argument `{name}`{hint}\nusage: {}",
                usage()
            )));
        }
        if pairs.iter().any(|pair| pair.0 == name) {
            return Err(CommandError::usage(format!(
                "`{name}` is given twice\nusage: {}",
                usage()
            )));
        }
        required.retain(|required| *required != name);
        pairs.push((name, text));
    }
    if !required.is_empty() {
        let are = if required.len() == 1 { "is" } else { "are" };
        let missing: Vec<String> =
            required.iter().map(|required| format!("`{required}`")).collect();
        let missing = missing.join(" and ");
        return Err(CommandError::usage(format!("{missing} {are} missing\nusage: {}", usage())));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use mcp_macros::tool;
    use serde_json::json;

    use super::*;

    #[tool(crate = crate, group = "command line", lenient)]
    fn order(dish: &str) -> String {
        dish.to_owned()
    }

    #[tool(crate = crate, group = "command line")]
    fn cancel(dish: &str) -> String {
        dish.to_owned()
    }

    #[test]
    fn a_lenient_tool_takes_unknown_arguments_on_the_command_line_too() {
        let server =
            crate::server!(crate = crate, group = "command line").build().expect("a server");
        let snapshot = server.catalog.snapshot();
        let given = ["dish=soup".to_owned(), "table=7".to_owned()];
        let read = |tool: &str| {
            let schema =
                json!({ "properties": { "dish": { "type": "string" } }, "required": ["dish"] });
            for_tool(&json!({ "name": tool, "inputSchema": schema }), &snapshot, &given)
        };
        assert_eq!(read("order").ok(), Some(json!({ "dish": "soup", "table": 7 })));
        let error = read("cancel").expect_err("an unknown argument").text;
        assert!(error.starts_with("unknown argument `table`"), "{error}");
    }

    #[test]
    fn the_usage_of_a_tool_names_the_fields_of_an_object() {
        let server =
            crate::server!(crate = crate, group = "command line").build().expect("a server");
        let item = json!({
            "type": "object",
            "properties": { "name": { "type": "string" } }, "required": ["name"],
        });
        let schema = json!({ "properties": { "item": item }, "required": ["item"] });
        let tool = json!({ "name": "cancel", "inputSchema": schema });
        for given in [vec![], vec!["name=soup".to_owned()]] {
            let error = for_tool(&tool, &server.catalog.snapshot(), &given).expect_err("no item");
            let end = "\nwrite `item` as in item='{\"name\":\"…\"}'";
            assert!(error.text.ends_with(end), "{}", error.text);
        }
    }
}
