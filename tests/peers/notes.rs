//! Clients that know only the URL of a server with authorization. They discover the authorization server, register, send their user there
//! to log in, and call tools. `python_login.py` and `typescript_login.cjs` in this folder are the login code that an application adds to
//! its SDK.

use serde_json::{Value, json};
use support::requirement::{Missing, needs};

use crate::{
    inspector::{self, Answer, call},
    python,
    python::text,
    server::{PASSWORDS, Server},
    typescript,
};

#[derive(Clone, Copy, Debug)]
enum Client {
    /// The Python SDK's client, with its era.
    Python(&'static str),
    /// A client of the TypeScript SDK, with its name and the version that it asks for.
    TypeScript(&'static str, &'static str),
}

use Client::{Python, TypeScript};

/// Clients, each with the revision that it negotiates.
const CLIENTS: [(Client, &str); 7] = [
    (Python("auto"), "2026-07-28"),
    (Python("legacy"), "2025-11-25"),
    (TypeScript("client", "auto"), "2026-07-28"),
    (TypeScript("client", "2025-11-25"), "2025-11-25"),
    (TypeScript("client", "2025-06-18"), "2025-06-18"),
    // In this revision the MCP server is its own authorization server.
    (TypeScript("client", "2025-03-26"), "2025-03-26"),
    (TypeScript("sdk", "auto"), "2025-11-25"),
];

impl Client {
    fn carry_out(self, server: &Server, plan: Value) -> Result<Value, Missing> {
        match self {
            Python(era) => python::carry_out(server, era, plan),
            TypeScript(client, version) => typescript::carry_out(server, client, version, plan),
        }
    }

    /// Logs the user in, and lets the client carry out the steps. Each element of `grants` belongs to one login and lists the scopes that
    /// the user leaves ticked. At a login without such a list, the user leaves all scopes ticked.
    fn log_in(
        self,
        server: &Server,
        user: &str,
        grants: &Value,
        steps: &[Value],
    ) -> Result<Value, Missing> {
        let password = PASSWORDS.iter().find(|account| account.0 == user).map(|account| account.1);
        let login = json!({"name": user, "password": password, "grants": grants});
        self.carry_out(server, json!({"login": login, "steps": steps}))
    }
}

fn notes() -> Server {
    Server::over_http("notes")
}

fn add(note: &str) -> Value {
    json!({"do": "call", "name": "add_note", "arguments": {"text": note}})
}

fn list() -> Value {
    json!({"do": "call", "name": "list_notes"})
}

fn tools(outcome: &Value) -> Vec<&str> {
    let tools = outcome["result"].as_array().into_iter().flatten();
    tools.filter_map(|tool| tool["name"].as_str()).collect()
}

/// Returns the texts of the listed notes.
fn listed(outcome: &Value) -> Vec<String> {
    let notes: Value =
        text(outcome).and_then(|notes| serde_json::from_str(notes).ok()).unwrap_or_default();
    let texts = notes.as_array().into_iter().flatten().filter_map(|note| note["text"].as_str());
    texts.map(str::to_owned).collect()
}

/// Returns the member with this name of each token.
fn all<'a>(report: &'a Value, member: &str) -> Vec<&'a str> {
    let tokens = report["tokens"].as_array().into_iter().flatten();
    tokens.map(|token| token[member].as_str().unwrap_or("none")).collect()
}

#[support::test]
fn every_client_logs_in_once_and_stays_logged_in() {
    for (client, revision) in CLIENTS {
        let server = notes();
        let steps = [add("milk"), list(), json!({"do": "expire"}), add("bread"), list()];
        let report = needs(client.log_in(&server, "ada", &json!([]), &steps));
        let shown = || format!("{client:?}\n{report:#}");
        assert_eq!(report["protocol"], revision, "{}", shown());
        let both = json!(["notes:read", "notes:write"]);
        assert_eq!(report["logins"], json!([{"asked": both, "granted": both}]), "{}", shown());
        let outcomes = &report["steps"];
        assert_eq!(listed(&outcomes[1]), ["milk"], "{}", shown());
        assert_eq!(listed(&outcomes[4]), ["milk", "bread"], "{}", shown());
        // The user logged in once, so the client got the second access token with its refresh token. The server also replaced the refresh
        // token.
        let [access, refresh] = ["access", "refresh"].map(|member| all(&report, member));
        assert!(access.len() == 2 && access[0] != access[1], "{}", shown());
        assert!(refresh[0] != refresh[1] && !refresh.contains(&"none"), "{}", shown());
        assert_eq!(all(&report, "scope"), ["notes:read notes:write"; 2], "{}", shown());
    }
}

#[support::test]
fn a_user_does_not_see_the_notes_of_another_user() {
    let server = notes();
    for (at, (client, _)) in CLIENTS.into_iter().enumerate() {
        let own = format!("of ada, {at}");
        let ada = client.log_in(&server, "ada", &json!([]), &[add(&own), list()]);
        let ada = needs(ada);
        let note: Value = text(&ada["steps"][0])
            .and_then(|note| serde_json::from_str(note).ok())
            .unwrap_or_default();
        let read = json!({"do": "read", "uri": format!("note://{}", note["id"])});
        let delete = json!({"do": "call", "name": "delete_note", "arguments": {"id": note["id"]}});
        let bob = client.log_in(&server, "bob", &json!([]), &[list(), read, delete, add("of bob")]);
        let bob = bob.unwrap_or_else(|missing| panic!("{missing}"));
        let shown = || format!("{client:?}\n{ada:#}\n{bob:#}");
        assert_eq!(listed(&ada["steps"][1]).last(), Some(&own), "{}", shown());
        assert_eq!(listed(&bob["steps"][0]), vec!["of bob"; at], "{}", shown());
        assert!(bob["steps"][1]["error"]["code"].is_i64(), "{}", shown());
        let nothing =
            text(&bob["steps"][2]).is_some_and(|text| text.starts_with("there was no note"));
        assert!(nothing, "{}", shown());
    }
}

