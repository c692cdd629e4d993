use std::time::Duration;

use super::*;

/// Arguments for a party that fits only one table.
pub(super) fn grace() -> Value {
    json!({ "day": FAR, "time": "18:00", "guests": 8, "name": "Grace" })
}

fn take(take: bool) -> Value {
    accept(json!({ "take": take }))
}

/// Starts `wait_for_table` as a task. Under protocol revision 2025-11-25 the client has to request a task.
async fn begin(guest: &mut Guest) -> Value {
    let mut params = json!({ "name": "wait_for_table", "arguments": grace() });
    if guest.client.revision() == PAGES {
        params["task"] = json!({});
    }
    guest.client.request("tools/call", params).await.expect("the call is accepted")
}

fn id_of(created: &Value) -> String {
    let id = created["taskId"].as_str().or(created["task"]["taskId"].as_str());
    id.unwrap_or_else(|| panic!("no task: {created:#}")).to_owned()
}

async fn look_at(guest: &mut Guest, task: &str) -> Value {
    let which = json!({ "taskId": task });
    guest.client.request("tasks/get", which).await.expect("it is there")
}

#[test]
fn a_task_waits_and_asks_in_between() {
    run(async {
        for revision in [PAGES, ROUNDS] {
            let mut guest = Guest::new(revision).await;
            let taken = guest.book_for_eight().await;
            let created = begin(&mut guest).await;
            let task = id_of(&created);
            // Waits longer than the default lifetime of a task.
            tokio::time::sleep(Duration::from_secs(2 * 3600)).await;
            let waiting = look_at(&mut guest, &task).await;
            assert_eq!(waiting["status"], "working", "{revision}: {waiting:#}");
            let status = "waiting for a table on 2999-12-31 at 18:00 for 8";
            assert_eq!(waiting["statusMessage"], status, "{revision}: {waiting:#}");

            guest.cancel_booking(&taken).await;
            // Lets the handler run, which is in a tokio task of its own.
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert_eq!(look_at(&mut guest, &task).await["status"], "input_required", "{revision}");
            guest.will_say([take(true)]);
            let called = guest.client.finish_task(&created).await.unwrap();
            assert!(called.text().starts_with("Booked: Hall"), "{revision}: {}", called.text());
            let questions = guest.questions();
            let asked = "There is a table on 2999-12-31 at 18:00 for 8 now. Take it?";
            assert_eq!(questions[0]["message"], asked, "{revision}: {questions:#?}");
            let booking = guest.read(&id_in(&called.text())).await;
            assert_eq!(booking["guest"]["name"], "Grace", "{revision}: {booking:#}");
            assert_eq!(look_at(&mut guest, &task).await["status"], "completed", "{revision}");
        }
    });
}

/// In a revision without tasks, and for a client that does not declare them, the call waits like any other call.
#[test]
fn a_call_waits_if_there_are_no_tasks() {
    run(async {
        let forms = json!({ "elicitation": {} });
        for revision in [FORMS, PAGES, ROUNDS] {
            let mut guest = Guest::who_can(revision, forms.clone()).await;
            let first = guest.book([visit(8), group()]).await;
            guest.questions();
            let params = json!({ "name": "wait_for_table", "arguments": grace() });
            let ongoing = guest.client.start("tools/call", params.clone());
            guest.cancel_booking(&id_in(&first)).await;
            guest.will_say([take(true)]);
            let mut result = guest.client.wait(ongoing).await.unwrap();
            if revision == ROUNDS {
                // The table stays held until the next round, which contains the answer.
                let mut next = params;
                next["inputResponses"] =
                    json!({ "take-1": guest.answers.lock().unwrap().pop_front() });
                next["requestState"] = result["requestState"].take();
                result = guest.client.request("tools/call", next).await.unwrap();
            }
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with("Booked: Hall"), "{revision}: {result:#}");
            guest.questions();
        }
    });
}

#[test]
fn a_table_is_offered_in_order_of_arrival_and_again_after_a_refusal() {
    run(async {
        for revision in [PAGES, ROUNDS] {
            for refuses in [take(false), no(), json!({ "action": "cancel" })] {
                let mut guest = Guest::new(revision).await;
                let taken = guest.book_for_eight().await;
                let (first, second) = (begin(&mut guest).await, begin(&mut guest).await);
                guest.cancel_booking(&taken).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
                assert_eq!(look_at(&mut guest, &id_of(&second)).await["status"], "working");
                guest.will_say([refuses]);
                let said = guest.client.finish_task(&first).await.unwrap();
                assert!(!said.is_error && said.text().starts_with("Nothing is booked: the user "));
                guest.will_say([take(true)]);
                let said = guest.client.finish_task(&second).await.unwrap();
                assert!(said.text().starts_with("Booked: Hall"), "{revision}: {}", said.text());
                assert_eq!(guest.questions().len(), 2);
            }
        }
    });
}

#[test]
fn a_cancelled_task_is_skipped_when_a_table_becomes_free() {
    run(async {
        for revision in [PAGES, ROUNDS] {
            let mut guest = Guest::new(revision).await;
            let taken = guest.book_for_eight().await;
            let (first, second) = (begin(&mut guest).await, begin(&mut guest).await);
            let which = json!({ "taskId": id_of(&first) });
            guest.client.request("tasks/cancel", which).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert_eq!(look_at(&mut guest, &id_of(&first)).await["status"], "cancelled");
            guest.cancel_booking(&taken).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
            let asks = look_at(&mut guest, &id_of(&second)).await;
            assert_eq!(asks["status"], "input_required", "{revision}: {asks:#}");
            guest.will_say([take(true)]);
            let said = guest.client.finish_task(&second).await.unwrap();
            assert!(said.text().starts_with("Booked: Hall"), "{revision}: {}", said.text());
        }
    });
}

/// The first user does not answer in time, so the second user gets the table. When the first user answers "yes" later, the call waits for
/// the next table.
#[test]
fn a_guest_who_does_not_answer_loses_the_table_but_keeps_waiting() {
    run(async {
        for revision in [PAGES, ROUNDS] {
            let mut guest = Guest::new(revision).await;
            let taken = guest.book_for_eight().await;
            let (first, second) = (begin(&mut guest).await, begin(&mut guest).await);
            guest.cancel_booking(&taken).await;
            tokio::time::sleep(crate::restaurant::HELD + Duration::from_secs(60)).await;
            guest.will_say([take(true)]);
            let said = guest.client.finish_task(&second).await.unwrap();
            let theirs = id_in(&said.text());
            // The first user is asked again when the second gives the table back.
            let restaurant = guest.restaurant.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(600)).await;
                assert!(restaurant.release(&theirs));
            });
            guest.will_say([take(true), take(true)]);
            let said = guest.client.finish_task(&first).await.unwrap();
            assert!(said.text().starts_with("Booked: Hall"), "{revision}: {}", said.text());
            assert_eq!(guest.questions().len(), 3, "{revision}");
        }
    });
}

#[test]
fn wait_for_table_refuses_an_invalid_day_or_a_past_evening() {
    run(async {
        let mut guest = Guest::who_can(FORMS, json!({ "elicitation": {} })).await;
        let mut evening = grace();
        for (day, says) in
            [("1999-12-31", "is in the past"), ("2999-12-32", "is not a date"), ("soon", "`day`")]
        {
            evening["day"] = day.into();
            let called = guest.call("wait_for_table", evening.clone()).await;
            assert!(called.is_error && called.text().contains(says), "{}", called.text());
        }
    });
}
