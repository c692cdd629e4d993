use std::time::Duration;

use mcp_runtime::testing::RpcError;

use super::*;

async fn pay_deposit(guest: &mut Guest, id: &str) -> Result<Called, RpcError> {
    guest.client.call("pay_deposit", json!({ "booking": id })).await
}

/// Pays on the payment page, as the user would.
fn press_the_button(restaurant: &Restaurant, url: &str) {
    let page = after(url, PAY);
    let (_, token) = restaurant.bill(&page).expect("there is something to pay");
    assert!(restaurant.pay(&page, &token));
}

/// Returns the methods of the pending notifications, each with the URI or the elicitation that it is about.
async fn heard(guest: &mut Guest) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    while let Some(mut notification) = guest.client.notification(Duration::from_millis(50)).await {
        let about = ["uri", "elicitationId"].map(|name| notification["params"][name].take());
        let about = about.into_iter().find(|value| !value.is_null()).unwrap_or_default();
        all.push((notification["method"].as_str().unwrap_or_default().to_owned(), about));
    }
    all
}

#[test]
fn the_error_of_the_older_revision_sends_the_user_to_the_page() {
    run(async {
        let mut guest = Guest::new(PAGES).await;
        let id = guest.book_for_eight().await;
        guest.client.subscribe(&format!("booking://{id}")).await.unwrap();
        let error = pay_deposit(&mut guest, &id).await.unwrap_err();
        assert_eq!(error.code, -32042, "{error}");
        let page = error.data.unwrap()["elicitations"][0].take();
        press_the_button(&guest.restaurant, page["url"].as_str().unwrap());
        let heard = heard(&mut guest).await;
        let updated = json!(format!("booking://{id}"));
        assert!(heard.contains(&("notifications/resources/updated".to_owned(), updated)));
        let completed =
            ("notifications/elicitation/complete".to_owned(), page["elicitationId"].clone());
        assert!(heard.contains(&completed), "{heard:?}");
        let text = pay_deposit(&mut guest, &id).await.unwrap().text();
        assert!(text.ends_with("The deposit of 80 € is paid."), "{text}");
    });
}

#[test]
fn the_newest_revision_asks_until_it_is_paid() {
    run(async {
        let mut guest = Guest::new(ROUNDS).await;
        let id = guest.book_for_eight().await;
        let (restaurant, mut visits) = (guest.restaurant.clone(), 0);
        guest.client.answer_with(move |_, params| {
            // On the first visit the user looks at the page without paying.
            visits += 1;
            if visits == 2 {
                press_the_button(&restaurant, params["url"].as_str().unwrap());
            }
            assert!(visits <= 2);
            json!({ "action": "accept" })
        });
        let text = pay_deposit(&mut guest, &id).await.unwrap().text();
        assert!(text.ends_with("The deposit of 80 € is paid."), "{text}");
        assert_eq!(guest.read(&id).await["paid"], true);
    });
}

#[test]
fn a_guest_who_declines_the_payment_page_keeps_the_table() {
    run(async {
        let mut guest = Guest::new(ROUNDS).await;
        let id = guest.book_for_eight().await;
        guest.will_say([no()]);
        let text = pay_deposit(&mut guest, &id).await.unwrap().text();
        assert_eq!(text, "The user has not paid; the table is still theirs.");
        assert_eq!(guest.read(&id).await["paid"], false);
    });
}

/// The client declares URL-mode elicitation, but the protocol revision does not have it, so the error contains the URL.
#[test]
fn url_mode_elicitation_needs_a_revision_that_supports_it() {
    run(async {
        let mut guest = Guest::new(FORMS).await;
        let id = guest.book_for_eight().await;
        let called = pay_deposit(&mut guest, &id).await.unwrap();
        assert!(called.is_error, "{called:?}");
        press_the_button(&guest.restaurant, &called.text());
    });
}

#[test]
fn a_client_without_page_support_gets_the_address_of_the_payment_page() {
    run(async {
        for revision in [FORMS, PAGES, ROUNDS] {
            let mut guest = Guest::who_can(revision, json!({ "elicitation": {} })).await;
            let text = guest.book([visit(8), group()]).await;
            assert!(text.ends_with("A deposit of 80 € is due: `pay_deposit`."), "{text}");
            let id = id_in(&text);
            let text = pay_deposit(&mut guest, &id).await.unwrap().text();
            assert!(text.starts_with("Not paid yet"), "{revision}: {text}");
            press_the_button(&guest.restaurant, &text);
            let text = pay_deposit(&mut guest, &id).await.unwrap().text();
            assert!(text.ends_with("is paid."), "{revision}: {text}");
        }
    });
}

/// `book_table` sends a group to the payment page. The user may open the page without paying.
#[test]
fn a_group_is_sent_to_the_page_once() {
    run(async {
        for revision in [PAGES, ROUNDS] {
            for pays in [false, true] {
                let mut guest = Guest::new(revision).await;
                let restaurant = guest.restaurant.clone();
                let mut answers =
                    VecDeque::from([visit(8), group(), json!({ "action": "accept" })]);
                guest.client.answer_with(move |_, params| {
                    if let (Some(url), true) = (params["url"].as_str(), pays) {
                        press_the_button(&restaurant, url);
                    }
                    answers.pop_front().expect("three questions")
                });
                let text = guest.call("book_table", json!({})).await.text();
                assert_eq!(guest.read(&id_in(&text)).await["paid"], pays, "{revision}");
                assert_eq!(text.ends_with("is paid."), pays, "{revision}: {text}");
            }
        }
    });
}

#[test]
fn only_the_button_pays() {
    run(async {
        let mut guest = Guest::new(PAGES).await;
        let id = guest.book_for_eight().await;
        let page = after(&guest.restaurant.page_of(&id).unwrap(), PAY);
        for token in ["", "token", &page, &id] {
            assert!(!guest.restaurant.pay(&page, token), "{token}");
        }
        assert!(guest.restaurant.bill(&id).is_none() && guest.restaurant.bill("").is_none());
        assert_eq!(guest.read(&id).await["paid"], false);
        assert!(pay_deposit(&mut guest, "nothing").await.unwrap().is_error);
    });
}
