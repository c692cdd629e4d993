//! Arguments of tools: which parameters are arguments, how the server reads them, and the errors that the model gets for wrong arguments.

use std::{borrow::Cow, collections::BTreeMap, path::PathBuf};

use mcp_runtime::{SchemaProfile, items, prelude::*, server, testing::Revision};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{both_eras, connect, named, said};

type Words = Vec<String>;
type Maybe = Option<u8>;
type Line<'a> = &'a str;
type Bytes<'a> = &'a [u8];

#[data]
#[derive(Debug)]
#[serde(rename_all = "kebab-case")]
enum Tone {
    VeryWarm,
    Cold,
}

#[data]
#[derive(Debug)]
struct Point {
    x: i32,
    y: i32,
}

/// Takes every kind of argument.
#[tool]
#[allow(clippy::too_many_arguments)]
fn kinds(
    int: i64,
    float: f64,
    flag: bool,
    letter: char,
    text: &str,
    owned: String,
    list: &[u8],
    vec: Vec<i64>,
    tone: Tone,
    point: Point,
    map: BTreeMap<String, u8>,
    pair: (u8, String),
    path: PathBuf,
    any: Value,
    maybe: Option<&str>,
) -> String {
    format!(
        "{int} {float} {flag} {letter} {text} {owned} {list:?} {vec:?} {tone:?} {point:?} {map:?} {pair:?} {} {any} {maybe:?}",
        path.display()
    )
}

/// Takes arguments whose types are aliases.
#[tool]
fn aliased(words: Words, maybe: Maybe, line: Line<'_>, bytes: Bytes<'_>) -> String {
    format!("{words:?} {maybe:?} {line} {bytes:?}")
}

/// Borrows its arguments across an `await`.
#[tool]
async fn waits(line: &str, points: &[Point], maybe: Option<&str>) -> String {
    tokio::task::yield_now().await;
    format!("{line} {points:?} {maybe:?}")
}

both_eras! {
    async fn every_kind_of_type_is_read(revision) {
        let mut client = connect(server!().items(items![kinds, aliased, waits]), revision).await;
        let arguments = json!({
            "int": -1, "float": 0.5, "flag": true, "letter": "x", "text": "a\"b", "owned": "é", "list": [1, 2], "vec": [3],
            "tone": "very-warm", "point": { "x": 1, "y": 2 }, "map": { "k": 7 }, "pair": [1, "b"], "path": "/tmp", "any": [null],
        });
        let expected = "-1 0.5 true x a\"b é [1, 2] [3] VeryWarm Point { x: 1, y: 2 } {\"k\": 7} (1, \"b\") /tmp [null] None";
        assert_eq!(said(&mut client, "kinds", arguments).await, expected);
        let arguments = json!({ "words": ["a"], "maybe": 3, "line": "l", "bytes": [1] });
        assert_eq!(said(&mut client, "aliased", arguments).await, "[\"a\"] Some(3) l [1]");
        let arguments = json!({ "words": [], "line": "", "bytes": [] });
        assert_eq!(said(&mut client, "aliased", arguments).await, "[] None  []");
        let arguments = json!({ "line": "l", "points": [{ "x": 1, "y": 2 }], "maybe": "m" });
        assert_eq!(said(&mut client, "waits", arguments).await, "l [Point { x: 1, y: 2 }] Some(\"m\")");
    }

    async fn the_schema_has_the_type_of_each_argument_and_the_required_ones(revision) {
        let mut client = connect(server!().items(items![kinds, aliased]), revision).await;
        let tools = client.tools().await.unwrap();
        let schema = &named(&tools, "aliased")["inputSchema"];
        assert_eq!(schema["required"], json!(["words", "line", "bytes"]));
        assert_eq!(schema.get("additionalProperties"), None);
        let kinds = &named(&tools, "kinds")["inputSchema"]["properties"];
        for (name, kind) in [
            ("int", "integer"), ("float", "number"), ("flag", "boolean"), ("text", "string"), ("list", "array"),
            ("tone", "string"), ("point", "object"), ("map", "object"), ("maybe", "string"),
        ] {
            assert_eq!(kinds[name]["type"], kind, "{name}");
        }
        assert_eq!(kinds["tone"]["enum"], json!(["very-warm", "cold"]));
    }
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    #[default]
    Metric,
    Imperial,
}

