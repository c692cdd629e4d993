//! Tools that are added at run time with a schema that only exists at run time, and the metadata of added items.

use mcp_runtime::{
    content::Icon,
    items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::{Map, Value, json};

use crate::support::{both_eras, connect, named, said};

/// Schema as it may be read from an OpenAPI document.
fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "description": "City" },
            "days": { "type": "integer", "format": "int32" },
            "near": { "$ref": "#/$defs/Point" },
            "tags": { "type": ["array", "null"], "items": { "type": "string" } },
            "any": {},
        },
        "required": ["city"],
        "additionalProperties": false,
        "$defs": { "Point": { "type": "object", "properties": { "x": { "type": "number" } } } },
    })
}

fn tool(schema: impl serde::Serialize) -> Tool {
    Tool::new("forecast").input_schema(schema).handler_with(
        async |arguments: Map<String, Value>, _: Context| Value::from(arguments).to_string(),
    )
}

type MakeTool = fn() -> Tool;

/// Connects a client to a server to which `setup` adds one tool.
async fn with_tool(tool: impl Fn() -> Tool + Send + 'static, revision: Revision) -> TestClient {
    let server = server!().items(items![]).setup(async move |handle: Handle| handle.add(tool()));
    connect(server, revision).await
}

both_eras! {
    async fn clients_get_a_schema_of_run_time_in_the_form_of_the_profile(revision) {
        let mut client = with_tool(|| tool(parameters()), revision).await;
        let tools = client.tools().await.unwrap();
        let expected = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "description": "City" },
                "days": { "type": "integer" },
                "near": { "type": "object", "properties": { "x": { "type": "number" } } },
                "tags": { "type": "array", "items": { "type": "string" } },
                "any": tools[0]["inputSchema"]["properties"]["any"],
            },
            "required": ["city"],
        });
        assert_eq!(tools[0]["inputSchema"], expected);
        let full = || tool(parameters()).schema_profile(mcp_runtime::SchemaProfile::Full);
        let tools = with_tool(full, revision).await.tools().await.unwrap();
        let mut expected = parameters();
        expected["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        assert_eq!(tools[0]["inputSchema"], expected);
    }

    async fn a_handler_gets_the_arguments_as_a_map(revision) {
        let mut client = with_tool(|| tool(parameters()), revision).await;
        let given = json!({ "city": "Oslo", "days": 2, "near": { "x": 1.5 }, "any": [1, "b"] });
        let answer = said(&mut client, "forecast", given.clone()).await;
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), given);
    }

    async fn required_arguments_and_their_types_are_checked(revision) {
        let mut client = with_tool(|| tool(parameters()), revision).await;
        for (given, problems) in [
            (json!({}), "- `city`: missing"),
            (json!({ "city": 1 }), "- `city`: invalid type: 1, expected a string"),
            (json!({ "city": null }), "- `city`: invalid type: null, expected a string"),
            (json!({ "city": "x", "days": 1.5 }), "- `days`: invalid type: 1.5, expected an integer"),
            (json!({ "city": "x", "days": "two" }), "- `days`: invalid type: string \"two\", expected an integer"),
            (json!({ "city": "x", "days": [] }), "- `days`: invalid type: array, expected an integer"),
            (json!({ "city": "x", "tags": {} }), "- `tags`: invalid type: object, expected an array or null"),
            (json!({ "days": true, "dais": 1 }),
                "- `days`: invalid type: true, expected an integer\n- `city`: missing\n- unknown argument `dais`; did you mean `days`?"),
        ] {
            let text = format!("error: The arguments of `forecast` are wrong:\n{problems}");
            assert_eq!(said(&mut client, "forecast", given).await, text);
        }
    }

    async fn quoted_arguments_are_read_and_null_stands_for_a_missing_argument(revision) {
        let mut client = with_tool(|| tool(parameters()), revision).await;
        for (given, read) in [
            (json!({ "city": "5" }), json!({ "city": "5" })),
            (json!({ "city": "x", "days": "2" }), json!({ "city": "x", "days": 2 })),
            (json!({ "city": "x", "days": 2.0 }), json!({ "city": "x", "days": 2.0 })),
            (json!({ "city": "x", "tags": "[\"a\"]" }), json!({ "city": "x", "tags": ["a"] })),
            (json!({ "city": "x", "days": null }), json!({ "city": "x", "days": null })),
        ] {
            let answer = said(&mut client, "forecast", given).await;
            assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), read);
        }
    }

    async fn an_open_schema_accepts_further_arguments(revision) {
        let schemas: [MakeTool; 3] = [
            || tool(json!({ "type": "object" })),
            || tool(r#"{"type":"object","properties":{}}"#),
            || tool(schemars::json_schema!({ "type": "object" })),
        ];
        for schema in schemas {
            let mut client = with_tool(schema, revision).await;
            let schema = &client.tools().await.unwrap()[0]["inputSchema"];
            assert_eq!(*schema, json!({ "type": "object", "properties": {} }));
            assert_eq!(said(&mut client, "forecast", json!({ "x": [1] })).await, r#"{"x":[1]}"#);
        }
    }

    async fn a_tool_publishes_a_given_output_schema(revision) {
        let report = || {
            let schema = json!({ "type": "object", "properties": { "high": { "type": "integer", "format": "int32" } } });
            let tool = Tool::new("report").output_schema(schema);
            tool.handler(async |_: Context| Json(json!({ "high": 21 })))
        };
        let mut client = with_tool(report, revision).await;
        let tools = client.tools().await.unwrap();
        let expected = json!({ "type": "object", "properties": { "high": { "type": "integer" } } });
        assert_eq!(tools[0]["outputSchema"], expected);
        let answer = client.call("report", json!({})).await.unwrap();
        assert_eq!(answer.structured_content, Some(json!({ "high": 21 })));
    }

    async fn added_items_have_metadata_and_icons(revision) {
        let server = server!().items(items![]).setup(async |handle: Handle| {
            let icon = || Icon::new("https://example.com/a.png");
            let ui = || json!({ "resourceUri": "ui://x" });
            handle.add(
                Tool::new("x").icon(icon()).meta("ui", 1).meta("ui", ui()).handler(async |_: Context| ""),
            )?;
            handle.add(
                Prompt::new("x").icon(icon()).meta("ui", ui()).handler(async |_: Variables, _: Context| ""),
            )?;
            let resource = Resource::new("ui://x", "x").icon(icon()).meta("ui", ui());
            handle.add(resource.handler(async |_: Variables, _: Context| ""))
        });
        let mut client = connect(server, revision).await;
        for list in [
            client.tools().await.unwrap(), client.prompts().await.unwrap(), client.resources().await.unwrap(),
        ] {
            let item = named(&list, "x");
            assert_eq!(item["_meta"], json!({ "ui": { "resourceUri": "ui://x" } }));
            assert_eq!(item["icons"], json!([{ "src": "https://example.com/a.png" }]));
        }
    }
}

#[tokio::test]
async fn a_schema_that_is_not_usable_is_an_error_that_names_the_tool() {
    async fn check(tool: MakeTool, expected: &'static str) {
        let server = server!().items(items![]).setup(async move |handle: Handle| {
            assert_eq!(handle.add(tool()).unwrap_err().to_string(), expected);
            Ok::<_, Error>(())
        });
        connect(server, Revision::V2025_11_25).await;
    }
    let cases: [(MakeTool, &str); 10] = [
        (
            || tool(json!({ "properties": {} })),
            "`forecast`: `input_schema` is not usable: its root must have `\"type\": \"object\"`",
        ),
        (
            || tool("{"),
            "`forecast`: `input_schema` is not usable: EOF while parsing an object at line 1 column 1",
        ),
        (
            || tool(json!({ "type": "object", "properties": { "a": { "type": "text" } } })),
            "`forecast`: `input_schema` is not usable: the `type` of `a` is `\"text\"`, which is no type of JSON",
        ),
        (
            || tool(json!({ "type": "object", "properties": [] })),
            "`forecast`: `input_schema` is not usable: `properties` must be an object",
        ),
        (
            || tool(json!({ "type": "object", "required": true })),
            "`forecast`: `input_schema` is not usable: `required` must be an array of strings",
        ),
        (
            || {
                let pet = json!({ "$ref": "#/components/schemas/Pet" });
                tool(json!({ "type": "object", "properties": { "pet": pet } }))
            },
            "`forecast`: `input_schema` refers to `#/components/schemas/Pet`, which it does not contain: put the definition into the \
             `$defs` of the schema, and refer to it as `#/$defs/…`",
        ),
        (
            || tool(parameters()).handler(async |_: Context| ""),
            "`forecast`: `input_schema` needs a handler with arguments: set it with `handler_with`, such as \
             `handler_with(async |arguments: serde_json::Map<String, Value>, context: Context| …)`",
        ),
        (
            || tool(parameters()).output_schema(json!({})),
            "`forecast`: `output_schema` needs structured content: return `Json(…)` from the handler",
        ),
        (
            || tool(parameters()).output_schema(1),
            "`forecast`: `output_schema` is not usable: it is not a JSON object",
        ),
        (
            || tool(parameters()).meta("dev.mcp/x", 1),
            "`forecast`: `dev.mcp/x` cannot be a `_meta` key: its prefix is reserved for the protocol",
        ),
    ];
    for (tool, expected) in cases {
        check(tool, expected).await;
    }
}
