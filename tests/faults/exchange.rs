//! Codes and tokens of the authorization server: their use, their clients and their lifetimes.

use std::time::Duration;

use axum::Router;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use mcp_runtime::{
    auth::{ProtectedResource, StaticTokens},
    prelude::*,
    store::SqliteStore,
};
use mcp_runtime_authorization_server::AuthorizationServer;
use serde_json::json;
use support::clock::jump;

use crate::{
    authorization::Served,
    authorization_server::{authorization_server, server, whoami_with},
    browser::{Browser, Client, Fields, Tokens, VERIFIER, register, registration, text},
    client::{Reply, Request, run},
    mounted::Application,
};

#[track_caller]
fn check_refused(reply: &Reply, status: u16, error: &str, name: &str) {
    assert_eq!(
        (reply.status(), &reply.json()["error"]),
        (status, &json!(error)),
        "{name}: {reply:?}"
    );
    assert_eq!(reply.head.get("cache-control").as_deref(), Some("no-store"), "{name}");
}

async fn passes(client: &Client, token: &str) -> bool {
    let said = whoami_with(client.address, token).await;
    assert!(matches!(said.status(), 200 | 401), "{said:?}");
    said.status() == 200
}

/// Lets the clock jump by this many seconds.
async fn wait(seconds: u64) {
    jump(Duration::from_secs(seconds)).await;
}

/// Like [`run`], but without a deadline, for tests in which the clock jumps far.
fn run_long(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(test);
}

#[support::test]
fn a_code_is_exchanged_only_for_the_client_that_asked_for_it() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let other = Client::register(served.address).await;
        let table: &[(Fields<'_>, u16, &str)] = &[
            (&[("code_verifier", "")], 400, "invalid_request"),
            (
                &[("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl")],
                400,
                "invalid_grant",
            ),
            (&[("code_verifier", VERIFIER), ("code_verifier", VERIFIER)], 400, "invalid_request"),
            (&[("redirect_uri", "http://127.0.0.1:4712/callback")], 400, "invalid_grant"),
            (&[("client_id", &other.id)], 400, "invalid_grant"),
            (&[("client_id", "unknown")], 401, "invalid_client"),
            (&[("client_id", "")], 400, "invalid_request"),
            (&[("client_secret", "guessed")], 401, "invalid_client"),
            (&[("resource", "https://other.example/mcp")], 400, "invalid_target"),
            (&[("code", "")], 400, "invalid_request"),
            (&[("code", "unknown")], 400, "invalid_grant"),
            (&[("grant_type", "password")], 400, "unsupported_grant_type"),
            (&[("grant_type", "")], 400, "invalid_request"),
        ];
        for (wrong, status, error) in table {
            let code = Browser::new(&client).allow("ada", &client.authorize(&[])).await.code();
            let refused = client.exchange(&code, wrong).await;
            check_refused(&refused, *status, error, &format!("{wrong:?}"));
        }
        // A code is invalid after its first use, even if that use was rejected.
        let code = Browser::new(&client).allow("ada", &client.authorize(&[])).await.code();
        check_refused(&other.exchange(&code, &[]).await, 400, "invalid_grant", "foreign");
        check_refused(&client.exchange(&code, &[]).await, 400, "invalid_grant", "own, too late");
        // A client of OAuth 2.1 does not repeat the redirect URI.
        let code = Browser::new(&client).allow("ada", &client.authorize(&[])).await.code();
        Tokens::of(&client.exchange(&code, &[("redirect_uri", "")]).await);

        let id = client.id.clone();
        let body = format!("grant_type=authorization_code&client_id={id}");
        let json = Request::sending("/token", "application/json", body).ask(client.address).await;
        check_refused(&json, 400, "invalid_request", "no form");
        for path in ["/token", "/register", "/revoke"] {
            let got = Request::new("GET", path).ask(client.address).await;
            assert_eq!((got.status(), got.head.get("allow")), (405, Some("POST".into())), "{path}");
        }
        served.end().await;
    });
}

#[support::test]
fn a_code_that_is_used_twice_takes_back_what_it_gave() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let code = Browser::new(&client).allow("ada", &client.authorize(&[])).await.code();
        let tokens = Tokens::of(&client.exchange(&code, &[]).await);
        let others = client.log_in("ada").await;
        assert!(passes(&client, &tokens.access).await);
        check_refused(&client.exchange(&code, &[]).await, 400, "invalid_grant", "twice");
        assert!(!passes(&client, &tokens.access).await);
        check_refused(&client.refresh(&tokens.refresh).await, 400, "invalid_grant", "refresh");
        assert!(passes(&client, &others.access).await);
        served.end().await;
    });
}

