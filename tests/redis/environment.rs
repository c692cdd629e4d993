//! `MCP_REDIS_URL`, which sets the store of servers without `.store(…)`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
};

use mcp_runtime::{
    items,
    prelude::*,
    store::MemoryStore,
    testing::{Revision, TestClient},
};
use rcgen::{CertificateParams, KeyPair};
use serde_json::json;
use support::{
    redis::{FREE_PORT, RedisServer},
    requirement::needs,
};
use tokio::sync::Notify;

use crate::{quick, topologies::cluster_with};

/// Notified when a call of `alone` runs.
static RUNS: Notify = Notify::const_new();

/// Runs until it is cancelled. All servers of a store together run one call.
#[tool(concurrency = 1)]
async fn alone() {
    RUNS.notify_one();
    std::future::pending().await
}

/// Variable that is set in the processes that start a server. Its value says whether the server has a store of its own.
const OWN_STORE: &str = "MCP_TEST_OWN_STORE";

/// Beginning of the line in which such a process reports whether its server has started.
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
            support::note!("{OUTCOME}started");
        }
        Err(why) => support::note!("{OUTCOME}{why}"),
    }
}

/// Starts two servers, calls the same tool at both, and prints the second answer.
async fn call_at_two_servers() {
    let start = async || {
        let server = mcp_runtime::server!(name = "notes").items(items![alone]);
        TestClient::connect_with(server, Revision::V2025_11_25).await.unwrap()
    };
    let (mut one, mut other) = (start().await, start().await);
    let _running = one.start("tools/call", json!({ "name": "alone" }));
    RUNS.notified().await;
    let answered = tokio::select! {
        called = other.call("alone", json!({})) => called.unwrap().text(),
        () = RUNS.notified() => "two calls run".to_owned(),
    };
    support::note!("{OUTCOME}{answered}");
}

/// Runs this test in a process with these variables, and returns the outcome.
fn outcome_of(test: &str, variables: &[(&str, &str)]) -> String {
    let test = format!("environment::{test}");
    let output = Command::new(env::current_exe().expect("the test"))
        .args([&*test, "--exact", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .expect("the test starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let outcome = text.lines().find_map(|line| Some(line.split_once(OUTCOME)?.1.to_owned()));
    outcome.unwrap_or_else(|| panic!("{output:?}"))
}

/// Starts a server in a process with these variables, and returns the outcome.
fn outcome(variables: &[(&str, &str)]) -> String {
    outcome_of("a_server_without_a_store_has_that_of_the_environment", variables)
}

#[support::test]
async fn limits_of_items_are_counted_in_the_store_of_the_environment() {
    if env::var(OWN_STORE).is_ok() {
        return call_at_two_servers().await;
    }
    let redis = needs(RedisServer::start(&[]));
    let variables = [("MCP_REDIS_URL", &*redis.url()), (OWN_STORE, "no")];
    let test = "limits_of_items_are_counted_in_the_store_of_the_environment";
    let answer = outcome_of(test, &variables);
    assert_eq!(answer, "a call of `alone` is running already: wait until it has ended");
}

/// The process of the test starts itself again, because a test cannot set variables for itself.
#[support::test]
async fn a_server_without_a_store_has_that_of_the_environment() {
    if let Ok(own) = env::var(OWN_STORE) {
        return start(own == "yes").await;
    }
    let redis = needs(RedisServer::start(&[]));
    let outcome = |url: &str, own: &str| outcome(&[("MCP_REDIS_URL", url), (OWN_STORE, own)]);
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

/// Folder with the certificate of a Redis and its key.
struct Certificate(PathBuf);

impl Certificate {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("mcp-redis-tls-{}-{name}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let key = KeyPair::generate().expect("a key");
        let hosts = ["localhost", "127.0.0.1"].map(str::to_owned);
        let certificate = CertificateParams::new(hosts).expect("names of hosts");
        let certificate = certificate.self_signed(&key).expect("a certificate").pem();
        fs::write(folder.join("certificate.pem"), certificate).expect("the folder is writable");
        fs::write(folder.join("key.pem"), key.serialize_pem()).expect("the folder is writable");
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(Path::new(name)).display().to_string()
    }
}

impl Drop for Certificate {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[support::test]
fn a_redis_with_a_password_is_reached_over_tls_if_its_certificate_is_trusted() {
    let (certificate, other) = (Certificate::new("redis"), Certificate::new("other"));
    let (trusted, key) = (certificate.path("certificate.pem"), certificate.path("key.pem"));
    let password = "p@ss:word";
    let options = ["--tls-port", FREE_PORT, "--tls-cert-file", &trusted, "--tls-key-file", &key];
    let options = [&options[..], &["--tls-auth-clients", "no", "--requirepass", password]].concat();
    let redis = needs(RedisServer::start(&options));
    let port = redis.option("--tls-port").expect("a port");
    let url = format!("rediss://default:p%40ss%3Aword@localhost:{port}");
    let outcome = |url: &str, trusted: &str| {
        outcome(&[("MCP_REDIS_URL", url), (OWN_STORE, "no"), ("SSL_CERT_FILE", trusted)])
    };
    assert_eq!(outcome(&url, &trusted), "started");
    let untrusted = outcome(&url, &other.path("certificate.pem"));
    assert!(untrusted.starts_with("MCP_REDIS_URL: cannot connect to Redis"), "{untrusted}");
    let wrong = outcome(&url.replace("word", "guess"), &trusted);
    assert!(wrong.starts_with("MCP_REDIS_URL: cannot connect to Redis"), "{wrong}");
}

#[support::test]
fn a_cluster_is_reached_over_tls() {
    let certificate = Certificate::new("cluster");
    let (trusted, key) = (certificate.path("certificate.pem"), certificate.path("key.pem"));
    let tls = ["--tls-port", FREE_PORT, "--tls-cert-file", &trusted, "--tls-key-file", &key];
    // Otherwise the servers name each other's ports without TLS.
    let among = ["--tls-cluster", "yes", "--tls-ca-cert-file", &trusted];
    let options = [&tls[..], &among, &["--tls-auth-clients", "no"]].concat();
    let servers = needs(cluster_with(&options));
    let ports = servers.iter().map(|server| server.option("--tls-port").expect("a port"));
    let hosts: Vec<_> = ports.map(|port| format!("127.0.0.1:{port}")).collect();
    let url = format!("rediss+cluster://{}", hosts.join(","));
    let outcome = |trusted: &str| {
        outcome(&[("MCP_REDIS_URL", &url), (OWN_STORE, "no"), ("SSL_CERT_FILE", trusted)])
    };
    let started = outcome(&trusted);
    assert_eq!(started, "started");
    let untrusted = outcome(&Certificate::new("stranger").path("certificate.pem"));
    assert!(untrusted.starts_with("MCP_REDIS_URL: cannot connect to Redis"), "{untrusted}");
}
