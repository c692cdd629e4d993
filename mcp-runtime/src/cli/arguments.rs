//! Parses arguments in the form `NAME=VALUE`, according to the schema of the item.

use std::borrow::Cow;

use mcp_runtime_contract::{collect::collect_by_insert, suggest::nearest};
use serde_json::{Map, Value};

use super::{
    command::ARGUMENTS,
    exit::CommandError,
    lists::{elements, member},
    show,
};
use crate::{call::extract::wrong_arguments, catalog::Snapshot};

/// Parses the arguments of a tool call. A value that the schema does not declare as a string is parsed as JSON. Text that is not valid JSON
/// stays a string. Names are not checked, because the server accepts more of them than its schema has, such as aliases.
pub(super) fn for_tool(
    tool: &Value,
    snapshot: &Snapshot,
    given: &[String],
) -> Result<Value, CommandError> {
    let properties = &tool["inputSchema"]["properties"];
    let mut arguments = Map::new();
    for (name, text) in pairs(given, None, Vec::new(), &|| usage_of_tool(tool, snapshot))? {
        arguments.insert(name.to_owned(), value(name, text, &properties[name])?);
    }
    Ok(Value::Object(arguments))
}

/// Reads the option `--arguments`, which has all arguments of a tool call. `-` stands for the text of stdin.
///
/// # Errors
/// Fails if the text is not a JSON object, if stdin cannot be read, or if there are other arguments.
pub(super) fn whole(text: &str, others: &[String]) -> Result<Value, CommandError> {
    let name = ARGUMENTS.name;
    if let Some(other) = others.first() {
        return Err(CommandError::usage(format!(
            "`{name}` has all arguments: write `{other}` into its object"
        )));
    }
    let text = match text {
        "-" => Cow::Owned(std::io::read_to_string(std::io::stdin()).map_err(|error| {
            CommandError::failure(format!("`{name}`: stdin cannot be read: {error}"))
        })?),
        text => Cow::Borrowed(text),
    };
    match serde_json::from_str(&text) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(CommandError::usage(format!("`{name}` must be an object, such as `{{}}`"))),
        Err(error) => Err(CommandError::usage(format!("`{name}` is not JSON: {error}"))),
    }
}

/// Returns the error for a call whose arguments the server has refused, or `None` if the result is another one.
pub(super) fn refused(tool: &Value, snapshot: &Snapshot, result: &Value) -> Option<CommandError> {
    let text = result["content"][0]["text"].as_str().filter(|_| result["isError"] == true)?;
    let is_refusal = text.starts_with(&wrong_arguments(member(tool, "name")));
    is_refusal
        .then(|| CommandError::usage(format!("{text}\nusage: {}", usage_of_tool(tool, snapshot))))
}

/// Returns the usage of a tool, with examples of the arguments that are written as JSON.
fn usage_of_tool(tool: &Value, snapshot: &Snapshot) -> String {
    show::usage_of_tool(tool, snapshot) + &examples(&tool["inputSchema"]["properties"])
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

    #[tool(crate = crate, group = "command line")]
    fn cancel(dish: &str) -> String {
        dish.to_owned()
    }

    #[test]
    fn refused_arguments_are_shown_with_the_usage() {
        let server =
            crate::server!(crate = crate, group = "command line").build().expect("a server");
        let snapshot = server.catalog.snapshot();
        let item = json!({
            "type": "object",
            "properties": { "name": { "type": "string" } }, "required": ["name"],
        });
        let schema = json!({ "properties": { "item": item }, "required": ["item"] });
        let tool = json!({ "name": "cancel", "inputSchema": schema });
        let result = |text: &str, is_error: bool| json!({ "content": [{ "type": "text", "text": text }], "isError": is_error });
        let text = wrong_arguments("cancel") + "`item` is missing\n- unknown argument `x`";
        let error = refused(&tool, &snapshot, &result(&text, true)).expect("a refusal").text;
        let (problems, usage) = error.split_once("\nusage: ").expect("a usage");
        assert_eq!(problems, text);
        assert!(usage.starts_with("cancel "), "{usage}");
        assert!(usage.ends_with("\nwrite `item` as in item='{\"name\":\"…\"}'"), "{usage}");
        assert!(refused(&tool, &snapshot, &result(&text, false)).is_none());
        assert!(refused(&tool, &snapshot, &result("the oven is cold", true)).is_none());
    }

    #[test]
    fn whole_arguments_are_an_object() {
        let object = json!({ "dish": "soup", "tables": [7] });
        assert_eq!(whole(&object.to_string(), &[]).ok(), Some(object));
        for (text, others, problem) in [
            ("[]", vec![], "`--arguments` must be an object"),
            ("{", vec![], "`--arguments` is not JSON: "),
            ("{}", vec!["dish=soup".to_owned()], "write `dish=soup` into its object"),
        ] {
            let error = whole(text, &others).expect_err(text).text;
            assert!(error.contains(problem), "{error}");
        }
    }
}
