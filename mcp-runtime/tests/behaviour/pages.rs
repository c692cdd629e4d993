//! URL-mode elicitation: sending the user to a URL, and learning that the user has finished there.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_runtime::{
    items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::{Value, json};

/// The revisions that support URL-mode elicitation.
const WITH_PAGES: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// Sends the user to any URL.
#[tool]
async fn sends(ctx: &Context, url: String) -> Result<&'static str> {
    ctx.elicit_url("page", "Go there", url).await?;
    Ok("the user agreed")
}

/// Returns a client whose user agrees to everything, and the parameters of the requests that the client has received.
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
            // The error contains no details. The author of the server finds the reason in the log.
            assert_eq!(error.code, -32603, "{revision} {bad}: {error}");
            assert_eq!(asked.lock().unwrap().len(), 0, "{revision} {bad}");
        }
    }
}

/// Sends the user to a page, and returns the error that the author of the server sees.
#[tool]
async fn misplaces(ctx: &Context, key: String, message: String, url: String) -> String {
    match ctx.elicit_url(key, message, url).await {
        Ok(()) => "the user agreed".to_owned(),
        Err(unanswered) => unanswered.to_string(),
    }
}

#[tokio::test]
async fn a_misplaced_url_is_an_error_that_names_the_order_of_the_arguments() {
    let url = "https://pay.example.com/secret";
    for revision in WITH_PAGES {
        let server = server!().items(items![misplaces]);
        let mut client = TestClient::connect_capable(server, revision, pages()).await.unwrap();
        for (given, expected) in [
            (["pay", url, "Pay for the table"], "a URL as its message"),
            ([url, "Pay for the table", "pay"], "a URL as its key"),
            (
                ["pay", "Pay for the table", "pay"],
                "the URL of the question `pay` must be an absolute",
            ),
        ] {
            let [key, message, page] = given;
            let arguments = json!({ "key": key, "message": message, "url": page });
            let error = client.call("misplaces", arguments).await.unwrap().text();
            assert!(error.starts_with("`misplaces` at ") && error.contains(expected), "{error}");
            assert!(error.contains("key, message, URL") == given.contains(&url), "{error}");
            // The address may be confidential.
            assert!(!error.contains("secret"), "{error}");
        }
    }
}

#[tokio::test]
async fn the_id_of_a_page_is_random() {
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..2 {
        let (mut client, asked) = client(Revision::V2025_11_25, pages()).await;
        for _ in 0..2 {
            client.call("sends", json!({ "url": "https://pay.example.com" })).await.unwrap();
        }
        let asked = asked.lock().unwrap();
        ids.extend(
            asked.iter().map(|question| question["elicitationId"].as_str().unwrap().to_owned()),
        );
    }
    assert!(ids.len() == 4 && ids.iter().all(|id| id.len() == 32), "{ids:?}");
    let (mut client, asked) = client(Revision::V2026_07_28, pages()).await;
    client.call("sends", json!({ "url": "https://pay.example.com" })).await.unwrap();
    assert!(asked.lock().unwrap()[0].get("elicitationId").is_none());
}

/// Orders that have been paid for.
#[derive(Default)]
struct Till(Mutex<Vec<u32>>);

fn page(order: u32) -> String {
    format!("https://pay.example.com/orders/{order}")
}

/// Books a table for an order that has been paid for.
#[tool]
async fn book(ctx: &Context, order: u32, till: &Till) -> Result<String> {
    if !till.0.lock().unwrap().contains(&order) {
        return Err(ctx.require_url("pay", "Pay for the table", page(order)).await.into());
    }
    Ok(format!("order {order} is booked"))
}

/// Records a payment, as the shop's own web server would.
#[tool]
fn pay(order: u32, till: &Till, server: Handle) {
    till.0.lock().unwrap().push(order);
    server.url_completed(page(order));
}

async fn shop(revision: Revision, can: Value) -> TestClient {
    let server = server!().state(Till::default()).items(items![book, pay, sends]);
    TestClient::connect_capable(server, revision, can).await.unwrap()
}

/// Returns the ids in the `notifications/elicitation/complete` that arrive until the client gets no message for 50 ms.
async fn completed(client: &mut TestClient) -> Vec<Value> {
    let mut ids = Vec::new();
    while let Some(notification) = client.notification(Duration::from_millis(50)).await {
        if notification["method"] == "notifications/elicitation/complete" {
            ids.push(notification["params"]["elicitationId"].clone());
        }
    }
    ids
}