#[support::test]
fn a_refresh_token_that_is_used_twice_ends_the_grant() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let first = client.log_in("ada").await;
        let second = Tokens::of(&client.refresh(&first.refresh).await);
        assert!(second.refresh != first.refresh && second.access != first.access);
        assert!(passes(&client, &second.access).await);
        // A client whose response was lost, or that refreshes for several calls at once, gets the same tokens again.
        let again = Tokens::of(&client.refresh(&first.refresh).await);
        assert_eq!((&again.access, &again.refresh), (&second.access, &second.refresh));
        wait(11).await;
        check_refused(&client.refresh(&first.refresh).await, 400, "invalid_grant", "twice");
        for tokens in [&first, &second] {
            assert!(!passes(&client, &tokens.access).await);
            check_refused(&client.refresh(&tokens.refresh).await, 400, "invalid_grant", "ended");
        }
        let second = client.log_in("ada").await;
        // Only the client that received a refresh token can use it.
        let other = Client::register(served.address).await;
        check_refused(&other.refresh(&second.refresh).await, 400, "invalid_grant", "foreign");
        // A refresh token is not accepted as an access token.
        assert!(!passes(&client, &second.refresh).await);
        served.end().await;
    });
}

#[support::test]
fn pages_codes_tokens_and_unused_clients_expire() {
    run_long(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let mut browser = Browser::new(&client);
        let page = crate::browser::Page::of(&browser.open(&client.authorize(&[])).await);
        wait(10 * 60 + 1).await;
        assert_eq!(browser.log_in(&page, "ada", "right").await.status(), 403);

        let code = Browser::new(&client).allow("ada", &client.authorize(&[])).await.code();
        wait(61).await;
        check_refused(&client.exchange(&code, &[]).await, 400, "invalid_grant", "old code");

        let tokens = client.log_in("ada").await;
        // `offline_access` is not one of the scopes that a user grants, so this request does not narrow the scopes of the new tokens.
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", &*tokens.refresh),
            ("client_id", &*client.id),
            ("scope", "offline_access"),
        ];
        let tokens = Tokens::of(&client.token(&fields).await);
        assert_eq!(tokens.scope, "notes:read notes:write");
        wait(59 * 60).await;
        assert!(passes(&client, &tokens.access).await);
        wait(61).await;
        assert!(!passes(&client, &tokens.access).await);
        wait(29 * 24 * 60 * 60).await;
        let tokens = Tokens::of(&client.refresh(&tokens.refresh).await);
        assert!(passes(&client, &tokens.access).await);
        wait(30 * 24 * 60 * 60 + 1).await;
        check_refused(&client.refresh(&tokens.refresh).await, 400, "invalid_grant", "idle");
        // A client that has been used stays registered longer than an unused client.
        let unused = Client::register(served.address).await;
        wait(8 * 24 * 60 * 60).await;
        assert_eq!(Browser::new(&unused).open(&unused.authorize(&[])).await.status(), 400);
        assert_eq!(Browser::new(&client).open(&client.authorize(&[])).await.status(), 200);
        served.end().await;
    });
}

#[support::test]
fn clients_with_a_secret_must_present_it() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        for method in ["client_secret_basic", "client_secret_post"] {
            let mut said = registration();
            said["token_endpoint_auth_method"] = json!(method);
            said.as_object_mut().unwrap().remove("grant_types");
            let said = register(served.address, &said).await.json();
            assert_eq!(
                (&said["client_secret_expires_at"], &said["token_endpoint_auth_method"]),
                (&json!(0), &json!(method))
            );
            let get = |name: &str| said[name].as_str().unwrap().to_owned();
            let (id, secret) = (get("client_id"), get("client_secret"));
            let client = Client { id: id.clone(), ..Client::register(served.address).await };
            let code =
                async || Browser::new(&client).allow("ada", &client.authorize(&[])).await.code();
            for wrong in ["", "wrong"] {
                let refused = client.exchange(&code().await, &[("client_secret", wrong)]).await;
                check_refused(&refused, 401, "invalid_client", wrong);
            }
            let posted = client.exchange(&code().await, &[("client_secret", &secret)]).await;
            // A client that has not registered for refresh tokens gets no refresh token.
            assert_eq!(Tokens::of(&posted).refresh, "");
            let basic = async |secret: &str, body: String| {
                let header = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
                let form = "application/x-www-form-urlencoded";
                let request =
                    Request::sending("/token", form, body).header("Authorization", header);
                request.ask(client.address).await
            };
            let body = async |more: &str| {
                format!(
                    "grant_type=authorization_code&code={}&code_verifier={VERIFIER}{more}",
                    code().await
                )
            };
            Tokens::of(&basic(&secret, body("").await).await);
            let refused = basic("wrong", body("").await).await;
            check_refused(&refused, 401, "invalid_client", "basic");
            assert!(refused.head.get("www-authenticate").unwrap().starts_with("Basic"));
            let twice = basic(&secret, body(&format!("&client_secret={secret}")).await).await;
            check_refused(&twice, 400, "invalid_request", "in two ways");
        }
        served.end().await;
    });
}

