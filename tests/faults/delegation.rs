//! Logins that are delegated to an OpenID provider.

use std::time::Duration;

use mcp_runtime::{Builder, auth::Auth, prelude::*, store::SqliteStore};
use mcp_runtime_authorization_server::{AuthorizationServer, Upstream, UpstreamUser, User};
use serde_json::json;
use support::clock::{Frozen, jump};

use crate::{
    authorization::Served,
    authorization_server::whoami_with,
    browser::{Back, Browser, Client, Page, Tokens, form, text},
    client::{Reply, run},
    provider::{Manner, Provider, SECRET},
};

type Query = Vec<(&'static str, String)>;

/// Returns the caller, and the caller's token of the provider.
#[tool]
fn whoami(caller: Auth) -> String {
    let upstream = caller.authorization().upstream_token();
    format!("{} {}", caller.principal(), upstream.unwrap_or("-"))
}

pub(crate) fn upstream(provider: &Provider) -> Upstream {
    let user = |identity: &UpstreamUser| {
        let email = identity.claim::<String>("email")?;
        Some(User::new(email).name(identity.claim::<String>("name")?))
    };
    Upstream::new(&*provider.url, "our-id", SECRET).scope("email").user(user)
}

pub(crate) fn server(upstream: Upstream) -> Builder {
    let own = AuthorizationServer::delegated(upstream).scope("notes:read", "Read your notes");
    mcp_runtime::server!(name = "notebook").items(items![whoami]).auth(own)
}

/// Agrees on the consent page of the server, and returns the URL of the provider to which the server then redirects.
pub(crate) async fn leave(browser: &mut Browser, client: &Client) -> String {
    let asked = browser.open(&client.authorize(&[("scope", "")])).await;
    let before = browser.cookies.clone();
    let sent = browser.agree(&Page::of(&asked)).await;
    assert_eq!(sent.status(), 303, "{}", text(&sent));
    // The cookie for the return from the provider differs from the cookie of the consent page.
    assert!(browser.cookies != before && browser.cookies.len() == before.len());
    sent.head.get("location").unwrap()
}

pub(crate) async fn come_back(browser: &mut Browser, query: &[(&'static str, String)]) -> Reply {
    let query: Vec<_> = query.iter().map(|field| (field.0, &*field.1)).collect();
    browser.open(&format!("/callback?{}", form(&query))).await
}

async fn log_in(provider: &Provider, client: &Client) -> Tokens {
    let mut browser = Browser::new(client);
    let url = leave(&mut browser, client).await;
    let code = Back::of(&come_back(&mut browser, &provider.log_in(&url)).await).code();
    assert!(browser.cookies.is_empty());
    Tokens::of_any(&client.exchange(&code, &[]).await)
}

#[support::test]
fn the_upstream_provider_identifies_the_user() {
    run(async {
        let provider = Provider::start().await;
        for hands_over in [false, true] {
            let upstream = upstream(&provider);
            let upstream = if hands_over { upstream.hand_over() } else { upstream };
            let served = Served::start(server(upstream)).await;
            let client = Client::register(served.address).await;
            let tokens = log_in(&provider, &client).await;
            let expected = if hands_over { "upstream-access-0" } else { "-" };
            let said = whoami_with(served.address, &tokens.access).await.text();
            assert_eq!(said, format!("ada@example.com {expected}"));
            // The server does not accept the provider's own token.
            assert_eq!(whoami_with(served.address, "upstream-access-0").await.status(), 401);
            served.end().await;
        }
        provider.end().await;
    });
}

#[support::test]
fn the_callback_is_accepted_only_from_the_browser_that_was_sent_away() {
    run(async {
        let provider = Provider::start().await;
        let served = Served::start(server(upstream(&provider))).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        let query = provider.log_in(&leave(&mut browser, &client).await);
        let but = |name: &str, value: &str| {
            let mut query = query.clone();
            query.iter_mut().find(|field| field.0 == name).unwrap().1 = value.to_owned();
            query
        };
        let (_, state) = query[1].clone();
        let id = state.split('.').next().unwrap();
        for (mut browser, query) in [
            (Browser::new(&client), query.clone()),
            (browser.clone(), but("state", "x")),
            (browser.clone(), but("state", &format!("{id}.x"))),
            (browser.clone(), but("state", &format!("x{state}"))),
        ] {
            let stray = come_back(&mut browser, &query).await;
            assert_eq!((stray.status(), stray.head.get("location")), (403, None), "{query:?}");
        }
        // No page of the server accepts a name and a password.
        let page =
            Page { pending: id.into(), ticket: state[id.len() + 1..].into(), scopes: vec![] };
        assert_eq!(browser.clone().log_in(&page, "ada", "right").await.status(), 403);
        assert_eq!(browser.clone().agree(&page).await.status(), 403);

        Back::of(&come_back(&mut browser.clone(), &query).await).code();
        // The server accepts the query only once.
        assert_eq!(come_back(&mut browser, &query).await.status(), 403);

        let refused = async |query: fn(Query) -> Query, error: &str| {
            let mut browser = Browser::new(&client);
            let come = query(provider.log_in(&leave(&mut browser, &client).await));
            Back::of(&come_back(&mut browser, &come).await).check_error(error);
        };
        refused(
            |query| vec![query[1].clone(), query[2].clone(), ("error", "access_denied".into())],
            "access_denied",
        )
        .await;
        refused(
            |query| {
                vec![query[0].clone(), query[1].clone(), ("iss", "https://evil.example".into())]
            },
            "access_denied",
        )
        .await;
        refused(|query| vec![query[0].clone(), query[1].clone()], "access_denied").await;
        refused(
            |query| vec![("code", "unknown".into()), query[1].clone(), query[2].clone()],
            "access_denied",
        )
        .await;
        served.end().await;
        provider.end().await;
    });
}

#[support::test]
fn our_consent_page_is_shown_before_a_browser_goes_to_the_provider() {
    run(async {
        let provider = Provider::start().await;
        let served = Served::start(server(upstream(&provider))).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        let asked = browser.open(&client.authorize(&[])).await;
        let (page, html) = (Page::of(&asked), text(&asked));
        for said in
            [&provider.url["http://".len()..], "openid email", "Suite", "127.0.0.1", "Any program"]
        {
            assert!(html.contains(said), "{said}: {html}");
        }
        let policy = asked.head.get("content-security-policy").unwrap();
        assert!(
            policy.contains(&format!(
                "form-action 'self' http://127.0.0.1:4711 https: {};",
                provider.url
            )),
            "{policy}"
        );

        // An attacker could open the consent page, and send another user to the provider with the `state` of this page. The server rejects
        // the browser of that user when it comes back, because it lacks the cookie of the page. Even the browser with the cookie is
        // rejected until its user has answered the consent page.
        let state = format!("{}.{}", page.pending, page.ticket);
        let query = [("code", "x".into()), ("state", state), ("iss", provider.url.clone())];
        assert_eq!(come_back(&mut browser.clone(), &query).await.status(), 403);
        Back::of(&browser.clone().submit(&page, &[("action", "deny")]).await)
            .check_error("access_denied");

        let asked = browser.open(&client.authorize(&[])).await;
        let page = Page::of(&asked);
        let before = browser.clone();
        let sent = browser.agree(&page).await;
        let query = provider.log_in(&sent.head.get("location").unwrap());
        let stray = come_back(&mut before.clone(), &query).await;
        assert_eq!(stray.status(), 403, "the cookie of the question lets somebody come back");
        // The consent page cannot be answered a second time.
        assert_eq!(browser.clone().agree(&page).await.status(), 403);
        Back::of(&come_back(&mut browser, &query).await).code();
        served.end().await;
        provider.end().await;
    });
}

#[support::test]
fn only_good_id_tokens_are_believed() {
    run(async {
        let provider = Provider::start().await;
        let served = Served::start(server(upstream(&provider))).await;
        let client = Client::register(served.address).await;
        for claims in [
            json!({ "nonce": "another" }),
            json!({ "nonce": null }),
            json!({ "aud": "another" }),
            json!({ "aud": ["our-id", "another"], "azp": "another" }),
            json!({ "iss": "https://other.example" }),
            json!({ "exp": 1 }),
            json!({ "sub": null }),
            // Without an email the `user` function returns no user.
            json!({ "email": null }),
        ] {
            provider.behave(Manner { claims: claims.clone(), ..Manner::default() });
            let mut browser = Browser::new(&client);
            let query = provider.log_in(&leave(&mut browser, &client).await);
            let back = come_back(&mut browser, &query).await;
            assert_eq!(back.status(), 303, "{claims}: {}", text(&back));
            Back::of(&back).check_error("access_denied");
        }
        // An empty name is an error, because all users without a name would count as the same user.
        provider.behave(Manner { claims: json!({ "email": "" }), ..Manner::default() });
        let mut browser = Browser::new(&client);
        let query = provider.log_in(&leave(&mut browser, &client).await);
        assert_eq!(come_back(&mut browser, &query).await.status(), 500);
        served.end().await;
        provider.end().await;
    });
}

#[support::test]
fn our_tokens_end_when_the_login_at_the_provider_ends() {
    run(async {
        let provider = Provider::start().await;
        let served = Served::start(server(upstream(&provider).hand_over())).await;
        let client = Client::register(served.address).await;
        let tokens = log_in(&provider, &client).await;
        let tokens = Tokens::of(&client.refresh(&tokens.refresh).await);
        let said = whoami_with(served.address, &tokens.access).await.text();
        assert_eq!(said, "ada@example.com upstream-access-1");
        // While the provider is not available, the login stays valid.
        let away = Manner { is_away: true, ..Manner::default() };
        // The login also stays valid if the provider rejects our client credentials.
        for manner in [away, Manner { forgets_us: true, ..Manner::default() }] {
            provider.behave(manner);
            let away = client.refresh(&tokens.refresh).await;
            assert_eq!(
                (away.status(), &away.json()["error"]),
                (503, &json!("temporarily_unavailable"))
            );
        }
        provider.behave(Manner::default());
        let tokens = Tokens::of(&client.refresh(&tokens.refresh).await);
        provider.behave(Manner { refuses: true, ..Manner::default() });
        let refused = client.refresh(&tokens.refresh).await;
        assert_eq!((refused.status(), &refused.json()["error"]), (400, &json!("invalid_grant")));
        assert_eq!(whoami_with(served.address, &tokens.access).await.status(), 401);
        provider.behave(Manner::default());
        assert_eq!(client.refresh(&tokens.refresh).await.status(), 400);

        // Without a refresh token of the provider, our tokens expire with its access token.
        provider.behave(Manner { only: Some(60), ..Manner::default() });
        let tokens = log_in(&provider, &client).await;
        assert!(tokens.expires_in <= 60, "{tokens:?}");
        assert_eq!(whoami_with(served.address, &tokens.access).await.status(), 200);
        jump(Duration::from_secs(61)).await;
        assert_eq!(whoami_with(served.address, &tokens.access).await.status(), 401);
        assert_eq!(client.refresh(&tokens.refresh).await.status(), 400);
        served.end().await;
        provider.end().await;
    });
}

#[support::test]
fn a_delegated_login_can_be_ended_by_the_server() {
    run(async {
        let provider = Provider::start().await;
        let own = AuthorizationServer::delegated(upstream(&provider).hand_over());
        let logins = own.logins();
        let server = mcp_runtime::server!(name = "notebook").items(items![whoami]).auth(own);
        let served = Served::start(server).await;
        let client = Client::register(served.address).await;
        let tokens = log_in(&provider, &client).await;
        let mut away = Browser::new(&client);
        let query = provider.log_in(&leave(&mut away, &client).await);
        assert_eq!(logins.end_all("ada@example.com").await.unwrap(), 1);
        assert_eq!(whoami_with(served.address, &tokens.access).await.status(), 401);
        let refused = client.refresh(&tokens.refresh).await;
        assert_eq!((refused.status(), &refused.json()["error"]), (400, &json!("invalid_grant")));
        // The user of this browser was at the provider when `end_all` was called, and may have logged in there before the call. The server
        // therefore rejects this login too.
        Back::of(&come_back(&mut away, &query).await).check_error("access_denied");
        let tokens = log_in(&provider, &client).await;
        assert_eq!(whoami_with(served.address, &tokens.access).await.status(), 200);
        served.end().await;
        provider.end().await;
    });
}

#[support::test]
fn the_provider_is_told_of_ended_logins_without_delaying_the_server() {
    run(async {
        let provider = Provider::start().await;
        let own = AuthorizationServer::delegated(upstream(&provider));
        let logins = own.logins();
        let server = mcp_runtime::server!(name = "notebook").items(items![whoami]).auth(own);
        let served = Served::start(server).await;
        let client = Client::register(served.address).await;
        let give_back = async |tokens: &Tokens| {
            let fields = [("token", &*tokens.refresh), ("client_id", &*client.id)];
            assert_eq!(client.post("/revoke", &fields).await.status(), 200);
        };
        let tokens = log_in(&provider, &client).await;
        let tokens = Tokens::of(&client.refresh(&tokens.refresh).await);
        give_back(&tokens).await;
        assert_eq!(provider.revoked(1).await, ["refresh_token upstream-refresh-1"]);
        log_in(&provider, &client).await;
        provider.behave(Manner { only: Some(600), ..Manner::default() });
        log_in(&provider, &client).await;
        assert_eq!(logins.end_all("ada@example.com").await.unwrap(), 2);
        let mut told = provider.revoked(2).await;
        told.sort();
        assert_eq!(told, ["access_token upstream-access-0", "refresh_token upstream-refresh-0"]);

        for manner in [
            Manner { is_away: true, ..Manner::default() },
            Manner { is_silent: true, ..Manner::default() },
        ] {
            provider.behave(Manner::default());
            let [one, _] = [log_in(&provider, &client).await, log_in(&provider, &client).await];
            provider.behave(manner);
            // The clock stands still, so no deadline passes. A server that waited for the silent provider would hang here, and the test
            // would fail.
            let frozen = Frozen::start();
            give_back(&one).await;
            assert_eq!(logins.end_all("ada@example.com").await.unwrap(), 1);
            frozen.end().await;
            assert_eq!(whoami_with(served.address, &one.access).await.status(), 401);
        }
        provider.behave(Manner::default());
        served.end().await;
        provider.end().await;
    });
}

#[support::test]
fn delegated_tokens_survive_a_restart_with_the_same_seal_key() {
    run(async {
        let provider = Provider::start().await;
        let folder = std::env::temp_dir().join(format!("mcp-sealed-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let start = async |key: Option<u8>| {
            let upstream = upstream(&provider).hand_over();
            let upstream = match key {
                Some(key) => upstream.seal_key([key; 32]),
                None => upstream,
            };
            let own = AuthorizationServer::delegated(upstream);
            let server = mcp_runtime::server!(name = "notebook").items(items![whoami]).auth(own);
            Served::start(server.store(SqliteStore::new(folder.join("one.db")))).await
        };
        let served = start(Some(1)).await;
        let client = Client::register(served.address).await;
        let tokens = log_in(&provider, &client).await;
        served.end().await;
        let bytes = std::fs::read(folder.join("one.db")).unwrap();
        assert!(!bytes.windows(8).any(|window| window == b"upstream"), "it is not sealed");

        let served = start(Some(1)).await;
        let client = Client { address: served.address, ..client };
        let said = whoami_with(served.address, &tokens.access).await.text();
        assert_eq!(said, "ada@example.com upstream-access-0");
        let tokens = Tokens::of(&client.refresh(&tokens.refresh).await);
        served.end().await;

        for key in [Some(2), Some(1)] {
            let served = start(key).await;
            let client = Client { address: served.address, ..client.clone() };
            // A start with a different key makes the grant invalid for good, even if the old key returns.
            assert_eq!(whoami_with(served.address, &tokens.access).await.status(), 401, "{key:?}");
            assert_eq!(client.refresh(&tokens.refresh).await.status(), 400, "{key:?}");
            client.post("/revoke", &[("token", "x"), ("client_id", &client.id)]).await;
            served.end().await;
        }
        std::fs::remove_dir_all(&folder).unwrap();
        provider.end().await;
    });
}

/// The name `ada` may stand for different users at two providers, so a grant from one provider is invalid with the other. The server also
/// sends no token of one provider to the other.
#[support::test]
fn grants_from_one_provider_are_invalid_with_another_provider() {
    run(async {
        let folder = std::env::temp_dir().join(format!("mcp-moved-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let start = async |provider: &Provider| {
            let own = AuthorizationServer::delegated(upstream(provider).seal_key([1; 32]));
            let server = mcp_runtime::server!(name = "notebook").items(items![whoami]).auth(own);
            Served::start(server.store(SqliteStore::new(folder.join("one.db")))).await
        };
        let (one, other) = (Provider::start().await, Provider::start().await);
        let served = start(&one).await;
        let client = Client::register(served.address).await;
        let tokens = log_in(&one, &client).await;
        served.end().await;
        let served = start(&other).await;
        let client = Client { address: served.address, ..client };
        assert_eq!(whoami_with(served.address, &tokens.access).await.status(), 401);
        let refused = client.refresh(&tokens.refresh).await;
        assert_eq!((refused.status(), &refused.json()["error"]), (400, &json!("invalid_grant")));
        served.end().await;
        std::fs::remove_dir_all(&folder).unwrap();
        one.end().await;
        other.end().await;
    });
}

#[support::test]
fn an_unavailable_provider_gives_the_client_a_temporary_error() {
    run(async {
        let provider = Provider::start().await;
        provider.behave(Manner { is_away: true, ..Manner::default() });
        let served = Served::start(server(upstream(&provider))).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[("scope", "")])).await);
        let sent = browser.agree(&page).await;
        Back::of(&sent).check_error("temporarily_unavailable");
        provider.behave(Manner::default());
        log_in(&provider, &client).await;
        let problem = async |upstream: Upstream| {
            server(upstream).bind_http("127.0.0.1:0").await.unwrap_err().to_string()
        };
        assert!(problem(Upstream::new("http://login.example", "a", "b")).await.contains("https"));
        assert!(
            problem(Upstream::new("https://login.example", "", "b")).await.contains("client_id")
        );
        let shown = format!("{:?}", upstream(&provider));
        assert!(shown.contains("our-id") && !shown.contains("secret: with"), "{shown}");
        served.end().await;
        provider.end().await;
    });
}