#[support::test]
fn a_client_with_the_wrong_password_gets_no_token() {
    let server = notes();
    for (client, _) in CLIENTS {
        let login = json!({"name": "ada", "password": PASSWORDS[1].1});
        let report = needs(client.carry_out(&server, json!({"login": login, "steps": [list()]})));
        let shown = || format!("{client:?}\n{report:#}");
        let rejected = report["rejected"][0].as_str().unwrap_or_default();
        assert!(rejected.contains("denied"), "{}", shown());
        let refused = "No user has this name and this password.";
        assert_eq!(report["logins"], json!([{"refused": refused}]), "{}", shown());
        assert_eq!(report["tokens"], json!([]), "{}", shown());
        assert_eq!(report["steps"], json!([]), "{}", shown());
    }
}

/// The token expires while several calls are running. The SDK then requests a new token for each call, always with the same refresh
/// token.
#[support::test]
fn concurrent_calls_survive_the_expiry_of_their_token() {
    for client in ["client", "sdk"] {
        let together = json!({"do": "together", "steps": vec![list(); 4]});
        let expire = json!({"do": "expire", "messages": 4});
        let steps = [add("milk"), expire, together, json!({"do": "expire"}), list()];
        let report = needs(TypeScript(client, "auto").log_in(&notes(), "ada", &json!([]), &steps));
        let calls = report["steps"][2]["result"].as_array().expect("one outcome for each call");
        assert!(calls.iter().all(|outcome| listed(outcome) == ["milk"]), "{client}\n{report:#}");
        assert_eq!(listed(&report["steps"][4]), ["milk"], "{client}\n{report:#}");
        assert_eq!(report["logins"].as_array().map(Vec::len), Some(1), "{client}\n{report:#}");
    }
}

#[support::test]
fn the_inspector_logs_in_once_and_stores_its_credentials() {
    let (add, list) = (call("add_note", r#"{"text": "milk"}"#), call("list_notes", "{}"));
    inspector::log_in_and_call(&notes, PASSWORDS[0], [&add, &list], |[added, listed]| {
        let asked = |answer: &Answer| answer.stderr.matches("Please navigate to").count();
        added.result["structuredContent"]["text"] == "milk"
            && listed.result["content"][0]["text"]
                .as_str()
                .is_some_and(|text| text.contains("milk"))
            && (asked(added), asked(listed)) == (1, 0)
    });
}

#[support::test]
fn a_token_can_be_given_by_hand() {
    let server = notes();
    let report = needs(Python("auto").log_in(&server, "ada", &json!([]), &[add("milk")]));
    let list = call("list_notes", "{}");
    for (token, status) in [(all(&report, "access")[0], 0), ("wrong", 3)] {
        let header = format!("Authorization: Bearer {token}");
        let arguments = [&list[..], &["--stored-auth-only", "--header", &header]].concat();
        inspector::check(&server, &arguments, status, |answer| {
            let texts = answer.result["content"][0]["text"].as_str();
            texts.is_some_and(|text| text.contains("milk")) == (status == 0)
        });
    }
}

/// A user who allowed a client only to read is asked once more when the client wants to write.
#[support::test]
fn a_client_asks_for_more_scopes_when_a_call_needs_them() {
    let [read, both] = [json!(["notes:read"]), json!(["notes:read", "notes:write"])];
    for (client, _) in CLIENTS {
        let server = notes();
        let mut steps = vec![json!({"do": "tools"}), add("milk"), list()];
        if let TypeScript("sdk", _) = client {
            // This client uses its refresh token to get new tokens. The new tokens have the same scopes, so the server rejects the call
            // again.
            let scope = "notes:read notes:write";
            steps.splice(2..2, [json!({"do": "authorize", "scope": scope}), add("milk")]);
        }
        let report = needs(client.log_in(&server, "ada", &json!([read]), &steps));
        let shown = || format!("{client:?}\n{report:#}");
        let logins = json!([{"asked": both, "granted": read}, {"asked": both, "granted": both}]);
        assert_eq!(report["logins"], logins, "{}", shown());
        let scopes = all(&report, "scope");
        assert_eq!(scopes.first(), Some(&"notes:read"), "{}", shown());
        assert_eq!(scopes.last(), Some(&"notes:read notes:write"), "{}", shown());
        let outcomes = report["steps"].as_array().expect("one outcome for each step");
        let [offered, added, .., notes] = &outcomes[..] else { panic!("{}", shown()) };
        // The list includes tools whose scopes are not granted yet. Otherwise no model would try to call these tools.
        assert_eq!(tools(offered), ["add_note", "delete_note", "list_notes"], "{}", shown());
        assert_eq!(listed(notes), ["milk"], "{}", shown());
        let is_refused = added["error"]["code"] == json!(403);
        assert_eq!(is_refused, steps.len() > 3, "{}", shown());
    }
}
