//! Problems that users of MCP servers have reported. Each row of `COMPLAINTS` names a public issue thread, and a check that servers built
//! with this crate do not have the problem. The checks examine what a real tool publishes in every revision.

use mcp_runtime::testing::{Revision, TestClient};
use serde_json::{Map, Value, json};

use crate::{block_on, server};

/// Returns the tools of the server as each revision lists them.
fn listed() -> Vec<(&'static str, Vec<Value>)> {
    let list = async |revision| {
        let mut client = TestClient::connect_with(server::named("complaints"), revision)
            .await
            .expect("a server");
        client.tools().await.expect("a list")
    };
    Revision::ALL.into_iter().map(|revision| (revision.name(), block_on(list(revision)))).collect()
}

/// Returns a schema and the schemas inside it, as far as they are objects.
fn schemas(schema: &Value) -> Vec<&Map<String, Value>> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Some(map) = schema.as_object() else { continue };
        found.push(map);
        for keyword in ["items", "additionalProperties", "not"] {
            open.extend(map.get(keyword));
        }
        for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            open.extend(map.get(keyword).and_then(Value::as_array).into_iter().flatten());
        }
        for keyword in ["properties", "patternProperties", "$defs"] {
            open.extend(
                map.get(keyword)
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                    .map(|(_, schema)| schema),
            );
        }
    }
    found
}

/// Check that returns true if a tool does not have the problem of a complaint.
type IsFine = fn(&Value) -> bool;

fn inputs(tool: &Value) -> Vec<&Map<String, Value>> {
    schemas(&tool["inputSchema"])
}

fn both(tool: &Value) -> Vec<&Map<String, Value>> {
    schemas(&tool["inputSchema"]).into_iter().chain(schemas(&tool["outputSchema"])).collect()
}

fn no_foreign_formats(tool: &Value) -> bool {
    both(tool).iter().all(|schema| schema.get("format").is_none())
}

fn one_type(tool: &Value) -> bool {
    inputs(tool).iter().all(|schema| {
        schema.get("type").is_none_or(Value::is_string)
            && !schema.contains_key("nullable")
            && schema.get("default") != Some(&Value::Null)
    })
}

fn one_type_and_no_null(tool: &Value) -> bool {
    one_type(tool)
        && inputs(tool).iter().all(|schema| schema.get("type").is_none_or(|kind| kind != "null"))
}

/// Whether each `Option` is published as a plain type that is not required.
fn optional_is_not_required(tool: &Value) -> bool {
    let required = &tool["inputSchema"]["required"];
    let kinds = ["text", "number", "place", "list"]
        .map(|name| tool["inputSchema"]["properties"][name]["type"].clone());
    required.is_null() && kinds == ["string", "integer", "object", "array"]
}

fn no_references(tool: &Value) -> bool {
    let text = tool.to_string();
    !text.contains("$ref") && !text.contains("$defs") && !text.contains("definitions")
}

fn no_dialect(tool: &Value) -> bool {
    !tool.to_string().contains("$schema")
}

/// Whether no property has the schema `true`, and every schema has a keyword for the values that it describes.
fn everything_is_typed(tool: &Value) -> bool {
    both(tool).iter().all(|schema| {
        let properties = schema.get("properties").and_then(Value::as_object);
        let plain = properties.is_none_or(|properties| properties.values().all(Value::is_object));
        plain
            && ["type", "enum", "anyOf", "not"].iter().any(|keyword| schema.contains_key(*keyword))
    })
}

fn lists_say_of_what(tool: &Value) -> bool {
    inputs(tool)
        .iter()
        .all(|schema| schema.get("type") != Some(&json!("array")) || schema.contains_key("items"))
}

fn no_one_of_and_no_const(tool: &Value) -> bool {
    both(tool).iter().all(|schema| !schema.contains_key("oneOf") && !schema.contains_key("const"))
}

