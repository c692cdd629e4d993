//! Limits that apply to each caller behind a trusted proxy. The server ignores forwarded addresses from any other peer.

use std::{net::SocketAddr, sync::Arc};

use mcp_runtime::{Builder, store::MemoryStore};
use serde_json::json;
use support::http::connection::Connection;
use tokio::net::TcpListener;

use crate::{
    authorization::Served,
    authorization_server::{authorization_server, server as with_logins},
    browser::{Browser, Client, Page, text},
    client::{Request, SOON, Session, message, plain_call, run, text_of},
    pair::Pair,
    rates::{TOO_OFTEN, server, serving},
};

const ADA: &str = "203.0.113.5";
const BOB: &str = "203.0.113.6";

/// Trusts two proxies: the address of the tests, and one more in front of it.
fn behind(server: Builder) -> Builder {
    server.trust_proxy("127.0.0.0/8").trust_proxy("10.0.0.1")
}

fn once() -> Request {
    plain_call(1, "once", json!({}))
}

/// Sends calls with these `X-Forwarded-For` headers over one connection, as a proxy does, and checks the answers.
async fn check(address: SocketAddr, calls: &[(&[&str], &str)]) {
    let mut connection = Connection::open(address).await.unwrap();
    for (said, expected) in calls {
        let request =
            said.iter().fold(once(), |request, said| request.header("X-Forwarded-For", *said));
        connection.send(&request.bytes(), SOON).await.unwrap();
        assert_eq!(connection.head(false, SOON).await.unwrap().status, 200);
        let body = connection.body(SOON).await.unwrap();
        let answer = text_of(&serde_json::from_slice(&body).unwrap());
        assert!(answer.starts_with(expected), "{said:?}: {answer}");
    }
}

async fn check_believed(address: SocketAddr) {
    let all: [(&[&str], &str); 12] = [
        (&[ADA], "said"),
        (&[ADA], TOO_OFTEN),
        (&[BOB], "said"),
        // Additional addresses in the header do not help a caller that has called too often.
        (&["198.51.100.1, 203.0.113.5"], TOO_OFTEN),
        (&["198.51.100.1", ADA], TOO_OFTEN),
        (&["10.0.0.1, 127.0.0.1, 203.0.113.5:4711"], TOO_OFTEN),
        (&[ADA, "10.0.0.1"], TOO_OFTEN),
        (&["198.51.100.1, 203.0.113.7, 10.0.0.1"], "said"),
        // Without a header, the proxy itself is the caller. If an entry cannot be parsed, the proxy that added the entry is the caller.
        (&[], "said"),
        (&["198.51.100.2, unknown"], TOO_OFTEN),
        (&["198.51.100.2, unknown, 10.0.0.1"], "said"),
        (&["2001:db8::1, [2001:db8::2]:443"], "said"),
    ];
    check(address, &all).await;
    // All addresses of an IPv6 network with a 64-bit prefix are one caller, because such a network usually belongs to one client.
    check(address, &[(&["2001:db8::3"], TOO_OFTEN), (&["2001:db8:0:1::3"], "said")]).await;
}

#[support::test]
fn callers_behind_a_proxy_do_not_limit_each_other() {
    run(serving(behind(server()), check_believed));
}

/// Servers that share a store count the calls of an address together, no matter which server a balancer chooses.
#[support::test]
fn callers_of_several_servers_with_one_store_are_counted_once() {
    run(async {
        let store = Arc::new(MemoryStore::new().shared());
        let node = || behind(server()).store(store.clone());
        let both = serving(node(), async |one| {
            let check_both = async |other| {
                check(one, &[(&[ADA], "said"), (&[ADA], TOO_OFTEN)]).await;
                check(other, &[(&[ADA], TOO_OFTEN), (&[BOB], "said")]).await;
                check(one, &[(&[BOB], TOO_OFTEN)]).await;
            };
            serving(node(), check_both).await;
        });
        both.await;
    });
}

