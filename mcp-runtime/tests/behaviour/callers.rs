//! `Auth`: the information about the caller that a handler gets.

use mcp_runtime::{
    auth::{Auth, Authorization},
    items,
    prelude::*,
    server,
};
use serde::Deserialize;
use serde_json::json;

use crate::support::{both_eras, connect, refused, said};

/// Claims of a caller in these tests.
#[derive(Deserialize)]
struct Account {
    plan: String,
}

/// Takes the caller without claims.
#[tool]
fn name(caller: Auth) -> String {
    caller.principal().to_owned()
}

/// Takes the caller if it is known.
#[tool]
fn name_if_any(caller: Option<Auth>) -> String {
    caller.map_or("nobody".to_owned(), |caller| caller.principal().to_owned())
}

/// Returns the plan from the claims of the caller.
#[tool]
fn plan(caller: Auth<Account>) -> String {
    caller.plan.clone()
}

both_eras! {
    async fn claims_are_of_the_verifiers_type_or_json_and_need_not_be_taken(revision) {
        let mut client = connect(server!().items(items![name, name_if_any, plan]), revision).await;
        let free = || Account { plan: "free".to_owned() };
        let ada = || Authorization::new("ada");
        for (caller, expected) in [
            (ada().claims(free()), Some("free")),
            (ada().claims_json(r#"{"plan": "free"}"#), Some("free")),
            (ada().claims(String::from("others")), None),
            (ada().claims_json(r#"{"plan": 5}"#), None),
            (ada(), None),
        ] {
            client.authorization(caller);
            assert_eq!(said(&mut client, "name", json!({})).await, "ada");
            assert_eq!(said(&mut client, "name_if_any", json!({})).await, "ada");
            match expected {
                Some(expected) => assert_eq!(said(&mut client, "plan", json!({})).await, expected),
                None => {
                    let params = json!({ "name": "plan", "arguments": {} });
                    let (code, _) = refused(&mut client, "tools/call", params).await;
                    assert_eq!(code, -32603);
                }
            }
        }
    }
}

both_eras! {
    async fn a_caller_with_an_empty_name_is_anonymous(revision) {
        let mut client = connect(server!().items(items![name, name_if_any]), revision).await;
        client.authorization(Authorization::new(""));
        assert_eq!(said(&mut client, "name_if_any", json!({})).await, "nobody");
        let params = json!({ "name": "name", "arguments": {} });
        let (code, message) = refused(&mut client, "tools/call", params).await;
        assert_eq!((code, &*message), (-32600, "only a caller with an access token, sent over HTTP, may do this"));
    }
}