const FALLBACK: u32 = 7;

/// Has defaults of every kind.
#[tool]
#[allow(clippy::too_many_arguments)]
fn defaults(
    #[arg(default = 1)] literal: u32,
    #[arg(default = FALLBACK * 2)] expression: u32,
    #[arg(default = "metric")] text: String,
    #[arg(default = "lent")] lent: &str,
    #[arg(default)] nothing: Vec<u8>,
    #[arg(default)] unit: Unit,
    #[arg(default = Some(3))] optional: Option<u8>,
    #[arg(default = vec![1, 2])] list: &[u8],
) -> String {
    format!("{literal} {expression} {text} {lent} {nothing:?} {unit:?} {optional:?} {list:?}")
}

both_eras! {
    async fn absent_arguments_and_null_are_the_default(revision) {
        let mut client = connect(server!().items(items![defaults]), revision).await;
        let expected = "1 14 metric lent [] Metric Some(3) [1, 2]";
        assert_eq!(said(&mut client, "defaults", json!({})).await, expected);
        let nulls = json!({
            "literal": null, "expression": null, "text": null, "lent": null, "nothing": null, "unit": null, "optional": null, "list": null,
        });
        assert_eq!(said(&mut client, "defaults", nulls).await, expected);
        let given = json!({ "literal": 2, "unit": "imperial", "lent": "", "list": [] });
        assert_eq!(said(&mut client, "defaults", given).await, "2 14 metric  [] Imperial Some(3) []");
        let missing = client.request("tools/call", json!({ "name": "defaults" })).await.unwrap();
        assert_eq!(missing["content"][0]["text"], expected);
    }

    async fn defaults_are_published(revision) {
        let mut client = connect(server!().items(items![defaults]), revision).await;
        let tools = client.tools().await.unwrap();
        let schema = &named(&tools, "defaults")["inputSchema"];
        assert_eq!(schema.get("required"), None);
        for (name, default) in [
            ("literal", json!(1)), ("expression", json!(14)), ("text", json!("metric")), ("lent", json!("lent")),
            ("nothing", json!([])), ("optional", json!(3)), ("list", json!([1, 2])), ("unit", json!("metric")),
        ] {
            assert_eq!(schema["properties"][name]["default"], default, "{name}");
        }
    }
}

/// Has documented arguments.
///
/// And a second paragraph,
/// over two lines.
#[tool]
fn documented(
    /// The first.
    ///
    /// At length.
    first: u8,
    #[doc = include_str!("parameter.md")] second: u8,
    #[arg(description = "Said by the key", title = "Third", example = 3)]
    /// Not this
    third: u8,
    #[arg(name = "four.th", example = "word", header = "Region")] fourth: &str,
) -> String {
    format!("{first}{second}{third}{fourth}")
}

#[doc = include_str!("parameter.md")]
#[tool]
fn from_a_file() {}

both_eras! {
    async fn doc_comments_become_descriptions(revision) {
        let mut client = connect(server!().items(items![documented, from_a_file]), revision).await;
        let tools = client.tools().await.unwrap();
        let tool = named(&tools, "documented");
        assert_eq!(tool["description"], "Has documented arguments.\n\nAnd a second paragraph,\nover two lines.");
        let properties = &tool["inputSchema"]["properties"];
        assert_eq!(properties["first"]["description"], "The first.\n\nAt length.");
        assert_eq!(properties["second"]["description"], "The text of a file.\n\nWith a second paragraph.");
        assert_eq!(properties["third"]["description"], "Said by the key\n\nFor example `3`.");
        assert_eq!(properties["third"]["title"], "Third");
        assert_eq!(properties["four.th"]["description"], "For example `word`.");
        assert_eq!(properties["four.th"]["x-mcp-header"], "Region");
        let file = named(&tools, "from_a_file");
        assert_eq!(file["description"], "The text of a file.\n\nWith a second paragraph.");
        let arguments = json!({ "first": 1, "second": 2, "third": 3, "four.th": "4" });
        assert_eq!(said(&mut client, "documented", arguments).await, "1234");
    }
}

