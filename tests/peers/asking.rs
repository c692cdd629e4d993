//! Requests of the server to official clients: forms, URL-mode elicitation, sampling and roots, one at a time and in parallel.

use serde_json::{Value, json};
use support::requirement::{Missing, needs};

use crate::{
    inspector, python,
    python::{failure, text},
    server::{Server, asking},
    typescript,
};

const FORMS: &str = "2025-06-18";
const PAGES: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

fn call(tool: &str) -> Value {
    json!({ "do": "call", "name": tool })
}

/// Returns a plan for `everything`: each kind of request to the client, state that comes back with an answer, several rounds, and parallel
/// requests.
pub(crate) fn questions() -> Value {
    let prompt = json!({ "prompt": "Are you there?" });
    let message = json!({ "message": "Who are you?" });
    json!({
        "elicitation": {
            "knows": {
                "username": "ada", "email": "ada@example.com", "color": "green", "ok": true, "context": "the sea",
                "name": "Ada", "age": 36, "score": 1.5, "status": "pending", "verified": false,
                "untitledSingle": "option2", "titledSingle": "value3", "legacyEnum": "opt1",
                "untitledMulti": ["option1", "option3"], "titledMulti": ["value2"],
            },
        },
        "sampling": "Here I am.",
        "roots": ["file:///home/ada", "file:///srv"],
        "steps": [
            { "do": "call", "name": "test_sampling", "arguments": prompt },
            call("test_input_required_result_list_roots"),
            { "do": "call", "name": "test_elicitation", "arguments": message },
            call("test_elicitation_sep1034_defaults"),
            call("test_elicitation_sep1330_enums"),
            call("test_input_required_result_request_state"),
            call("test_input_required_result_multi_round"),
            call("test_input_required_result_multiple_inputs"),
            { "do": "prompt", "name": "test_input_required_result_prompt" },
        ],
    })
}

/// Expected result of each step, unless [`lacking`] names an error for the step.
const ANSWERS: [&str; 9] = [
    "LLM response: Here I am.",
    "The client works in: file:///home/ada, file:///srv",
    "User response: ada <ada@example.com>",
    "Elicitation completed: action=accept, content=Defaults { name: \"Ada\", age: 36, score: 1.5, status: Pending, verified: false }",
    "Elicitation completed: action=accept, content=Enums { untitled_single: Option2, titled_single: Value3, legacy_enum: Opt1, \
     untitled_multi: [Option1, Option3], titled_multi: [Value2] }",
    "state-ok, confirmed",
    "Ada likes green.",
    "Here I am. Ada, 2 roots",
    "Keep this in mind: the sea",
];

/// Returns part of the error message if the revision lacks a feature that the step needs. Returns `None` if the step succeeds.
fn lacking(revision: &str, step: usize) -> Option<&'static str> {
    match step {
        2.. if revision < FORMS => Some("the client speaks"),
        4 if revision == FORMS => Some("allows several choices"),
        _ => None,
    }
}

/// Returns the numbers of elicitation, sampling and roots requests that the client has received.
fn counted(report: &Value) -> [usize; 3] {
    let asked = report["asked"].as_array().expect("what was asked");
    ["elicitation", "sampling", "roots"]
        .map(|kind| asked.iter().filter(|question| question.get(kind).is_some()).count())
}

#[track_caller]
fn check_questions(report: Result<Value, Missing>, revision: &str) {
    let report = needs(report);
    check_answers(&report, revision);
    // In a session, the server caches the roots of a client that announces changes of its roots, so it requests them only once.
    let roots = if revision == MODERN { 2 } else { 1 };
    let forms = (0..ANSWERS.len()).filter(|at| *at > 1 && lacking(revision, *at).is_none()).count();
    // The step with several rounds asks for two forms.
    let expected = if forms > 0 { [forms + 1, 2, roots] } else { [0, 1, 1] };
    assert_eq!(counted(&report), expected, "{revision}\n{report:#}");
}

/// Checks the results of [`questions`].
#[track_caller]
pub(crate) fn check_answers(report: &Value, revision: &str) {
    assert_eq!(report["protocol"], revision, "{report:#}");
    let outcomes = report["steps"].as_array().expect("one outcome for each step");
    assert_eq!(outcomes.len(), ANSWERS.len());
    for (at, (outcome, answer)) in outcomes.iter().zip(ANSWERS).enumerate() {
        let prompt = outcome["result"]["messages"][0]["content"]["text"].as_str();
        let error = outcome["error"]["message"].as_str().or(failure(outcome));
        let is_right = match lacking(revision, at) {
            None => prompt.or(text(outcome)) == Some(answer),
            Some(what) => error.is_some_and(|error| error.contains(what)),
        };
        assert!(is_right, "{revision}: {answer}\n{outcome:#}");
    }
}

#[support::test]
fn python_answers_every_question() {
    for server in [Server::new("everything"), Server::over_http("everything")] {
        check_questions(python::carry_out(&server, "auto", questions()), MODERN);
        check_questions(python::carry_out(&server, "legacy", questions()), PAGES);
    }
}

