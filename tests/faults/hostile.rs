//! Logins that are delegated to a hostile provider.

use serde_json::json;

use crate::{
    authorization::Served,
    browser::{Back, Browser, Client, Page},
    client::run,
    delegation::{come_back, leave, server, upstream},
    provider::{Manner, Provider},
};

/// Logins that wait for the provider at the same time share one attempt to reach it, and fail together. Otherwise each login would make an
/// attempt of its own, one after the other, and the last login would wait for minutes.
#[support::test]
fn logins_that_wait_for_a_silent_provider_fail_together() {
    run(async {
        let provider = Provider::start().await;
        let served = Served::start(server(upstream(&provider))).await;
        let client = Client::register(served.address).await;
        provider.behave(Manner { is_silent: true, ..Manner::default() });
        let mut waiting = Vec::new();
        for _ in 0..6 {
            let mut browser = Browser::new(&client);
            let page = Page::of(&browser.open(&client.authorize(&[("scope", "")])).await);
            waiting.push(tokio::spawn(async move { browser.agree(&page).await }));
        }
        for login in waiting {
            Back::of(&login.await.unwrap()).check_error("temporarily_unavailable");
        }
        // The six logins share one attempt, in which the server tries two addresses of the provider for three seconds each. Logins that
        // begin after this attempt share a second one. The provider therefore gets fewer requests than there are logins.
        assert!(provider.silences() < 6, "{}", provider.silences());
        served.end().await;
        provider.end().await;
    });
}

/// The server stores data from the provider with each grant, so it limits the size of this data.
#[support::test]
fn a_login_with_too_much_data_from_the_provider_is_refused() {
    run(async {
        let provider = Provider::start().await;
        let served = Served::start(server(upstream(&provider))).await;
        let client = Client::register(served.address).await;
        let log_in = async |length: usize| {
            provider
                .behave(Manner { claims: json!({ "x": "x".repeat(length) }), ..Manner::default() });
            let mut browser = Browser::new(&client);
            let url = leave(&mut browser, &client).await;
            Back::of(&come_back(&mut browser, &provider.log_in(&url)).await)
        };
        log_in(20 << 10).await.code();
        log_in(60 << 10).await.check_error("temporarily_unavailable");
        served.end().await;
        provider.end().await;
    });
}
