//! Logins that the author of a server ends. Their tokens, codes and streams become invalid, and stay invalid after a restart.

use std::{sync::Arc, time::Duration};

use mcp_runtime::{limits::Limits, store::SqliteStore, testing::TestClient};
use mcp_runtime_authorization_server::{AuthorizationServer, Login, LoginRequest, Logins, User};
use support::clock::moment_after;
use tokio::sync::Semaphore;

use crate::{
    authorization::Served,
    authorization_server::{authorization_server, server, whoami_with},
    browser::{Back, Browser, Client, Page, Tokens, register, registration},
    client::run,
    expiry::{ends, goes_on, listen, say_initialized, session},
};

async fn start(own: AuthorizationServer) -> (Served, Logins) {
    let logins = own.logins();
    (Served::start(server(own)).await, logins)
}

async fn passes(client: &Client, tokens: &Tokens) -> bool {
    let called = whoami_with(client.address, &tokens.access).await.status() == 200;
    let refreshed = client.refresh(&tokens.refresh).await;
    if refreshed.status() == 400 {
        assert_eq!(refreshed.json()["error"], "invalid_grant");
    }
    assert_eq!(called, refreshed.status() == 200);
    called
}

async fn ids(logins: &Logins, user: &str) -> Vec<String> {
    let all = logins.of(user).await.unwrap();
    all.iter().map(|login| login.id().to_owned()).collect()
}

#[support::test]
fn the_test_client_serves_the_logins_of_its_server() {
    run(async {
        let own = authorization_server();
        let logins = own.logins();
        let client = TestClient::connect(server(own)).await.unwrap();
        assert!(ids(&logins, "ada").await.is_empty());
        assert_eq!(logins.end_all("ada").await.unwrap(), 0);
        client.close().await;
    });
}

#[support::test]
fn a_login_that_is_ended_is_over_at_once() {
    run(async {
        let (served, logins) = start(authorization_server()).await;
        let mut other = registration();
        other["client_name"] = "Laptop".into();
        let laptop = register(served.address, &other).await.json();
        let phone = Client::register(served.address).await;
        let laptop = Client { id: laptop["client_id"].as_str().unwrap().into(), ..phone.clone() };
        let stolen = laptop.log_in("ada").await;
        let (kept, bob) = (phone.log_in("ada").await, phone.log_in("bob").await);

        let seen = logins.of("ada").await.unwrap();
        let named =
            |login: &Login| (login.client().to_owned(), login.client_name().unwrap().to_owned());
        let mut names: Vec<_> = seen.iter().map(named).collect();
        names.sort_by(|a, b| a.1.cmp(&b.1));
        assert_eq!(
            names,
            [(laptop.id.clone(), "Laptop".to_owned()), (phone.id.clone(), "Suite".to_owned())]
        );
        for login in &seen {
            assert_eq!(login.scopes().collect::<Vec<_>>(), ["notes:read", "notes:write"]);
            let now = moment_after(Duration::ZERO);
            assert!(login.since() <= now && login.until() > now);
            let shown = format!("{login:?}");
            for secret in [&stolen.access, &stolen.refresh, &kept.access, &kept.refresh] {
                assert!(!shown.contains(&**secret), "{shown}");
            }
        }
        assert_eq!(ids(&logins, "nobody").await.len(), 0);

        let id = seen.iter().find(|login| login.client() == laptop.id).unwrap().id();
        // Another user cannot end a login, even with its id.
        assert!(!logins.end("bob", id).await.unwrap());
        assert!(!logins.end("ada", "unknown").await.unwrap());
        let moved = Tokens::of(&laptop.refresh(&stolen.refresh).await);
        assert!(logins.end("ada", id).await.unwrap());
        assert!(!logins.end("ada", id).await.unwrap());
        // The refresh token of `stolen` was used a moment ago. The server would usually accept it once more, in case the response was lost,
        // but not after the end of the login.
        for tokens in [&stolen, &moved] {
            assert!(!passes(&laptop, tokens).await);
        }
        assert!(passes(&phone, &kept).await && passes(&phone, &bob).await);
        assert_eq!((ids(&logins, "ada").await.len(), ids(&logins, "bob").await.len()), (1, 1));
        served.end().await;
    });
}

#[support::test]
fn a_user_who_is_logged_out_everywhere_has_to_log_in_again() {
    run(async {
        let (served, logins) = start(authorization_server()).await;
        let client = Client::register(served.address).await;
        let (one, other) = (client.log_in("ada").await, client.log_in("ada").await);
        let bob = client.log_in("bob").await;
        let asked = client.authorize(&[]);
        let code = Browser::new(&client).allow("ada", &asked).await.code();
        let theirs = Browser::new(&client).allow("bob", &asked).await.code();
        let mut deciding = Browser::new(&client);
        let page = Page::of(&deciding.open(&asked).await);
        let consent = Page::of(&deciding.log_in(&page, "ada", "right").await);
        let mut entering = Browser::new(&client);
        let login = Page::of(&entering.open(&asked).await);

        assert_eq!(logins.end_all("ada").await.unwrap(), 2);
        assert_eq!(logins.end_all("ada").await.unwrap(), 0);
        assert!(!passes(&client, &one).await && !passes(&client, &other).await);
        let late = client.exchange(&code, &[]).await;
        assert_eq!((late.status(), &late.json()["error"]), (400, &"invalid_grant".into()));
        Back::of(&deciding.agree(&consent).await).check_error("access_denied");

        assert!(passes(&client, &bob).await);
        Tokens::of(&client.exchange(&theirs, &[]).await);
        // A login page on which no user had logged in yet is still valid.
        let consent = Page::of(&entering.log_in(&login, "ada", "right").await);
        let code = Back::of(&entering.agree(&consent).await).code();
        let anew = Tokens::of(&client.exchange(&code, &[]).await);
        assert!(passes(&client, &anew).await);
        assert_eq!(ids(&logins, "ada").await.len(), 1);
        served.end().await;
    });
}

