//! Values from the server: state, the call, and types that authors make from them.

use std::sync::atomic::{AtomicU32, Ordering};

use mcp_runtime::{extract::Requirements, items, prelude::*, server};
use serde_json::json;

use crate::support::{both_eras, connect, named, problems, refused, said};

#[derive(Debug, Default)]
struct Counter(AtomicU32);

type Shared<'a> = &'a Counter;
type Kept = State<Counter>;
type Running<'a> = &'a Context;

#[tool]
fn count(by: u32, lent: &Counter, kept: State<Counter>, again: Shared<'_>, alias: Kept) -> u32 {
    lent.0.fetch_add(by, Ordering::Relaxed);
    assert!(
        std::ptr::eq(&raw const *lent, &raw const *kept) && std::ptr::eq(again, &raw const *alias)
    );
    kept.0.load(Ordering::Relaxed)
}

#[tool]
async fn count_later(lent: &Counter, ctx: Running<'_>) -> u32 {
    tokio::task::yield_now().await;
    assert!(ctx.state::<Counter>().is_some_and(|counter| std::ptr::eq(counter, lent)));
    assert!(ctx.state::<u8>().is_none() && ctx.uri().is_none());
    lent.0.load(Ordering::Relaxed)
}

/// The client's name, borrowed from the call.
struct Who<'a>(&'a str);

impl<'a> FromCall<'a> for Who<'a> {
    fn from_call(context: &'a Context) -> Result<Self> {
        Ok(Who(&context.client().name))
    }
}

/// A value whose `FromCall` always fails.
struct Broken;

impl FromCall<'_> for Broken {
    fn from_call(_: &Context) -> Result<Self> {
        Err(Error::msg("no ticket"))
    }
}

/// A value that fails with a JSON-RPC error.
struct Forbidden;

impl FromCall<'_> for Forbidden {
    fn from_call(_: &Context) -> Result<Self> {
        Err(Error::code(-30001, "not today").with_data(json!({ "until": "tomorrow" })))
    }
}

#[tool]
fn who(who: Who<'_>) -> String {
    who.0.to_owned()
}

#[tool]
async fn who_later(who: Who<'_>) -> String {
    tokio::task::yield_now().await;
    who.0.to_owned()
}

#[tool]
fn broken(_broken: Broken) {}

#[tool]
async fn broken_later(_broken: Broken) {}

#[tool(blocking)]
fn broken_elsewhere(_broken: Broken) {}

#[tool]
fn forbidden(_forbidden: Forbidden) {}

#[prompt]
fn broken_prompt(_broken: Broken) -> &'static str {
    ""
}

#[resource("broken://")]
fn broken_resource(_broken: Broken) -> &'static str {
    ""
}

#[tool]
fn client_info(client: Client, ctx: &Context) -> String {
    format!("{} {} {}", client.name, client.can("sampling"), ctx.client().name == client.name)
}

#[tool]
fn meta(meta: Meta, ctx: &Context, owned: Context) -> String {
    let of = |meta: &Meta| meta.get("example.com/trace").cloned().unwrap_or_default();
    assert!(of(&meta) == of(&ctx.meta()) && of(&meta) == of(&owned.meta()));
    of(&meta).to_string()
}

both_eras! {
    async fn state_is_shared_by_all_calls(revision) {
        let server = server!().items(items![count, count_later]).state(Counter::default());
        let mut client = connect(server, revision).await;
        assert_eq!(said(&mut client, "count", json!({ "by": 2 })).await, "2");
        assert_eq!(said(&mut client, "count", json!({ "by": 3 })).await, "5");
        assert_eq!(said(&mut client, "count_later", json!({})).await, "5");
        let tools = client.tools().await.unwrap();
        let properties = named(&tools, "count")["inputSchema"]["properties"].as_object().unwrap();
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["by"]);
    }

    async fn authors_define_values_of_their_own(revision) {
        let items = items![who, who_later, broken, broken_later, broken_elsewhere, forbidden, broken_prompt, broken_resource];
        let mut client = connect(server!().items(items), revision).await;
        assert_eq!(said(&mut client, "who", json!({})).await, "mcp-runtime-testing");
        assert_eq!(said(&mut client, "who_later", json!({})).await, "mcp-runtime-testing");
        for tool in ["broken", "broken_later", "broken_elsewhere"] {
            assert_eq!(said(&mut client, tool, json!({})).await, "error: no ticket");
        }
        let error = client.call("forbidden", json!({})).await.unwrap_err();
        assert_eq!((error.code, &*error.message), (-30001, "not today"));
        assert_eq!(error.data, Some(json!({ "until": "tomorrow" })));
        let failed = (-32603, "no ticket".to_owned());
        assert_eq!(refused(&mut client, "prompts/get", json!({ "name": "broken_prompt" })).await, failed);
        assert_eq!(refused(&mut client, "resources/read", json!({ "uri": "broken://" })).await, failed);
    }

    async fn the_client_and_the_meta_of_the_request(revision) {
        let mut client = connect(server!().items(items![client_info, meta]), revision).await;
        assert_eq!(said(&mut client, "client_info", json!({})).await, "mcp-runtime-testing false true");
        let params = json!({ "name": "meta", "_meta": { "example.com/trace": [1] } });
        let result = client.request("tools/call", params).await.unwrap();
        assert_eq!(result["content"][0]["text"], "[1]");
        assert_eq!(said(&mut client, "meta", json!({})).await, "null");
    }
}

// Clippy advises `&str` and `&[u8]` for these two parameters. The error of `build()` gives the same advice.
#[tool]
#[allow(clippy::ptr_arg)]
fn lends_a_string(text: &String) -> usize {
    text.len()
}

#[tool]
#[allow(clippy::ptr_arg)]
fn lends_a_vec(list: &Vec<u8>) -> usize {
    list.len()
}

#[tool]
fn lends_a_number(number: &u32) -> u32 {
    *number
}

#[tool]
fn lends_a_switch(is_on: &bool) -> bool {
    *is_on
}

#[tool]
fn lends_a_handle(_handle: &Handle) {}

/// A value that declares its requirements itself.
struct Demanding;

impl FromCall<'_> for Demanding {
    fn from_call(_: &Context) -> Result<Self> {
        Ok(Self)
    }

    fn needs(needs: &mut Requirements) {
        needs.state::<u64>();
    }
}

#[tool]
fn demanding(_demanding: Demanding) {}

#[test]
fn missing_state_stops_the_server_with_an_error_that_says_what_to_write() {
    let check = |items, expected: &[&str]| {
        let problems = problems(server!().items(items));
        assert_eq!(problems.len(), 1, "{problems:?}");
        for text in expected {
            assert!(problems[0].contains(text), "{text:?} is not in {:?}", problems[0]);
        }
    };
    check(
        items![who, count_later],
        &["`count_later` at ", "server_values.rs:", "::Counter`", ".state(…)"],
    );
    check(items![lends_a_string], &["for a text from the client write `&str` or `String`"]);
    check(items![lends_a_vec], &["for a list from the client write `&[u8]` or `Vec<u8>`"]);
    check(items![lends_a_number], &["for a number from the client write `u32`"]);
    check(items![lends_a_switch], &["for a `true` or `false` from the client write `bool`"]);
    check(items![demanding], &["shared state of type `u64`"]);
    check(items![lends_a_handle], &["`lends_a_handle` at ", "take it by value"]);
}

#[test]
fn texts_and_lists_can_be_state() {
    let server = server!().items(items![lends_a_string, lends_a_vec]);
    assert!(server.state(String::new()).state(vec![1_u8]).build().is_ok());
}
