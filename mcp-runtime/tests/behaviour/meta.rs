//! `_meta`, icons, titles and hints: members of the lists that come from keys of the attributes.

use mcp_runtime::{content::Icon, items, prelude::*, server, testing::Revision};
use serde_json::{Value, json};

use crate::support::{both_eras, connect, named, problems, said};

#[tool(
    name = "the.tool",
    title = "The tool",
    description = "Said by the key",
    icon = "https://example.com/a.png",
    icon("https://example.com/b.png", mime_type = "image/png", sizes("48x48", "96x96")),
    read_only,
    destructive = false,
    idempotent,
    open_world = false,
    meta("example.com/cost" = 3, "plain" = "text", "example.com/yes" = true)
)]
/// Not this.
fn keyed() {}

#[tool]
fn bare() {}

#[prompt(title = "P", icon = "https://example.com/p.png", meta("example.com/kind" = "p"))]
fn keyed_prompt() -> &'static str {
    ""
}

#[resource("meta://fixed", name = "fixed", title = "F", icon = "https://example.com/f.png", meta("example.com/kind" = "r"))]
fn keyed_resource() -> &'static str {
    ""
}

#[resource("meta://{id}", title = "T", meta("example.com/kind" = "t"), mime_type = "text/x", priority = 1.0)]
fn keyed_template(id: &str) -> String {
    id.to_owned()
}

const PAGE: &str = "ui://page";

#[tool(meta(
    "ui" = json!({ "resourceUri": PAGE }),
    "list" = [1, 2],
    "sum" = 1 + 2,
    "none" = None::<u8>,
    "name" = PAGE,
    "minus" = -1
))]
fn computed() {}

struct Page;

#[handlers]
impl Page {
    const NUMBER: u8 = 7;

    #[tool(meta("page" = Self::NUMBER))]
    fn numbered(&self) {}
}

#[tool(meta("pairs" = std::collections::BTreeMap::from([((1, 2), 3)])))]
fn not_json() {}

#[tool(meta("never" = never()))]
fn panicking() {}

fn never() -> u8 {
    panic!("no value")
}

fn given_schema() -> Value {
    json!({ "type": "object", "properties": { "anything": { "type": "string" } } })
}

#[tool(input_schema = given_schema(), lenient)]
fn given() -> &'static str {
    "given"
}

fn given_result_schema() -> Value {
    json!({ "type": "object", "properties": { "sum": { "type": "integer", "x-ui": "large" } } })
}

#[tool(output_schema = given_result_schema())]
fn given_result() -> Json<Value> {
    Json(json!({ "sum": 3 }))
}

#[tool(output_schema = r#"{"type":"array","maxItems":1}"#, schema = "static")]
fn given_list() -> Result<(&'static str, Json<Vec<u8>>)> {
    Ok(("one", Json(vec![1])))
}

#[tool(schema = "full")]
fn full(count: u32, maybe: Option<u8>) -> String {
    format!("{count} {maybe:?}")
}

#[tool]
fn compatible(count: u32, maybe: Option<u8>) -> String {
    format!("{count} {maybe:?}")
}

