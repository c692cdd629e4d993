//! The built-in authorization server: tokens for clients that know only the URL of a server, the registration of clients, and rejected
//! requests.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use mcp_runtime::{
    Builder,
    auth::{Auth, ProtectedResource},
    limits::Limit,
    prelude::*,
};
use mcp_runtime_authorization_server::{AuthorizationServer, LoginPage, LoginRequest, User};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    authorization::Served,
    browser::{Back, Browser, CALLBACK, Client, Fields, Page, Tokens, register, registration},
    client::{Reply, Request, plain_call, run},
    mounted::Application,
};

#[derive(Deserialize)]
struct Account {
    plan: String,
}

/// Returns the caller, the plan and the granted scopes.
#[tool]
fn whoami(caller: Auth<Account>) -> String {
    let granted: Vec<_> = caller.authorization().granted().collect();
    format!("{} ({}): {}", caller.principal(), caller.plan, granted.join(" "))
}

/// Accepts every name with the password `right`. `bob` may only read.
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

/// Calls `whoami` with this token.
pub(crate) async fn whoami_with(address: SocketAddr, token: &str) -> Reply {
    let call = plain_call(1, "whoami", json!({}));
    call.header("Authorization", format!("Bearer {token}")).ask(address).await
}

async fn get(address: SocketAddr, host: &str, path: &str) -> Reply {
    Request::new("GET", path).host(host).ask(address).await
}

#[support::test]
fn a_client_gets_from_the_url_alone_to_an_authorized_call() {
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
            // The browser keeps no cookie after the login.
            assert!(browser.cookies.is_empty());
            let tokens = client.exchange(&back.code(), &[("resource", &client.resource())]).await;
            let tokens = Tokens::of(&tokens);
            assert_eq!(tokens.scope, "notes:read notes:write");
            let said = whoami_with(address, &tokens.access).await;
            assert_eq!(said.text(), "ada (free): notes:read notes:write");
        }
        assert_eq!(whoami_with(address, "unknown").await.status(), 401);
        served.end().await;
    });
}

/// Clients of HTTP+SSE compare the resource in the metadata with the URL that they connect to, and reject a document for another path. The
/// server therefore also has a document for `/sse`.
#[support::test]
fn the_url_of_the_pair_leads_to_a_token_too() {
    const DOCUMENT: &str = "/.well-known/oauth-protected-resource/sse";
    run(async {
        let served = Served::start(server(authorization_server()).legacy_sse(true)).await;
        let address = served.address;
        let open = async |token: Option<&str>| {
            let request = Request::get().to("/sse");
            let header = token.map(|token| format!("Bearer {token}"));
            let request = match header {
                Some(header) => request.header("Authorization", header),
                None => request,
            };
            request.open(address).await.head
        };
        let post = Request::post("{}").to("/message?sessionId=0");
        for refused in [open(None).await, post.ask(address).await.head] {
            assert_eq!(refused.status, 401);
            let challenge = refused.get("www-authenticate").unwrap();
            assert!(challenge.contains(&format!("\"http://localhost{DOCUMENT}\"")), "{challenge}");
        }
        let document = get(address, "localhost", DOCUMENT).await.json();
        assert_eq!(document["resource"], "http://localhost/sse");
        assert_eq!(document["authorization_servers"], json!(["http://localhost"]));
        // The endpoint `/mcp` keeps its own document.
        let other = get(address, "localhost", "/.well-known/oauth-protected-resource/mcp").await;
        assert_eq!(other.json()["resource"], "http://localhost/mcp");

        let client = Client::register(address).await;
        let pair = ("resource", "http://localhost/sse");
        let code = Browser::new(&client).allow("ada", &client.authorize(&[pair])).await.code();
        let tokens = Tokens::of(&client.exchange(&code, &[pair]).await);
        assert_eq!(open(Some(&tokens.access)).await.status, 200);
        // The two URLs belong to one server with the same users and items, so the token is valid for both.
        assert_eq!(whoami_with(address, &tokens.access).await.status(), 200);
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", &*tokens.refresh),
            ("client_id", &*client.id),
        ];
        for elsewhere in
            ["http://localhost/message", "http://localhost/x/sse", "http://a.example/sse"]
        {
            let asked = client.authorize(&[("resource", elsewhere)]);
            Back::of(&Browser::new(&client).open(&asked).await).check_error("invalid_target");
            let refused = client.token(&[&fields[..], &[("resource", elsewhere)]].concat()).await;
            assert_eq!(refused.json()["error"], "invalid_target", "{elsewhere}");
        }
        Tokens::of(&client.token(&[&fields[..], &[pair]].concat()).await);
        served.end().await;
    });
}

