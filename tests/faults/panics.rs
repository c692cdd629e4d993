//! Code of the server's author that panics in unexpected places: while a variable is parsed, and while a value is dropped.

use std::{convert::Infallible, str::FromStr};

use mcp_runtime::prelude::*;
use serde_json::{Value, json};

use crate::{
    authorization::Served,
    client::{Session, Stream, call, modern, run, text_of},
};

/// The first four letters of a text, and the rest.
struct Halves(String, String);

impl FromStr for Halves {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let (first, rest) = text.split_at(4);
        Ok(Self(first.to_owned(), rest.to_owned()))
    }
}

/// A text in two halves.
#[resource("things://{halves}", order = -1, rate = "100/s")]
fn halves(halves: Halves) -> String {
    format!("{}-{}", halves.0, halves.1)
}

/// A whole text.
#[resource("things://{text}")]
fn whole(text: &str) -> String {
    text.to_owned()
}

/// To choose between several templates for a URI, the server parses the variables with the author's code. A panic in this code fails only
/// the request with that URI.
#[support::test]
fn a_variable_that_makes_its_type_panic_answers_that_one_call() {
    run(async {
        let served = Served::start(mcp_runtime::server!().items(items![halves, whole])).await;
        let read = async |uri: &str| {
            modern(1, "resources/read", json!({ "uri": uri })).ask(served.address).await.json()
        };
        let good = read("things://abcdef").await;
        assert_eq!(good["result"]["contents"][0]["text"], "abcd-ef", "{good}");
        let broken = read("things://a").await;
        assert_eq!(broken["error"]["code"], -32603, "{broken}");
        served.end().await;
    });
}

/// A value that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped")
    }
}

/// Panics with a `Bomb` as the payload.
#[tool]
fn throw() {
    std::panic::panic_any(Bomb)
}

/// Panics with a `Bomb` as the payload, after a wait.
#[tool]
async fn throw_later() {
    tokio::task::yield_now().await;
    std::panic::panic_any(Bomb)
}

/// Panics with a `Bomb` as the payload, on another thread.
#[tool(blocking)]
fn throw_elsewhere() {
    std::panic::panic_any(Bomb)
}

/// Holds a `Bomb`, which is dropped at the timeout of the call.
#[tool(timeout = "20ms")]
async fn hold_bomb() {
    let _bomb = Bomb;
    std::future::pending::<()>().await;
}

async fn answer(mut stream: Stream) -> Value {
    if stream.head.is_stream() {
        return stream.rest().await.pop().expect("an answer");
    }
    let body = stream.connection.body(crate::client::SOON).await.expect("a whole body");
    crate::client::Reply { head: stream.head, body }.json()
}

#[support::test]
fn a_panic_in_a_drop_answers_that_one_call() {
    run(async {
        let tools = items![throw, throw_later, throw_elsewhere, hold_bomb];
        let served = Served::start(mcp_runtime::server!().items(tools)).await;
        let session = Session::begin(served.address, "2025-11-25").await;
        for (tool, says) in [
            ("throw", "the tool `throw` panicked"),
            ("throw_later", "the tool `throw_later` panicked"),
            ("throw_elsewhere", "the tool `throw_elsewhere` panicked"),
            ("hold_bomb", "the tool `hold_bomb` took longer than 20ms and was given up"),
        ] {
            for request in [call(1, tool, json!({})), session.call(1, tool, json!({}))] {
                let answered = answer(request.open(served.address).await).await;
                assert_eq!(answered["result"]["isError"], true, "{answered}");
                assert!(text_of(&answered).contains(says), "{tool}: {answered}");
            }
        }
        served.end().await;
    });
}
