use super::*;
use crate::restaurant::HELD;

#[test]
fn a_small_party_is_asked_twice_and_may_choose_a_table() {
    run(async {
        for revision in [FORMS, PAGES, ROUNDS] {
            let mut guest = Guest::new(revision).await;
            // There are three tables. Each call books only one of them, although the function may run several times.
            for (wish, table) in [("garden", "Garden"), ("garden", "Window"), ("window", "Hall")] {
                let text = guest.book([visit(2), few(wish)]).await;
                assert!(
                    text.starts_with(&format!("Booked: {table}, ")),
                    "{revision} {wish}: {text}"
                );
                let questions = guest.questions();
                let [when, rest] = &questions[..] else { panic!("{questions:#?}") };
                let schema = &when["requestedSchema"];
                assert_eq!(schema["properties"]["day"]["format"], "date", "{schema:#}");
                assert_eq!(schema["properties"]["guests"]["maximum"], 8, "{schema:#}");
                assert_eq!(schema["required"], json!(["day"]), "{schema:#}");
                let said = rest["message"].as_str().unwrap();
                assert!(said.contains("2999-12-31 at 18:00 for 2"), "{said}");
                assert_eq!(rest["requestedSchema"]["required"], json!(["name"]), "{rest:#}");
                let booking = guest.read(&id_in(&text)).await;
                let ada = json!({ "name": "Ada", "email": null, "allergies": null });
                assert_eq!((&booking["guest"], &booking["deposit"]), (&ada, &json!(0)));
            }
            let text = guest.book([visit(2), visit(2), no()]).await;
            assert_eq!(text, "Nothing is booked: the user does not want to.", "{revision}");
            let again = guest.questions()[1]["message"].clone();
            assert_eq!(again, "There is no table on 2999-12-31 at 18:00 for 2. When else?");
        }
    });
}

#[test]
fn a_group_is_asked_for_an_email_and_owes_a_deposit() {
    run(async {
        for revision in [FORMS, PAGES, ROUNDS] {
            let mut guest = Guest::new(revision).await;
            let id = guest.book_for_eight().await;
            let booking = guest.read(&id).await;
            assert_eq!(booking["guest"]["email"], "ada@example.com", "{revision}: {booking:#}");
            assert_eq!(booking["guest"]["allergies"], "nuts", "{revision}: {booking:#}");
            assert_eq!((&booking["deposit"], &booking["paid"]), (&json!(80), &json!(false)));
        }
    });
}

/// A user who declines one of the two forms keeps no table.
#[test]
fn a_user_who_declines_keeps_no_table() {
    run(async {
        for revision in [FORMS, PAGES, ROUNDS] {
            let mut guest = Guest::new(revision).await;
            let closed = json!({ "action": "cancel" });
            for (last, said) in
                [(no(), "the user does not want to"), (closed, "the user has not answered")]
            {
                for answers in [vec![last.clone()], vec![visit(8), last.clone()]] {
                    let text = guest.book(answers).await;
                    assert_eq!(text, format!("Nothing is booked: {said}."), "{revision}");
                }
            }
            guest.questions();
            guest.book_for_eight().await;
        }
    });
}

#[test]
fn a_past_evening_is_asked_for_again() {
    run(async {
        for revision in [FORMS, PAGES, ROUNDS] {
            let mut guest = Guest::new(revision).await;
            let over = accept(json!({ "day": "1999-12-31" }));
            let text = guest.book([over.clone(), over.clone(), over]).await;
            assert!(text.contains("`wait_for_table`"), "{revision}: {text}");
            for again in &guest.questions()[1..] {
                let said = again["message"].as_str().unwrap();
                assert!(said.starts_with("1999-12-31 is in the past"), "{revision}: {said}");
            }
        }
    });
}

/// Sends one round of a `book_table` call under protocol revision 2026-07-28, and returns its result.
async fn round(guest: &mut Guest, answers: Value, state: &Value) -> Value {
    let mut params = json!({ "name": "book_table", "arguments": {}, "inputResponses": answers });
    if !state.is_null() {
        params["requestState"] = state.clone();
    }
    let ongoing = guest.client.start("tools/call", params);
    guest.client.wait(ongoing).await.expect("no error of the protocol")
}

/// The server tells the user that there is no table, and the user names another evening. The booking is for that evening, even though a
/// table has become free on the first one.
#[test]
fn a_table_that_becomes_free_later_does_not_change_an_earlier_answer() {
    run(async {
        let mut guest = Guest::new(ROUNDS).await;
        let taken = guest.book_for_eight().await;
        let told = round(&mut guest, json!({ "visit-1": visit(8) }), &Value::Null).await;
        let question = &told["inputRequests"]["visit-2"]["params"]["message"];
        assert!(question.as_str().unwrap().starts_with("There is no table"), "{told:#}");
        guest.cancel_booking(&taken).await;
        let other = json!({ "visit-2": accept(json!({ "day": FAR, "time": "20:30" })) });
        let kept = round(&mut guest, other, &told["requestState"]).await;
        let question = kept["inputRequests"]["few"]["params"]["message"].as_str();
        assert!(question.unwrap().contains("at 20:30 for 2"), "{kept:#}");
    });
}

#[test]
fn a_table_is_held_for_a_limited_time() {
    run(async {
        let mut guest = Guest::new(ROUNDS).await;
        let kept = round(&mut guest, json!({ "visit-1": visit(8) }), &Value::Null).await;
        let full = guest.book([visit(8), no()]).await;
        assert!(full.starts_with("Nothing is booked") && guest.questions().len() == 2, "{full}");
        tokio::time::sleep(HELD).await;
        guest.book_for_eight().await;
        let late = round(&mut guest, json!({ "group": group() }), &kept["requestState"]).await;
        assert_eq!(late["isError"], true, "{late:#}");
        let said = late["content"][0]["text"].as_str().unwrap();
        assert_eq!(said, "the table is no longer held: begin again");
    });
}

#[test]
fn a_tool_that_asks_fails_for_a_client_without_elicitation() {
    run(async {
        for revision in [Revision::V2024_11_05, Revision::V2025_03_26, FORMS, PAGES, ROUNDS] {
            let mut guest = Guest::who_can(revision, json!({})).await;
            for (tool, arguments) in
                [("book_table", json!({})), ("wait_for_table", waiting::grace())]
            {
                match guest.client.call(tool, arguments).await {
                    Ok(called) => assert!(called.is_error && revision != ROUNDS, "{revision}"),
                    Err(error) => assert_eq!((error.code, revision), (-32021, ROUNDS), "{error}"),
                }
            }
        }
    });
}

#[test]
fn an_evening_is_planned() {
    run(async {
        let mut guest = Guest::new(ROUNDS).await;
        let evening = json!({ "occasion": "a birthday", "time": "20:30" });
        let said = guest.client.prompt("plan_evening", evening).await.unwrap().text();
        assert!(said.starts_with("Plan a birthday around a dinner, late."), "{said}");
        let found = guest.client.complete("plan_evening", "occasion", "a f").await.unwrap();
        assert_eq!(found.values, ["a first date"]);
        let found = guest.client.complete("plan_evening", "time", "").await.unwrap();
        assert_eq!(found.values, ["18:00", "20:30"]);
    });
}
