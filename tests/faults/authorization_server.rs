//! The authorization server inside of a server: from nothing but the URL to a call, and everything that must not work.

use std::{net::SocketAddr, time::Duration};

use mcp_runtime::{
    Auth, AuthorizationServer, Builder, LoginPage, LoginRequest, ProtectedResource, User,
    prelude::*,
};
use serde_json::{Value, json};

use crate::{
    authorization::Served,
    browser::{Back, Browser, CALLBACK, Client, Fields, Page, register, registration, text},
    client::{Reply, Request, plain_call, run},
};

#[derive(Deserialize)]
struct Account {
    plan: String,
}

/// Says who calls, and what they may do.
#[tool]
fn whoami(caller: Auth<Account>) -> String {
    let granted: Vec<_> = caller.authorization().granted().collect();
    format!("{} ({}): {}", caller.principal(), caller.plan, granted.join(" "))
}

/// Everybody whose password is `right`; `bob` may only read.
async fn login(request: LoginRequest) -> Result<User, LoginPage> {
    if request.password() != "right" || request.name().is_empty() {
        return Err(LoginPage::form().message("Nobody has this name and this <password>."));
    }
    let user = User::new(request.name()).claims(&json!({ "plan": "free" }));
    Ok(if request.name() == "bob" { user.may_grant(["notes:read"]) } else { user.name("A & A") })
}

pub(crate) fn authorization_server() -> AuthorizationServer {
    AuthorizationServer::new(login)
        .scope("notes:read", "Read your <notes>")
        .scope("notes:write", "Change your notes")
}

pub(crate) fn server(auth: impl Into<ProtectedResource>) -> Builder {
    mcp_runtime::server!(name = "notebook").items(items![whoami]).auth(auth)
}

/// What the server says to whoever shows this token.
pub(crate) async fn whoami_with(address: SocketAddr, token: &str) -> Reply {
    let call = plain_call(1, "whoami", json!({}));
    call.header("Authorization", format!("Bearer {token}")).ask(address).await
}

async fn get(address: SocketAddr, host: &str, path: &str) -> Reply {
    Request::new("GET", path).host(host).ask(address).await
}

#[test]
fn from_nothing_but_the_url_to_a_call() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let address = served.address;
        for host in
            [format!("127.0.0.1:{}", address.port()), format!("localhost:{}", address.port())]
        {
            let own = format!("http://{host}");
            let refused = plain_call(1, "whoami", json!({})).host(&host).ask(address).await;
            let resource = format!("{own}/.well-known/oauth-protected-resource/mcp");
            assert_eq!(refused.status(), 401);
            assert!(refused.head.get("www-authenticate").unwrap().contains(&resource));
            let resource =
                get(address, &host, "/.well-known/oauth-protected-resource/mcp").await.json();
            assert_eq!(resource["authorization_servers"], json!([own]));
            assert_eq!(resource["scopes_supported"], json!(["notes:read", "notes:write"]));
            let metadata =
                get(address, &host, "/.well-known/oauth-authorization-server").await.json();
            assert_eq!(metadata["issuer"], own);
            for (name, path) in [
                ("authorization_endpoint", "/authorize"),
                ("token_endpoint", "/token"),
                ("registration_endpoint", "/register"),
                ("revocation_endpoint", "/revoke"),
            ] {
                assert_eq!(metadata[name], format!("{own}{path}"));
            }
            assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));

            let mut client = Client::register(address).await;
            client.host = host;
            assert_eq!(resource["resource"], client.resource());
            let mut browser = Browser::new(&client);
            let back = browser.allow("ada", &client.authorize(&[])).await;
            assert_eq!(back.url, CALLBACK);
            assert_eq!((back.get("state"), back.get("iss")), (Some("s t&=/ü"), Some(&*own)));
            // Nothing is remembered of who has logged in.
            assert!(browser.cookies.is_empty());
            let tokens = client.exchange(&back.code(), &[("resource", &client.resource())]).await;
            let tokens = crate::browser::Tokens::of(&tokens);
            assert_eq!(tokens.scope, "notes:read notes:write");
            let said = whoami_with(address, &tokens.access).await;
            assert_eq!(said.text(), "ada (free): notes:read notes:write");
        }
        assert_eq!(whoami_with(address, "unknown").await.status(), 401);
        served.end().await;
    });
}

