//! The servers on the page `migration`. The programs for rmcp, FastMCP and mcp-runtime give clients the same lists and results.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    sync::{OnceLock, mpsc},
    thread,
};

use serde_json::{Value, json};
use support::{
    clock::LIMIT,
    process::Running,
    python::Python,
    requirement::{Missing, needs},
};

use crate::{
    page::{Block, Page},
    pages,
    session::{Session, from_this_checkout, named_file},
};

/// Versions of the crates that the program for rmcp is built with. To update them, copy the Cargo.lock of the workspace beside the program,
/// and run `cargo update -p rmcp`: crates that the workspace has, too, then keep its versions and are compiled only once.
const LOCK: &str = include_str!("rmcp.lock");

/// Pinned FastMCP. The suite `clients` installs the same packages.
const REQUIREMENTS: &str = include_str!("../clients/requirements/fastmcp.txt");

/// Members of results that not all frameworks send, and that the programs of the page do not set.
const DETAILS: [&str; 6] =
    ["$schema", "_meta", "additionalProperties", "format", "mimeType", "title"];

#[support::test]
fn the_server_of_rmcp_behaves_like_ours() {
    check(|page| {
        let session = Session::with_crate("migration-rmcp", "weather-rmcp", false);
        let manifest = file(page, "rmcp/Cargo.toml");
        let package =
            "[package]\nname = \"weather-rmcp\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        session.write("Cargo.toml", &format!("{package}\n{manifest}\n[workspace]\n"));
        session.write("Cargo.lock", LOCK);
        session.write("src/main.rs", file(page, "rmcp/src/main.rs"));
        session.run("cargo fetch --locked").map_err(Missing::new)?;
        session.run("cargo build --locked --offline").expect("the program compiles");
        Ok(Command::new(session.binary("weather-rmcp")))
    });
}

#[support::test]
fn the_server_of_fastmcp_behaves_like_ours() {
    check(|page| {
        let session = Session::with_crate("migration-fastmcp", "weather-fastmcp", false);
        session.write("weather.py", file(page, "weather.py"));
        let clients = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../clients");
        let python = Python::installed(&clients, "fastmcp", REQUIREMENTS)?;
        let mut command = python.run(session.path("weather.py"));
        command.env("FASTMCP_CHECK_FOR_UPDATES", "off");
        Ok(command)
    });
}

/// Compares a server with the one of mcp-runtime. `build` returns the command that starts it.
#[track_caller]
fn check(build: impl FnOnce(&Page) -> Result<Command, Missing>) {
    static OURS: OnceLock<Vec<Value>> = OnceLock::new();
    let page = pages().into_iter().find(|page| page.module() == "migration").expect("the page");
    let mut command = needs(build(&page));
    let ours = OURS.get_or_init(|| {
        let session = Session::with_crate("migration-ours", "weather", false);
        session.run(&from_this_checkout("cargo add mcp-runtime")).expect("the crate is added");
        session.write("src/main.rs", page.programs().next().expect("a program"));
        session.run("cargo build").expect("the program compiles");
        answers(&mut Command::new(session.binary("weather")))
    });
    for ((request, ours), theirs) in requests().iter().zip(ours).zip(answers(&mut command)) {
        assert_eq!(theirs, *ours, "{request}");
    }
}

/// Returns the file of a page with this path.
fn file<'a>(page: &'a Page, wanted: &str) -> &'a str {
    let files = page.blocks.iter().filter_map(|block| match block {
        Block::Rust(code) => named_file(code),
        Block::File { path, text } => Some((path.as_str(), text.as_str())),
        Block::Console(_) => None,
    });
    let mut files = files.filter(|(path, _)| *path == wanted);
    files.next().unwrap_or_else(|| panic!("the page has no {wanted}")).1
}

/// Returns the requests that the servers answer in the same way, each with its method and parameters.
fn requests() -> Vec<Value> {
    let request = |method: &str, params: Value| json!({ "method": method, "params": params });
    let forecast = |arguments: Value| {
        request("tools/call", json!({ "name": "forecast", "arguments": arguments }))
    };
    let prompt = json!({ "type": "ref/prompt", "name": "trip" });
    let typed = json!({ "name": "city", "value": "O" });
    vec![
        request("tools/list", json!({})),
        request("prompts/list", json!({})),
        request("resources/list", json!({})),
        request("resources/templates/list", json!({})),
        forecast(json!({ "id": 1 })),
        forecast(json!({ "id": 2, "day": 7 })),
        forecast(json!({ "id": 3 })),
        forecast(json!({ "id": 1, "day": 9 })),
        forecast(json!({ "day": 2 })),
        request("resources/read", json!({ "uri": "stations://2" })),
        request("resources/read", json!({ "uri": "stations://3" })),
        request("prompts/get", json!({ "name": "trip", "arguments": { "city": "Oslo" } })),
        request("completion/complete", json!({ "ref": prompt, "argument": typed })),
    ]
}

/// Starts a server, sends the requests, and returns the essence of its answers.
fn answers(command: &mut Command) -> Vec<Value> {
    let mut process =
        Running::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()));
    let mut input = process.stdin().expect("stdin is a pipe");
    let output = BufReader::new(process.stdout().expect("stdout is a pipe"));
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let mut send = |message: &Value| writeln!(input, "{message}").expect("the server reads");
    let receive = |id: usize| {
        loop {
            let line = lines.recv_timeout(LIMIT).expect("the server answers");
            let message: Value = serde_json::from_str(&line).expect("a message");
            if message["id"] == id {
                return message;
            }
        }
    };
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
    receive(0);
    send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let mut answers = Vec::new();
    for (at, mut request) in requests().into_iter().enumerate() {
        request["jsonrpc"] = json!("2.0");
        request["id"] = json!(at + 1);
        send(&request);
        answers.push(essence(receive(at + 1)));
    }
    answers
}

/// Returns the part of an answer that matters to a client: the code of an error, or the result without the additions of a framework.
fn essence(mut answer: Value) -> Value {
    if answer["error"].is_object() {
        return answer["error"]["code"].take();
    }
    let mut result = answer["result"].take();
    if result["completion"].is_object() {
        return result["completion"]["values"].take();
    }
    if result["messages"].is_array() {
        return result["messages"].take();
    }
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    // The frameworks have different texts for wrong arguments.
    if result["isError"] == true && !text.starts_with("there is no station") {
        return json!({ "isError": true });
    }
    strip(&mut result);
    result
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, value| {
                let is_default =
                    name == "isError" && *value == false || name == "minimum" && *value == 0;
                !is_default && !DETAILS.contains(&name.as_str())
            });
            members.values_mut().for_each(strip);
        }
        Value::Array(elements) => elements.iter_mut().for_each(strip),
        Value::String(text) => {
            // FastMCP adds a paragraph to the descriptions of the arguments of prompts.
            if let Some(at) = text.find("\n\n") {
                text.truncate(at);
            }
        }
        _ => {}
    }
}
