//! A Redis that the store cannot use: its user lacks rights, it accepts no writes, or it is too old.

use mcp_runtime::{
    items,
    prelude::*,
    store::{Store, StoreOperation, StoreStats, Transaction},
    testing::{Revision, TestClient},
};
use mcp_runtime_redis::Redis;
use serde_json::json;
use support::{redis::RedisServer, requirement::needs};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{LONG, eventually, patient, put};

/// Rights that the documentation of `Redis` names, for the prefix `mcp:`.
const RIGHTS: [&str; 5] = ["~mcp:*", "&mcp:*", "+@all", "-@dangerous", "+info"];

/// Creates a user with these rights.
fn create_user(server: &RedisServer, rights: &[&str]) {
    let created = server.cli(&[&["ACL", "SETUSER", "app", "reset", "on", ">pw"], rights].concat());
    assert_eq!(created.trim(), "OK");
}

/// Returns the store of the user that [`create_user`] creates.
fn store_of_user(server: &RedisServer) -> Redis {
    Redis::new(format!("redis://app:pw@127.0.0.1:{}", server.port()))
        .deadline(std::time::Duration::from_secs(20))
}

#[support::test]
async fn the_documented_rights_are_enough_and_each_of_them_is_needed() {
    let server = needs(RedisServer::start(&[]));
    create_user(&server, &RIGHTS);
    let store = store_of_user(&server);
    store.open().await.unwrap();
    let append = StoreOperation::append("log", "event", LONG, 9);
    store.execute(vec![Transaction::on("p").then(append)]).await.unwrap();
    assert_eq!(store.follow("p", "log", 0).next().await.unwrap().value, b"event");

    for missing in ["~mcp:*", "&mcp:*", "+@all", "+info"] {
        let rights: Vec<_> = RIGHTS.into_iter().filter(|right| *right != missing).collect();
        create_user(&server, &rights);
        let why = store_of_user(&server).open().await.unwrap_err().to_string();
        let host = format!("127.0.0.1:{}", server.port());
        let reason = "lacks a right in Redis";
        assert!(why.contains(&host) && why.contains(reason), "without {missing}: {why}");
        assert!(!why.contains("pw@"), "{why}");
    }
    server.cli(&["ACL", "SETUSER", "app", "-subscribe", "&mcp:*", "~mcp:*", "+@all", "-subscribe"]);
    let why = store_of_user(&server).open().await.unwrap_err().to_string();
    assert!(why.contains("the user lacks a right in Redis"), "{why}");
}

#[support::test]
async fn a_replica_and_a_full_redis_are_noticed_at_the_start() {
    let full = needs(RedisServer::start(&["--maxmemory", "100kb"]));
    let why = patient(&full).open().await.unwrap_err().to_string();
    assert!(why.contains("cannot be used: Redis has reached its `maxmemory`"), "{why}");

    let replica = RedisServer::start(&["--replicaof", "127.0.0.1 1"]).expect("as above");
    let why = patient(&replica).open().await.unwrap_err().to_string();
    assert!(why.contains("cannot be used") && why.contains("replica"), "{why}");
}

/// Whether the store is available, as `/readyz` reports it.
#[tool]
fn is_available(server: Handle) -> bool {
    server.stats().store().is_some_and(StoreStats::is_available)
}

#[support::test]
async fn a_server_is_not_ready_while_its_redis_refuses_writes() {
    let redis = needs(RedisServer::start(&[]));
    create_user(&redis, &RIGHTS);
    let server = mcp_runtime::server!().items(items![is_available]).store(store_of_user(&redis));
    let mut client = TestClient::connect_with(server, Revision::V2026_07_28).await.unwrap();
    let mut is = async |expected: &str| {
        eventually(async || {
            client.call("is_available", json!({})).await.unwrap().text() == expected
        })
        .await;
    };
    is("true").await;
    redis.cli(&["CONFIG", "SET", "maxmemory", "100kb"]);
    is("false").await;
    redis.cli(&["CONFIG", "SET", "maxmemory", "0"]);
    is("true").await;
    create_user(&redis, &["~other:*", "&*", "+@all"]);
    is("false").await;
    create_user(&redis, &RIGHTS);
    is("true").await;
    let why = {
        create_user(&redis, &["~other:*", "&*", "+@all"]);
        store_of_user(&redis).execute(put("a", b"1")).await.unwrap_err()
    };
    assert!(why.is_unavailable(), "{why}");
}

/// Answers every command with `OK`, and `INFO` with a version.
async fn old_redis(listener: TcpListener, version: &'static str) {
    while let Ok((mut client, _)) = listener.accept().await {
        tokio::spawn(async move {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(length @ 1..) = client.read(&mut buffer).await {
                let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
                let commands = text.lines().filter(|line| line.starts_with('*')).count();
                let answer = if text.contains("INFO") && !text.contains("SETINFO") {
                    let info = format!("redis_version:{version}\r\n");
                    format!("${}\r\n{info}\r\n", info.len())
                } else {
                    "+OK\r\n".repeat(commands)
                };
                let _ = client.write_all(answer.as_bytes()).await;
            }
        });
    }
}

#[support::test]
async fn a_redis_that_is_too_old_is_named_with_its_version() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(old_redis(listener, "6.0.16"));
    let why = Redis::new(format!("redis://{address}")).open().await.unwrap_err().to_string();
    assert_eq!(
        why,
        format!("Redis at {address} is version 6.0.16: the store needs 6.2 or later, or Valkey")
    );
}
