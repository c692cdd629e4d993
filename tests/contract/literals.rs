//! The schemas of these examples are literals in the compiled programs, so the programs do not run schemars.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use support::examples::example;

use crate::locks::{run, text};

const EXAMPLES: [&str; 3] = ["quickstart", "time", "files"];

/// Starts an example, sends it one request, and returns the line of its response.
fn answer(name: &str, method: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let asked = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta } });
    let mut server = Command::new(example(name))
        .env("FILES_ROOT", env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the example starts");
    let mut input = server.stdin.take().expect("is piped");
    writeln!(input, "{asked}").expect("the example reads");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("is piped"))
        .read_line(&mut line)
        .expect("the example answers");
    drop(input);
    assert!(server.wait().expect("it ends").success());
    line
}

/// Returns the objects in `line` that are the value of a member with this name, with their exact text.
fn objects<'a>(line: &'a str, member: &str) -> Vec<&'a str> {
    let key = format!("\"{member}\":{{");
    line.match_indices(&key)
        .map(|(at, _)| {
            let start = at + key.len() - 1;
            let mut values =
                serde_json::Deserializer::from_str(&line[start..]).into_iter::<Value>();
            values.next().expect("a value").expect("JSON");
            &line[start..start + values.byte_offset()]
        })
        .collect()
}

#[support::test]
fn every_published_schema_is_in_the_program() {
    let mut count = 0;
    for name in EXAMPLES {
        let program = fs::read(example(name)).expect("the example is there");
        let line = answer(name, "tools/list");
        for schema in
            objects(&line, "inputSchema").into_iter().chain(objects(&line, "outputSchema"))
        {
            let found = program.windows(schema.len()).any(|window| window == schema.as_bytes());
            assert!(found, "{name}: {schema}");
            count += 1;
        }
    }
    assert_eq!(count, 1 + 4 + 7, "the schemas of all tools");
}

#[support::test]
fn no_example_generates_a_schema_at_run_time() {
    for name in EXAMPLES {
        let published = run(name, &["schema"]);
        let said = text(&published.stderr);
        let tools: Vec<&str> = said.lines().skip(1).collect();
        assert!(!tools.is_empty(), "{name}: {said}");
        for tool in tools {
            assert!(tool.contains("static") && !tool.contains("lazy"), "{name}: {tool}");
        }
    }
}