/// Whether each `additionalProperties` is absent or an object that is not empty.
fn no_bare_further_members(tool: &Value) -> bool {
    both(tool).iter().all(|schema| {
        let further = schema.get("additionalProperties");
        further.is_none_or(|further| further.as_object().is_some_and(|members| !members.is_empty()))
    })
}

/// Whether Gemini's API has a field for each keyword. `additionalProperties`, the schema of a map's values, is allowed too, because clients
/// of that API remove it.
fn no_field_is_missing(tool: &Value) -> bool {
    const FIELDS: [&str; 20] = [
        "type",
        "format",
        "title",
        "description",
        "default",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "additionalProperties",
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "maximum",
        "anyOf",
    ];
    inputs(tool)
        .iter()
        .all(|schema| schema.keys().all(|keyword| FIELDS.contains(&keyword.as_str())))
}

fn no_format_but_one(tool: &Value) -> bool {
    inputs(tool)
        .iter()
        .all(|schema| schema.get("format").is_none_or(|format| format == "date-time"))
}

fn root_is_an_object(tool: &Value) -> bool {
    let schema = &tool["inputSchema"];
    let has_choice = ["anyOf", "oneOf", "allOf"].iter().any(|keyword| !schema[*keyword].is_null());
    schema["type"] == "object" && schema["properties"].is_object() && !has_choice
}

/// Whether the output schema, if there is one, describes an object. Clients of revisions before 2026-07-28 reject the whole list because of
/// any other output schema.
fn results_are_objects(tool: &Value) -> bool {
    tool["outputSchema"].is_null() || tool["outputSchema"]["type"] == "object"
}

/// The issue thread, the tool (`*` for all tools), the last revision with the problem (empty for all revisions), and the check.
const COMPLAINTS: &[(&str, &str, &str, IsFine)] = &[
    // Schemas that clients reject.
    ("anomalyco/opencode#31002", "numbers", "", no_foreign_formats),
    ("Piebald-AI/splitrail#113", "numbers", "", no_foreign_formats),
    ("longbridge/developers#1264", "*", "", no_foreign_formats),
    ("cursor/cursor#3778", "optional", "", one_type_and_no_null),
    ("anthropics/claude-code#3966", "optional", "", optional_is_not_required),
    ("PrefectHQ/fastmcp#2808", "nested", "", no_references),
    ("github/copilot-cli#1876", "nested", "", no_references),
    ("openai/codex#3152", "optional", "", no_references),
    ("joshrotenberg/tower-mcp#582", "any", "", everything_is_typed),
    ("ryan-voitiskis/reklawdbox#32", "any", "", everything_is_typed),
    ("google-gemini/gemini-cli#14970", "*", "", no_dialect),
    // Schemas that hide a tool or a whole list.
    ("Goldziher/basemind#50", "*", "", no_references),
    ("mikeyobrien/ralph-orchestrator#351", "nested", "", no_references),
    ("zed-industries/zed#60162", "nested", "", no_references),
    ("anthropics/claude-code#76881", "nested", "", no_references),
    ("anthropics/claude-code#77106", "tree", "", no_references),
    ("google-gemini/gemini-cli#17235", "*", "", no_dialect),
    ("anthropics/claude-code#17742", "any", "", everything_is_typed),
    ("modelcontextprotocol/rust-sdk#251", "nested", "", no_references),
    ("modelcontextprotocol/rust-sdk#174", "*", "2025-11-25", results_are_objects),
    // Other problems.
    ("anthropics/claude-code#92900", "any_result", "", everything_is_typed),
    ("google/adk-js#199", "*", "", one_type),
    ("microsoft/vscode#244467", "pair", "", lists_say_of_what),
    ("danny-avila/LibreChat#11784", "choice", "", no_one_of_and_no_const),
    ("openai/openai-agents-python#454", "nothing", "", root_is_an_object),
    ("anthropics/claude-code#40075", "*", "", root_is_an_object),
    ("google/adk-python#3870", "tree", "", no_references),
    ("danny-avila/LibreChat#13850", "*", "", no_field_is_missing),
    ("diegosouzapw/OmniRoute#12540", "pair", "", no_field_is_missing),
    ("diegosouzapw/OmniRoute#9617", "keywords", "", no_field_is_missing),
    ("Wei-Shaw/sub2api#795", "keywords", "", no_field_is_missing),
    ("tashfeenahmed/freellmapi#105", "keywords", "", no_field_is_missing),
    ("google-gemini/gemini-cli#2237", "keywords", "", no_format_but_one),
    ("weave-os/router#387", "keywords", "", no_format_but_one),
    ("googleapis/python-genai#2393", "*", "", no_bare_further_members),
    ("googleapis/python-genai#2476", "any", "", no_bare_further_members),
];