fn shouted<'de, D: mcp_runtime::__private::serde::Deserializer<'de>>(
    from: D,
) -> Result<String, D::Error> {
    let text: Cow<'de, str> = Deserialize::deserialize(from)?;
    Ok(text.to_uppercase())
}

#[data]
#[derive(Debug)]
struct Size {
    width: u32,
    height: u32,
}

/// Has arguments with attributes of serde and schemars.
#[tool]
fn serde_attributes(
    /// Renamed
    #[serde(rename = "type")]
    kind: String,
    #[serde(alias = "colour", default)] color: Option<String>,
    #[serde(default)] count: u32,
    #[serde(flatten)] size: Size,
    #[serde(deserialize_with = "shouted")] loud: &str,
    #[schemars(range(min = 1))] bounded: u8,
) -> String {
    format!("{kind} {color:?} {count} {size:?} {loud} {bounded}")
}

both_eras! {
    async fn attributes_of_serde_mean_what_they_mean_on_a_field(revision) {
        let mut client = connect(server!().items(items![serde_attributes]), revision).await;
        let arguments = json!({ "type": "k", "colour": "red", "width": 1, "height": 2, "loud": "hey", "bounded": 1 });
        let expected = "k Some(\"red\") 0 Size { width: 1, height: 2 } HEY 1";
        assert_eq!(said(&mut client, "serde_attributes", arguments).await, expected);
        let quoted = json!({ "type": "k", "colour": "red", "width": "1", "height": "2", "loud": "hey", "bounded": "1" });
        assert_eq!(said(&mut client, "serde_attributes", quoted).await, expected);
        let tools = client.tools().await.unwrap();
        let schema = &named(&tools, "serde_attributes")["inputSchema"];
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names.len(), 7, "{names:?}");
        assert_eq!(schema["properties"]["type"]["description"], "Renamed");
        assert_eq!(schema["properties"]["bounded"]["minimum"], 1);
        let mut required: Vec<_> = schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        required.sort_unstable();
        assert_eq!(required, ["bounded", "height", "loud", "type", "width"]);
    }
}

/// Takes arguments of exactly these types.
#[tool]
fn exact(count: u8, names: Vec<String>, point: Option<Point>, tone: Option<Tone>) -> String {
    format!("{count} {names:?} {point:?} {tone:?}")
}

#[tool(strict)]
fn strictly(count: u8, names: Vec<String>) -> String {
    format!("{count} {names:?}")
}

#[tool(lenient)]
fn leniently(count: u8) -> String {
    count.to_string()
}

#[data]
#[derive(Debug)]
struct Span {
    least: i32,
    #[serde(default = "one")]
    step: u8,
}

fn one() -> u8 {
    1
}

#[tool]
fn measures(
    #[arg(range(1..=10))] count: u8,
    span: Span,
    #[arg(default)] spans: Vec<Span>,
) -> String {
    format!("{count} {span:?} {spans:?}")
}

#[tool]
fn measures_all(span: Args<Span>) -> String {
    format!("{:?}", span.0)
}

#[tool]
fn nothing() {}

