use serde_json::json;

use crate::{inspector, python, server::Server};

fn time() -> Server {
    Server::new("time")
}

#[support::test]
fn times_are_returned_as_structured_content() {
    let conversion = json!({
        "source_timezone": "UTC", "time": "06:30", "target_timezone": "Asia/Kathmandu",
    });
    let steps = [
        json!({"do": "call", "name": "get_current_time", "arguments": {"timezone": "Asia/Tokyo"}}),
        json!({"do": "call", "name": "get_current_time"}),
        json!({"do": "call", "name": "convert_time", "arguments": conversion}),
    ];
    python::check(&time(), &steps, |outcomes| {
        let now = &outcomes[0]["result"]["structuredContent"];
        let local = &outcomes[1]["result"]["structuredContent"];
        let converted = &outcomes[2]["result"]["structuredContent"];
        now["timezone"] == json!("Asia/Tokyo")
            && now["is_dst"] == json!(false)
            && now["datetime"].as_str().is_some_and(|time| time.ends_with("+09:00"))
            && local["day_of_week"].as_str().is_some_and(|day| day.ends_with("day"))
            && converted["time_difference"] == json!("+5.75h")
            && converted["target"]["datetime"]
                .as_str()
                .is_some_and(|time| time.contains("T12:15:00"))
    });
}

#[support::test]
fn a_wrong_zone_or_time_is_answered_with_advice() {
    let steps = [
        json!({"do": "call", "name": "get_current_time", "arguments": {"timezone": "New York"}}),
        json!({"do": "call", "name": "get_current_time", "arguments": {"timezone": "Mars"}}),
        json!({"do": "call", "name": "convert_time", "arguments": {"time": "25:00"}}),
    ];
    python::check(&time(), &steps, |outcomes| {
        let expected = ["America/New_York", "IANA", "`time`"];
        outcomes.iter().zip(expected).all(|(outcome, advice)| {
            python::failure(outcome).is_some_and(|text| text.contains(advice))
        })
    });
}

#[support::test]
fn a_zone_is_completed_and_read() {
    let steps = [
        json!({"do": "complete", "template": "time://{+zone}", "argument": "zone", "value": "kathm"}),
        json!({"do": "read", "uri": "time://Asia/Kathmandu"}),
        json!({"do": "read", "uri": "time://Mars"}),
    ];
    python::check(&time(), &steps, |outcomes| {
        let contents = &outcomes[1]["result"]["contents"][0];
        outcomes[0]["result"]["values"] == json!(["Asia/Kathmandu"])
            && contents["mimeType"] == json!("application/json")
            && contents["text"].as_str().is_some_and(|text| text.contains("+05:45"))
            && outcomes[2]["error"]["code"].is_i64()
    });
}

#[support::test]
fn the_inspector_accepts_the_schemas() {
    inspector::list(&time());
}

#[support::test]
fn the_inspector_calls_and_reads() {
    let server = time();
    let call = inspector::call("get_current_time", r#"{"timezone": "UTC"}"#);
    inspector::check(&server, &call, 0, |answer| {
        answer.result["structuredContent"]["timezone"] == json!("UTC")
    });
    let read = ["--method", "resources/read", "--uri", "time://Europe/London"];
    inspector::check(&server, &read, 0, |answer| {
        answer.result["contents"][0]["uri"] == json!("time://Europe/London")
    });
}