#[test]
fn published_tools_give_no_cause_for_known_complaints() {
    let listed = listed();
    for (thread, name, last, is_fine) in COMPLAINTS {
        let mut looked_at = 0;
        for (revision, tools) in &listed {
            if !last.is_empty() && revision > last {
                continue;
            }
            for tool in tools.iter().filter(|tool| *name == "*" || tool["name"] == *name) {
                looked_at += 1;
                assert!(is_fine(tool), "{thread} in {revision}: {tool:#}");
            }
        }
        assert!(looked_at > 0, "{thread}: there is no tool `{name}`");
    }
}

/// Shows that the checks work: with full schemas, each check finds the problem from its issue thread.
#[test]
fn each_check_finds_its_problem_in_the_full_schemas() {
    let tools = block_on(async {
        let server = server::named("complaints").schema_profile(mcp_runtime::SchemaProfile::Full);
        let mut client = TestClient::connect(server).await.expect("a server");
        client.tools().await.expect("a list")
    });
    for (thread, name, ..) in COMPLAINTS {
        let is_fine = COMPLAINTS.iter().find(|complaint| complaint.0 == *thread).expect("itself").3;
        // Full schemas pass these two checks, because both schema profiles have the same root of an input schema, and the same schema for a
        // result that is not an object.
        if [root_is_an_object as IsFine, results_are_objects]
            .iter()
            .any(|check| std::ptr::fn_addr_eq(*check, is_fine))
        {
            continue;
        }
        let matching = tools.iter().filter(|tool| *name == "*" || tool["name"] == *name);
        assert!(
            matching.into_iter().any(|tool| !is_fine(tool)),
            "{thread}: `{name}` would not have caught it"
        );
    }
}

/// The issue thread, the tool, the arguments, and the text of the answer. The server parses an argument that is sent as a string, unless
/// the parameter is itself a string.
const SENT: &[(&str, &str, &str, &str)] = &[
    (
        "PrefectHQ/fastmcp#932",
        "lists",
        r#"{"tags": "[\"a\", \"b\"]", "place": {"latitude": 1, "longitude": 2}, "text": "x"}"#,
        "2 1 x",
    ),
    (
        "anthropics/claude-code#59227",
        "lists",
        r#"{"tags": ["a"], "place": "{\"latitude\": 1.5, \"longitude\": 2}", "text": "x"}"#,
        "1 1.5 x",
    ),
    (
        "anthropics/claude-code#80666",
        "numbers",
        r#"{"byte": "1", "port": "2", "count": "3", "size": "4", "index": "5", "offset": "-6", "share": "0.5"}"#,
        "1 2 3 4 5 -6 0.5",
    ),
    (
        "PrefectHQ/fastmcp#3931",
        "lists",
        r#"{"tags": [], "place": {"latitude": 1, "longitude": 2}, "text": "[1, 2]"}"#,
        "0 1 [1, 2]",
    ),
];

#[test]
fn arguments_are_read_as_clients_send_them() {
    block_on(async {
        let mut client = TestClient::connect(server::named("complaints")).await.expect("a server");
        for (thread, tool, arguments, expected) in SENT {
            let arguments: Value = serde_json::from_str(arguments).expect("JSON");
            let called = client.call(tool, arguments).await.expect("an answer");
            assert_eq!(
                (called.is_error, called.text()),
                (false, (*expected).to_owned()),
                "{thread}"
            );
        }
    });
}