both_eras! {
    async fn all_wrong_arguments_are_reported_to_the_model_at_once(revision) {
        let mut client = connect(server!().items(items![exact, nothing]), revision).await;
        let cases = [
            (json!({}), "- `count`: missing, expected an integer\n- `names`: missing, expected an array"),
            (json!({ "count": 1, "names": [], "nmaes": [] }), "- unknown argument `nmaes`; did you mean `names`?"),
            (
                json!({ "count": 1, "names": [], "zzz": 1 }),
                "- unknown argument `zzz`; there are `count`, `names`, `point`, `tone`",
            ),
            (
                json!({ "count": 300, "names": "a" }),
                "- `count`: `300` is out of range, at most 255\n\
                 - `names`: invalid type: string \"a\", expected an array",
            ),
            (
                json!({ "count": -1.5, "names": ["a", 2], "point": { "x": 1 } }),
                "- `count`: invalid type: floating point `-1.5`, expected an integer from 0 to 255\n\
                 - `names[1]`: invalid type: integer `2`, expected a string\n\
                 - `point`: missing field `y`",
            ),
            (
                json!({ "count": 1, "names": [], "point": { "x": 1, "y": "a" }, "tone": "warm" }),
                "- `point.y`: invalid type: string \"a\", expected an integer\n\
                 - `tone`: unknown variant `warm`, expected `very-warm` or `cold`",
            ),
            (json!({ "count": null, "names": [] }), "- `count`: invalid type: null, expected an integer from 0 to 255"),
        ];
        for (arguments, expected) in cases {
            let expected = format!("error: The arguments of `exact` are wrong:\n{expected}");
            assert_eq!(said(&mut client, "exact", arguments).await, expected);
        }
        let expected = "error: The arguments of `nothing` are wrong:\n- unknown argument `x`: there are none";
        assert_eq!(said(&mut client, "nothing", json!({ "x": 1 })).await, expected);
    }

    async fn arguments_written_as_strings_are_read_once_more(revision) {
        let mut client = connect(server!().items(items![exact, strictly]), revision).await;
        let stringified = json!({ "count": "5", "names": "[\"5\"]", "point": "{\"x\":1,\"y\":2}" });
        let expected = "5 [\"5\"] Some(Point { x: 1, y: 2 }) None";
        assert_eq!(said(&mut client, "exact", stringified.clone()).await, expected);
        let expected = "error: The arguments of `strictly` are wrong:\n\
            - `count`: invalid type: string \"5\", expected an integer from 0 to 255\n\
            - `names`: invalid type: string \"[\\\"5\\\"]\", expected an array\n\
            - unknown argument `point`; there are `count`, `names`";
        assert_eq!(said(&mut client, "strictly", stringified).await, expected);
    }

    async fn lenient_tools_ignore_unknown_arguments_and_others_reject_them(revision) {
        let mut client = connect(server!().items(items![leniently, strictly]), revision).await;
        assert_eq!(said(&mut client, "leniently", json!({ "count": 1, "zzz": 1 })).await, "1");
        let refused = said(&mut client, "strictly", json!({ "count": 1, "names": [], "zzz": 1 })).await;
        assert!(refused.ends_with("- unknown argument `zzz`; there are `count`, `names`"), "{refused}");
    }

    async fn only_a_full_schema_closes_the_arguments_of_a_tool(revision) {
        for (profile, closed) in [(SchemaProfile::Compatible, None), (SchemaProfile::Full, Some(&json!(false)))] {
            let builder = server!().items(items![leniently, strictly]).schema_profile(profile);
            let tools = connect(builder, revision).await.tools().await.unwrap();
            let further = |name| named(&tools, name)["inputSchema"].get("additionalProperties");
            assert_eq!((further("leniently"), further("strictly")), (None, closed));
        }
    }

    async fn a_tool_without_arguments_has_an_empty_object_and_nothing_else(revision) {
        let mut client = connect(server!().items(items![nothing]), revision).await;
        let tools = client.tools().await.unwrap();
        assert_eq!(named(&tools, "nothing")["inputSchema"], json!({ "type": "object", "properties": {} }));
    }

    async fn an_integer_may_be_written_with_a_fraction_of_zeros_or_an_exponent(revision) {
        let mut client = connect(server!().items(items![measures]), revision).await;
        let arguments = json!({ "count": 1.0, "span": { "least": -2.0 }, "spans": [{ "least": 3.0, "step": null }] });
        let expected = "1 Span { least: -2, step: 1 } [Span { least: 3, step: 1 }]";
        assert_eq!(said(&mut client, "measures", arguments).await, expected);
        let raw = r#"{"count": 1e1, "span": "{\"least\": 2e0}", "spans": []}"#;
        let arguments = serde_json::from_str(raw).unwrap();
        assert_eq!(said(&mut client, "measures", arguments).await, "10 Span { least: 2, step: 1 } []");
        let arguments = json!({ "count": 1e30, "span": { "least": 1.5 }, "spans": [{ "least": 1e30 }] });
        let expected = "error: The arguments of `measures` are wrong:\n\
            - `count`: `1e+30` is out of range, at most 255\n\
            - `span.least`: invalid type: floating point `1.5`, expected an integer\n\
            - `spans[0].least`: `1e+30` is out of range, at most 2147483647";
        assert_eq!(said(&mut client, "measures", arguments).await.replace("`1e30`", "`1e+30`"), expected);
        let arguments = json!({ "count": 11.0, "span": { "least": 1 }, "spans": [] });
        let refused = said(&mut client, "measures", arguments).await;
        assert!(refused.ends_with("- `count`: 11.0 is not in 1..=10"), "{refused}");
    }

    async fn a_nested_null_is_like_an_absent_member_where_there_is_a_default(revision) {
        let mut client = connect(server!().items(items![measures, measures_all]), revision).await;
        let arguments = json!({ "count": 1, "span": { "least": 2, "step": null }, "spans": null });
        assert_eq!(said(&mut client, "measures", arguments).await, "1 Span { least: 2, step: 1 } []");
        let arguments = json!({ "least": 2, "step": null });
        assert_eq!(said(&mut client, "measures_all", arguments).await, "Span { least: 2, step: 1 }");
        let arguments = json!({ "count": 1, "span": { "least": null, "step": null } });
        let refused = said(&mut client, "measures", arguments).await;
        assert!(refused.ends_with("- `span.least`: invalid type: null, expected an integer"), "{refused}");
    }

    async fn arguments_that_are_not_an_object_are_a_protocol_error(revision) {
        let mut client = connect(server!().items(items![exact]), revision).await;
        for arguments in [json!([]), json!("{}"), json!(1)] {
            let error = client.call("exact", arguments).await.unwrap_err();
            assert_eq!((error.code, &*error.message), (-32602, "`arguments` must be an object"));
        }
        let error = client.call("exatc", json!({})).await.unwrap_err();
        assert_eq!((error.code, &*error.message), (-32602, "unknown tool `exatc`; did you mean `exact`?"));
    }
}

