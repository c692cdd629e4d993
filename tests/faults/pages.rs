//! The pages of an authorization server: their content, and which forms are accepted.

use std::time::Duration;

use mcp_runtime_authorization_server::{AuthorizationServer, LoginPage, LoginRequest, User};
use serde_json::{Value, json};
use support::clock::jump;

use crate::{
    authorization::Served,
    authorization_server::{authorization_server, server, whoami_with},
    browser::{Back, Browser, Client, Fields, Page, Tokens, register, registration, text},
    client::run,
};

#[support::test]
fn a_user_decides() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let decide = async |name: &str, asked: &str, fields: Fields<'_>| {
            let mut browser = Browser::new(&client);
            let page = Page::of(&browser.open(&client.authorize(&[("scope", asked)])).await);
            let consent = browser.log_in(&page, name, "right").await;
            let html = text(&consent);
            // The redirect URI is a loopback address, at which any program on the user's machine may listen. The page warns the user of
            // this.
            assert!(html.contains("127.0.0.1") && html.contains("Any program on this computer"));
            let page = Page::of(&consent);
            (page.scopes.clone(), Back::of(&browser.submit(&page, fields).await))
        };
        let granted = async |back: Back| {
            let tokens = Tokens::of(&client.exchange(&back.code(), &[]).await);
            whoami_with(served.address, &tokens.access).await.text()
        };
        let both = [("action", "allow"), ("scope", "notes:read"), ("scope", "notes:write")];
        let read = [("action", "allow"), ("scope", "notes:read")];

        let (shown, back) = decide("ada", "notes:read notes:write", &read).await;
        assert_eq!(shown, ["notes:read", "notes:write"]);
        assert_eq!(granted(back).await, "ada (free): notes:read");
        // If a client asks for no scopes, the page offers all scopes.
        let (shown, back) = decide("ada", "", &both).await;
        assert_eq!(shown, ["notes:read", "notes:write"]);
        assert_eq!(granted(back).await, "ada (free): notes:read notes:write");
        // A form cannot grant scopes that the client did not ask for or that the user may not grant.
        let (shown, back) = decide("ada", "offline_access notes:read other", &both).await;
        assert_eq!(shown, ["notes:read"]);
        assert_eq!(granted(back).await, "ada (free): notes:read");
        let (shown, back) = decide("bob", "notes:read notes:write", &both).await;
        assert_eq!(shown, ["notes:read"]);
        assert_eq!(granted(back).await, "bob (free): notes:read");

        // If the user may grant none of the scopes, no consent page is shown.
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[("scope", "notes:write")])).await);
        Back::of(&browser.log_in(&page, "bob", "right").await).check_error("invalid_scope");

        // A script may send the scopes in a single field, as it does in other requests of OAuth.
        let list = [("action", "allow"), ("scope", "notes:read notes:write")];
        let (_, back) = decide("ada", "notes:read notes:write", &list).await;
        assert_eq!(granted(back).await, "ada (free): notes:read notes:write");

        for chosen in [&[("action", "allow")][..], &[("action", "allow"), ("scope", "other")]] {
            let (_, back) = decide("ada", "notes:read", chosen).await;
            back.check_error("access_denied");
            let why = "none of the requested scopes was chosen on the page";
            assert_eq!(back.get("error_description"), Some(why));
        }
        let (_, back) = decide("ada", "notes:read", &[("action", "deny")]).await;
        back.check_error("access_denied");
        assert_eq!(
            (back.get("state"), back.get("iss")),
            (Some("s t&=/ü"), Some("http://localhost"))
        );
        // A user can also deny before the login.
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[])).await);
        let denied = browser.submit(&page, &[("action", "deny")]).await;
        Back::of(&denied).check_error("access_denied");
        served.end().await;
    });
}