/// In the compatible form, sentences in descriptions replace the keywords that clients do not know.
#[test]
fn the_meaning_of_a_dropped_keyword_is_put_in_the_description() {
    let described = |text: &str, mut schema: Value| {
        schema["description"] = json!(text);
        schema
    };
    let text = json!({ "type": "string" });
    let byte = json!({ "type": "integer", "minimum": 0, "maximum": 255 });
    let span = json!({ "type": "array", "items": { "anyOf": [byte, text] }, "minItems": 2, "maxItems": 2 });
    let integer = json!({ "type": "integer" });
    for (revision, tools) in listed() {
        let tool = tools.iter().find(|tool| tool["name"] == "keywords").expect("the tool");
        let expected = json!({
            "region": described("For example `eu`.", text.clone()),
            "tags": described("No value twice.", json!({ "type": "array", "items": text })),
            "address": described("An IPv4 address.", text.clone()),
            "spans": { "type": "array", "items": described("In this order: integer, string.", span.clone()) },
            "numbered": described("Its names match `^\\d+$`.", json!({ "type": "object", "additionalProperties": text })),
            "offset": described("Not `0`.", integer.clone()),
        });
        assert_eq!(tool["inputSchema"]["properties"], expected, "{revision}");
    }
}

/// Any JSON value can be an argument and a result, and fits the published schema.
#[test]
fn any_json_value_fits_its_published_schema() {
    let one = ["string", "number", "boolean", "object", "null"].map(|kind| json!({ "type": kind }));
    let or =
        |other: Value| json!({ "anyOf": one.iter().cloned().chain([other]).collect::<Vec<_>>() });
    let element = or(json!({ "type": "array", "items": { "anyOf": one } }));
    let member = or(json!({ "type": "array", "items": element }));
    let mut argument = member.clone();
    let object = json!({ "type": "object", "additionalProperties": element });
    argument["anyOf"].as_array_mut().expect("branches").push(object);
    let result = or(json!({ "type": "array" }));
    block_on(async {
        let mut client = TestClient::connect(server::named("complaints")).await.expect("a server");
        let tools = client.tools().await.expect("a list");
        let find = |name| tools.iter().find(|tool| tool["name"] == name).expect("the tool");
        let any = find("any");
        for (name, input, output) in [
            ("value", argument.clone(), result.clone()),
            ("optional", argument.clone(), result.clone()),
            (
                "list",
                json!({ "type": "array", "items": argument }),
                json!({ "type": "array", "items": result }),
            ),
            (
                "object",
                json!({ "type": "object", "additionalProperties": member }),
                json!({ "type": "object" }),
            ),
            (
                "named",
                json!({ "type": "object", "additionalProperties": member }),
                json!({ "type": "object" }),
            ),
        ] {
            assert_eq!(any["inputSchema"]["properties"][name], input, "{name}");
            assert_eq!(any["outputSchema"]["properties"][name], output, "{name}");
        }
        assert_eq!(any["inputSchema"]["required"], json!(["value", "list", "object", "named"]));
        assert_eq!(find("any_result")["outputSchema"], Value::Null, "a schema that says nothing");

        for value in [
            json!(null),
            json!(true),
            json!(1.5),
            json!("x"),
            json!([1, [null]]),
            json!({ "a": {} }),
        ] {
            let arguments = json!({
                "value": value, "optional": value, "list": [value], "object": { "a": value }, "named": { "a": value },
            });
            let called = client.call("any", arguments.clone()).await.expect("an answer");
            assert_eq!(called.raw["structuredContent"], arguments, "{value}");
            let called =
                client.call("any_result", json!({ "value": value })).await.expect("an answer");
            assert_eq!(called.raw["structuredContent"], value);
        }
    });
}
