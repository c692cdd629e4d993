use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::{inspector, python, python::text, server::Server};

fn memory() -> Server {
    Server::new("memory")
}

fn ada() -> Value {
    let observations = ["wrote the first program"];
    json!({"entities": [
        {"name": "Ada Lovelace", "entityType": "person", "observations": observations},
        {"name": "Analytical Engine", "entityType": "machine"},
    ]})
}

fn describes() -> Value {
    json!({"relations": [
        {"source": "Ada Lovelace", "relationType": "describes", "target": "Analytical Engine"},
    ]})
}

#[support::test]
fn saved_entities_and_relations_are_found() {
    let steps = [
        json!({"do": "call", "name": "create_entities", "arguments": ada()}),
        json!({"do": "call", "name": "create_relations", "arguments": describes()}),
        json!({"do": "call", "name": "create_relations", "arguments": describes()}),
        json!({"do": "call", "name": "search_nodes", "arguments": {"query": "PROGRAM ada"}}),
        json!({"do": "call", "name": "open_nodes", "arguments": {"names": ["Analytical Engine"]}}),
        json!({"do": "call", "name": "delete_relations", "arguments": describes()}),
    ];
    python::check(&memory(), &steps, |outcomes| {
        let found = &outcomes[3]["result"]["structuredContent"];
        let opened = &outcomes[4]["result"]["structuredContent"];
        text(&outcomes[1]) == Some("1")
            && text(&outcomes[2]) == Some("0")
            && found["entities"] == json!([ada()["entities"][0]])
            && found["relations"] == describes()["relations"]
            && opened["entities"][0]["name"] == json!("Analytical Engine")
            && opened["relations"] == describes()["relations"]
            && text(&outcomes[5]) == Some("1")
    });
}

#[support::test]
fn deleted_observations_and_entities_are_gone() {
    let program = json!({"entity": "Ada Lovelace", "observations": ["wrote the first program"]});
    let everything = json!({"names": ["Ada Lovelace", "Analytical Engine"]});
    let steps = [
        json!({"do": "call", "name": "create_entities", "arguments": ada()}),
        json!({"do": "call", "name": "create_relations", "arguments": describes()}),
        json!({"do": "call", "name": "delete_observations", "arguments": program}),
        json!({"do": "call", "name": "delete_observations", "arguments": program}),
        json!({"do": "call", "name": "add_observations", "arguments": program}),
        json!({"do": "call", "name": "delete_entities", "arguments": everything}),
        json!({"do": "read", "uri": "memory://graph"}),
        json!({"do": "read", "uri": "memory://entity/Ada%20Lovelace"}),
    ];
    python::check(&memory(), &steps, |outcomes| {
        let texts: Vec<_> = outcomes[2..6].iter().filter_map(text).collect();
        texts == ["1", "0", "1", "2"]
            && outcomes[6]["result"]["contents"][0]["text"]
                == json!(r#"{"entities":[],"relations":[]}"#)
            && outcomes[7]["error"]["code"].is_i64()
    });
}

#[support::test]
fn a_relation_between_unknown_entities_is_not_written() {
    let steps = [
        json!({"do": "call", "name": "create_relations", "arguments": describes()}),
        json!({"do": "read", "uri": "memory://graph"}),
    ];
    python::check(&memory(), &steps, |outcomes| {
        python::failure(&outcomes[0]).is_some_and(|text| text.contains("`Ada Lovelace`"))
            && outcomes[1]["result"]["contents"][0]["text"]
                == json!(r#"{"entities":[],"relations":[]}"#)
    });
}

#[support::test]
fn an_entity_is_completed_read_and_watched() {
    let uri = "memory://entity/Ada%20Lovelace";
    let template = "memory://entity/{name}";
    let countess = json!({"entity": "Ada Lovelace", "observations": ["was a countess"]});
    let trigger = json!({"do": "call", "name": "add_observations", "arguments": countess});
    let steps = [
        json!({"do": "call", "name": "create_entities", "arguments": ada()}),
        json!({"do": "complete", "template": template, "argument": "name", "value": "ana"}),
        json!({"do": "watch", "uri": uri, "trigger": trigger}),
        json!({"do": "watch", "uri": "memory://graph", "trigger": trigger}),
        json!({"do": "read", "uri": uri}),
    ];
    python::check(&memory(), &steps, |outcomes| {
        outcomes[1]["result"]["values"] == json!(["Analytical Engine"])
            && outcomes[2]["result"]["updated"] == json!(uri)
            && outcomes[3]["result"]["updated"] == json!("memory://graph")
            && outcomes[4]["result"]["contents"][0]["text"]
                .as_str()
                .is_some_and(|text| text.contains("was a countess"))
    });
}

#[support::test]
fn the_inspector_accepts_the_schemas() {
    inspector::list(&memory());
}

#[support::test]
fn the_inspector_writes_and_reads() {
    let server = memory();
    let entities = ada().to_string();
    inspector::check(&server, &inspector::call("create_entities", &entities), 0, |_| true);
    let read = ["--method", "resources/read", "--uri", "memory://entity/Analytical%20Engine"];
    inspector::check(&server, &read, 0, |answer| {
        answer.result["contents"][0]["text"].as_str().is_some_and(|text| text.contains("machine"))
    });
}

/// Server process that a test kills. The test sends the requests itself, because no client expects that its server is killed.
struct Victim(Child);

impl Victim {
    fn start(server: &Server) -> Self {
        let child = Command::new(server.address())
            .envs(server.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example starts");
        let info = json!({"name": "by hand", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        let mut victim = Self(child);
        victim.ask("initialize", &params);
        victim
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let stdin = self.0.stdin.as_mut().expect("stdin is piped");
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(stdin, "{request}").expect("the server reads");
        let mut line = String::new();
        // The server sends one answer at a time, and no other messages to a client without subscriptions. So the dropped buffer contains no
        // unread bytes.
        let stdout = self.0.stdout.as_mut().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut line).expect("the server answers");
        serde_json::from_str(&line).expect("the answer is JSON")
    }

    /// Kills the server with SIGKILL.
    fn kill(mut self) {
        self.0.kill().expect("the server runs");
        self.0.wait().expect("the server ends");
    }
}

#[support::test]
fn an_answered_write_survives_a_kill_of_the_server() {
    let server = memory();
    for round in 0..20 {
        let mut victim = Victim::start(&server);
        let entity = json!({"name": format!("round {round}"), "entityType": "test"});
        let call = json!({"name": "create_entities", "arguments": {"entities": [entity]}});
        let answer = victim.ask("tools/call", &call);
        assert!(answer["result"]["isError"] != json!(true), "{answer}");
        victim.kill();
    }
    let mut survivor = Victim::start(&server);
    let answer = survivor.ask("resources/read", &json!({"uri": "memory://graph"}));
    survivor.kill();
    let text = answer["result"]["contents"][0]["text"].as_str().unwrap_or_default();
    for round in 0..20 {
        assert!(text.contains(&format!("round {round}\"")), "{round}: {answer}");
    }
}
