//! Authentication over HTTP: which requests are accepted, and the challenges for rejected requests (rule B28).

use std::net::SocketAddr;

use mcp_runtime::{
    Builder,
    auth::{Auth, Authorization, Denied, Jwt, ProtectedResource, StaticTokens, TokenVerifier},
    http::HeaderMap,
    prelude::*,
    testing::TestClient,
};
use serde::Deserialize;
use serde_json::json;
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{
    client::{Reply, Request, SOON, Session, initialize, message, plain_call, run, send},
    issuer::{AUDIENCE, Issuer, Key, Manner},
    logged::Logged,
    mounted::Application,
};

const METADATA: &str = "/.well-known/oauth-protected-resource";

#[derive(Deserialize)]
struct Claims {
    email: Option<String>,
}

/// Returns the caller, and whether the handler can see the token.
#[tool]
fn whoami(caller: Auth<Claims>, ctx: &Context, headers: &HeaderMap) -> String {
    assert_eq!(ctx.principal(), Some(caller.principal()));
    let email = caller.email.as_deref().unwrap_or("nowhere");
    let seen = ctx.headers().contains_key("authorization") || headers.contains_key("authorization");
    format!(
        "{} at {email}, write: {}, token: {seen}",
        caller.principal(),
        caller.has_scope("notes:write")
    )
}

/// Greets the caller.
#[tool]
fn greet(caller: Option<Auth>) -> String {
    format!("Hello, {}!", caller.as_ref().map_or("stranger", Auth::principal))
}

pub(crate) fn server() -> Builder {
    mcp_runtime::server!(name = "protected").items(items![whoami, greet])
}

/// Server with its own listener. It runs until `stop` or `end` is called.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Served {
    pub(crate) async fn start(builder: Builder) -> Self {
        let server = builder.bind_http("127.0.0.1:0").await.unwrap();
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            server.serve_until(async { drop(stopped.await) }).await.unwrap();
        });
        Self { address, stop, served }
    }

    /// Begins the stop. The returned task ends with the server, and panics if the server fails.
    pub(crate) fn stop(self) -> JoinHandle<()> {
        self.stop.send(()).unwrap();
        self.served
    }

    pub(crate) async fn end(self) {
        self.stop().await.unwrap();
    }
}

pub(crate) fn with(token: &str, request: Request) -> Request {
    request.header("Authorization", format!("Bearer {token}"))
}

pub(crate) fn call(tool: &str) -> Request {
    plain_call(1, tool, json!({}))
}

pub(crate) async fn ask(address: SocketAddr, token: &str) -> Reply {
    with(token, call("whoami")).ask(address).await
}

#[track_caller]
pub(crate) fn challenge(reply: &Reply) -> String {
    reply.head.get("www-authenticate").unwrap_or_else(|| panic!("no challenge: {reply:?}"))
}

/// Checks the status and message of a rejected request, and the `error` of its challenge. An empty `error` means that the challenge has no
/// `error`.
#[track_caller]
pub(crate) fn check_refused(reply: &Reply, status: u16, error: &str, says: &str, name: &str) {
    let text = reply.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(
        reply.status() == status && text.contains(says),
        "{name}: {status} {says}: {reply:?} {text}"
    );
    let challenge = challenge(reply);
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    assert_eq!(challenge.contains("error="), !error.is_empty(), "{name}: {challenge}");
    assert!(challenge.contains(error), "{name}: {challenge}");
}