#[test]
fn a_user_decides() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let decide = async |name: &str, asked: &str, fields: Fields<'_>| {
            let mut browser = Browser::new(&client);
            let page = Page::of(&browser.open(&client.authorize(&[("scope", asked)])).await);
            let consent = browser.log_in(&page, name, "right").await;
            let html = text(&consent);
            // Any program of the user's machine may wait there.
            assert!(html.contains("127.0.0.1") && html.contains("Any program on this computer"));
            let page = Page::of(&consent);
            (page.scopes.clone(), Back::of(&browser.submit(&page, fields).await))
        };
        let granted = async |back: Back| {
            let tokens = crate::browser::Tokens::of(&client.exchange(&back.code(), &[]).await);
            whoami_with(served.address, &tokens.access).await.text()
        };
        let both = [("action", "allow"), ("scope", "notes:read"), ("scope", "notes:write")];
        let read = [("action", "allow"), ("scope", "notes:read")];

        let (shown, back) = decide("ada", "notes:read notes:write", &read).await;
        assert_eq!(shown, ["notes:read", "notes:write"]);
        assert_eq!(granted(back).await, "ada (free): notes:read");
        // Who asks for nothing is shown everything.
        let (shown, back) = decide("ada", "", &both).await;
        assert_eq!(shown, ["notes:read", "notes:write"]);
        assert_eq!(granted(back).await, "ada (free): notes:read notes:write");
        // More than was asked for, or than the user has, is not granted, whatever the form says.
        let (shown, back) = decide("ada", "offline_access notes:read other", &both).await;
        assert_eq!(shown, ["notes:read"]);
        assert_eq!(granted(back).await, "ada (free): notes:read");
        let (shown, back) = decide("bob", "notes:read notes:write", &both).await;
        assert_eq!(shown, ["notes:read"]);
        assert_eq!(granted(back).await, "bob (free): notes:read");

        // Who may grant nothing of it is not asked.
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[("scope", "notes:write")])).await);
        Back::of(&browser.log_in(&page, "bob", "right").await).check_error("invalid_scope");

        let (_, back) = decide("ada", "notes:read", &[("action", "allow")]).await;
        back.check_error("access_denied");
        let (_, back) = decide("ada", "notes:read", &[("action", "deny")]).await;
        back.check_error("access_denied");
        assert_eq!(
            (back.get("state"), back.get("iss")),
            (Some("s t&=/ü"), Some("http://localhost"))
        );
        // Before anybody has logged in, too.
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[])).await);
        let denied = browser.submit(&page, &[("action", "deny")]).await;
        Back::of(&denied).check_error("access_denied");
        served.end().await;
    });
}

#[test]
fn nobody_is_sent_where_nobody_has_registered() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        for there in ["http://127.0.0.1:1/callback", "https://app.example/callback?from=us"] {
            let page = browser.open(&client.authorize(&[("redirect_uri", there)])).await;
            assert_eq!(page.status(), 200, "{there}");
        }
        for elsewhere in [
            "https://evil.example/callback",
            "http://127.0.0.1:4711/callback/",
            "http://127.0.0.1:4711/callback?x=1",
            "http://127.0.0.1:4711/callback#x",
            "http://127.0.0.1:4711/other",
            "http://localhost:4711/callback",
            "http://127.0.0.1:4711@evil.example/callback",
            "https://app.example/callback",
            "https://app.example/callback?from=us&x=1",
            "https://app.example.evil.example/callback?from=us",
            "https://app.example:444/callback?from=us",
            "http://app.example/callback?from=us",
            "javascript:alert(1)",
            "//evil.example",
        ] {
            let page = browser.open(&client.authorize(&[("redirect_uri", elsewhere)])).await;
            assert_eq!(page.status(), 400, "{elsewhere}: {page:?}");
            assert_eq!(page.head.get("location"), None);
        }
        let several = browser.open(&client.authorize(&[("redirect_uri", "")])).await;
        assert_eq!(several.status(), 400);
        for path in [
            client.authorize(&[("client_id", "unknown")]),
            client.authorize(&[("client_id", "")]),
            client.authorize(&[("client_id", &client.id), ("client_id", &client.id)]),
            client.authorize(&[("redirect_uri", CALLBACK), ("redirect_uri", CALLBACK)]),
            format!("{}&x=%zz", client.authorize(&[])),
        ] {
            let page = browser.open(&path).await;
            assert_eq!((page.status(), page.head.get("location")), (400, None), "{path}");
        }
        served.end().await;
    });
}

#[test]
fn what_is_wrong_is_told_to_the_client() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let table: &[(Fields<'_>, &str)] = &[
            (&[("response_type", "token")], "unsupported_response_type"),
            (&[("response_type", "")], "invalid_request"),
            (&[("response_mode", "fragment")], "invalid_request"),
            (&[("code_challenge", "")], "invalid_request"),
            (&[("code_challenge", "short")], "invalid_request"),
            (&[("code_challenge_method", "plain")], "invalid_request"),
            (&[("code_challenge_method", "")], "invalid_request"),
            (&[("scope", "nothing:here")], "invalid_scope"),
            (&[("scope", "notes:read"), ("scope", "notes:write")], "invalid_request"),
            (&[("resource", "http://localhost/other")], "invalid_target"),
            (&[("resource", "https://localhost/mcp")], "invalid_target"),
            (&[("resource", "http://127.0.0.1/mcp")], "invalid_target"),
            (
                &[("resource", "http://localhost/mcp"), ("resource", "https://other.example")],
                "invalid_target",
            ),
        ];
        for (other, error) in table {
            let back = Back::of(&Browser::new(&client).open(&client.authorize(other)).await);
            back.check_error(error);
            assert_eq!(
                (back.get("state"), back.get("iss")),
                (Some("s t&=/ü"), Some("http://localhost")),
                "{other:?}"
            );
        }
        // What nobody knows is passed over, and what need not be said is not missed.
        for other in [
            &[("prompt", "none"), ("nonce", "1"), ("request", "x")][..],
            &[("state", "")],
            &[("resource", "")],
        ] {
            let page = Browser::new(&client).open(&client.authorize(other)).await;
            assert_eq!(page.status(), 200, "{other:?}");
        }
        served.end().await;
    });
}