#[support::test]
fn clients_can_revoke_their_own_tokens() {
    run(async {
        let served = Served::start(server(authorization_server())).await;
        let client = Client::register(served.address).await;
        let other = Client::register(served.address).await;
        let tokens = client.log_in("ada").await;
        let revoke = async |client: &Client, token: &str| {
            let fields = [("token", token), ("client_id", &*client.id), ("token_type_hint", "x")];
            client.post("/revoke", &fields).await.status()
        };
        assert_eq!(revoke(&other, &tokens.refresh).await, 200);
        assert_eq!(revoke(&client, "unknown").await, 200);
        assert!(passes(&client, &tokens.access).await);
        assert_eq!(revoke(&client, &tokens.access).await, 200);
        assert!(!passes(&client, &tokens.access).await);
        let tokens = Tokens::of(&client.refresh(&tokens.refresh).await);
        assert_eq!(revoke(&client, &tokens.refresh).await, 200);
        assert!(!passes(&client, &tokens.access).await);
        check_refused(&client.refresh(&tokens.refresh).await, 400, "invalid_grant", "revoked");
        let unknown = [("token", "x"), ("client_id", "unknown")];
        check_refused(&client.post("/revoke", &unknown).await, 401, "invalid_client", "unknown");
        served.end().await;
    });
}

#[support::test]
fn tokens_are_for_one_server() {
    run(async {
        let first = Served::start(server(authorization_server())).await;
        let second = Served::start(server(authorization_server())).await;
        let client = Client::register(first.address).await;
        let tokens = client.log_in("ada").await;
        assert!(passes(&client, &tokens.access).await);
        let elsewhere = Client { address: second.address, ..client.clone() };
        assert!(!passes(&elsewhere, &tokens.access).await);
        check_refused(
            &elsewhere.refresh(&tokens.refresh).await,
            401,
            "invalid_client",
            "elsewhere",
        );
        first.end().await;
        second.end().await;
    });
}

#[support::test]
fn pages_of_allowed_origins_may_request_tokens_but_not_a_login() {
    run(async {
        let own = server(authorization_server()).allow_origin("https://app.example");
        let served = Served::start(own).await;
        let ask = async |method: &'static str, path: &str, origin: &str| {
            let request = Request::new(method, path).header("Origin", origin);
            let request = request.header("Access-Control-Request-Headers", "content-type");
            request.ask(served.address).await
        };
        let allowed = |reply: &Reply| reply.head.get("access-control-allow-origin");
        for path in ["/.well-known/oauth-authorization-server", "/token", "/register", "/revoke"] {
            let preflight = ask("OPTIONS", path, "https://app.example").await;
            assert_eq!(
                (preflight.status(), allowed(&preflight)),
                (204, Some("https://app.example".into()))
            );
            assert_eq!(ask("OPTIONS", path, "https://evil.example").await.status(), 403, "{path}");
        }
        for method in ["OPTIONS", "GET"] {
            let reply = ask(method, "/authorize", "https://app.example").await;
            assert_eq!(allowed(&reply), None, "{method}");
        }
        // DNS rebinding: the host name of another site resolves to this machine.
        let metadata = "/.well-known/oauth-authorization-server";
        for path in [metadata, "/authorize", "/token"] {
            let rebound = Request::new("GET", path).host("evil.example").ask(served.address).await;
            assert_eq!(rebound.status(), 403, "{path}");
        }
        served.end().await;
    });
}