#[support::test]
fn forms_are_good_in_their_own_browser_and_once() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        let first = Page::of(&browser.open(&client.authorize(&[])).await);
        let other = Page::of(&browser.open(&client.authorize(&[])).await);

        let stray = async |mut browser: Browser, page: Page| {
            let reply = browser.log_in(&page, "ada", "right").await;
            assert_eq!(
                (reply.status(), reply.head.get("location")),
                (403, None),
                "{}",
                text(&reply)
            );
        };
        stray(Browser { cookies: Vec::new(), ..browser.clone() }, first.clone()).await;
        stray(Browser::new(&client), Page { pending: other.pending.clone(), ..first.clone() })
            .await;
        let swapped: Vec<_> = {
            let (names, values): (Vec<_>, Vec<_>) = browser.cookies.iter().cloned().unzip();
            names.into_iter().zip(values.into_iter().rev()).collect()
        };
        stray(Browser { cookies: swapped, ..browser.clone() }, first.clone()).await;
        stray(browser.clone(), Page { ticket: other.ticket.clone(), ..first.clone() }).await;
        stray(browser.clone(), Page { ticket: "x".into(), ..first.clone() }).await;
        stray(browser.clone(), Page { pending: "x".into(), ..first.clone() }).await;
        for origin in ["http://localhost:1", "http://127.0.0.1", "https://localhost"] {
            let origin = Some(origin.to_owned());
            stray(Browser { origin, ..browser.clone() }, first.clone()).await;
        }

        // A user can decide only after the login, and then the login page is no longer valid.
        let early = browser.clone().agree(&first).await;
        assert_eq!(early.status(), 403);
        let consent = Page::of(&browser.log_in(&other, "ada", "right").await);
        stray(browser.clone(), other.clone()).await;
        assert_eq!(browser.submit(&consent, &[("action", "")]).await.status(), 403);
        let agreed = browser.clone().agree(&consent).await;
        Back::of(&agreed).code();
        assert_eq!(browser.agree(&consent).await.status(), 403);
        served.end().await;
    });
}

/// A server whose host is no loopback address expects browsers to use `https://`. A page over `http://` has no cookie there.
#[support::test]
fn a_page_over_http_names_the_https_address_of_the_server() {
    run(async {
        let host = "notes.example.com";
        let served = Served::start(server(authorization_server()).allow_host(host)).await;
        let client = Client { host: host.to_owned(), ..Client::register(served.address).await };
        let browser = |scheme: &str, cookies: Vec<(String, String)>| Browser {
            origin: Some(format!("{scheme}://{host}")),
            cookies,
            ..Browser::new(&client)
        };
        let mut opened = browser("https", Vec::new());
        let resource = [("resource", "https://notes.example.com/mcp")];
        let page = Page::of(&opened.open(&client.authorize(&resource)).await);
        assert!(opened.cookies[0].0.starts_with("__Host-"), "{:?}", opened.cookies);
        let said = async |mut browser: Browser| {
            let reply = browser.log_in(&page, "ada", "right").await;
            assert_eq!(reply.status(), 403);
            text(&reply)
        };

        let reason =
            "opened over http://, and the address of this server is https://notes.example.com.";
        // A script sends no origin, so the missing cookie is all that the server sees.
        let script = Browser { origin: None, ..browser("http", Vec::new()) };
        let expired = "This page has expired, or it was not opened in this browser";
        let answer = said(script).await;
        assert!(answer.contains(&format!("{expired}, or it was {reason}")), "{answer}");
        let answer = said(browser("http", Vec::new())).await;
        assert!(answer.contains(&format!("This page was {reason}")), "{answer}");

        // The browser has such a cookie, so it has used `https://`.
        let cookies = vec![("__Host-mcp-authorization-x".to_owned(), "y".to_owned())];
        let answer = said(browser("https", cookies)).await;
        assert!(answer.contains(&format!("{expired}.")), "{answer}");
        // The right cookie opens the next page.
        assert_eq!(opened.log_in(&page, "ada", "right").await.status(), 200);
        served.end().await;
    });
}

#[support::test]
fn pages_run_no_scripts_and_cannot_be_framed() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let mut hostile = registration();
        hostile["client_name"] = json!("</b><script>alert(1)</script>\"'&\u{202e}{{hidden}}");
        hostile["redirect_uris"] = json!(["https://app.example:8443/'callback'?x=1"]);
        let said = register(served.address, &hostile).await.json();
        let id = said["client_id"].as_str().unwrap().to_owned();
        let client = Client { id, ..Client::register(served.address).await };
        let mut browser = Browser::new(&client);
        let there = [("redirect_uri", ""), ("scope", "")];
        let login = browser.open(&client.authorize(&there)).await;
        let page = Page::of(&login);
        let again = browser.log_in(&page, "ada", "wrong").await;
        assert!(text(&again).contains("this &lt;password&gt;."), "{}", text(&again));
        let consent = browser.log_in(&page, "ada", "right").await;
        assert!(
            text(&consent).contains("Read your &lt;notes&gt;")
                && text(&consent).contains("A &amp; A")
        );
        let problem = browser.open("/authorize").await;
        for reply in [&login, &again, &consent, &problem] {
            let html = text(reply);
            assert!(!html.contains("<script") && !html.contains('\u{202e}'), "{html}");
            let get = |name: &str| reply.head.get(name).unwrap_or_default();
            let policy = get("content-security-policy");
            assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
            assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"));
            let forms = if std::ptr::eq(reply, &problem) {
                "form-action 'none';"
            } else {
                "form-action 'self' https://app.example:8443;"
            };
            assert!(policy.contains(forms), "{policy}");
            assert_eq!((&*get("x-frame-options"), &*get("cache-control")), ("DENY", "no-store"));
            assert_eq!(&*get("referrer-policy"), "same-origin");
            assert_eq!(reply.head.get("access-control-allow-origin"), None);
        }
        let name = "&lt;/b&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;{{hidden}}";
        assert!(text(&login).contains(name) && text(&consent).contains(name), "{}", text(&consent));
        assert!(text(&consent).contains("app.example:8443"));
        assert!(!text(&consent).contains("Any program"));
        served.end().await;
    });
}