#[support::test]
fn a_request_is_verified_before_anything_else() {
    run(async {
        let served = Served::start(server().auth(StaticTokens::new().token("a", "ada"))).await;
        let address = served.address;
        let post = |body: &str| Request::post(body);
        for request in [
            post("no JSON at all"),
            post("").header("Content-Type", "text/plain"),
            post("{}").header("Mcp-Session-Id", "0"),
            Request::get(),
            Request::new("DELETE", "/mcp"),
            Request::new("PUT", "/mcp"),
            initialize("2025-11-25"),
            plain_call(1, "no-such-tool", json!({})),
        ] {
            let reply = request.ask(address).await;
            check_refused(&reply, 401, "", "access token", "before anything else");
        }
        // The server answers without waiting for the body.
        let unfinished = Request::post("").chunked();
        let head = unfinished.bytes();
        let head = head.strip_suffix(b"0\r\n\r\n").expect("the end of the chunks");
        let mut connection = send(address, head).await;
        assert_eq!(connection.head(false, SOON).await.expect("an answer").status, 401);
        // The server checks the host and the origin before the token, because the messages of these errors say what to change.
        let evil = call("whoami").header("Origin", "http://evil.example").ask(address).await;
        assert_eq!(evil.status(), 403);
        let preflight = Request::new("OPTIONS", "/mcp").header("Origin", "http://localhost:1");
        assert_eq!(preflight.ask(address).await.status(), 204);
        for open in ["/healthz", "/readyz"] {
            assert_eq!(Request::new("GET", open).ask(address).await.status(), 200);
        }
        assert_eq!(ask(address, "b").await.status(), 401);
        assert_eq!(with("a", call("greet")).ask(address).await.text(), "Hello, ada!");
        // `StaticTokens` has no authorization server, so there is no metadata document.
        assert_eq!(Request::new("GET", METADATA).ask(address).await.status(), 404);
        assert!(!challenge(&call("greet").ask(address).await).contains("resource_metadata"));
        served.end().await;
    });
}

/// Checks the metadata document of the resource at each of these paths.
async fn check_metadata(address: SocketAddr, resource: &str, paths: &[&str], issuer: &str) {
    for path in paths {
        let request = Request::new("GET", path).header("Origin", "http://localhost:6274");
        let reply = request.ask(address).await;
        assert_eq!(reply.status(), 200, "{path}: {reply:?}");
        assert_eq!(reply.head.get("content-type").as_deref(), Some("application/json"));
        let origin = reply.head.get("access-control-allow-origin");
        assert_eq!(origin.as_deref(), Some("http://localhost:6274"));
        let expected = json!({
            "resource": resource,
            "authorization_servers": [issuer],
            "scopes_supported": ["notes:read", "notes:write"],
            "bearer_methods_supported": ["header"],
        });
        assert_eq!(reply.json(), expected);
        let head = Request::new("HEAD", path).send(address).await.head(true, SOON).await.unwrap();
        let length = head.get("content-length").unwrap();
        assert_eq!((head.status, length), (200, reply.body.len().to_string()));
        assert_eq!(Request::new("POST", path).ask(address).await.status(), 405);
        assert_eq!(Request::new("OPTIONS", path).ask(address).await.status(), 204);
    }
}

#[support::test]
fn clients_are_told_where_to_get_a_token() {
    run(async {
        let ed = Key::ed25519("d", 1);
        let issuer = Issuer::start(Manner::Good, &[&ed]).await;
        let protected = |resource: Option<&str>| {
            let protected = ProtectedResource::new(Jwt::new(&*issuer.url, "api://notes"))
                .scopes(["notes:write"])
                .require("notes:read");
            match resource {
                Some(resource) => protected.resource(resource),
                None => protected,
            }
        };
        // Without a configured resource, its URL is derived from the request.
        let served = Served::start(server().path("/a/mcp").auth(protected(None))).await;
        let own = format!("{METADATA}/a/mcp");
        check_metadata(served.address, "http://localhost/a/mcp", &[METADATA, &own], &issuer.url)
            .await;
        assert_eq!(
            Request::new("GET", &format!("{METADATA}/b")).ask(served.address).await.status(),
            404
        );
        let reply = call("whoami").to("/a/mcp").ask(served.address).await;
        let expected = format!(
            "Bearer resource_metadata=\"http://localhost{own}\", scope=\"notes:read notes:write\""
        );
        assert_eq!(challenge(&reply), expected);
        served.end().await;
        // A configured resource is used as it is.
        let served =
            Served::start(server().auth(protected(Some("https://api.example.com/n/mcp")))).await;
        let own = format!("{METADATA}/n/mcp");
        let paths = [METADATA, &own, &format!("{METADATA}/mcp")];
        check_metadata(served.address, "https://api.example.com/n/mcp", &paths, &issuer.url).await;
        let mut claims = issuer.claims();
        claims["aud"] = json!("api://notes");
        assert_eq!(ask(served.address, &ed.token(&claims)).await.status(), 200);
        claims["scope"] = json!("notes:write");
        let less = ask(served.address, &ed.token(&claims)).await;
        check_refused(&less, 403, "error=\"insufficient_scope\"", "notes:read", "too little");
        let said = challenge(&less);
        // The challenge names the scopes for the next token: the required scopes, and the scopes of the current token.
        let both = "scope=\"notes:read notes:write\"";
        assert!(said.contains(both) && said.contains(&own), "{said}");
        served.end().await;
        // Mounts two servers in one application.
        let mount = async |path: &str| {
            let resource = protected(Some(&format!("https://api.example.com{path}")));
            server().path(path).auth(resource).into_router().await.unwrap()
        };
        let application = Application::start(mount("/m").await.merge(mount("/n").await)).await;
        let own = format!("{METADATA}/m");
        check_metadata(application.address, "https://api.example.com/m", &[&own], &issuer.url)
            .await;
        assert_eq!(Request::new("GET", METADATA).ask(application.address).await.status(), 404);
        claims["scope"] = json!("notes:read");
        let reply = with(&ed.token(&claims), call("greet")).to("/m").ask(application.address).await;
        assert_eq!(reply.text(), "Hello, ada!");
        application.end().await;
        issuer.end().await;
    });
}