#[support::test]
fn a_server_that_others_can_reach_says_what_it_is_called() {
    run(async {
        let start = async |own: AuthorizationServer, address: &str| {
            server(own).bind_http(address).await.map(drop).map_err(|error| error.to_string())
        };
        let nameless = start(authorization_server(), "0.0.0.0:0").await.unwrap_err();
        assert!(nameless.contains(".issuer("), "{nameless}");
        start(authorization_server().issuer("https://notes.example.com"), "0.0.0.0:0")
            .await
            .unwrap();
        let plain = authorization_server().issuer("http://localhost:8080");
        let plain = start(plain, "0.0.0.0:0").await.unwrap_err();
        assert!(plain.contains(".issuer(\"https://"), "{plain}");
        start(authorization_server().issuer("http://localhost:8080"), "127.0.0.1:0").await.unwrap();
        let mounted = server(authorization_server()).into_router().await.unwrap_err().to_string();
        assert!(mounted.contains(".issuer("), "{mounted}");
        for wrong in [
            "http://notes.example.com",
            "https://notes.example.com/",
            "notes.example.com",
            "https://a.example?x",
        ] {
            let problem =
                start(authorization_server().issuer(wrong), "127.0.0.1:0").await.unwrap_err();
            assert!(problem.contains("issuer"), "{wrong}: {problem}");
        }
        let twice = authorization_server().scope("notes:read", "again");
        assert!(start(twice, "127.0.0.1:0").await.unwrap_err().contains("twice"));
        let needs = server(ProtectedResource::new(authorization_server()).require("admin"));
        let problem = needs.bind_http("127.0.0.1:0").await.unwrap_err().to_string();
        assert!(problem.contains(".scope(\"admin\""), "{problem}");
        let implied = ProtectedResource::new(authorization_server())
            .implies("notes:write", ["admin"])
            .require("admin");
        server(implied).bind_http("127.0.0.1:0").await.unwrap();
        let private = authorization_server().allow_redirect("https://a.example/");
        assert!(start(private, "127.0.0.1:0").await.unwrap_err().contains("private scheme"));
    });
}

/// Deletes a note.
#[tool(group = "not offered", scopes("notes:delete"))]
fn delete() {}

/// Reads a note.
#[tool(group = "not offered", scopes("notes:raed"))]
fn misspelt() {}

#[support::test]
fn a_scope_of_an_item_that_no_login_can_grant_is_reported_when_the_server_is_built() {
    let build = |resource: ProtectedResource| {
        let server = mcp_runtime::server!(group = "not offered");
        server.auth(resource).build().map(drop).map_err(|error| error.to_string())
    };
    let problems = build(authorization_server().into()).unwrap_err();
    let place = |name: &str| format!("the tool `{name}` at tests/faults/exchange.rs:");
    for says in [
        &*place("delete"),
        " needs the scope `notes:delete`, which the `AuthorizationServer` does not offer: add it with `.scope(\"notes:delete\", \"…\")`",
        &*place("misspelt"),
        " needs the scope `notes:raed`, which the `AuthorizationServer` does not offer: did you mean `notes:read`? Otherwise add it with `.scope(\"notes:raed\", \"…\")`",
    ] {
        assert!(problems.contains(says), "{says}: {problems}");
    }
    let implied = ProtectedResource::new(authorization_server())
        .implies("notes:write", ["notes:delete", "notes:raed"]);
    build(implied).unwrap();
    let offered =
        authorization_server().scope("notes:delete", "Delete").scope("notes:raed", "Read");
    build(offered.into()).unwrap();
    // Tokens of another issuer may grant any scope.
    build(StaticTokens::new().token("a", "ada").into()).unwrap();
}

