use mcp_runtime::testing::{TestClient, assert_contract};
use serde_json::json;

use super::*;

/// Connects a client to the server, without a process. The settings come from the test, not from the environment.
async fn connect() -> TestClient {
    let config = Config {
        mark: ".".to_owned(),
    };
    TestClient::connect(server().state(config))
        .await
        .expect("the server starts")
}

#[tokio::test]
async fn a_person_is_greeted_in_a_language() {
    let mut client = connect().await;
    let arguments = json!({ "name": "Ada", "language": "fi" });
    let greeting = client.call("greet", arguments).await.unwrap();
    assert_eq!(greeting.text(), "Hei, Ada.");
}

#[tokio::test]
async fn an_unknown_language_is_an_error_for_the_model() {
    let mut client = connect().await;
    let arguments = json!({ "name": "Ada", "language": "xx" });
    let failed = client.call("greet", arguments).await.unwrap();
    assert!(failed.is_error);
    assert!(failed.text().contains("use `de`, `en` or `fi`"));
}

#[tokio::test]
async fn a_greeting_is_a_resource() {
    let mut client = connect().await;
    let greeting = client.read("greetings://de").await.unwrap();
    assert_eq!(greeting[0].text(), "Hallo");
    assert!(client.read("greetings://xx").await.is_err());
}

/// Fails if clients would notice a change that breaks them. `MCP_LOCK=update cargo test` accepts the change.
#[test]
fn the_contract_holds() {
    assert_contract!(server());
}
