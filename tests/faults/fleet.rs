//! Several processes of one server that handle the rounds of one call, side by side or one after the other.

use serde_json::json;
use support::proxy::Proxy;

use crate::{
    client::run,
    rounds::{Rounds, check_refused},
    server::Server,
};

fn journey() -> Rounds {
    Rounds::of("journey", json!({ "greeting": "Hello" }))
}

#[support::test]
fn rounds_of_one_call_land_on_different_processes() {
    run(async {
        let servers = [Server::start_keyed("1"), Server::start_keyed("1")];
        let proxy = Proxy::before(servers.iter().map(Server::address).collect());
        let mut call = journey();
        assert_eq!(call.begin(proxy.address).await, "Word 1?");
        assert_eq!(call.say(proxy.address, "one").await, "Word 2?");
        assert_eq!(call.say(proxy.address, "two").await, "Word 3?");
        let done = call.saying("three").ask(proxy.address).await;
        let [a, b] = servers.each_ref().map(Server::process);
        assert_ne!(a, b);
        assert_eq!(done.text(), format!("Hello {a}:one {b}:two {a}:three {b}:end"));
        assert_eq!(proxy.requests(), 4);
    });
}

#[support::test]
fn without_a_shared_key_a_process_accepts_only_its_own_rounds() {
    run(async {
        let servers = [Server::start(""), Server::start("")];
        let [a, b] = servers.each_ref().map(Server::address);
        let mut call = journey();
        call.begin(a).await;
        let refused = call.saying("one").ask(b).await;
        refused.check_error(200, -32602, "another process of this server");
        // The rejected request does not end the call, which can continue in the process that issued its state.
        assert_eq!(call.say(a, "one").await, "Word 2?");
    });
}

/// The client holds the whole state of the call, so a different process with the same key can continue the call.
#[support::test]
fn a_conversation_survives_a_restart_with_the_same_key() {
    run(async {
        let first = Server::start_keyed("1");
        let before = first.process();
        let mut call = journey();
        call.begin(first.address()).await;
        assert_eq!(call.say(first.address(), "one").await, "Word 2?");
        first.terminate();
        assert!(first.wait().status.success());

        let other = Server::start_keyed("2");
        check_refused(&call.saying("two").ask(other.address()).await);
        let second = Server::start_keyed("1");
        let after = second.process();
        assert_eq!(call.say(second.address(), "two").await, "Word 3?");
        let done = call.saying("three").ask(second.address()).await.text();
        assert_eq!(done, format!("Hello {before}:one {before}:two {after}:three {after}:end"));
    });
}

/// During a rotation the new key seals state and both keys open it, until no client has state that was sealed with the old key.
#[support::test]
fn keys_can_be_rotated_during_a_call() {
    run(async {
        let [old, both, new] = ["1", "2,1", "2"].map(Server::start_keyed);
        let mut call = journey();
        call.begin(old.address()).await;
        check_refused(&call.saying("one").ask(new.address()).await);
        assert_eq!(call.say(both.address(), "one").await, "Word 2?");
        check_refused(&call.saying("two").ask(old.address()).await);
        assert_eq!(call.say(new.address(), "two").await, "Word 3?");
        // In the first step of a rotation the old key still seals state, and the new key can already open it.
        let ready = Server::start_keyed("1,2");
        let done = call.saying("three").ask(ready.address()).await.text();
        let [old, both, new, ready] = [&old, &both, &new, &ready].map(Server::process);
        assert_eq!(done, format!("Hello {old}:one {both}:two {new}:three {ready}:end"));
    });
}

/// A process accepts each round once. Other processes do not know that a round was accepted.
#[support::test]
fn each_process_accepts_a_round_only_once() {
    run(async {
        let servers = [Server::start_keyed("1"), Server::start_keyed("1")];
        let [a, b] = servers.each_ref().map(Server::address);
        let mut call = Rounds::of("order", json!({}));
        call.begin(a).await;
        let round = call.saying("soup");
        assert_eq!(round.ask(a).await.text(), "soup");
        round.ask(a).await.check_error(200, -32602, "already");
        assert_eq!(round.ask(b).await.text(), "soup");
        round.ask(b).await.check_error(200, -32602, "already");
    });
}
