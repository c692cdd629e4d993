//! Completion: the sources of values, and the values that the server sends.

use mcp_runtime::{items, prelude::*, server};
use serde_json::json;

use crate::support::{both_eras, capabilities, connect, refused};

#[data]
#[serde(rename_all = "kebab-case")]
enum Shade {
    DarkRed,
    LightRed,
    Blue,
}

struct Towns(Vec<&'static str>);

fn towns() -> Towns {
    Towns(vec!["Graz", "Granada", "Wien", "Linz"])
}

/// Filters the values itself, by the end of each name.
#[completion]
fn own(typed: &str, towns: &Towns) -> Vec<String> {
    towns.0.iter().filter(|town| town.ends_with(typed)).map(|town| (*town).to_owned()).collect()
}

/// Leaves the filtering to the framework.
#[completion]
fn left(towns: State<Towns>) -> Vec<&'static str> {
    towns.0.clone()
}

#[completion]
async fn later(
    typed: String,
    country: Option<String>,
    ctx: &Context,
) -> Result<[String; 1], String> {
    tokio::task::yield_now().await;
    if typed == "!" {
        return Err(format!("{} typed nonsense", ctx.client().name));
    }
    Ok([format!("{typed} {country:?}")])
}

#[completion]
fn many() -> Vec<String> {
    (0..250).map(|number| number.to_string()).collect()
}

#[completion]
fn partly(_typed: &str) -> Completion {
    Completion::new(["a", "b"]).total(1000)
}

#[completion(blocking)]
fn slowly(typed: &str, depth: Option<u8>) -> Vec<String> {
    vec![format!("{typed}{depth:?}")]
}

#[prompt]
#[allow(clippy::too_many_arguments)]
fn visit(
    #[complete("Rust", "Python", "Go")] language: &str,
    shade: Option<Shade>,
    brief: bool,
    #[complete(own)] town: &str,
    #[complete(left)] other: &str,
    #[complete(later)] place: &str,
    #[arg(complete = many)] number: u32,
    #[complete(partly)] letter: &str,
    #[complete(slowly)] slow: &str,
    country: Option<&str>,
) -> String {
    let _ = (language, shade.is_some(), brief, town, other, place, number, letter, slow, country);
    String::new()
}

#[resource("towns://{town}/{shade}{?brief}")]
fn town(#[complete(own)] town: &str, shade: Shade, brief: Option<bool>) -> String {
    let _ = (shade, brief);
    town.to_owned()
}

both_eras! {
    async fn values_come_from_literals_types_and_functions(revision) {
        let mut client = connect(server!().items(items![visit, town]).state(towns()), revision).await;
        for (argument, typed, expected) in [
            ("language", "", &["Rust", "Python", "Go"][..]),
            ("language", "o", &["Python", "Go"]),
            ("language", "PY", &["Python"]),
            ("language", "zz", &[]),
            ("shade", "", &["dark-red", "light-red", "blue"]),
            ("shade", "red", &["dark-red", "light-red"]),
            ("brief", "", &["true", "false"]),
            ("brief", "f", &["false"]),
            ("town", "z", &["Graz", "Linz"]),
            ("other", "gra", &["Graz", "Granada"]),
            ("other", "n", &["Granada", "Wien", "Linz"]),
            ("place", "x", &["x None"]),
            ("slow", "x", &["xNone"]),
            ("country", "x", &[]),
        ] {
            let found = client.complete("visit", argument, typed).await.unwrap();
            assert_eq!((&*found.values, found.total, found.has_more), (&expected.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>()[..], Some(expected.len()), false), "{argument} {typed}");
        }
        for (target, argument, typed, expected) in [
            ("towns://{town}/{shade}{?brief}", "town", "z", &["Graz", "Linz"][..]),
            ("towns://Graz/blue", "town", "n", &["Wien"]),
            ("towns://{town}/{shade}{?brief}", "shade", "b", &["blue"]),
            ("towns://{town}/{shade}{?brief}", "brief", "t", &["true"]),
        ] {
            assert_eq!(client.complete(target, argument, typed).await.unwrap().values, expected, "{target} {argument}");
        }
    }

    async fn functions_see_the_arguments_that_are_given(revision) {
        let mut client = connect(server!().items(items![visit]).state(towns()), revision).await;
        let found = client.complete_given("visit", "place", "x", json!({ "country": "AT", "language": "Go" })).await.unwrap();
        assert_eq!(found.values, ["x Some(\"AT\")"]);
        let found = client.complete_given("visit", "slow", "x", json!({ "depth": "3" })).await.unwrap();
        assert_eq!(found.values, ["xSome(3)"]);
    }

    async fn at_most_a_hundred_values_are_sent(revision) {
        let mut client = connect(server!().items(items![visit]).state(towns()), revision).await;
        let found = client.complete("visit", "number", "").await.unwrap();
        assert_eq!((found.values.len(), found.total, found.has_more), (100, Some(250), true));
        let found = client.complete("visit", "number", "24").await.unwrap();
        assert_eq!((found.values.len(), found.total, found.has_more), (13, Some(13), false));
        let found = client.complete("visit", "letter", "").await.unwrap();
        assert_eq!((found.values.len(), found.total, found.has_more), (2, Some(1000), true));
    }

    async fn invalid_completion_requests_are_errors(revision) {
        let mut client = connect(server!().items(items![visit, town]).state(towns()), revision).await;
        let params = |reference, argument: &str, value: &str| json!({ "ref": reference, "argument": { "name": argument, "value": value } });
        let prompt = |name: &str| json!({ "type": "ref/prompt", "name": name });
        for (params, code, text) in [
            (params(prompt("visti"), "town", ""), -32602, "unknown prompt `visti`"),
            (params(prompt("town"), "town", ""), -32602, "unknown prompt `town`; the template of this name is completed by its URI `towns://{town}/{shade}{?brief}`"),
            (params(prompt("visit"), "twon", ""), -32602, "`visit` has no argument `twon`; did you mean `town`?"),
            (params(json!({ "type": "ref/resource", "uri": "no://x" }), "town", ""), -32602, "no template is or matches `no://x`"),
            (params(json!({ "type": "ref/tool", "name": "x" }), "town", ""), -32602, "`ref.type` is `ref/prompt` or `ref/resource`, not `ref/tool`"),
            (params(prompt("visit"), "place", "!"), -32603, "mcp-runtime-testing typed nonsense"),
        ] {
            assert_eq!(refused(&mut client, "completion/complete", params).await, (code, text.to_owned()));
        }
    }

    /// A completion function needs its state only on a server with an item that uses the function.
    async fn unused_completion_functions_need_no_state(revision) {
        let found = capabilities(server!().items(items![plain]), revision).await;
        assert_eq!(found.get("completions"), None);
        let found = capabilities(server!().items(items![chooses]), revision).await;
        assert_eq!(found.get("completions"), Some(&json!({})));
    }
}

#[prompt]
fn plain(text: &str) -> String {
    text.to_owned()
}

#[prompt]
fn chooses(#[complete("a")] text: &str) -> String {
    text.to_owned()
}

#[test]
fn the_state_of_a_completion_function_is_required_with_its_item() {
    let problems = crate::support::problems(server!().items(items![visit]));
    assert!(problems.iter().all(|problem| problem.contains("::Towns`")), "{problems:?}");
    assert_eq!(problems.len(), 1, "{problems:?}");
}
