//! Conversations with a client, which are the same under each protocol revision that supports them.

use std::{
    collections::VecDeque,
    future::Future,
    mem,
    sync::{Arc, Mutex},
};

use mcp_runtime::{
    prelude::*,
    testing::{Called, Revision, TestClient},
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{restaurant::Restaurant, server};

mod booking;
mod paying;
mod waiting;

#[test]
fn the_server_builds() {
    mcp_runtime::testing::assert_builds!();
    mcp_runtime::testing::assert_builds!(
        server().setup(async || -> Result<Restaurant> { unreachable!("nothing starts") })
    );
}

const FORMS: Revision = Revision::V2025_06_18;
const PAGES: Revision = Revision::V2025_11_25;
const ROUNDS: Revision = Revision::V2026_07_28;

const FAR: &str = "2999-12-31";

const PAY: &str = "http://127.0.0.1:1/pay/";

/// Runs a test on a paused clock, which advances whenever all tokio tasks wait.
fn run(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(true).build().expect("a runtime").block_on(test);
}

/// The restaurant and one client. The user of this client gives the listed answers in turn. The test fails if the server asks for more
/// answers than listed.
struct Guest {
    client: TestClient,
    restaurant: Restaurant,
    answers: Arc<Mutex<VecDeque<Value>>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Guest {
    async fn new(revision: Revision) -> Self {
        let can = json!({
            "elicitation": { "form": {}, "url": {} },
            "extensions": { "io.modelcontextprotocol/tasks": {} },
        });
        Self::who_can(revision, can).await
    }

    async fn who_can(revision: Revision, can: Value) -> Self {
        let (made, restaurant) = oneshot::channel();
        let server = server().setup(async move |server: Handle| {
            let restaurant = Restaurant::new(server, "http://127.0.0.1:1".to_owned());
            let _ = made.send(restaurant.clone());
            Ok::<_, Error>(restaurant)
        });
        let mut client =
            TestClient::connect_capable(server, revision, can).await.expect("it starts");
        let restaurant = restaurant.await.expect("`setup` has run");
        let answers: Arc<Mutex<VecDeque<Value>>> = Arc::default();
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (next, heard) = (answers.clone(), asked.clone());
        client.answer_with(move |method, params| {
            assert_eq!(method, "elicitation/create");
            heard.lock().unwrap().push(params.clone());
            let answer = next.lock().unwrap().pop_front();
            answer.unwrap_or_else(|| panic!("nobody expects this: {params:#}"))
        });
        Self { client, restaurant, answers, asked }
    }

    fn will_say(&self, answers: impl IntoIterator<Item = Value>) {
        self.answers.lock().unwrap().extend(answers);
    }

    /// Returns the requests that the client has received since the last call of this function. Checks that all listed answers were used.
    fn questions(&self) -> Vec<Value> {
        let left = mem::take(&mut *self.answers.lock().unwrap());
        assert!(left.is_empty(), "nobody asked for {left:?}");
        mem::take(&mut self.asked.lock().unwrap())
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Called {
        self.client.call(tool, arguments).await.expect("no error of the protocol")
    }

    /// Calls `book_table` with these answers of the user, and returns its text.
    async fn book(&mut self, answers: impl IntoIterator<Item = Value>) -> String {
        self.will_say(answers);
        let called = self.call("book_table", json!({})).await;
        assert!(!called.is_error, "{}", called.text());
        called.text()
    }

    /// Books the only table for eight guests, and returns the id of the booking.
    async fn book_for_eight(&mut self) -> String {
        let mut answers = vec![visit(8), group()];
        if self.client.revision() != FORMS {
            answers.push(no());
        }
        let text = self.book(answers).await;
        self.questions();
        id_in(&text)
    }

    async fn cancel_booking(&mut self, id: &str) {
        let called = self.call("cancel_booking", json!({ "booking": id })).await;
        assert_eq!(called.text(), "The booking is cancelled.");
    }

    async fn read(&mut self, id: &str) -> Value {
        let contents = self.client.read(&format!("booking://{id}")).await.expect("it is there");
        serde_json::from_str(contents[0].text.as_deref().expect("a text")).expect("JSON")
    }
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn no() -> Value {
    json!({ "action": "decline" })
}

fn visit(guests: u8) -> Value {
    accept(json!({ "day": FAR, "time": "18:00", "guests": guests }))
}

fn few(area: &str) -> Value {
    accept(json!({ "name": "Ada", "area": area }))
}

fn group() -> Value {
    accept(json!({ "name": "Ada", "email": "ada@example.com", "allergies": "nuts" }))
}

/// Returns the id of the booking that the text mentions.
fn id_in(text: &str) -> String {
    after(text, "booking://")
}

/// Returns the id that follows `start` in the text.
fn after(text: &str, start: &str) -> String {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start} in: {text}"));
    rest.chars().take_while(char::is_ascii_hexdigit).collect()
}
