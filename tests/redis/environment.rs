//! `MCP_REDIS_URL`, which gives a store to servers that have none.

use std::{env, process::Command};

use mcp_runtime::{
    items,
    store::MemoryStore,
    testing::{Revision, TestClient},
};

use crate::{quick, server::RedisServer};

/// Set in the processes that start a server. Its value says whether the server has a store of its own.
const OWN_STORE: &str = "MCP_TEST_OWN_STORE";

/// Begins the line in which such a process reports whether its server has started.
const OUTCOME: &str = "outcome: ";

/// Starts a server, and prints the outcome.
async fn start(has_own_store: bool) {
    let mut server = mcp_runtime::server!(name = "notes {1}").items(items![quick]);
    if has_own_store {
        server = server.store(MemoryStore::new());
    }
    match TestClient::connect_with(server, Revision::V2025_11_25).await {
        Ok(client) => {
            client.close().await;
            eprintln!("{OUTCOME}started");
        }
        Err(why) => eprintln!("{OUTCOME}{why}"),
    }
}

/// The process of the test starts itself again, because a test cannot set variables for itself.
#[tokio::test]
async fn a_server_without_a_store_has_that_of_the_environment() {
    if let Ok(own) = env::var(OWN_STORE) {
        return start(own == "yes").await;
    }
    let redis = match RedisServer::start(&[]) {
        Ok(server) => server,
        Err(missing) => return missing.skip(),
    };
    let outcome = |url: &str, own: &str| {
        let test = "environment::a_server_without_a_store_has_that_of_the_environment";
        let output = Command::new(env::current_exe().expect("the test"))
            .args([test, "--exact", "--nocapture"])
            .envs([("MCP_REDIS_URL", url), (OWN_STORE, own)])
            .output()
            .expect("the test starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let outcome = text.lines().find_map(|line| Some(line.split_once(OUTCOME)?.1.to_owned()));
        outcome.unwrap_or_else(|| panic!("{output:?}"))
    };
    assert_eq!(outcome(&redis.url(), "yes"), "started");
    assert_eq!(redis.cli(&["DBSIZE"]).trim(), "0");
    assert_eq!(outcome(&redis.url(), "no"), "started");
    let keys = redis.cli(&["--scan"]);
    assert!(!keys.is_empty());
    assert!(keys.lines().all(|key| key.starts_with("notes -1-:")), "{keys}");

    let wrong = outcome("http://user:secret@127.0.0.1", "no");
    assert!(wrong.starts_with("MCP_REDIS_URL: the URL of Redis is invalid"), "{wrong}");
    assert!(!wrong.contains("secret"), "{wrong}");
    let away = outcome("redis://127.0.0.1:1", "no");
    assert!(away.starts_with("MCP_REDIS_URL: cannot connect to Redis"), "{away}");
    assert_eq!(outcome("http://127.0.0.1", "yes"), "started");
    assert_eq!(outcome("", "no"), "started");
}