both_eras! {
    async fn keys_are_published(revision) {
        let items = items![keyed, bare, keyed_prompt, keyed_resource, keyed_template];
        let mut client = connect(server!().items(items), revision).await;
        let tools = client.tools().await.unwrap();
        let tool = named(&tools, "the.tool");
        assert_eq!((&tool["title"], &tool["description"]), (&json!("The tool"), &json!("Said by the key")));
        assert_eq!(
            tool["icons"],
            json!([
                { "src": "https://example.com/a.png" },
                { "src": "https://example.com/b.png", "mimeType": "image/png", "sizes": ["48x48", "96x96"] },
            ])
        );
        let hints = json!({ "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false });
        assert_eq!(tool["annotations"], hints);
        assert_eq!(tool["_meta"], json!({ "example.com/cost": 3, "plain": "text", "example.com/yes": true }));
        let bare = named(&tools, "bare").as_object().unwrap();
        let mut keys: Vec<_> = bare.keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["inputSchema", "name"]);
        let prompts = client.prompts().await.unwrap();
        let prompt = named(&prompts, "keyed_prompt");
        assert_eq!((&prompt["title"], &prompt["_meta"]), (&json!("P"), &json!({ "example.com/kind": "p" })));
        assert_eq!(prompt["icons"], json!([{ "src": "https://example.com/p.png" }]));
        let resources = client.resources().await.unwrap();
        let resource = named(&resources, "fixed");
        assert_eq!((&resource["title"], &resource["_meta"]), (&json!("F"), &json!({ "example.com/kind": "r" })));
        let templates = client.templates().await.unwrap();
        let template = named(&templates, "keyed_template");
        assert_eq!((&template["mimeType"], &template["_meta"]), (&json!("text/x"), &json!({ "example.com/kind": "t" })));
        assert_eq!(template["annotations"], json!({ "priority": 1 }));
    }

    async fn metadata_may_be_computed(revision) {
        let server = server!().items(items![computed, Page::numbered]).state(Page);
        let tools = connect(server, revision).await.tools().await.unwrap();
        let expected = json!({
            "ui": { "resourceUri": "ui://page" }, "list": [1, 2], "sum": 3, "none": null, "name": "ui://page", "minus": -1,
        });
        assert_eq!(named(&tools, "computed")["_meta"], expected);
        assert_eq!(named(&tools, "numbered")["_meta"], json!({ "page": 7 }));
    }

    async fn a_given_schema_is_shown_as_it_is(revision) {
        let mut client = connect(server!().items(items![given]), revision).await;
        let tools = client.tools().await.unwrap();
        assert_eq!(named(&tools, "given")["inputSchema"], given_schema());
        assert_eq!(said(&mut client, "given", json!({ "anything": "x" })).await, "given");
    }

    async fn a_given_schema_of_the_result_is_shown_as_it_is(revision) {
        let mut client = connect(server!().items(items![given_result, given_list]), revision).await;
        let tools = client.tools().await.unwrap();
        assert_eq!(named(&tools, "given_result")["outputSchema"], given_result_schema());
        let result = client.call("given_result", json!({})).await.unwrap().raw;
        assert_eq!(result["structuredContent"], json!({ "sum": 3 }));
        // Before 2026-07-28, only an object schema can be published.
        let list = json!({ "type": "array", "maxItems": 1 });
        let published = (revision == Revision::V2026_07_28).then_some(&list);
        assert_eq!(named(&tools, "given_list").get("outputSchema"), published);
    }

    async fn schemas_have_the_form_that_all_clients_read_unless_full(revision) {
        let mut client = connect(server!().items(items![full, compatible]), revision).await;
        let tools = client.tools().await.unwrap();
        let full = &named(&tools, "full")["inputSchema"]["properties"];
        assert_eq!((&full["count"]["format"], &full["maybe"]["type"]), (&json!("uint32"), &json!(["integer", "null"])));
        let compatible = &named(&tools, "compatible")["inputSchema"]["properties"];
        assert_eq!((compatible["count"].get("format"), &compatible["maybe"]["type"]), (None, &json!("integer")));
    }

    async fn the_server_publishes_its_name_and_metadata(revision) {
        let server = server!(
            name = "named", version = "7.0", title = "Titled", website = "https://example.com", instructions = "Be kind.",
            icon = "https://example.com/s.png"
        );
        let server = server.description("Described").icon(Icon::new("data:image/png;base64,AA==")).items(items![bare]);
        let mut client = connect(server, revision).await;
        let hello = client.discover().await.unwrap();
        assert_eq!(hello["instructions"], "Be kind.");
        let info = if revision == Revision::V2026_07_28 {
            &hello["_meta"]["io.modelcontextprotocol/serverInfo"]
        } else {
            &hello["serverInfo"]
        };
        let expected = json!({
            "name": "named", "version": "7.0", "title": "Titled", "websiteUrl": "https://example.com", "description": "Described",
            "icons": [{ "src": "https://example.com/s.png" }, { "src": "data:image/png;base64,AA==" }],
        });
        assert_eq!(*info, expected);
    }

    async fn the_package_supplies_missing_metadata(revision) {
        let mut client = connect(server!().items(items![bare]), revision).await;
        let hello = client.discover().await.unwrap();
        let info = if revision == Revision::V2026_07_28 {
            &hello["_meta"]["io.modelcontextprotocol/serverInfo"]
        } else {
            &hello["serverInfo"]
        };
        assert_eq!((&info["name"], &info["version"]), (&json!("mcp-runtime"), &json!(env!("CARGO_PKG_VERSION"))));
        assert_eq!(info["description"], env!("CARGO_PKG_DESCRIPTION"));
        assert_eq!(hello.get("instructions"), None);
    }
}

#[test]
fn metadata_without_a_value_stops_the_server() {
    let problems = problems(server!().items(items![not_json, panicking]));
    let [first, second] = &problems[..] else { panic!("{problems:?}") };
    assert!(first.ends_with(": `pairs` of its `meta` is no JSON: key must be a string"), "{first}");
    assert!(second.ends_with(": `never` of its `meta` panicked: no value"), "{second}");
}

#[tokio::test]
async fn older_clients_get_what_they_know() {
    let mut client = connect(server!().items(items![keyed]), Revision::V2025_03_26).await;
    let tools = client.tools().await.unwrap();
    let tool = named(&tools, "the.tool");
    assert_eq!(tool["annotations"]["title"], "The tool");
    assert_eq!((tool.get("title"), tool.get("icons"), tool.get("_meta")), (None, None, None));
    let mut client = connect(server!().items(items![keyed]), Revision::V2024_11_05).await;
    let tools = client.tools().await.unwrap();
    assert_eq!(named(&tools, "the.tool").get("annotations"), None);
}
