//! Sending the user to a page, and hearing that the user has been there.

use std::sync::{Arc, Mutex};

use mcp_runtime::{
    items,
    prelude::*,
    server,
    testing::{Client as TestClient, Revision},
};
use serde_json::{Value, json};

/// The revisions in which a user can be sent to a page.
const WITH_PAGES: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// Sends the user anywhere.
#[tool]
async fn sends(ctx: &Context, url: String) -> Result<&'static str> {
    ctx.elicit_url("page", "Go there", url).await?;
    Ok("the user agreed")
}

/// A client whose user agrees to everything, and what it was asked.
async fn client(revision: Revision, can: Value) -> (TestClient, Arc<Mutex<Vec<Value>>>) {
    let server = server!().items(items![sends]);
    let mut client = TestClient::connect_capable(server, revision, can).await.unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    client.answer_with(move |_, params| {
        seen.lock().unwrap().push(params.clone());
        json!({ "action": "accept" })
    });
    (client, asked)
}

fn pages() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

#[tokio::test]
async fn a_user_is_sent_to_web_pages_only() {
    for revision in WITH_PAGES {
        let (mut client, asked) = client(revision, pages()).await;
        for good in ["https://pay.example.com/7", "http://localhost:8080/login"] {
            let called = client.call("sends", json!({ "url": good })).await.unwrap();
            assert_eq!(called.text(), "the user agreed", "{revision}");
            assert_eq!(asked.lock().unwrap().pop().unwrap()["url"], good, "{revision}");
        }
        for bad in ["pay", "javascript:alert(1)", "https://me@pay.example.com", "https://a b"] {
            let error = client.call("sends", json!({ "url": bad })).await.unwrap_err();
            // The author reads why in the log.
            assert_eq!(error.code, -32603, "{revision} {bad}: {error}");
            assert_eq!(asked.lock().unwrap().len(), 0, "{revision} {bad}");
        }
    }
}

#[tokio::test]
async fn the_id_of_a_page_says_nothing() {
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..2 {
        let (mut client, asked) = client(Revision::V2025_11_25, pages()).await;
        for _ in 0..2 {
            client.call("sends", json!({ "url": "https://pay.example.com" })).await.unwrap();
        }
        let asked = asked.lock().unwrap();
        ids.extend(asked.iter().map(|it| it["elicitationId"].as_str().unwrap().to_owned()));
    }
    assert!(ids.len() == 4 && ids.iter().all(|it| it.len() == 32), "{ids:?}");
    let (mut client, asked) = client(Revision::V2026_07_28, pages()).await;
    client.call("sends", json!({ "url": "https://pay.example.com" })).await.unwrap();
    assert!(asked.lock().unwrap()[0].get("elicitationId").is_none());
}
