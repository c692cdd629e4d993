//! A tool function that asks its user for confirmation. The clients call this function over stdio and HTTP, in every revision that has
//! forms.

use serde_json::{Value, json};
use support::{
    proxy::Proxy,
    requirement::{Missing, needs},
};

use crate::{
    python,
    python::{failure, text},
    server::{Server, asking},
    typescript,
};

/// A client, and the protocol revision that it uses.
#[derive(Clone, Copy, Debug)]
enum Peer {
    /// The client of the Python SDK, with its mode and the revision it negotiates.
    Python(&'static str, &'static str),
    /// A client of the TypeScript SDK, with its name and revision.
    TypeScript(&'static str, &'static str),
}

const PEERS: [Peer; 6] = [
    Peer::Python("legacy", "2025-11-25"),
    Peer::Python("auto", "2026-07-28"),
    Peer::TypeScript("client", "2025-06-18"),
    Peer::TypeScript("client", "2025-11-25"),
    Peer::TypeScript("client", "2026-07-28"),
    Peer::TypeScript("sdk", "2025-11-25"),
];

/// Returns a user who agrees to everything for testing, declines staging, and cancels the form about the plan for production.
fn person() -> Value {
    json!({
        "knows": { "confirm": true, "time": "tonight", "who": "Ada" },
        "refuses": { "Deploy to staging?": "decline", "Carry out plan 2 for production?": "cancel" },
    })
}

fn deploy(env: &str) -> Value {
    json!({ "do": "call", "name": "deploy", "arguments": { "env": env } })
}

/// Returns the parameters of the elicitation with this message.
fn question(message: &str) -> Value {
    let schema = if message.starts_with("Deploy") {
        json!({
            "type": "object",
            "properties": { "confirm": { "type": "boolean", "description": "Whether it may begin" } },
            "required": ["confirm"],
        })
    } else {
        json!({
            "type": "object",
            "properties": {
                "time": { "type": "string", "enum": ["now", "tonight"] },
                "who": {
                    "type": "string", "description": "Who answers for it", "minLength": 1, "maxLength": 40,
                },
            },
            "required": ["time", "who"],
        })
    };
    json!({ "message": message, "requestedSchema": schema })
}

/// Returns the parameters of an elicitation without the mode `form`. This is the default mode, which a client may add when it parses the
/// parameters.
fn form(params: &Value) -> Value {
    let mut params = params.clone();
    if params["mode"] == "form" {
        params.as_object_mut().expect("an object").remove("mode");
    }
    params
}

#[track_caller]
fn check(peer: Peer, server: &Server) {
    let history = json!({ "do": "call", "name": "history" });
    let steps = [deploy("testing"), deploy("staging"), deploy("production"), history];
    let plan = json!({ "elicitation": person(), "steps": steps });
    let (report, revision) = match peer {
        Peer::Python(era, revision) => (python::carry_out(server, era, plan), revision),
        Peer::TypeScript(client, revision) => {
            // `sdk`, the older client, has no option for the revision.
            let version = if client == "sdk" { "auto" } else { revision };
            (typescript::carry_out(server, client, version, plan), revision)
        }
    };
    let report = needs(report);
    let shown = || format!("{peer:?}, HTTP {}\n{report:#}", server.is_http());
    assert_eq!(report["protocol"], revision, "{}", shown());
    let outcomes = report["steps"].as_array().expect("one outcome for each step");
    let plan = "plan 1 for testing is carried out tonight, says Ada";
    assert_eq!(text(&outcomes[0]), Some(plan), "{}", shown());
    assert_eq!(failure(&outcomes[1]), Some("the user declined to answer"), "{}", shown());
    let closed = "the user closed the question without an answer";
    assert_eq!(failure(&outcomes[2]), Some(closed), "{}", shown());
    // In protocol revision 2026-07-28 a call ends when it asks, and the function begins again with each answer. Each plan is still made
    // only once.
    let begun = if revision == "2026-07-28" { 3 + 2 + 3 } else { 3 };
    let history = format!("begun {begun}, planned 2");
    assert_eq!(text(&outcomes[3]), Some(&*history), "{}", shown());
    let asked = report["asked"].as_array().expect("what was asked");
    let asked: Vec<_> = asked.iter().map(|question| form(&question["elicitation"])).collect();
    let expected = [
        "Deploy to testing?",
        "Carry out plan 1 for testing?",
        "Deploy to staging?",
        "Deploy to production?",
        "Carry out plan 2 for production?",
    ];
    assert_eq!(asked, expected.map(question), "{}", shown());
}

#[support::test]
fn one_function_asks_in_every_revision_over_every_transport() {
    for peer in PEERS {
        check(peer, &asking());
        check(peer, &asking().served());
    }
}

/// Checks a client behind a proxy that distributes requests to two processes in turn.
#[track_caller]
fn check_fleet(drive: impl Fn(&Server, Value) -> Result<Value, Missing>) {
    let servers = [asking().served(), asking().served()];
    let proxy = Proxy::before(servers.iter().map(Server::socket).collect());
    let fleet = asking().found_at(proxy.address);
    let calls = json!([deploy("testing"), deploy("testing")]);
    let report = needs(drive(&fleet, json!({ "elicitation": person(), "steps": calls })));
    assert_eq!(report["protocol"], "2026-07-28", "{report:#}");
    for outcome in report["steps"].as_array().expect("one outcome for each step") {
        let said = text(outcome).unwrap_or_default();
        assert!(said.ends_with(" for testing is carried out tonight, says Ada"), "{report:#}");
    }
    let histories = servers.each_ref().map(|server| {
        let history = json!({ "steps": [{ "do": "call", "name": "history" }] });
        let report = drive(server, history).unwrap_or_else(|missing| panic!("{missing}"));
        let said = text(&report["steps"][0]).expect("a history").replace(',', "");
        let numbers: Vec<usize> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
        (numbers[0], numbers[1])
    });
    // Each of the two calls has three rounds, and consecutive rounds run on different processes. Each call makes one plan.
    let [(a, planned), (b, others)] = histories;
    assert!(a > 1 && b > 1 && a + b == 6, "{histories:?}");
    assert_eq!(planned + others, 2, "{histories:?}");
}

#[support::test]
fn a_client_is_served_by_a_fleet() {
    check_fleet(|server, plan| python::carry_out(server, "auto", plan));
    check_fleet(|server, plan| typescript::carry_out(server, "client", "2026-07-28", plan));
}