#[support::test]
fn typescript_answers_every_question() {
    for server in [Server::new("everything"), Server::over_http("everything")] {
        for revision in [MODERN, PAGES, FORMS, "2025-03-26", "2024-11-05"] {
            let report = typescript::carry_out(&server, "client", revision, questions());
            check_questions(report, revision);
        }
    }
}

#[support::test]
fn the_older_typescript_answers_every_question() {
    let stdio = Server::new("everything");
    check_questions(typescript::carry_out(&stdio, "sdk", "auto", questions()), PAGES);
    let http = Server::over_http("everything");
    for client in ["sdk", "sdk-sse"] {
        check_questions(typescript::carry_out(&http, client, "auto", questions()), PAGES);
    }
}

/// Returns a plan with two URL-mode elicitations. The user visits the URL of the first only.
fn pages() -> Value {
    let pay =
        |booking: u32| json!({ "do": "call", "name": "pay", "arguments": { "booking": booking } });
    let refuses = json!({ "Please pay for 2.": "decline" });
    json!({ "elicitation": { "knows": {}, "refuses": refuses }, "steps": [pay(1), pay(2)] })
}

#[track_caller]
fn check_pages(report: Result<Value, Missing>, revision: &str) {
    let report = needs(report);
    assert_eq!(report["protocol"], revision, "{report:#}");
    let [paid, declined] = [0, 1].map(|at| &report["steps"][at]);
    let asked = report["asked"].as_array().expect("what was asked");
    if revision < PAGES {
        for outcome in [paid, declined] {
            assert!(failure(outcome).is_some_and(|error| error.contains("no pages")), "{report:#}");
        }
        assert!(asked.is_empty(), "{report:#}");
        return;
    }
    assert_eq!(text(paid), Some("on the way"), "{report:#}");
    assert_eq!(failure(declined), Some("the user declined to answer"), "{report:#}");
    let mut ids = Vec::new();
    assert_eq!(asked.len(), 2, "{report:#}");
    for (params, booking) in asked.iter().map(|question| &question["elicitation"]).zip(1..) {
        assert_eq!(params["mode"], "url", "{report:#}");
        assert_eq!(params["message"], format!("Please pay for {booking}."), "{report:#}");
        let url = format!("https://example.com/pay?booking={booking}");
        assert_eq!(params["url"], url, "{report:#}");
        ids.extend(params["elicitationId"].as_str());
    }
    // Only protocol revision 2025-11-25 gives each URL-mode elicitation an id.
    assert_eq!(ids.len(), if revision == PAGES { 2 } else { 0 }, "{report:#}");
    assert!(ids.first() != ids.last() || ids.is_empty(), "{report:#}");
}

#[support::test]
fn users_are_sent_to_pages() {
    for server in [asking(), asking().served()] {
        check_pages(python::carry_out(&server, "auto", pages()), MODERN);
        check_pages(python::carry_out(&server, "legacy", pages()), PAGES);
        for revision in [MODERN, PAGES, FORMS] {
            check_pages(typescript::carry_out(&server, "client", revision, pages()), revision);
        }
        check_pages(typescript::carry_out(&server, "sdk", "auto", pages()), PAGES);
    }
}

/// The server sends no elicitation to a client that does not declare the capability.
#[support::test]
fn a_client_without_elicitation_gets_an_error_and_no_question() {
    let server = Server::over_http("everything");
    let plan = json!({ "steps": [
        { "do": "call", "name": "test_elicitation", "arguments": { "message": "Who are you?" } },
    ] });
    let check = |report: Result<Value, Missing>| {
        let report = needs(report);
        assert_eq!(report["asked"], json!([]), "{report:#}");
        let outcome = &report["steps"][0];
        if report["protocol"] == MODERN {
            assert_eq!(outcome["error"]["code"], -32021, "{report:#}");
            let required = &outcome["error"]["data"]["requiredCapabilities"];
            assert_eq!(*required, json!({ "elicitation": { "form": {} } }), "{report:#}");
        } else {
            let says = failure(outcome).unwrap_or_default();
            assert!(says.contains("not declared") && says.contains("elicitation"), "{report:#}");
        }
    };
    check(python::carry_out(&server, "auto", plan.clone()));
    check(python::carry_out(&server, "legacy", plan.clone()));
    check(typescript::carry_out(&server, "client", MODERN, plan.clone()));
    check(typescript::carry_out(&server, "client", FORMS, plan.clone()));
    check(typescript::carry_out(&server, "sdk", "auto", plan));
}

/// The Inspector's command line has no user and no model, so it declares neither elicitation nor sampling. Its list of roots is empty.
#[support::test]
fn the_inspector_is_asked_for_roots() {
    for server in [Server::new("everything"), Server::over_http("everything")] {
        let roots = inspector::call("test_input_required_result_list_roots", "{}");
        inspector::check(&server, &roots, 0, |answer| {
            answer.result["content"][0]["text"] == "The client works in: "
        });
    }
}
