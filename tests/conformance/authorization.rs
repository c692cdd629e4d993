//! The suite's scenarios for authorization servers against the example `notes`, which has an authorization server.

use std::{net::TcpListener, path::PathBuf};

use serde_json::{Value, json};
use support::{
    browser::{log_in, send},
    examples::example,
    process::HttpServer,
    requirement::needs,
};

use crate::{suite::Suite, verdict};

/// Revisions for which the suite has these scenarios. All of them specify authorization.
const REVISIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

const SCENARIOS: [&str; 2] = ["authorization-code-grant", "authorization-server-metadata-endpoint"];

const PASSWORD: &str = "correct horse";

/// Registers a client, and returns its client id.
fn register(issuer: &str, port: u16) -> String {
    let client = json!({
        "client_name": "conformance",
        "redirect_uris": [format!("http://127.0.0.1:{port}/callback")],
        "token_endpoint_auth_method": "none",
    });
    let (url, json) = (format!("{issuer}/register"), [("Content-Type", "application/json")]);
    let registered = send("POST", &url, &json, &client.to_string()).text;
    let answer: Value = serde_json::from_str(&registered).expect("the server answers with JSON");
    let id = answer["client_id"].as_str();
    id.unwrap_or_else(|| panic!("the client is not registered: {registered}")).to_owned()
}

#[support::test]
fn notes_conforms_as_an_authorization_server_in_every_revision() {
    let suite = needs(Suite::installed());
    let password = [("NOTES_ADA", PathBuf::from(PASSWORD))];
    let server = HttpServer::start(example("notes"), &[], &password);
    let issuer = server.url.strip_suffix("/mcp").expect("the usual path");
    let mut problems = Vec::new();
    for revision in REVISIONS {
        // If another process takes the port before the suite listens there, only this test fails.
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.expect("a free port").port();
        let client = register(issuer, port);
        let options = ["--client-id", &client, "--resource", &server.url];
        let scenarios = suite.authorize(issuer, revision, port, &options, |url| {
            log_in(url, "ada", PASSWORD);
        });
        let names: Vec<_> = scenarios.iter().map(|scenario| &*scenario.name).collect();
        assert_eq!(names, SCENARIOS, "{revision}");
        let found = verdict::problems(&scenarios, &[]);
        problems.extend(found.into_iter().map(|problem| format!("{revision} {problem}")));
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