#[support::test]
fn a_session_is_usable_only_by_the_caller_that_began_it() {
    run(async {
        let tokens = StaticTokens::new().token("a", "ada").token("a2", "ada").token("g", "grace");
        let served = Served::start(server().legacy_sse(true).auth(tokens)).await;
        let address = served.address;
        let begun = with("a", initialize("2025-11-25")).ask(address).await;
        let id = begun.head.get("mcp-session-id").expect("a session");
        let session = Session { address, revision: "2025-11-25", id };
        let requests =
            || [session.post(&message(2, "ping", json!({}))), session.get(), session.delete()];
        for request in requests() {
            assert_eq!(request.clone().ask(address).await.status(), 401);
            assert_eq!(with("g", request).ask(address).await.status(), 404);
        }
        // The token of a session may change, but not the caller.
        let ping = with("a2", session.post(&message(2, "ping", json!({}))));
        assert_eq!(ping.ask(address).await.status(), 200);
        let open = with("a", Request::get().to("/sse")).open(address).await;
        let path =
            open.check_events().event().await.and_then(|event| event.data).expect("an address");
        let post = || initialize("2024-11-05").to(&format!("/{path}"));
        assert_eq!(post().ask(address).await.status(), 401);
        assert_eq!(with("g", post()).ask(address).await.status(), 404);
        assert_eq!(Request::get().to("/sse").ask(address).await.status(), 401);
        served.end().await;
    });
}

#[support::test]
fn callers_may_be_anonymous_if_the_server_allows_it() {
    run(async {
        let tokens = StaticTokens::new().token("a", "ada");
        let protected = ProtectedResource::new(tokens).optional();
        let served = Served::start(server().auth(protected)).await;
        let address = served.address;
        assert_eq!(call("greet").ask(address).await.text(), "Hello, stranger!");
        assert_eq!(with("a", call("greet")).ask(address).await.text(), "Hello, ada!");
        // A call with an unknown token is rejected, instead of being treated as an anonymous call.
        assert_eq!(with("b", call("greet")).ask(address).await.status(), 401);
        let basic = call("greet").header("Authorization", "Basic YTpi").ask(address).await;
        assert_eq!(basic.status(), 401);
        call("whoami").ask(address).await.check_error(200, -32600, "access token");
        served.end().await;
    });
}

#[support::test]
fn the_token_is_kept_only_where_the_author_asks_for_it() {
    run(async {
        let ada = || Authorization::new("ada").claims_json("{\"email\":\"a@b\"}");
        for (keep, expected) in [(false, "token: false"), (true, "token: true")] {
            let resource = ProtectedResource::new(StaticTokens::new().token("a", ada()));
            let resource = if keep { resource.keep_token() } else { resource };
            let served = Served::start(server().auth(resource)).await;
            let text = ask(served.address, "a").await.text();
            assert!(text.starts_with("ada at a@b") && text.ends_with(expected), "{text}");
            served.end().await;
        }
    });
}

/// Verifier that waits before it returns each result.
struct Slow;