#[support::test]
fn behind_a_proxy_all_urls_use_the_configured_name() {
    run(async {
        let own = authorization_server().issuer("https://notes.example.com/app");
        let router: Router =
            server(ProtectedResource::new(own).require("notes:read")).into_router().await.unwrap();
        let application = Application::start(router).await;
        let address = application.address;
        let get = async |path: &str| {
            Request::new("GET", path).host("notes.example.com").ask(address).await
        };
        let metadata = get("/.well-known/oauth-authorization-server/app").await.json();
        assert_eq!(metadata["issuer"], "https://notes.example.com/app");
        assert_eq!(metadata["token_endpoint"], "https://notes.example.com/app/token");
        assert_eq!(get("/.well-known/oauth-authorization-server").await.status(), 404);
        let resource = get("/.well-known/oauth-protected-resource/mcp").await.json();
        assert_eq!(resource["resource"], "https://notes.example.com/app/mcp");
        assert_eq!(resource["authorization_servers"], json!(["https://notes.example.com/app"]));

        let said =
            Request::sending("/app/register", "application/json", registration().to_string());
        let id = said.ask(address).await.json()["client_id"].as_str().unwrap().to_owned();
        let client = Client { address, host: "notes.example.com".into(), id };
        let path = client.authorize(&[("resource", "https://notes.example.com/app/mcp")]);
        let mut browser = Browser::new(&client);
        let login = browser.open(&format!("/app{path}")).await;
        let cookie = login.head.get("set-cookie").unwrap();
        assert!(cookie.starts_with("__Host-") && cookie.ends_with("; Secure"), "{cookie}");
        assert_eq!(login.status(), 200, "{}", text(&login));
        application.end().await;

        // If the resource is configured, tokens are issued for that URL.
        let own =
            ProtectedResource::new(authorization_server().issuer("https://notes.example.com"));
        let resource = "https://api.example.com/notes";
        let router = server(own.resource(resource)).into_router().await.unwrap();
        let application = Application::start(router).await;
        let client = Client::register(application.address).await;
        let mut browser = Browser { origin: None, ..Browser::new(&client) };
        let asked = [("resource", resource)];
        let code = browser.allow("ada", &client.authorize(&asked)).await.code();
        let tokens = Tokens::of(&client.exchange(&code, &asked).await);
        assert!(passes(&client, &tokens.access).await);
        application.end().await;
    });
}

#[support::test]
fn logins_survive_a_restart() {
    run(async {
        let folder = std::env::temp_dir().join(format!("mcp-logins-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let start = async || {
            let store = SqliteStore::new(folder.join("one.db"));
            Served::start(server(authorization_server()).store(store)).await
        };
        let served = start().await;
        let client = Client::register(served.address).await;
        let (kept, ended) = (client.log_in("ada").await, client.log_in("bob").await);
        let moved = Tokens::of(&client.refresh(&kept.refresh).await);
        client.post("/revoke", &[("token", &ended.refresh), ("client_id", &client.id)]).await;
        served.end().await;

        let bytes = std::fs::read(folder.join("one.db")).unwrap();
        for secret in [&kept.access, &moved.access, &moved.refresh] {
            let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!is_there, "a token is in the file");
        }

        let served = start().await;
        let client = Client { address: served.address, ..client };
        for token in [&kept.access, &moved.access] {
            let said = whoami_with(client.address, token).await;
            assert_eq!(said.text(), "ada (free): notes:read notes:write");
        }
        assert!(!passes(&client, &ended.access).await);
        let tokens = Tokens::of(&client.refresh(&moved.refresh).await);
        // A refresh token that was used before the restart stays used.
        check_refused(&client.refresh(&kept.refresh).await, 400, "invalid_grant", "reuse");
        assert!(!passes(&client, &tokens.access).await);
        // The client is still registered.
        let again = client.log_in("ada").await;
        assert!(passes(&client, &again.access).await);
        served.end().await;
        std::fs::remove_dir_all(&folder).unwrap();
    });
}

#[support::test]
fn a_refresh_whose_answer_was_lost_works_after_a_restart() {
    run(async {
        let folder = std::env::temp_dir().join(format!("mcp-refresh-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let start = async || {
            let store = SqliteStore::new(folder.join("one.db"));
            Served::start(server(authorization_server()).store(store)).await
        };
        let served = start().await;
        let client = Client::register(served.address).await;
        let tokens = client.log_in("ada").await;
        let lost = Tokens::of(&client.refresh(&tokens.refresh).await);
        served.end().await;

        let served = start().await;
        let client = Client { address: served.address, ..client };
        let found = Tokens::of(&client.refresh(&tokens.refresh).await);
        assert!(passes(&client, &found.access).await);
        let next = Tokens::of(&client.refresh(&found.refresh).await);
        assert!(passes(&client, &next.access).await);
        // The lost refresh token has been replaced. If it is used after that, two parties have tokens of the grant, so the server ends the
        // grant.
        check_refused(&client.refresh(&lost.refresh).await, 400, "invalid_grant", "lost");
        assert!(!passes(&client, &next.access).await);
        served.end().await;
        std::fs::remove_dir_all(&folder).unwrap();
    });
}