#[support::test]
fn a_server_can_have_a_custom_login_page() {
    run(async {
        let page = "<title>{{server}}</title>{{client}}<p>{{message}}<form method=post>{{hidden}}{{other}}</form>{{";
        let own = async |request: LoginRequest| match request.field("key") {
            "right" => Ok(User::new("ada").claims(&json!({ "plan": "free" }))),
            "plain" => Err(LoginPage::form()),
            _ => Err(LoginPage::html("{{hidden}}<b>{{message}}</b>").message("<no>")),
        };
        let own = AuthorizationServer::new(own).login_page(LoginPage::html(page));
        let served = Served::start(server(own)).await;
        let mut said = registration();
        said["client_name"] = json!("{{hidden}}<i>");
        let id =
            register(served.address, &said).await.json()["client_id"].as_str().unwrap().to_owned();
        let client = Client { id, ..Client::register(served.address).await };
        let mut browser = Browser::new(&client);
        let first = browser.open(&client.authorize(&[("scope", "")])).await;
        let html = text(&first);
        assert!(
            html.starts_with(
                "<title>notebook</title>{{hidden}}&lt;i&gt;<p><form method=post><input"
            ),
            "{html}"
        );
        assert!(
            first
                .head
                .get("content-security-policy")
                .unwrap()
                .contains("default-src 'none'; style-src 'unsafe-inline'")
        );
        let page = Page::of(&first);
        let again = browser.submit(&page, &[("key", "wrong")]).await;
        assert!(text(&again).ends_with("<b>&lt;no&gt;</b>"), "{}", text(&again));
        let again = browser.submit(&page, &[("key", "plain")]).await;
        assert!(text(&again).starts_with("<title>notebook"), "{}", text(&again));
        let consent = Page::of(&browser.submit(&page, &[("key", "right")]).await);
        let code = Back::of(&browser.agree(&consent).await).code();
        // If the server has no scopes, the response has no `scope`.
        let tokens = client.exchange(&code, &[]).await;
        assert_eq!(tokens.json()["scope"], Value::Null);
        let access = tokens.json()["access_token"].as_str().unwrap().to_owned();
        assert_eq!(whoami_with(served.address, &access).await.text(), "ada (free): ");
        served.end().await;
        let broken = authorization_server().login_page(LoginPage::html("<form></form>"));
        let refused = server(broken).bind_http("127.0.0.1:0").await.unwrap_err().to_string();
        assert!(refused.contains("{{hidden}}"), "{refused}");
    });
}

#[support::test]
fn guessing_ends_soon() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        for round in 0..4 {
            let mut browser = Browser::new(&client);
            let page = Page::of(&browser.open(&client.authorize(&[])).await);
            for _ in 0..4 {
                let again = browser.log_in(&page, "ada", "wrong").await;
                assert_eq!(Page::of(&again).ticket, page.ticket, "{round}");
            }
            Back::of(&browser.log_in(&page, "ada", "wrong").await).check_error("access_denied");
            assert_eq!(browser.log_in(&page, "ada", "right").await.status(), 403);
        }
        // After twenty wrong passwords, the server rejects logins from this address for some seconds, even with the right password.
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[])).await);
        let refused = browser.log_in(&page, "ada", "right").await;
        assert_eq!(refused.status(), 429, "{}", text(&refused));
        jump(Duration::from_secs(6)).await;
        assert_eq!(browser.log_in(&page, "ada", "right").await.status(), 200);
        served.end().await;
    });
}
