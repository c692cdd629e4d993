use mcp_runtime::{
    auth::Authorization,
    testing::{TestClient, assert_contract},
};
use serde_json::json;

use super::*;

/// Connects a client to the server, without a process. The settings come from the test, not from the environment.
async fn connect() -> TestClient {
    let config = Config { password: None };
    TestClient::connect(server().state(config))
        .await
        .expect("the server starts")
}

/// Returns a user with these scopes.
fn user<const N: usize>(name: &str, scopes: [&str; N]) -> Authorization {
    Authorization::new(name).scopes(scopes)
}

#[tokio::test]
async fn users_read_only_their_own_notes() {
    let mut client = connect().await;
    client.authorization(user("ada", ["notes:read", "notes:write"]));
    let added = client.call("add_note", json!({ "text": "Buy milk" }));
    assert_eq!(added.await.unwrap().text(), "1");
    let note = client.read("notes://1").await.unwrap();
    assert_eq!(note[0].text(), "Buy milk");

    client.authorization(user("bob", ["notes:read"]));
    assert!(client.read("notes://1").await.is_err());
}

#[tokio::test]
async fn a_note_needs_the_scope_for_writing() {
    let mut client = connect().await;
    client.authorization(user("bob", ["notes:read"]));
    let refused = client.call("add_note", json!({ "text": "Buy milk" }));
    assert!(refused.await.is_err());
}

/// Fails if clients would notice a change that breaks them. `MCP_LOCK=update cargo test` accepts the change.
#[test]
fn the_contract_holds() {
    assert_contract!(server());
}