/// A gateway in front of the server might use the other value of a repeated member, so the server rejects the whole message.
#[tokio::test]
async fn a_message_with_a_repeated_argument_is_refused() {
    let mut client = connect(server!().items(items![leniently]), Revision::V2025_11_25).await;
    client.send_raw(
        br#"{"jsonrpc":"2.0","id":"raw","method":"tools/call","params":{"name":"leniently","arguments":{"count":1,"count":2}}}"#,
    );
    let answer = client.receive_raw(std::time::Duration::from_secs(5)).await.unwrap();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["error"]["code"], -32600);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("`count`") && message.contains("twice"), "{message}");
}

/// Takes arguments whose names are keywords of Rust.
#[tool]
fn raw(r#type: &str, r#fn: Option<u8>) -> String {
    format!("{type} {fn:?}")
}

/// Takes its argument as a mutable variable.
#[tool]
fn mutable(mut count: u8) -> u8 {
    count += 1;
    count
}

both_eras! {
    async fn raw_names_lose_their_mark(revision) {
        let mut client = connect(server!().items(items![raw, mutable]), revision).await;
        assert_eq!(said(&mut client, "raw", json!({ "type": "t", "fn": 1 })).await, "t Some(1)");
        assert_eq!(said(&mut client, "mutable", json!({ "count": 1 })).await, "2");
    }
}
