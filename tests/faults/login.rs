//! Login functions that panic, or that still run when their browser has disconnected.

use std::sync::Arc;

use mcp_runtime_authorization_server::{
    AuthorizationServer, LoginPage, LoginRequest, UpstreamUser, User,
};
use tokio::sync::Semaphore;

use crate::{
    authorization::Served,
    authorization_server::server,
    browser::{Browser, Client, Page},
    client::run,
    delegation,
    provider::Provider,
};

/// Accepts every name, but panics for `nobody`.
async fn login(request: LoginRequest) -> Result<User, LoginPage> {
    assert_ne!(request.name(), "nobody", "as it was told");
    Ok(User::new(request.name()))
}

#[support::test]
fn a_login_function_that_panics_affects_only_its_own_request() {
    run(async {
        let served = Served::start(server(AuthorizationServer::new(login))).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[])).await);
        let broken = browser.log_in(&page, "nobody", "right").await;
        assert_eq!(broken.status(), 500);
        let text = String::from_utf8_lossy(&broken.body).into_owned();
        assert!(text.contains("cannot be answered") && !text.contains("as it was told"), "{text}");
        assert_eq!(browser.log_in(&page, "ada", "right").await.status(), 200);
        served.end().await;
    });
}

#[support::test]
fn a_panic_after_the_provider_has_sent_the_user_back_shows_a_page() {
    run(async {
        let provider = Provider::start().await;
        let user = |_: &UpstreamUser| -> Option<User> { panic!("as it was told") };
        let upstream = delegation::upstream(&provider).user(user);
        let served = Served::start(delegation::server(upstream)).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        let query = provider.log_in(&delegation::leave(&mut browser, &client).await);
        let broken = delegation::come_back(&mut browser, &query).await;
        assert_eq!(broken.status(), 500);
        let text = String::from_utf8_lossy(&broken.body).into_owned();
        assert!(text.starts_with("<!doctype html>"), "{text}");
        assert!(text.contains("cannot be answered") && !text.contains("as it was told"), "{text}");
        served.end().await;
        provider.end().await;
    });
}

/// A login function that has started runs to its end, even if the browser no longer waits.
#[support::test]
fn a_login_function_finishes_even_if_its_browser_leaves() {
    run(async {
        let steps = Arc::new([(); 3].map(|()| Semaphore::new(0)));
        let own = steps.clone();
        let login = move |request: LoginRequest| {
            let steps = own.clone();
            async move {
                let [begun, go, done] = &*steps;
                begun.add_permits(1);
                go.acquire().await.expect("nobody closes it").forget();
                done.add_permits(1);
                Ok(User::new(request.name()))
            }
        };
        let [begun, go, done] = &*steps;
        let served = Served::start(server(AuthorizationServer::new(login))).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[])).await);
        let leaving = tokio::spawn(async move { browser.log_in(&page, "ada", "right").await });
        begun.acquire().await.unwrap().forget();
        leaving.abort();
        // By the time the server answers on connections that were opened later, it has noticed that the connection of this login is closed.
        for _ in 0..2 {
            Browser::new(&client).open(&client.authorize(&[])).await;
        }
        go.add_permits(1);
        done.acquire().await.expect("it is never closed").forget();
        served.end().await;
    });
}
