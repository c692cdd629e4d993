//! The Inspector's command line: `mcp-inspector --cli SERVER --method METHOD …`.
//!
//! The Inspector prints the result on stdout, or `{"error": {"code", "message"}}` on stderr. Its exit status:
//!
//! | status | code | meaning |
//! |---|---|---|
//! | 0 | | a result without `isError` |
//! | 1 | `error`, … | wrong use, a server that does not start, a JSON-RPC error (its code is not passed on) |
//! | 2 | `no_app` | `--app-info`: the tool has no MCP App |
//! | 3 | `auth_required` | HTTP 401 or 403 |
//! | 4 | `unreachable` | HTTP: no connection |
//! | 5 | `tool_is_error`, `tool_not_found` | the result has `isError`, or the tool is not listed |
//! | 6 | `schema_unportable` | `--strict` on `tools/list`: a bare `true` or `false` as a schema |
//! | 7, 8, 9 | | `--verify` on skills |
//!
//! `--strict` only warns (on stderr, status 0) of type arrays, remote `$ref` and schemas without a keyword. [`list`] therefore also checks
//! that stderr has no such warning.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde_json::Value;
use support::{
    browser::log_in,
    node::Node,
    requirement::{Missing, needs},
};

use crate::{peers, server::Server};

const PACKAGE: &str = include_str!("inspector.json");
const CLI: &str = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

struct Inspector(Node);

impl Inspector {
    fn get() -> Result<&'static Self, Missing> {
        static INSPECTOR: OnceLock<Result<Inspector, String>> = OnceLock::new();
        let install = || Node::installed(&peers(), "node-inspector-2.12.0", PACKAGE).map(Inspector);
        let inspector = INSPECTOR.get_or_init(|| install().map_err(|missing| missing.to_string()));
        inspector.as_ref().map_err(Missing::new)
    }

    /// Returns the command that runs one method on a server.
    fn command(&self, server: &Server, address: &OsStr, era: &str, arguments: &[&str]) -> Command {
        let environment = server.environment().into_iter().filter(|_| !server.is_http());
        let environment = environment
            .flat_map(|(name, value)| ["-e".to_owned(), format!("{name}={}", value.display())]);
        let mut command = self.0.run(CLI);
        command
            .arg("--cli")
            // The address comes before the options, because some options take every word that follows.
            .arg(address)
            .args(environment)
            .args(["--format", "json", "--protocol-era", era])
            .args(arguments)
            // The Inspector keeps a catalog and credentials in the home folder.
            .env("HOME", &self.0.folder)
            .stdin(Stdio::null());
        command
    }

    fn run(&self, server: &Server, address: &OsStr, era: &str, arguments: &[&str]) -> Answer {
        let output = self.command(server, address, era, arguments).output();
        let output = output.expect("an installed Inspector starts");
        Answer {
            status: output.status.code(),
            result: result(&output.stdout),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Like `run`, with a user who logs in when the Inspector asks for it. The Inspector keeps its credentials in the server's folder.
    fn run_for(
        &self,
        server: &Server,
        user: (&str, &str),
        era: &str,
        arguments: &[&str],
    ) -> Answer {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let callback = format!("http://{}/callback", port.expect("a free port"));
        let mut command = self.command(server, server.address(), era, arguments);
        command
            .args(["--callback-url", &callback])
            .env("HOME", &server.folder)
            .env("MCP_INSPECTOR_SECRET_STORE", "file")
            // Allows the Inspector to log in without a terminal. It finds no browser in this `PATH`, so it prints the URL.
            .env("MCP_AUTO_OPEN_ENABLED", "true")
            .env("PATH", &server.folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("an installed Inspector starts");
        let lines = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let mut stderr = String::new();
        for line in lines.map_while(Result::ok) {
            if let Some(url) = line.strip_prefix("Please navigate to: ") {
                log_in(url, user.0, user.1);
            }
            stderr.extend([&*line, "\n"]);
        }
        let output = child.wait_with_output().expect("it ends");
        Answer { status: output.status.code(), result: result(&output.stdout), stderr }
    }
}

fn result(stdout: &[u8]) -> Value {
    serde_json::from_slice::<Value>(stdout).unwrap_or_default()["result"].take()
}

#[derive(Debug)]
pub(crate) struct Answer {
    status: Option<i32>,
    pub(crate) result: Value,
    pub(crate) stderr: String,
}

/// Runs the Inspector in each era, and checks its exit status and its answer.
#[track_caller]
pub(crate) fn check(
    server: &Server,
    arguments: &[&str],
    status: i32,
    expected: impl Fn(&Answer) -> bool,
) {
    check_eras(server, arguments, [status, status], expected);
}

/// Like [`check`], with an exit status for each era, the legacy era first.
#[track_caller]
pub(crate) fn check_eras(
    server: &Server,
    arguments: &[&str],
    statuses: [i32; 2],
    expected: impl Fn(&Answer) -> bool,
) {
    let inspector = needs(Inspector::get());
    for (era, status) in ["legacy", "modern"].into_iter().zip(statuses) {
        let answer = inspector.run(server, server.address(), era, arguments);
        assert_eq!(answer.status, Some(status), "{}, {era}: {answer:#?}", server.name);
        assert!(expected(&answer), "{}, {era}: {answer:#?}", server.name);
    }
}

/// Checks that every schema of the server's tools is portable to every client, without a warning.
#[track_caller]
pub(crate) fn list(server: &Server) {
    check(server, &["--method", "tools/list", "--strict"], 0, |answer| {
        let tools = answer.result["tools"].as_array();
        tools.is_some_and(|tools| !tools.is_empty()) && !answer.stderr.contains("Warning: tool")
    });
}

/// In each era, logs the user in and lets the Inspector call a tool. Then the Inspector calls another tool with its stored credentials.
#[track_caller]
pub(crate) fn log_in_and_call(
    server: &dyn Fn() -> Server,
    user: (&str, &str),
    calls: [&[&str]; 2],
    expected: impl Fn(&[Answer; 2]) -> bool,
) {
    let inspector = needs(Inspector::get());
    for era in ["legacy", "modern"] {
        let server = server();
        let first = inspector.run_for(&server, user, era, calls[0]);
        let again = [calls[1], &["--stored-auth-only"]].concat();
        let answers = [first, inspector.run_for(&server, user, era, &again)];
        assert!(answers.iter().all(|answer| answer.status == Some(0)), "{era}: {answers:#?}");
        assert!(expected(&answers), "{era}: {answers:#?}");
    }
}

/// Returns the arguments that call a tool.
pub(crate) fn call<'a>(tool: &'a str, arguments: &'a str) -> [&'a str; 6] {
    ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", arguments]
}

#[support::test]
fn the_inspector_connects_in_each_era() {
    let inspector = needs(Inspector::get());
    for server in [Server::new("quickstart"), Server::over_http("quickstart")] {
        for (era, protocol) in [("legacy", "2025-11-25"), ("modern", "2026-07-28")] {
            let answer = inspector.run(&server, server.address(), era, &["--method", "initialize"]);
            assert_eq!(answer.result["protocolVersion"], protocol, "{answer:#?}");
            assert!(answer.result["serverInfo"]["name"].is_string(), "{answer:#?}");
        }
    }
}

#[support::test]
fn the_inspector_speaks_http_and_sse() {
    let inspector = needs(Inspector::get());
    let server = Server::over_http("quickstart");
    let answer = inspector.run(
        &server,
        server.sse().as_ref(),
        "legacy",
        &call("add", r#"{"a": 20, "b": 22}"#),
    );
    assert_eq!(answer.result["content"][0]["text"], "42", "{answer:#?}");
}
