//! Code of authors that panics where nobody would look for it.

use std::{convert::Infallible, str::FromStr};

use mcp_runtime::prelude::*;
use serde_json::json;

use crate::{
    authorization::Served,
    client::{modern, run},
};

/// Four letters and the rest.
struct Halves(String, String);

impl FromStr for Halves {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let (first, rest) = text.split_at(4);
        Ok(Self(first.to_owned(), rest.to_owned()))
    }
}

/// In two.
#[resource("things://{halves}", order = -1, rate = "100/s")]
fn halves(halves: Halves) -> String {
    format!("{}-{}", halves.0, halves.1)
}

/// Whole.
#[resource("things://{text}")]
fn whole(text: &str) -> String {
    text.to_owned()
}

/// Which of several templates a URI is read through is found out by reading its variables, with the author's own code.
#[test]
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
