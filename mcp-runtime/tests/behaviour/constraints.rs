//! Bounds of arguments: rejected values, their error messages, and the same bounds in the schema.

use std::collections::BTreeMap;

use mcp_runtime::{items, prelude::*, server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{both_eras, connect, named, problems, refused, said};

#[tool]
#[allow(clippy::too_many_arguments)]
fn bounded(
    #[arg(default = 1, range(1..=10))] closed: i64,
    #[arg(default = 1, range(1..10))] open: i64,
    #[arg(default = 0.5, range(0.0..1.0))] float: f64,
    #[arg(default = 5, range(5..))] least: u8,
    #[arg(range(..=5))] optional: Option<i8>,
    #[arg(default = "abc", len(2..=4))] text: &str,
    #[arg(default = vec![1], len(1..=2))] list: &[u8],
    #[arg(default, len(..=1))] map: BTreeMap<String, u8>,
    #[arg(default = "a", pattern = "^[a-z]+$")] word: String,
) -> String {
    format!("{closed} {open} {float} {least} {optional:?} {text} {list:?} {map:?} {word}")
}

both_eras! {
    async fn every_constraint_is_checked(revision) {
        let mut client = connect(server!().items(items![bounded]), revision).await;
        let right = [
            ("closed", json!(1)), ("closed", json!(10)), ("open", json!(9)), ("float", json!(0)), ("least", json!(255)),
            ("optional", json!(-128)), ("optional", Value::Null), ("text", json!("éé")), ("text", json!("abcd")),
            ("list", json!([1, 2])), ("map", json!({ "a": 1 })), ("word", json!("zz")),
        ];
        for (name, value) in right {
            let answer = said(&mut client, "bounded", json!({ name: value })).await;
            assert!(!answer.starts_with("error"), "{name} {value}: {answer}");
        }
        let wrong = [
            ("closed", json!(0), "0 is not in 1..=10"),
            ("closed", json!(11), "11 is not in 1..=10"),
            ("closed", json!("11"), "11 is not in 1..=10"),
            ("open", json!(10), "10 is not at least 1 and less than 10"),
            ("float", json!(1.0), "1.0 is not at least 0 and less than 1"),
            ("least", json!(4), "4 is not at least 5"),
            ("optional", json!(6), "6 is not at most 5"),
            ("text", json!("a"), "1 character, at least 2"),
            ("text", json!("abcde"), "5 characters, at most 4"),
            ("list", json!([]), "0 elements, at least 1"),
            ("list", json!("[1,2,3]"), "3 elements, at most 2"),
            ("map", json!({ "a": 1, "b": 2 }), "2 entries, at most 1"),
            ("word", json!("a1"), "\"a1\" does not match ^[a-z]+$"),
        ];
        for (name, value, expected) in wrong {
            let expected = format!("error: The arguments of `bounded` are wrong:\n- `{name}`: {expected}");
            assert_eq!(said(&mut client, "bounded", json!({ name: value })).await, expected);
        }
    }

    async fn the_schema_has_the_same_constraints(revision) {
        let mut client = connect(server!().items(items![bounded]), revision).await;
        let tools = client.tools().await.unwrap();
        let properties = &named(&tools, "bounded")["inputSchema"]["properties"];
        for (name, keyword, value) in [
            ("closed", "minimum", json!(1)), ("closed", "maximum", json!(10)),
            ("open", "maximum", json!(9)), ("float", "maximum", json!(1.0)),
            ("least", "minimum", json!(5)), ("least", "maximum", json!(255)),
            ("optional", "maximum", json!(5)), ("optional", "minimum", json!(-128)),
            ("text", "minLength", json!(2)), ("text", "maxLength", json!(4)),
            ("list", "minItems", json!(1)), ("list", "maxItems", json!(2)),
            ("map", "maxProperties", json!(1)), ("word", "pattern", json!("^[a-z]+$")),
        ] {
            assert_eq!(properties[name][keyword], value, "{name} {keyword}");
        }
    }
}

#[prompt]
fn bounded_prompt(
    #[arg(range(1..=3))] count: u8,
    #[arg(len(..=3))] text: &str,
    #[arg(pattern = "^x")] word: Option<String>,
) -> String {
    format!("{count} {text} {word:?}")
}

#[resource("bounded://{id}")]
fn bounded_resource(#[arg(range(1..=3))] id: u8) -> String {
    id.to_string()
}

both_eras! {
    async fn constraints_hold_for_prompts_and_templates_too(revision) {
        let server = server!().items(items![bounded_prompt, bounded_resource]);
        let mut client = connect(server, revision).await;
        let get = |arguments: Value| json!({ "name": "bounded_prompt", "arguments": arguments });
        let error = refused(&mut client, "prompts/get", get(json!({ "count": "4", "text": "abcd", "word": "y" }))).await;
        let expected = "wrong arguments for prompt `bounded_prompt`: `count`: 4 is not in 1..=3; \
            `text`: 4 characters, at most 3; `word`: \"y\" does not match ^x";
        assert_eq!(error, (-32602, expected.to_owned()));
        let right = client.prompt("bounded_prompt", json!({ "count": "3", "text": "abc", "word": "xy" })).await.unwrap();
        assert_eq!(right.text(), "3 abc Some(\"xy\")");
        assert_eq!(client.read("bounded://3").await.unwrap()[0].text.as_deref(), Some("3"));
        assert!(client.read("bounded://4").await.unwrap_err().message.contains("no resource"));
    }
}

/// An integer, so a length does not apply to it. Only schemars knows the schema of `Count`, so `build()` reports the mistake. For types
/// whose schema is known at compile time, the compiler reports it.
#[derive(Deserialize, JsonSchema)]
struct Count(u8);

#[tool]
fn misplaced(#[arg(len(..=3))] number: Count) -> u8 {
    number.0
}

#[test]
fn a_constraint_that_does_not_fit_its_type_stops_the_server() {
    let problems = problems(server!().items(items![misplaced]));
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("`misplaced` at "), "{problems:?}");
    assert!(
        problems[0].ends_with(
            "the argument `number` is an integer, but a length applies only to text, lists and maps: remove `len`"
        ),
        "{problems:?}"
    );
}
