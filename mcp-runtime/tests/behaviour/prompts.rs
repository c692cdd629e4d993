//! Prompts: their arguments, which clients send as text, and their messages.

use std::str::FromStr;

use mcp_runtime::{items, prelude::*, server};
use serde_json::{Value, json};

use crate::support::{both_eras, connect, named, refused};

#[data]
#[derive(Debug)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Warm,
    Cold,
}

#[derive(Debug)]
struct Percent(u8);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.strip_suffix('%')
            .and_then(|number| number.parse().ok())
            .map(Percent)
            .ok_or_else(|| "no percentage".to_owned())
    }
}

type Language<'a> = &'a str;

/// Takes arguments of every kind.
#[prompt(title = "All kinds")]
#[allow(clippy::too_many_arguments)]
fn kinds(
    /// Which language
    #[arg(title = "Language")]
    language: Language<'_>,
    tone: Tone,
    brief: bool,
    count: u8,
    share: Percent,
    owner: Option<String>,
    lent: Option<&str>,
    mood: Option<Tone>,
    #[arg(default = 3)] depth: u8,
    #[arg(default = "plain")] style: &str,
) -> String {
    format!(
        "{language} {tone:?} {brief} {count} {} {owner:?} {lent:?} {mood:?} {depth} {style}",
        share.0
    )
}

both_eras! {
    async fn arguments_are_read_from_text(revision) {
        let mut client = connect(server!().items(items![kinds]), revision).await;
        let least = json!({ "language": "rust", "tone": "warm", "brief": "true", "count": "7", "share": "5%" });
        let found = client.prompt("kinds", least).await.unwrap();
        assert_eq!(found.text(), "rust Warm true 7 5 None None None 3 plain");
        // Some clients send unquoted numbers and bools, and null for an argument that is not given.
        let all = json!({
            "language": "", "tone": "cold", "brief": false, "count": 7, "share": "5%", "owner": "me", "lent": "you",
            "mood": "cold", "depth": null, "style": "rich",
        });
        let found = client.prompt("kinds", all).await.unwrap();
        assert_eq!(found.text(), " Cold false 7 5 Some(\"me\") Some(\"you\") Some(Cold) 3 rich");
    }

    async fn wrong_arguments_are_a_protocol_error_that_names_all_of_them(revision) {
        let mut client = connect(server!().items(items![kinds]), revision).await;
        let get = |arguments: Value| json!({ "name": "kinds", "arguments": arguments });
        let wrong = json!({ "langauge": "x", "tone": "hot", "brief": "yes", "count": "300", "share": "5" });
        let expected = "wrong arguments for prompt `kinds`: `language`: missing; \
            `tone`: unknown variant `hot`, expected `warm` or `cold`; \
            `brief`: \"yes\": provided string was not `true` or `false`; \
            `count`: \"300\": number too large to fit in target type; `share`: \"5\": no percentage; \
            unknown argument `langauge`; did you mean `language`?";
        assert_eq!(refused(&mut client, "prompts/get", get(wrong)).await, (-32602, expected.to_owned()));
        let (code, text) = refused(&mut client, "prompts/get", get(json!({ "language": [] }))).await;
        assert_eq!((code, &*text), (-32602, "argument `language` must be a string"));
        let (code, text) = refused(&mut client, "prompts/get", json!({ "name": "kind" })).await;
        assert_eq!((code, &*text), (-32602, "unknown prompt `kind`; did you mean `kinds`?"));
    }

    async fn the_list_marks_required_arguments(revision) {
        let mut client = connect(server!().items(items![kinds]), revision).await;
        let prompts = client.prompts().await.unwrap();
        let prompt = named(&prompts, "kinds");
        assert_eq!((&prompt["title"], &prompt["description"]), (&json!("All kinds"), &json!("Takes arguments of every kind.")));
        let arguments = prompt["arguments"].as_array().unwrap();
        let first = json!({ "name": "language", "title": "Language", "description": "Which language", "required": true });
        assert_eq!(arguments[0], first);
        let required: Vec<_> =
            arguments.iter().filter(|argument| argument["required"] == true).map(|argument| argument["name"].as_str().unwrap()).collect();
        assert_eq!(required, ["language", "tone", "brief", "count", "share"]);
        assert_eq!(arguments.len(), 10);
    }
}

/// One text.
#[prompt]
fn one() -> &'static str {
    "t"
}

#[prompt]
async fn chat() -> (Message, Message) {
    tokio::task::yield_now().await;
    (Message::user("q"), Message::assistant("a"))
}

#[prompt]
fn list() -> Vec<Message> {
    vec![Message::user(Image::png([0])), Message::assistant(Embedded::text("file:///a", "x"))]
}

#[prompt]
fn array() -> [Message; 1] {
    [Message::assistant(ResourceLink::new("file:///a", "a"))]
}

#[prompt]
fn mixed() -> (String, Image, Message) {
    ("t".into(), Image::png([0]), Message::assistant("a"))
}

#[prompt]
fn fails() -> Result<String, String> {
    Err("no template".into())
}

#[prompt]
fn refuses() -> Result<String> {
    Err(Error::invalid_params("not like this"))
}

#[prompt]
fn with_meta() -> Result<WithMeta<&'static str>> {
    Ok(WithMeta("m", Meta::new().with("example.com/cost", 3)))
}

both_eras! {
    async fn every_type_becomes_messages(revision) {
        let items = items![one, chat, list, array, mixed, fails, refuses, with_meta];
        let mut client = connect(server!().items(items), revision).await;
        let text = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
        let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
        for (name, expected) in [
            ("one", json!([text("user", "t")])),
            ("chat", json!([text("user", "q"), text("assistant", "a")])),
            (
                "list",
                json!([
                    { "role": "user", "content": image },
                    { "role": "assistant", "content": { "type": "resource", "resource": { "uri": "file:///a", "mimeType": "text/plain", "text": "x" } } },
                ]),
            ),
            (
                "array",
                json!([{ "role": "assistant", "content": { "type": "resource_link", "uri": "file:///a", "name": "a" } }]),
            ),
            ("mixed", json!([text("user", "t"), { "role": "user", "content": image }, text("assistant", "a")])),
        ] {
            assert_eq!(json!(client.prompt(name, json!({})).await.unwrap().messages), expected, "{name}");
        }
        let one = client.request("prompts/get", json!({ "name": "one" })).await.unwrap();
        assert_eq!(one["description"], "One text.");
        let meta = client.request("prompts/get", json!({ "name": "with_meta" })).await.unwrap();
        assert_eq!(meta["_meta"]["example.com/cost"], 3);
        assert_eq!(refused(&mut client, "prompts/get", json!({ "name": "fails" })).await, (-32603, "no template".into()));
        assert_eq!(refused(&mut client, "prompts/get", json!({ "name": "refuses" })).await, (-32602, "not like this".into()));
    }
}