#[support::test]
fn streams_end_with_the_login_that_they_were_opened_with() {
    run(async {
        let own = authorization_server();
        let logins = own.logins();
        let limits = Limits::new().keep_alive(Duration::from_millis(100));
        let served = Served::start(server(own).limits(limits)).await;
        let (address, client) = (served.address, Client::register(served.address).await);
        let (ada, bob) = (client.log_in("ada").await, client.log_in("bob").await);
        let other = client.log_in("ada").await;
        let (renewed, stream) = session(address, &ada.access).await;
        say_initialized(&renewed, &other.access).await;
        let mut ending =
            [listen(address, &ada.access).await, session(address, &ada.access).await.1];
        let mut staying = [listen(address, &bob.access).await, stream];
        let revoke = [("token", &*ada.refresh), ("client_id", &*client.id)];
        assert_eq!(client.post("/revoke", &revoke).await.status(), 200);
        for stream in &mut ending {
            ends(stream).await;
        }
        let [theirs, own] = &mut staying;
        for stream in [&mut *theirs, &mut *own] {
            goes_on(stream).await;
        }
        assert_eq!(logins.end_all("ada").await.unwrap(), 1);
        ends(own).await;
        goes_on(theirs).await;
        served.end().await;
    });
}

/// A login that the login function is still checking may use a password that the user has just changed. If all logins of the user are ended
/// meanwhile, the server rejects this login too.
#[support::test]
fn a_login_that_was_begun_before_comes_to_nothing() {
    run(async {
        let steps = Arc::new([(); 2].map(|()| Semaphore::new(0)));
        let own = steps.clone();
        let login = move |request: LoginRequest| {
            let steps = own.clone();
            async move {
                let [begun, go] = &*steps;
                begun.add_permits(1);
                go.acquire().await.expect("nobody closes it").forget();
                Ok(User::new(request.name()))
            }
        };
        let [begun, go] = &*steps;
        let (served, logins) = start(AuthorizationServer::new(login)).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[("scope", "")])).await);
        let waiting = tokio::spawn(async move {
            let consent = Page::of(&browser.log_in(&page, "ada", "right").await);
            Back::of(&browser.agree(&consent).await)
        });
        begun.acquire().await.unwrap().forget();
        assert_eq!(logins.end_all("ada").await.unwrap(), 0);
        go.add_permits(1);
        waiting.await.unwrap().check_error("access_denied");
        served.end().await;
    });
}

#[support::test]
fn an_ended_login_stays_ended_after_a_restart() {
    run(async {
        let folder = std::env::temp_dir().join(format!("mcp-ended-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let start = async |own: AuthorizationServer| {
            let logins = own.logins();
            // The handle does not know the store before the server has started.
            assert!(logins.end_all("ada").await.is_err());
            let store = SqliteStore::new(folder.join("one.db"));
            (Served::start(server(own).store(store)).await, logins)
        };
        let (served, logins) = start(authorization_server()).await;
        let client = Client::register(served.address).await;
        let mut all = Vec::new();
        for name in ["ada", "ada", "ada", "bob"] {
            all.push(client.log_in(name).await);
        }
        let newest = ids(&logins, "ada").await;
        assert!(logins.end("ada", &newest[0]).await.unwrap());
        served.end().await;
        // The handle also works after the server has ended.
        assert!(logins.end("ada", &newest[1]).await.unwrap());
        drop(logins);

        // The handle also works for a server with a different issuer.
        let own = authorization_server().issuer("https://notes.example.com");
        let (served, logins) = start(own).await;
        assert_eq!(ids(&logins, "ada").await, [&*newest[2]]);
        assert_eq!(logins.end_all("ada").await.unwrap(), 1);
        served.end().await;
        drop(logins);

        let (served, logins) = start(authorization_server()).await;
        let client = Client { address: served.address, ..client };
        for ended in &all[..3] {
            assert!(!passes(&client, ended).await);
        }
        assert!(passes(&client, &all[3]).await);
        assert_eq!((ids(&logins, "ada").await.len(), ids(&logins, "bob").await.len()), (0, 1));
        assert_eq!(logins.end_all("bob").await.unwrap(), 1);
        served.end().await;
        drop(logins);

        let (served, _) = start(authorization_server()).await;
        let client = Client { address: served.address, ..client };
        assert!(!passes(&client, &all[3]).await);
        served.end().await;
        std::fs::remove_dir_all(&folder).unwrap();
    });
}