impl TokenVerifier for Slow {
    async fn verify(&self, token: &str) -> Result<Authorization, Denied> {
        tokio::task::yield_now().await;
        match token {
            "ada" => Ok(Authorization::new("ada").claims(String::from("no claims"))),
            "nobody" => Ok(Authorization::new("")),
            "old" => Ok(Authorization::new("ada").expires(std::time::UNIX_EPOCH)),
            "broken" => panic!("as it was told"),
            "later" => Err(Denied::unavailable("the accounts cannot be read")),
            _ => Err(Denied::invalid("nobody has this one")),
        }
    }
}

#[support::test]
fn a_custom_verifier_may_be_slow_and_may_fail() {
    run(async {
        let served = Served::start(server().auth(Slow)).await;
        let address = served.address;
        assert_eq!(with("ada", call("greet")).ask(address).await.status(), 200);
        for token in ["nobody", "old", "else"] {
            let reply = ask(address, token).await;
            check_refused(&reply, 401, "error=\"invalid_token\"", "", token);
        }
        ask(address, "later").await.check_busy("the accounts cannot be read");
        ask(address, "broken").await.check_busy("cannot be verified now");
        // The handler of `whoami` expects claims of a different type. This is an error of the program, not of the caller.
        ask(address, "ada").await.check_error(200, -32603, "");
        served.end().await;
    });
}

#[support::test]
fn tokens_for_development_stay_on_this_machine() {
    run(async {
        let build = || server().auth(StaticTokens::new().token("a", "ada"));
        let refused = build().bind_http("0.0.0.0:0").await.unwrap_err().to_string();
        assert!(refused.contains("development") && refused.contains("127.0.0.1"), "{refused}");
        let mounted = build().into_service().await.unwrap_err().to_string();
        assert!(mounted.contains("`.token_from_env(…)`"), "{mounted}");
        let unset = server().auth(StaticTokens::new().token_from_env("UNSET_TOKEN", "ada"));
        let refused = unset.bind_http("127.0.0.1:0").await.unwrap_err().to_string();
        assert!(refused.contains("`UNSET_TOKEN` is not set"), "{refused}");
        // Each process has a PATH, but no client can send it.
        let unfit = server().auth(StaticTokens::new().token_from_env("PATH", "ada"));
        let refused = unfit.bind_http("127.0.0.1:0").await.unwrap_err().to_string();
        assert!(refused.contains("`PATH` has characters other than"), "{refused}");
    });
}

/// Settings of a server with one token.
#[config(env = "PROTECTED")]
struct Team {
    /// Access token of the team
    #[config(secret)]
    token: String,
    /// Name of the team
    team: String,
}

fn of_team(config: &Team) -> StaticTokens {
    StaticTokens::new().secret_token(&config.token, config.team.clone())
}

#[support::test]
fn a_token_can_come_from_the_settings() {
    run(async {
        let team = |token: &str| Team { token: token.into(), team: "crew".into() };
        let build = |token: &str| server().state(team(token)).auth_with(of_team);
        let served = Served::start(build("0123456789abcdef")).await;
        let reply = with("0123456789abcdef", call("greet")).ask(served.address).await;
        assert!(reply.text().contains("Hello, crew!"), "{}", reply.text());
        let reply = ask(served.address, "0123456789abcdeF").await;
        check_refused(&reply, 401, "error=\"invalid_token\"", "", "wrong");
        served.end().await;
        build("0123456789abcdef").bind_http("0.0.0.0:0").await.expect("any address");
        let short = build("0123456789abcde").bind_http("127.0.0.1:0").await.unwrap_err();
        assert!(short.to_string().contains("the token of `crew` has fewer than 16"), "{short}");

        // Stdio needs neither value.
        let bare = || server().auth_with(of_team);
        let mut client = TestClient::connect(bare()).await.expect("it starts");
        assert_eq!(client.call("greet", json!({})).await.unwrap().text(), "Hello, stranger!");
        for refused in [
            bare().bind_http("127.0.0.1:0").await.unwrap_err().to_string(),
            bare().into_service().await.unwrap_err().to_string(),
            bare().into_router().await.unwrap_err().to_string(),
        ] {
            assert!(refused.contains("the configuration has 2 problems:\n- "), "{refused}");
            assert!(refused.contains("PROTECTED_TOKEN"), "{refused}");
            assert!(refused.contains("PROTECTED_TEAM"), "{refused}");
        }
    });
}