#[support::test]
fn a_mounted_server_distinguishes_callers_behind_a_proxy() {
    run(async {
        let router = behind(server()).into_router().await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        let served = tokio::spawn(async move { axum::serve(listener, service).await });
        check_believed(address).await;
        served.abort();
        // If the application does not pass the address of the peer on, no proxy is trusted.
        let router = behind(server()).into_router().await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = tokio::spawn(async move { axum::serve(listener, router).await });
        check(address, &[(&[ADA], "said"), (&[BOB], TOO_OFTEN)]).await;
        served.abort();
    });
}

#[support::test]
fn x_forwarded_for_from_an_untrusted_peer_is_ignored() {
    run(serving(server().trust_proxy("10.0.0.1"), async |address| {
        check(address, &[(&[ADA], "said"), (&[BOB], TOO_OFTEN), (&[BOB, "10.0.0.1"], TOO_OFTEN)])
            .await;
    }));
}

/// The rate applies to the session, even if its requests come from several addresses.
#[support::test]
fn a_session_is_one_caller_behind_a_proxy() {
    run(serving(behind(server()).legacy_sse(true), async |address| {
        let sessions = [
            Session::begin(address, "2025-11-25").await,
            Session::begin(address, "2025-03-26").await,
        ];
        for (from, expected) in [(ADA, "said"), (BOB, TOO_OFTEN)] {
            for session in &sessions {
                let request = session.call(2, "once", json!({})).header("X-Forwarded-For", from);
                let reply = request.ask(address).await;
                assert!(reply.text().contains(expected), "{}", reply.text());
            }
        }
        let mut pairs = [Pair::begin(address).await, Pair::begin(address).await];
        for (from, expected) in [(ADA, "said"), (BOB, TOO_OFTEN)] {
            for pair in &mut pairs {
                let call = message(2, "tools/call", json!({ "name": "once", "arguments": {} }));
                let request = pair.request(&call).header("X-Forwarded-For", from);
                assert_eq!(request.ask(address).await.status(), 202);
                let answer = text_of(&pair.stream.message().await.unwrap());
                assert!(answer.contains(expected), "{answer}");
            }
        }
    }));
}

/// Guesses passwords until no attempt is left, and then tries the right one. `from` returns the `X-Forwarded-For` header of each round.
async fn guess(client: &Client, from: impl Fn(u32) -> String) {
    let mut browser = Browser::new(client);
    for round in 0..4 {
        browser.forwarded_for = Some(from(round));
        let page = Page::of(&browser.open(&client.authorize(&[])).await);
        for _ in 0..5 {
            let again = browser.log_in(&page, "ada", "wrong").await;
            assert!(matches!(again.status(), 403 | 303), "{round}: {}", text(&again));
        }
    }
    browser.forwarded_for = Some(from(4));
    let page = Page::of(&browser.open(&client.authorize(&[])).await);
    let refused = browser.log_in(&page, "ada", "right").await;
    assert_eq!(refused.status(), 429, "{}", text(&refused));
}

#[support::test]
fn password_guessing_behind_a_proxy_blocks_only_the_guessing_caller() {
    run(async {
        let served = Served::start(behind(with_logins(authorization_server()))).await;
        let client = Client::register(served.address).await;
        guess(&client, |round| format!("198.51.100.{round}, {BOB}")).await;
        let mut browser = Browser::new(&client);
        browser.forwarded_for = Some(ADA.to_owned());
        browser.allow("ada", &client.authorize(&[])).await.code();
        served.end().await;
    });
}

#[support::test]
fn a_guessing_caller_cannot_pose_as_another_caller_by_a_forged_header() {
    run(async {
        let server = with_logins(authorization_server()).trust_proxy("10.0.0.1");
        let served = Served::start(server).await;
        let client = Client::register(served.address).await;
        guess(&client, |round| format!("198.51.100.{round}")).await;
        served.end().await;
    });
}
