//! `Option<&str>`: an optional text, borrowed like `&str`.

#![forbid(unsafe_code)]

use mcp_runtime::{prelude::*, testing::TestClient};
use serde_json::json;

/// Greets.
#[tool]
async fn greet(name: Option<&str>) -> String {
    format!("{name:?}")
}

/// Writes.
#[prompt]
fn write(tone: Option<&str>) -> String {
    format!("{tone:?}")
}

#[tokio::test]
async fn an_optional_str_parameter_is_borrowed_or_absent() {
    let mut client = TestClient::connect(mcp_runtime::server!()).await.unwrap();
    let schema = &client.tools().await.unwrap()[0]["inputSchema"];
    assert_eq!(schema["properties"]["name"]["type"], "string", "{schema}");
    assert_eq!(schema.get("required"), None, "{schema}");
    for (arguments, expected) in [
        (json!({}), "None"),
        (json!({ "name": null }), "None"),
        (json!({ "name": "Ada" }), "Some(\"Ada\")"),
    ] {
        assert_eq!(client.call("greet", arguments).await.unwrap().text(), expected);
    }
    for (arguments, expected) in [(json!({}), "None"), (json!({ "tone": "" }), "Some(\"\")")] {
        let prompted = client.prompt("write", arguments).await.unwrap();
        assert_eq!(prompted.messages[0]["content"]["text"], expected);
    }
}
