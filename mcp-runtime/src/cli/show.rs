//! What the commands print.

use std::io::Write as _;

use serde_json::{Value, json};

use super::member;
use crate::{
    builder::Identity,
    testing::{Client, RpcError},
};

/// All lists of a server. A list it does not have is empty.
#[derive(Default)]
pub(super) struct Everything {
    pub(super) tools: Vec<Value>,
    pub(super) resources: Vec<Value>,
    pub(super) templates: Vec<Value>,
    pub(super) prompts: Vec<Value>,
}

impl Everything {
    pub(super) async fn ask(client: &mut Client) -> Result<Self, RpcError> {
        let has = client.request("server/discover", json!({})).await?;
        let has = &has["capabilities"];
        let mut everything = Self::default();
        if has.get("tools").is_some() {
            everything.tools = client.tools().await?;
        }
        if has.get("resources").is_some() {
            everything.resources = client.resources().await?;
            everything.templates = client.templates().await?;
        }
        if has.get("prompts").is_some() {
            everything.prompts = client.prompts().await?;
        }
        Ok(everything)
    }
}

/// A reader that has gone (`… | head`) is no reason to fail.
pub(super) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

pub(super) fn help(identity: &Identity, commands: &[(&str, &str)]) {
    line(&format!("{} {}: an MCP server", identity.name, identity.version));
    if let Some(description) = &identity.description {
        line(description);
    }
    line("\nWithout arguments it serves a client on stdin and stdout.\n");
    let width = commands.iter().map(|it| it.0.chars().count()).max().unwrap_or_default();
    for (command, what) in commands {
        line(&format!("  {command:width$}  {what}"));
    }
}

pub(super) fn list(identity: &Identity, everything: &Everything) {
    line(&format!("{} {}", identity.name, identity.version));
    let print = |title: &str, rows: Vec<(String, &str)>| {
        if rows.is_empty() {
            return;
        }
        line(&format!("\n{title}"));
        let width = rows.iter().map(|it| it.0.chars().count()).max().unwrap_or_default().min(60);
        for (usage, description) in rows {
            let description = description.lines().next().unwrap_or_default();
            if usage.chars().count() > width {
                line(&format!("  {usage}"));
                line(format!("  {:width$}  {description}", "").trim_end());
            } else {
                line(format!("  {usage:width$}  {description}").trim_end());
            }
        }
    };
    let row = |it: &'_ Value, usage: String| {
        (usage, it["description"].as_str().unwrap_or_default().to_owned())
    };
    let rows = |list: &[Value], usage: &dyn Fn(&Value) -> String| -> Vec<(String, String)> {
        list.iter().map(|it| row(it, usage(it))).collect()
    };
    for (title, rows) in [
        ("tools", rows(&everything.tools, &usage_of_tool)),
        ("resources", rows(&everything.resources, &|it| member(it, "uri").to_owned())),
        ("templates", rows(&everything.templates, &|it| member(it, "uriTemplate").to_owned())),
        ("prompts", rows(&everything.prompts, &usage_of_prompt)),
    ] {
        print(title, rows.iter().map(|it| (it.0.clone(), it.1.as_str())).collect());
    }
}

/// The manifest: what a client is told of the server in the newest revision.
pub(super) fn schema(identity: &Identity, everything: &Everything) {
    let manifest = json!({
        "name": identity.name,
        "version": identity.version,
        "tools": everything.tools,
        "resources": everything.resources,
        "resourceTemplates": everything.templates,
        "prompts": everything.prompts,
    });
    line(&serde_json::to_string_pretty(&manifest).unwrap_or_default());
}

pub(super) fn usage_of_tool(tool: &Value) -> String {
    let schema = &tool["inputSchema"];
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut usage = member(tool, "name").to_owned();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let kind = kind_of(property);
        let one = format!("{name}=<{kind}>");
        usage.push(' ');
        usage.push_str(&if required.contains(&name.as_str()) { one } else { format!("[{one}]") });
    }
    usage
}

/// What a value must be, in a word or two: `integer 1..=5, default 1`.
fn kind_of(property: &Value) -> String {
    if let Some(values) = property["enum"].as_array() {
        return values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|");
    }
    let mut kind = property["type"].as_str().unwrap_or("value").to_owned();
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

pub(super) fn usage_of_prompt(prompt: &Value) -> String {
    let mut usage = member(prompt, "name").to_owned();
    for argument in prompt["arguments"].as_array().into_iter().flatten() {
        let one = format!("{}=…", member(argument, "name"));
        usage.push(' ');
        usage.push_str(&if argument["required"] == true { one } else { format!("[{one}]") });
    }
    usage
}

/// Blocks of content; what is no text is named.
pub(super) fn content(blocks: &[Value]) {
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => line(member(block, "text")),
            Some("resource_link") => {
                line(&format!("{}: {}", member(block, "name"), member(block, "uri")))
            }
            Some("resource") => match block["resource"]["text"].as_str() {
                Some(text) => line(text),
                None => line(&format!("[{}]", member(&block["resource"], "uri"))),
            },
            other => {
                line(&format!("[{} {}]", other.unwrap_or("content"), member(block, "mimeType")))
            }
        }
    }
}