#[support::test]
fn legacy_sse_of_a_mounted_server_uses_the_host_of_its_issuer() {
    const HOST: &str = "api.example.com";
    run(async {
        let issued = authorization_server().issuer(format!("https://{HOST}"));
        let router = server(issued).legacy_sse(true).into_router().await.unwrap();
        let application = Application::start(router).await;
        let path = "/.well-known/oauth-protected-resource/sse";
        let refused = Request::get().to("/sse").host(HOST).ask(application.address).await;
        let challenge = refused.head.get("www-authenticate").unwrap();
        assert!(challenge.contains(&format!("\"https://{HOST}{path}\"")), "{challenge}");
        let document = get(application.address, HOST, path).await.json();
        assert_eq!(document["resource"], format!("https://{HOST}/sse"));
        application.end().await;
    });
}

#[support::test]
fn a_pair_that_is_not_served_or_has_another_name_is_no_resource() {
    const DOCUMENT: &str = "/.well-known/oauth-protected-resource/sse";
    run(async {
        let named =
            ProtectedResource::from(authorization_server()).resource("http://localhost/mcp");
        let unserved = server(authorization_server());
        for server in [unserved, server(named).legacy_sse(true)] {
            let served = Served::start(server).await;
            assert_eq!(get(served.address, "localhost", DOCUMENT).await.status(), 404);
            let client = Client::register(served.address).await;
            let asked = client.authorize(&[("resource", "http://localhost/sse")]);
            Back::of(&Browser::new(&client).open(&asked).await).check_error("invalid_target");
            served.end().await;
        }
    });
}

#[support::test]
fn a_browser_is_redirected_only_to_a_registered_uri() {
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

#[support::test]
fn an_invalid_authorization_request_is_reported_to_the_client() {
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
        // Unknown parameters are ignored, and optional parameters may be missing.
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

#[support::test]
fn subresource_requests_do_not_use_up_the_limit_on_authorizations() {
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

#[support::test]
fn refusals_of_the_authorization_server_are_counted() {
    run(async {
        let slot = Arc::new(OnceLock::new());
        let own = slot.clone();
        let counted = server(authorization_server()).setup(async move |handle: Handle| {
            let _ = own.set(handle);
            Ok::<_, Error>(own)
        });
        let served = Served::start(counted).await;
        let client = Client::register(served.address).await;
        let refused = |limit: Limit| {
            let handle: &Handle = slot.get().expect("the server has started");
            handle.stats().refused(limit)
        };
        let counts = || {
            let limits = [Limit::LoginAttempts, Limit::Registrations];
            let others = [Limit::Authorizations, Limit::ClientDocuments];
            limits.into_iter().chain(others).map(refused).collect::<Vec<_>>()
        };
        let begin = async |path: &str| Browser::new(&client).open(path).await.status();
        for round in 0..4 {
            let mut browser = Browser::new(&client);
            let page = Page::of(&browser.open(&client.authorize(&[])).await);
            for _ in 0..5 {
                browser.log_in(&page, "ada", "wrong").await;
            }
            assert_eq!(counts(), [round + 1, 0, 0, 0]);
        }
        let mut browser = Browser::new(&client);
        let page = Page::of(&browser.open(&client.authorize(&[])).await);
        assert_eq!(browser.log_in(&page, "ada", "right").await.status(), 429);
        assert_eq!(counts(), [5, 0, 0, 0]);

        while register(served.address, &registration()).await.status() != 429 {}
        assert_eq!(counts(), [5, 1, 0, 0]);
        // No server listens at the address of this client id.
        let unknown = client.authorize(&[("client_id", "https://127.0.0.1:1/client.json")]);
        let mut asked = 0;
        while begin(&unknown).await != 429 {
            asked += 1;
        }
        assert_eq!((asked, counts()), (30, vec![5, 1, 0, 1]));
        while begin(&client.authorize(&[])).await != 429 {}
        assert_eq!(counts(), [5, 1, 1, 1]);
        served.end().await;
    });
}

#[support::test]
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