#[support::test]
fn a_second_verifier_is_refused_with_its_place() {
    let tokens = || StaticTokens::new().token("a", "ada");
    let team = || Team { token: "0123456789abcdef".into(), team: "crew".into() };
    let server = || server().state(team());
    let first = line!() + 2;
    let twice = [
        server().auth(tokens()).auth_with(of_team),
        server().auth_with(of_team).auth(tokens()),
        server().auth_with(of_team).auth_with(of_team),
    ];
    for (line, twice) in (first..).zip(twice) {
        let said = twice.build().unwrap_err().to_string();
        let place = format!(
            "`.auth_with(…)` at tests/faults/authorization.rs:{line}: a verifier is already set"
        );
        assert!(said.contains(&place), "{place}: {said}");
    }
}

/// Settings with an option that every server has.
#[config(env = "PROTECTED_CLASH")]
struct Clash {
    /// Token, and the path of the endpoint by mistake
    #[config(name = "path")]
    token: Option<String>,
}

#[support::test]
fn settings_that_cannot_reach_the_verifier_are_refused_when_the_server_is_built() {
    let team = || Team { token: "0123456789abcdef".into(), team: "crew".into() };
    let late = server().setup(async move || Ok::<_, Error>(team())).auth_with(of_team);
    let said = late.build().unwrap_err().to_string();
    assert!(said.contains("makes `faults::authorization::Team`, which is too late"), "{said}");
    assert!(said.contains("pass it with `.state(…)`"), "{said}");
    let clash = server().auth_with(|clash: &Clash| {
        StaticTokens::new().token(clash.token.as_deref().unwrap_or("a"), "ada")
    });
    let said = clash.build().unwrap_err().to_string();
    assert!(said.contains("has the option `--path`, which every server has"), "{said}");
}

#[support::test]
fn an_invalid_auth_setting_is_reported_when_the_server_is_built() {
    for (resource, says) in [
        (ProtectedResource::new(Jwt::new("http://login.example", AUDIENCE)), "not https"),
        (ProtectedResource::new(Jwt::new("login.example", AUDIENCE)), "`login.example`"),
        (ProtectedResource::new(Jwt::new("https://a.example", "")), "audience is empty"),
        (ProtectedResource::new(Jwt::new("https://a.example", "x").id_tokens()), "an ID token"),
        (ProtectedResource::new(Jwt::new("https://a.example", "x").algorithms([])), "algorithm"),
        (
            ProtectedResource::new(
                Jwt::new("https://a.example", "x").jwks_uri("http://a.example/k"),
            ),
            "TLS",
        ),
        (
            ProtectedResource::new(Jwt::new("https://a.example", "x")).scopes(["offline_access"]),
            "offline_access",
        ),
    ] {
        let problem = server().auth(resource).build().unwrap_err().to_string();
        assert!(problem.contains(".auth(…)") && problem.contains(says), "{problem}");
        assert!(problem.contains("authorization.rs:"), "{problem}");
    }
    let twice = server().auth(Slow).auth(Slow).build().unwrap_err().to_string();
    assert!(twice.contains("already set"), "{twice}");
}

#[support::test]
fn no_token_gets_into_a_log() {
    let logged = Logged::start();
    run(async {
        let key = Key::ed25519("1", 1);
        let issuer = Issuer::start(Manner::Good, &[&key]).await;
        let served = Served::start(server().auth(Jwt::new(&*issuer.url, AUDIENCE))).await;
        let (good, bad) =
            (key.token(&issuer.claims()), Key::ed25519("1", 2).token(&issuer.claims()));
        assert_eq!(ask(served.address, &good).await.status(), 200);
        assert_eq!(ask(served.address, &bad).await.status(), 401);
        let query = call("whoami").to(&format!("/mcp?access_token={good}"));
        assert_eq!(query.ask(served.address).await.status(), 400);
        served.end().await;
        issuer.end().await;
        let text = logged.text();
        assert!(text.contains("not signed with a key"), "refusals are logged: {text}");
        for token in [good, bad] {
            for part in token.split('.') {
                assert!(!text.contains(part), "{part} is in the log");
            }
        }
    });
}
