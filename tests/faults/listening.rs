//! Subscription requests with many resources. The limit on resources also bounds how often a policy is evaluated.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use mcp_runtime::{auth::StaticTokens, limits::Limits, prelude::*};
use serde_json::json;

use crate::{
    authorization::{Served, with},
    client::{modern, run},
};

/// A note.
#[resource("notes://{owner}/{number}", subscribe)]
fn note(owner: &str, number: u32) -> String {
    format!("{owner} {number}")
}

#[support::test]
fn a_policy_is_evaluated_for_no_more_subscriptions_than_the_limit() {
    run(async {
        let asked = Arc::new(AtomicUsize::new(0));
        let own = asked.clone();
        let server = mcp_runtime::server!()
            .items(items![note])
            .limits(Limits::new().subscriptions(100))
            .auth(StaticTokens::new().token("ada", "ada"))
            .policy(move |_, _| {
                own.fetch_add(1, Ordering::Relaxed);
                true
            });
        let served = Served::start(server).await;
        let listen = |uris: Vec<String>| {
            let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
            with("ada", modern(1, "subscriptions/listen", filter))
        };
        let all = (0..5000).map(|number| format!("notes://ada/{number}")).collect();
        let refused = listen(all).ask(served.address).await;
        refused.check_error(200, -32602, "at most 100 resources");
        assert!(asked.load(Ordering::Relaxed) <= 200, "{asked:?}");
        // A resource that is named twice counts once.
        let same = vec!["notes://ada/1".to_owned(); 5000];
        let mut stream = listen(same).open(served.address).await.check_events();
        let first = stream.message().await.expect("an acknowledgement");
        assert!(
            first["method"].as_str().is_some_and(|method| method.ends_with("acknowledged")),
            "{first}"
        );
        drop(stream);
        served.end().await;
    });
}
