//! Return types of tools, and the results that clients of each era get.

use std::{borrow::Cow, fmt, io};

use mcp_runtime::{items, logging::Level, prelude::*, server, testing::Revision};
use serde_json::{Value, json};

use crate::support::{both_eras, connect, named};

#[data]
struct Sum {
    /// The sum
    sum: i64,
}

/// An error that prints its causes in its alternate form, as `anyhow::Error` does.
struct Chained;

impl fmt::Display for Chained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if f.alternate() { "cannot open: no such file" } else { "cannot open" })
    }
}

macro_rules! tools {
    ($($name:ident -> $ty:ty { $value:expr })*) => {
        $(#[tool] fn $name() -> $ty { $value })*
        const ALL: fn() -> mcp_runtime::Items = || items![$($name),*];
    };
}
tools! {
    unit -> () { () }
    quiet -> Vec<Content> { Vec::new() }
    text -> String { "t".into() }
    lent -> &'static str { "t" }
    boxed -> Box<str> { "t".into() }
    cow -> Cow<'static, str> { "t".into() }
    int -> u64 { u64::MAX }
    float -> f64 { 0.1 }
    flag -> bool { true }
    letter -> char { 'é' }
    json_object -> Json<Sum> { Json(Sum { sum: 3 }) }
    json_with_text -> WithText<Json<Sum>> { Json(Sum { sum: 3 }).with_text("three") }
    json_with_text_or_error -> Result<WithMeta<WithText<Json<Sum>>>> {
        Ok(WithMeta(WithText(Json(Sum { sum: 3 }), "three".into()), Meta::new().with("example.com/cost", 3)))
    }
    json_with_text_and_image -> (WithText<Json<Sum>>, Image) { (Json(Sum { sum: 3 }).with_text("three"), Image::png([0])) }
    list_with_text -> WithText<Json<Vec<u8>>> { Json(vec![1]).with_text("a list") }
    json_list -> Json<Vec<u8>> { Json(vec![1]) }
    json_null -> Json<Option<u8>> { Json(None) }
    image -> Image { Image::png([1, 2, 3]) }
    image_base64 -> Image { Image::base64("image/gif", "AQID") }
    audio -> Audio { Audio::wav([1, 2, 3]) }
    link -> ResourceLink { ResourceLink::new("file:///a", "a").title("A").description("d").mime_type("text/plain").size(3) }
    embedded_text -> Embedded { Embedded::text("file:///a", "x") }
    embedded_blob -> Embedded { Embedded::blob("file:///b", [1, 2, 3]) }
    embedded_typed -> Embedded { Embedded::text("file:///a", "# A").mime_type("text/markdown") }
    annotated -> Text { Text::new("t").audience(&[Role::User]).priority(0.5) }
    content -> Content { "c".into() }
    contents -> Vec<Content> { vec!["a".into(), Image::jpeg([0]).into()] }
    pair -> (&'static str, Image) { ("a", Image::png([0])) }
    nested -> (u8, (bool, Option<&'static str>), Vec<Content>) { (1, (true, None), vec!["z".into()]) }
    two_jsons -> (Json<Sum>, &'static str, Json<Vec<u8>>) { (Json(Sum { sum: 1 }), "and", Json(vec![2])) }
    some -> Option<String> { Some("s".into()) }
    none -> Option<String> { None }
    with_meta -> WithMeta<&'static str> { WithMeta("m", Meta::new().with("example.com/cost", 3)) }
    fine -> Result<u8, String> { Ok(1) }
    text_error -> Result<u8, String> { Err("it broke".into()) }
    lent_error -> Result<u8, &'static str> { Err("it broke") }
    io_error -> Result<u8, io::Error> { Err(io::Error::other("disk full")) }
    chained_error -> Result<u8, Chained> { Err(Chained) }
    chained_message -> Result<u8> { Err(Error::msg(Chained)) }
    chained_invalid -> Result<u8> { Err(Error::invalid_params(Chained)) }
    boxed_error -> Result<u8, Box<dyn std::error::Error + Send + Sync>> { Err("boxed".into()) }
    own_error -> Result<u8> { Err(Error::msg("own")) }
    question_mark -> Result<u8> { Ok("x".parse()?) }
    json_or_error -> Result<Json<Sum>> { Err(Error::msg("no sum")) }
    invalid -> Result<u8> { Err(Error::invalid_params("wrong").with_data(json!([1]))) }
    not_found -> Result<u8> { Err(Error::not_found("gone")) }
    internal -> Result<u8> { Err(Error::internal("the password is hunter2").with_data(1)) }
    coded -> Result<u8> { Err(Error::code(7, "seven")) }
}

async fn result(tool: &str, revision: Revision) -> Value {
    let mut client = connect(server!().items(ALL()), revision).await;
    let mut result =
        client.call(tool, json!({})).await.unwrap_or_else(|error| panic!("{tool}: {error}")).raw;
    let object = result.as_object_mut().unwrap();
    // Removes the members that every result of 2026-07-28 has. They are not the subject of these tests.
    object.remove("resultType");
    if let Some(meta) = object.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.remove("io.modelcontextprotocol/serverInfo");
    }
    if object.get("_meta") == Some(&json!({})) {
        object.remove("_meta");
    }
    result
}

fn texts(texts: &[&str]) -> Value {
    let blocks: Vec<_> = texts.iter().map(|text| json!({ "type": "text", "text": text })).collect();
    json!({ "content": blocks })
}

fn failed(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

both_eras! {
    async fn every_type_becomes_content(revision) {
        let picture = json!({ "type": "image", "data": "AQID", "mimeType": "image/png" });
        for (tool, expected) in [
            ("unit", texts(&["Done."])),
            ("quiet", texts(&[])),
            ("text", texts(&["t"])),
            ("lent", texts(&["t"])),
            ("boxed", texts(&["t"])),
            ("cow", texts(&["t"])),
            ("int", texts(&["18446744073709551615"])),
            ("float", texts(&["0.1"])),
            ("flag", texts(&["true"])),
            ("letter", texts(&["é"])),
            ("image", json!({ "content": [picture] })),
            ("image_base64", json!({ "content": [{ "type": "image", "data": "AQID", "mimeType": "image/gif" }] })),
            ("audio", json!({ "content": [{ "type": "audio", "data": "AQID", "mimeType": "audio/wav" }] })),
            (
                "link",
                json!({ "content": [{
                    "type": "resource_link", "uri": "file:///a", "name": "a", "title": "A", "description": "d",
                    "mimeType": "text/plain", "size": 3,
                }] }),
            ),
            ("embedded_text", json!({ "content": [{ "type": "resource", "resource": { "uri": "file:///a", "mimeType": "text/plain", "text": "x" } }] })),
            ("embedded_blob", json!({ "content": [{ "type": "resource", "resource": { "uri": "file:///b", "mimeType": "application/octet-stream", "blob": "AQID" } }] })),
            ("embedded_typed", json!({ "content": [{ "type": "resource", "resource": { "uri": "file:///a", "mimeType": "text/markdown", "text": "# A" } }] })),
            (
                "annotated",
                json!({ "content": [{ "type": "text", "text": "t", "annotations": { "audience": ["user"], "priority": 0.5 } }] }),
            ),
            ("content", texts(&["c"])),
            (
                "contents",
                json!({ "content": [
                    { "type": "text", "text": "a" }, { "type": "image", "data": "AA==", "mimeType": "image/jpeg" },
                ] }),
            ),
            (
                "pair",
                json!({ "content": [
                    { "type": "text", "text": "a" }, { "type": "image", "data": "AA==", "mimeType": "image/png" },
                ] }),
            ),
            ("nested", texts(&["1", "true", "z"])),
            ("some", texts(&["s"])),
            ("none", texts(&["Nothing."])),
            ("fine", texts(&["1"])),
            ("with_meta", json!({ "content": [{ "type": "text", "text": "m" }], "_meta": { "example.com/cost": 3 } })),
        ] {
            assert_eq!(result(tool, revision).await, expected, "{tool}");
        }
    }

    async fn json_is_structured_content_with_a_schema(revision) {
        let object = json!({ "content": [{ "type": "text", "text": "{\"sum\":3}" }], "structuredContent": { "sum": 3 } });
        assert_eq!(result("json_object", revision).await, object);
        // Before 2026-07-28, structured content must be an object, so other values are sent only as text.
        let any = revision == Revision::V2026_07_28;
        for (tool, text, value) in [("json_list", "[1]", json!([1])), ("json_null", "null", Value::Null)] {
            let mut expected = texts(&[text]);
            if any {
                expected["structuredContent"] = value;
            }
            assert_eq!(result(tool, revision).await, expected, "{tool}");
        }
        let mut client = connect(server!().items(ALL()), revision).await;
        let tools = client.tools().await.unwrap();
        let schema = &named(&tools, "json_object")["outputSchema"];
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["properties"]["sum"]["description"], "The sum");
        assert_eq!(named(&tools, "json_or_error")["outputSchema"], *schema);
        assert_eq!(named(&tools, "json_list").get("outputSchema").is_some(), any);
        assert_eq!(named(&tools, "text").get("outputSchema"), None);
    }

    async fn json_with_a_text_is_structured_content_beside_that_text(revision) {
        let mut expected = texts(&["three"]);
        expected["structuredContent"] = json!({ "sum": 3 });
        assert_eq!(result("json_with_text", revision).await, expected);
        expected["_meta"] = json!({ "example.com/cost": 3 });
        assert_eq!(result("json_with_text_or_error", revision).await, expected);
        let found = result("json_with_text_and_image", revision).await;
        assert_eq!(found["structuredContent"], json!({ "sum": 3 }));
        assert_eq!((&found["content"][0]["text"], found["content"].as_array().unwrap().len()), (&json!("three"), 2));
        let mut list = texts(&["a list"]);
        if revision == Revision::V2026_07_28 {
            list["structuredContent"] = json!([1]);
        }
        assert_eq!(result("list_with_text", revision).await, list);
        let mut client = connect(server!().items(ALL()), revision).await;
        let tools = client.tools().await.unwrap();
        let schema = &named(&tools, "json_object")["outputSchema"];
        for tool in ["json_with_text", "json_with_text_or_error", "json_with_text_and_image"] {
            assert_eq!(named(&tools, tool)["outputSchema"], *schema, "{tool}");
        }
    }

    async fn the_first_json_of_several_is_the_structured_one(revision) {
        let found = result("two_jsons", revision).await;
        assert_eq!(found["structuredContent"], json!({ "sum": 1 }));
        assert_eq!(found["content"].as_array().unwrap().len(), 3);
        let mut client = connect(server!().items(ALL()), revision).await;
        let tools = client.tools().await.unwrap();
        assert_eq!(named(&tools, "two_jsons")["outputSchema"]["required"], json!(["sum"]));
    }

    async fn any_error_is_shown_to_the_model(revision) {
        for (tool, expected) in [
            ("text_error", "it broke"),
            ("lent_error", "it broke"),
            ("io_error", "disk full"),
            ("chained_error", "cannot open: no such file"),
            ("chained_message", "cannot open: no such file"),
            ("boxed_error", "boxed"),
            ("own_error", "own"),
            ("question_mark", "invalid digit found in string"),
            ("json_or_error", "no sum"),
        ] {
            assert_eq!(result(tool, revision).await, failed(expected), "{tool}");
        }
    }

    async fn errors_of_a_kind_are_errors_of_the_protocol(revision) {
        let mut client = connect(server!().items(ALL()), revision).await;
        let modern = revision == Revision::V2026_07_28;
        for (tool, code, message, data) in [
            ("invalid", -32602, "wrong", Some(json!([1]))),
            ("not_found", if modern { -32602 } else { -32002 }, "gone", None),
            ("internal", -32603, "internal error", None),
            ("coded", 7, "seven", None),
            ("chained_invalid", -32602, "cannot open: no such file", None),
        ] {
            let error = client.call(tool, json!({})).await.unwrap_err();
            assert_eq!((error.code, &*error.message, error.data), (code, message, data), "{tool}");
        }
    }
}

#[tokio::test]
async fn clients_too_old_for_a_kind_of_content_get_a_text() {
    for (tool, revision, kind) in [
        ("audio", Revision::V2024_11_05, "text"),
        ("audio", Revision::V2025_03_26, "audio"),
        ("link", Revision::V2025_03_26, "text"),
        ("link", Revision::V2025_06_18, "resource_link"),
    ] {
        assert_eq!(result(tool, revision).await["content"][0]["type"], kind, "{tool} {revision}");
    }
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let found = result("json_object", revision).await;
        assert_eq!(found, texts(&["{\"sum\":3}"]), "{revision}");
        assert_eq!(result("json_with_text", revision).await, texts(&["three"]), "{revision}");
        // Content has no `_meta` in these revisions, but a result may have it.
        let with_meta = result("with_meta", revision).await;
        assert_eq!(with_meta["content"], texts(&["m"])["content"], "{revision}");
        assert_eq!(with_meta["_meta"], json!({ "example.com/cost": 3 }), "{revision}");
    }
}

#[test]
fn levels_have_the_names_of_the_wire() {
    assert_eq!(Level::Emergency.name(), "emergency");
}
