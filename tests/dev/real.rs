//! Clients of other projects: the Python SDK, and the playground in Chromium.

use std::{collections::BTreeMap, env};

use serde_json::{Value, json};
use support::requirement::{Missing, needs};

use crate::{
    client::Client,
    programs::{chromium, python},
    workshop::{BROKEN, DOUBLE, FEATURES, Workshop},
};

/// Adds a tool while the client of the Python SDK is connected, and checks what the client sees.
fn check_python(
    workshop: &Workshop,
    era: &str,
    protocol: &str,
    server: &[String],
) -> Result<(), Missing> {
    workshop.save_program("");
    let save = |code: &str| {
        let (path, text) = workshop.program(code);
        json!({ "do": "save", "path": path, "text": text })
    };
    let double = json!({ "do": "call", "name": "double", "arguments": { "number": 21 } });
    // The SDK hands over `HOME`, in which cargo would search, and none of these variables.
    let homes = ["CARGO_HOME", "RUSTUP_HOME"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), env::var(name).ok()?)));
    let settings = Workshop::environment()
        .into_iter()
        .map(|(name, value)| (name.to_string(), value.to_string()));
    let environment: BTreeMap<_, _> = homes.chain(settings).collect();
    let plan = json!({
        "environment": environment,
        "steps": [
            { "do": "tools" },
            { "do": "hear", "list": "tools", "trigger": save(DOUBLE) },
            double,
            { "do": "tools" },
        ],
    });
    let report = python(&env::temp_dir(), era, server, &plan)?;
    assert_eq!(report["protocol"], protocol);
    let steps = &report["steps"];
    let tools = |step: &Value| step["result"].as_array().map_or(0, Vec::len);
    assert_eq!((tools(&steps[0]), tools(&steps[3])), (1, 2), "{report:#}");
    assert_eq!(steps[1]["result"]["changed"], "tools", "{report:#}");
    assert_eq!(steps[2]["result"]["content"][0]["text"], "42", "{report:#}");
    Ok(())
}

const ERAS: [(&str, &str); 2] = [("auto", "2026-07-28"), ("legacy", "2025-11-25")];

#[support::test]
fn the_python_sdk_calls_a_tool_that_was_added_while_it_was_connected() {
    let workshop = Workshop::new("python", "");
    let manifest = workshop.path("Cargo.toml").display().to_string();
    let words = [
        "run",
        "--quiet",
        "--offline",
        "--features",
        FEATURES,
        "--manifest-path",
        &manifest,
        "--",
        "dev",
    ];
    let mut server = vec![env!("CARGO").to_owned()];
    server.extend(words.map(str::to_owned));
    for (era, protocol) in ERAS {
        needs(check_python(&workshop, era, protocol, &server));
    }
}

#[support::test]
fn over_http_the_python_sdk_calls_a_tool_that_was_added_while_it_was_connected() {
    for (era, protocol) in ERAS {
        let workshop = Workshop::new(&format!("python-http-{era}"), "");
        let served = Client::start(workshop.dev(&["--http", "127.0.0.1:0"]));
        let url = served.url();
        needs(check_python(&workshop, era, protocol, &[url]));
    }
}

#[support::test]
fn the_open_page_of_the_playground_follows_the_sources() {
    let workshop = Workshop::new("playground", "");
    let served = Client::start(workshop.dev(&["--http", "127.0.0.1:0", "--playground"]));
    let page = served.url().replace("/mcp", "/playground");
    let text = |code| workshop.program(code).1;
    let files = json!({
        "path": workshop.path("src/main.rs"),
        "start": text(""),
        "double": text(DOUBLE),
        "broken": text(BROKEN),
    });
    needs(chromium("sources", &page, &files));
}