#[tokio::test]
async fn a_page_must_be_visited_first() {
    let order = json!({ "order": 7 });
    for revision in WITH_PAGES {
        let mut client = shop(revision, pages()).await;
        if revision == Revision::V2025_11_25 {
            let mut ids = Vec::new();
            for _ in 0..2 {
                let error = client.call("book", order.clone()).await.unwrap_err();
                assert_eq!((error.code, &*error.message), (-32042, "Pay for the table"));
                let data = error.data.unwrap();
                let [elicitation] = &data["elicitations"].as_array().unwrap()[..] else {
                    panic!("{data}")
                };
                let told = (
                    elicitation["mode"].as_str(),
                    elicitation["message"].as_str(),
                    elicitation["url"].as_str(),
                );
                assert_eq!(told, (Some("url"), Some("Pay for the table"), Some(&*page(7))));
                ids.push(elicitation["elicitationId"].clone());
            }
            client.call("pay", json!({ "order": 8 })).await.unwrap();
            assert_eq!(completed(&mut client).await, Vec::<Value>::new());
            client.call("pay", order.clone()).await.unwrap();
            assert_eq!(completed(&mut client).await, ids);
            client.call("pay", order.clone()).await.unwrap();
            assert_eq!(completed(&mut client).await, Vec::<Value>::new());
        } else {
            let call = json!({ "name": "book", "arguments": order });
            let mut next = call.clone();
            for _ in 0..3 {
                let ongoing = client.start("tools/call", next);
                let round = client.wait(ongoing).await.unwrap();
                let asked = json!({ "pay": {
                    "method": "elicitation/create",
                    "params": { "mode": "url", "message": "Pay for the table", "url": page(7) },
                } });
                assert_eq!(round["inputRequests"], asked, "{round}");
                // The user agrees to open the URL, which does not mean that the user pays there.
                next = call.clone();
                next["inputResponses"] = json!({ "pay": { "action": "accept" } });
                if let Some(state) = round.get("requestState") {
                    next["requestState"] = state.clone();
                }
            }
            client.call("pay", order.clone()).await.unwrap();
            assert_eq!(completed(&mut client).await, Vec::<Value>::new());
            let ongoing = client.start("tools/call", next);
            let booked = client.wait(ongoing).await.unwrap();
            assert_eq!(booked["content"][0]["text"], "order 7 is booked", "{booked}");
        }
        let called = client.call("book", order.clone()).await.unwrap();
        assert_eq!(called.text(), "order 7 is booked", "{revision}");
    }
}

#[tokio::test]
async fn a_user_may_refuse_to_visit_the_page() {
    for (action, told) in [("decline", "declined"), ("cancel", "closed")] {
        let mut client = shop(Revision::V2026_07_28, pages()).await;
        client.answer_with(move |_, _| json!({ "action": action }));
        let called = client.call("book", json!({ "order": 7 })).await.unwrap();
        assert!(called.is_error && called.text().contains(told), "{called:?}");
    }
}

#[tokio::test]
async fn a_client_without_pages_gets_the_address() {
    for revision in Revision::LEGACY {
        for can in [json!({}), json!({ "elicitation": {} }), pages()] {
            let mut client = shop(revision, can.clone()).await;
            if revision == Revision::V2025_11_25 && can == pages() {
                continue;
            }
            let called = client.call("book", json!({ "order": 7 })).await.unwrap();
            let text = called.text();
            assert!(called.is_error && text.contains(&page(7)), "{revision} {can}: {text}");
            assert!(text.contains("Pay for the table"), "{revision} {can}: {text}");
            client.call("pay", json!({ "order": 7 })).await.unwrap();
            assert_eq!(completed(&mut client).await, Vec::<Value>::new(), "{revision} {can}");
        }
    }
    for can in [json!({}), json!({ "elicitation": {} })] {
        let mut client = shop(Revision::V2026_07_28, can.clone()).await;
        let error = client.call("book", json!({ "order": 7 })).await.unwrap_err();
        assert_eq!(error.code, -32021, "{can}: {error}");
        let required = json!({ "requiredCapabilities": { "elicitation": { "url": {} } } });
        assert_eq!(error.data, Some(required), "{can}");
    }
}

#[tokio::test]
async fn a_page_that_was_asked_for_is_completed_too() {
    let mut client = shop(Revision::V2025_11_25, pages()).await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    client.answer_with(move |_, params| {
        seen.lock().unwrap().push(params["elicitationId"].clone());
        json!({ "action": "accept" })
    });
    client.call("sends", json!({ "url": page(7) })).await.unwrap();
    client.call("pay", json!({ "order": 7 })).await.unwrap();
    assert_eq!(completed(&mut client).await, *asked.lock().unwrap());
}
