use serde_json::json;

use crate::{inspector, python, python::text, server::Server};

fn quickstart() -> Server {
    Server::new("quickstart")
}

#[support::test]
fn a_tool_is_listed_and_called() {
    let arguments = json!({"a": 20, "b": 22});
    let steps =
        [json!({"do": "tools"}), json!({"do": "call", "name": "add", "arguments": arguments})];
    python::check(&quickstart(), &steps, |outcomes| {
        let add = &outcomes[0]["result"][0];
        add["name"] == json!("add")
            && add["inputSchema"]["required"] == json!(["a", "b"])
            && add["inputSchema"]["properties"]["a"]["description"] == json!("First addend")
            && text(&outcomes[1]) == Some("42")
    });
}

#[support::test]
fn progress_arrives_in_order() {
    let step = json!({"do": "call", "name": "add", "arguments": {"a": 20, "b": 22}});
    python::check(&quickstart(), &[step], |outcomes| {
        outcomes[0]["progress"]
            == json!([
                {"progress": 1.0, "total": 2.0, "message": null},
                {"progress": 2.0, "total": 2.0, "message": null},
            ])
    });
}

#[support::test]
fn wrong_arguments_are_reported_to_the_model() {
    let step = json!({"do": "call", "name": "add", "arguments": {"a": "twenty", "b": 22}});
    python::check(&quickstart(), &[step], |outcomes| {
        python::failure(&outcomes[0]).is_some_and(|text| text.contains("`a`"))
    });
}

#[support::test]
fn an_unknown_tool_is_a_protocol_error() {
    let step = json!({"do": "call", "name": "subtract"});
    python::check(&quickstart(), &[step], |outcomes| outcomes[0]["error"]["code"] == json!(-32602));
}

#[support::test]
fn a_template_is_listed_and_read() {
    let steps = [json!({"do": "templates"}), json!({"do": "read", "uri": "users://7/profile"})];
    python::check(&quickstart(), &steps, |outcomes| {
        outcomes[0]["result"][0]["uriTemplate"] == json!("users://{id}/profile")
            && outcomes[1]["result"]["contents"][0]["text"] == json!("User 7")
    });
}

#[support::test]
fn a_uri_whose_variable_is_not_a_number_is_not_found() {
    let step = json!({"do": "read", "uri": "users://seven/profile"});
    python::check(&quickstart(), &[step], |outcomes| outcomes[0]["error"]["code"].is_i64());
}

#[support::test]
fn a_prompt_is_completed_and_fetched() {
    let arguments = json!({"language": "rust", "code": "fn main() {}"});
    let steps = [
        json!({"do": "complete", "prompt": "review", "argument": "language", "value": "p"}),
        json!({"do": "prompt", "name": "review", "arguments": arguments}),
        json!({"do": "prompt", "name": "review", "arguments": {"language": "rust"}}),
    ];
    python::check(&quickstart(), &steps, |outcomes| {
        let text = outcomes[1]["result"]["messages"][0]["content"]["text"].as_str();
        outcomes[0]["result"]["values"] == json!(["python"])
            && text.is_some_and(|text| text.contains("fn main() {}"))
            && outcomes[2]["error"]["code"] == json!(-32602)
    });
}

#[support::test]
fn the_inspector_accepts_the_schemas() {
    inspector::list(&quickstart());
}

#[support::test]
fn the_inspector_calls_a_tool() {
    let server = quickstart();
    inspector::check(&server, &inspector::call("add", r#"{"a": 20, "b": 22}"#), 0, |answer| {
        answer.result["content"][0]["text"] == json!("42")
    });
    inspector::check(&server, &inspector::call("add", r#"{"a": "x", "b": 22}"#), 5, |answer| {
        answer.stderr.contains("tool_is_error")
    });
}

#[support::test]
fn the_inspector_reads_a_template_and_gets_a_prompt() {
    let server = quickstart();
    let read = ["--method", "resources/read", "--uri", "users://7/profile"];
    inspector::check(&server, &read, 0, |answer| {
        answer.result["contents"][0]["uri"] == json!("users://7/profile")
    });
    let get = ["--method", "prompts/get", "--prompt-name", "review"];
    let given = ["--prompt-args", "language=rust", "code=x"];
    inspector::check(&server, &[&get[..], &given[..]].concat(), 0, |answer| {
        answer.result["messages"][0]["content"]["type"] == json!("text")
    });
    let unknown = ["--method", "prompts/get", "--prompt-name", "rewrite"];
    inspector::check(&server, &unknown, 1, |answer| answer.stderr.contains("\"error\""));
}