#[test]
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

        // Nobody decides who has not logged in, and the page before is good no longer.
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

#[test]
fn pages_run_nothing_and_are_framed_by_nobody() {
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

#[test]
fn an_author_may_have_a_page_of_their_own() {
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
        // Where nothing can be granted in particular, nothing is said of it.
        let tokens = client.exchange(&code, &[]).await;
        assert_eq!(tokens.json()["scope"], Value::Null);
        let access = tokens.json()["access_token"].as_str().unwrap().to_owned();
        assert_eq!(whoami_with(served.address, &access).await.text(), "ada (free): ");
        served.end().await;
        let broken = AuthorizationServer::new(login).login_page(LoginPage::html("<form></form>"));
        let refused = server(broken).bind_http("127.0.0.1:0").await.unwrap_err().to_string();
        assert!(refused.contains("{{hidden}}"), "{refused}");
    });
}

#[test]
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
        // Twenty were wrong: this address has to wait, also for what is right.
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[])).await);
        let refused = browser.log_in(&page, "ada", "right").await;
        assert_eq!(refused.status(), 429, "{}", text(&refused));
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(6)).await;
        tokio::time::resume();
        assert_eq!(browser.log_in(&page, "ada", "right").await.status(), 200);
        served.end().await;
    });
}

#[test]
fn no_page_uses_up_what_its_reader_may_begin() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let open = async |kind: &str| {
            let request =
                Request::new("GET", &client.authorize(&[])).header("Sec-Fetch-Dest", kind);
            request.host(&client.host).ask(served.address).await
        };
        for kind in ["image", "empty", "iframe", "script"].repeat(20) {
            let refused = open(kind).await;
            assert_eq!((refused.status(), refused.head.get("set-cookie")), (403, None), "{kind}");
        }
        assert_eq!(open("document").await.status(), 200);
        served.end().await;
    });
}

#[test]
fn clients_register_what_they_may() {
    run(async {
        let own = authorization_server().allow_redirect("com.example.app:/callback");
        let served = Served::start(server(own)).await;
        let register = async |name: &str, value: Value| {
            let mut said = registration();
            said[name] = value;
            register(served.address, &said).await
        };
        let good = register("unknown", json!({ "x": [1] })).await;
        assert_eq!((good.status(), good.head.get("cache-control")), (201, Some("no-store".into())));
        assert_eq!(good.json()["client_secret"], Value::Null);
        assert_eq!(good.json()["redirect_uris"], registration()["redirect_uris"]);
        let private = register("redirect_uris", json!(["com.example.app:/callback"])).await;
        assert_eq!(private.status(), 201);
        for (name, value, error) in [
            ("redirect_uris", json!([]), "invalid_redirect_uri"),
            ("redirect_uris", json!(["http://app.example/callback"]), "invalid_redirect_uri"),
            ("redirect_uris", json!(["https://app.example/callback#x"]), "invalid_redirect_uri"),
            ("redirect_uris", json!(["https://user@app.example/callback"]), "invalid_redirect_uri"),
            ("redirect_uris", json!(["com.example.app:/other"]), "invalid_redirect_uri"),
            ("redirect_uris", json!(["cursor://callback"]), "invalid_redirect_uri"),
            ("redirect_uris", json!(["javascript:alert(1)"]), "invalid_redirect_uri"),
            ("redirect_uris", json!(vec!["https://app.example/"; 21]), "invalid_redirect_uri"),
            (
                "redirect_uris",
                json!(vec![format!("https://app.example/{}", "a".repeat(2000)); 3]),
                "invalid_redirect_uri",
            ),
            ("redirect_uris", json!("https://app.example/"), "invalid_client_metadata"),
            ("grant_types", json!(["client_credentials"]), "invalid_client_metadata"),
            ("response_types", json!(["token"]), "invalid_client_metadata"),
            ("token_endpoint_auth_method", json!("private_key_jwt"), "invalid_client_metadata"),
            ("client_name", json!("x".repeat(501)), "invalid_client_metadata"),
        ] {
            let refused = register(name, value.clone()).await;
            let said = (refused.status(), refused.json()["error"].clone());
            assert_eq!(said, (400, json!(error)), "{name}: {value}");
        }
        let long = "x".repeat(70 << 10);
        let refused = register("client_name", json!(long)).await;
        assert_eq!(refused.status(), 413);
        let endless = Request::sending("/register", "application/json", " ".repeat(70 << 10));
        assert_eq!(endless.chunked().ask(served.address).await.status(), 413);
        for _ in 0..100 {
            if register("unknown", json!(1)).await.status() == 429 {
                return served.end().await;
            }
        }
        panic!("clients register without end");
    });
}
