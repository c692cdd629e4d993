//! Two nodes of a server with logins on one `redis-server`: races for codes and tokens, and a Redis that is unavailable or has lost its
//! data.

use std::{net::SocketAddr, time::Duration};

use mcp_runtime::prelude::*;
use mcp_runtime_authorization_server::{AuthorizationServer, LoginPage, LoginRequest, User};
use mcp_runtime_redis::Redis;
use serde_json::{Value, json};
use support::{
    clock::{LIMIT, eventually},
    http::{connection::Connection, head::Head},
    redis::RedisServer,
    requirement::needs,
};
use tokio::task::JoinHandle;

use crate::patient;

/// Verifier of the challenge below (RFC 7636, appendix B).
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const ROUNDS: usize = 1000;

/// Accepts every name.
async fn login(request: LoginRequest) -> Result<User, LoginPage> {
    Ok(User::new(request.name()))
}

/// Node that runs until it is dropped.
struct Node {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Node {
    async fn start(store: Redis) -> Self {
        let server = mcp_runtime::server!()
            .items(items![])
            .auth(AuthorizationServer::new(login))
            .trust_proxy("127.0.0.1")
            .store(store);
        let server = server.bind_http("127.0.0.1:0").await.unwrap();
        let address = server.local_addr();
        let serving = tokio::spawn(async move {
            let _ = server.serve_until(std::future::pending::<()>()).await;
        });
        Self { address, serving }
    }

    async fn ask(&self, request: &str) -> (Head, String) {
        let mut connection = Connection::open(self.address).await.unwrap();
        connection.send(request.as_bytes(), LIMIT).await.unwrap();
        let head = connection.head(false, LIMIT).await.unwrap();
        let body = connection.body(LIMIT).await.unwrap();
        (head, String::from_utf8(body).unwrap())
    }

    async fn post(&self, path: &str, headers: &str, body: &str) -> (Head, String) {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        self.ask(&request).await
    }

    async fn form(&self, path: &str, headers: &str, body: &str) -> (Head, String) {
        let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
        self.post(path, &format!("{kind}{headers}"), body).await
    }

    async fn register(&self) -> String {
        let metadata = json!({
            "redirect_uris": ["http://127.0.0.1:4711/"],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none",
        });
        let (_, body) = self
            .post("/register", "Content-Type: application/json\r\n", &metadata.to_string())
            .await;
        field(&body, "client_id")
    }

    /// Exchanges a code or a refresh token. Returns the tokens, or the error.
    async fn token(&self, client: &str, fields: &str) -> Result<[String; 2], String> {
        let body = format!("client_id={client}&code_verifier={VERIFIER}&{fields}");
        let (head, body) = self.form("/token", "", &body).await;
        match head.status {
            200 => Ok(["access_token", "refresh_token"].map(|name| field(&body, name))),
            _ => {
                support::note!("{body}");
                Err(field(&body, "error"))
            }
        }
    }

    async fn exchange(&self, client: &str, code: &str) -> Result<[String; 2], String> {
        self.token(client, &format!("grant_type=authorization_code&code={code}")).await
    }

    async fn refresh(&self, client: &str, token: &str) -> Result<[String; 2], String> {
        self.token(client, &format!("grant_type=refresh_token&refresh_token={token}")).await
    }

    /// Returns the status of a request with this access token.
    async fn call(&self, token: &str) -> u16 {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
        let headers = format!(
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer {token}\r\n"
        );
        let status = self.post("/mcp", &headers, &ping).await.0.status;
        // A request without a session is refused after its token was accepted.
        if matches!(status, 401 | 503) { status } else { 200 }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn field(json: &str, name: &str) -> String {
    let value: Value = serde_json::from_str(json).unwrap_or_else(|_| panic!("no JSON: {json}"));
    value[name].as_str().unwrap_or_else(|| panic!("no {name}: {json}")).to_owned()
}

fn between<'a>(text: &'a str, before: &str, after: char) -> &'a str {
    let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("no {before}: {text}"));
    rest.split(after).next().unwrap_or_default()
}

/// Login that a user has opened and not finished.
struct Login {
    number: usize,
    headers: String,
    page: String,
}

impl Login {
    /// Opens the page at a node. Each user has an address, whose limits are its own.
    async fn open(node: &Node, client: &str, number: usize) -> Self {
        let address = format!("X-Forwarded-For: 10.0.{}.{}\r\n", number / 200, number % 200 + 1);
        let query = format!(
            "response_type=code&client_id={client}&code_challenge={CHALLENGE}&code_challenge_method=S256"
        );
        let open = format!("GET /authorize?{query} HTTP/1.1\r\nHost: localhost\r\n{address}\r\n");
        let (head, page) = node.ask(&open).await;
        let cookie = head.get("set-cookie").unwrap_or_else(|| panic!("no cookie: {page}"));
        let cookie = cookie.split(';').next().unwrap_or_default();
        Self { number, headers: format!("{address}Cookie: {cookie}\r\n"), page }
    }

    /// Logs the user in, each step at the next of the nodes, and returns the code.
    async fn finish(self, nodes: [&Node; 2]) -> String {
        let Self { number, headers, page } = self;
        let hidden = |page: &str, name: &str| {
            format!("{name}={}", between(page, &format!("name=\"{name}\" value=\""), '"'))
        };
        let form = |page: &str| format!("{}&{}", hidden(page, "pending"), hidden(page, "ticket"));
        let entered = format!("{}&name=user{number}&action=login", form(&page));
        let (_, consent) = nodes[0].form("/authorize", &headers, &entered).await;
        let agreed = format!("{}&action=allow", form(&consent));
        let (head, body) = nodes[1].form("/authorize", &headers, &agreed).await;
        let location = head.get("location").unwrap_or_else(|| panic!("no redirect: {body}"));
        between(&location, "code=", '&').to_owned()
    }
}

/// Logs a user in at `nodes`, each step at the next of them, and returns the code.
async fn code(nodes: &[Node; 2], client: &str, number: usize) -> String {
    let [a, b] = nodes;
    Login::open(a, client, number).await.finish([b, a]).await
}

async fn nodes(redis: &RedisServer) -> [Node; 2] {
    [Node::start(patient(redis)).await, Node::start(patient(redis)).await]
}

#[support::test]
async fn one_of_two_nodes_exchanges_a_code() {
    let redis = needs(RedisServer::start(&[]));
    let nodes = nodes(&redis).await;
    let [a, b] = &nodes;
    let client = a.register().await;
    for number in 0..ROUNDS {
        let code = code(&nodes, &client, number).await;
        let (one, other) = tokio::join!(a.exchange(&client, &code), b.exchange(&client, &code));
        let results = [one, other];
        // If the second request comes before the first one has its tokens, neither gets any.
        assert!(results.iter().any(Result::is_err), "both nodes have exchanged a code");
        for result in &results {
            match result {
                // The second use of the code ends the grant of the first use.
                Ok([_, refresh]) => {
                    let refreshed = b.refresh(&client, refresh).await;
                    assert_eq!(refreshed.unwrap_err(), "invalid_grant");
                }
                Err(error) => assert_eq!(error, "invalid_grant"),
            }
        }
        // The first use of the code succeeds.
        if number % 100 == 0 {
            let code = self::code(&nodes, &client, ROUNDS + number).await;
            assert_eq!(b.call(&a.exchange(&client, &code).await.unwrap()[0]).await, 200);
        }
    }
}

#[support::test]
async fn a_refresh_token_that_two_nodes_exchange_at_once_is_exchanged_once() {
    let redis = needs(RedisServer::start(&[]));
    let nodes = nodes(&redis).await;
    let [a, b] = &nodes;
    let client = a.register().await;
    let code = code(&nodes, &client, 0).await;
    let mut tokens = a.exchange(&client, &code).await.unwrap();
    for _ in 0..ROUNDS {
        let token = &tokens[1];
        let (one, other) = tokio::join!(a.refresh(&client, token), b.refresh(&client, token));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_eq!(one, other, "a refresh token was exchanged twice");
        assert_ne!(one, tokens);
        tokens = one;
    }
    for node in [a, b] {
        assert_eq!(node.call(&tokens[0]).await, 200);
    }
    let keys = redis.cli(&["--scan"]);
    assert!(keys.lines().count() > 1, "{keys}");
    for key in keys.lines() {
        // Redis answers -1 for a key that does not expire, and -2 for a key that has expired since the scan.
        let left: i64 = redis.cli(&["PTTL", key]).trim().parse().unwrap();
        assert_ne!(left, -1, "{key} does not expire");
    }
}

#[support::test]
async fn logins_end_with_the_data_of_redis_and_begin_again() {
    let mut redis = needs(RedisServer::start(&[]));
    let store = || Redis::new(redis.url()).deadline(Duration::from_secs(5));
    let nodes = [Node::start(store()).await, Node::start(store()).await];
    let [a, b] = &nodes;
    let client = a.register().await;
    let tokens = a.exchange(&client, &code(&nodes, &client, 0).await).await.unwrap();
    assert_eq!(b.call(&tokens[0]).await, 200);
    redis.stop();
    let is_away = async || (b.call(&tokens[0]).await == 503).then_some(());
    eventually("the node notices that Redis is away", is_away).await;
    assert_eq!(a.refresh(&client, &tokens[1]).await.unwrap_err(), "temporarily_unavailable");
    redis.restart();
    let is_over = async || (b.call(&tokens[0]).await == 401).then_some(());
    eventually("the token is unknown", is_over).await;
    let is_back = async || {
        (a.refresh(&client, &tokens[1]).await.unwrap_err() == "invalid_client").then_some(())
    };
    eventually("the client is unknown", is_back).await;
    // Clients register again. Their tokens are valid at each node, even at a node that starts now.
    let client = b.register().await;
    let tokens = b.exchange(&client, &code(&nodes, &client, 1).await).await.unwrap();
    let late = Node::start(patient(&redis)).await;
    for node in [a, b, &late] {
        let is_good = async || (node.call(&tokens[0]).await == 200).then_some(());
        eventually("the new token is good", is_good).await;
    }
}

/// Checks that tokens, an unused code and a login that is under way survive an outage in which Redis keeps its data.
async fn check_outage(mut redis: RedisServer, is_paused: bool) {
    let store = || Redis::new(redis.url()).deadline(Duration::from_secs(5));
    let nodes = [Node::start(store()).await, Node::start(store()).await];
    let [a, b] = &nodes;
    let client = a.register().await;
    let tokens = a.exchange(&client, &code(&nodes, &client, 0).await).await.unwrap();
    assert_eq!(b.call(&tokens[0]).await, 200);
    let login = Login::open(a, &client, 1).await;
    let unused = code(&nodes, &client, 2).await;
    if is_paused {
        redis.pause();
    } else {
        redis.stop();
    }
    for node in [a, b] {
        let is_away = async || (node.call(&tokens[0]).await == 503).then_some(());
        eventually("the node notices that Redis is away", is_away).await;
        // A paused Redis may still execute these requests when it goes on.
        if !is_paused {
            let refused =
                [node.refresh(&client, &tokens[1]).await, node.exchange(&client, &unused).await];
            for refused in refused {
                assert_eq!(refused.unwrap_err(), "temporarily_unavailable");
            }
        }
    }
    if is_paused {
        redis.resume();
    } else {
        redis.restart();
    }
    for node in [a, b] {
        let is_back = async || (node.call(&tokens[0]).await == 200).then_some(());
        eventually("the token is good again", is_back).await;
    }
    let refreshed = b.refresh(&client, &tokens[1]).await.unwrap();
    assert_eq!(a.call(&refreshed[0]).await, 200);
    assert_eq!(b.call(&a.exchange(&client, &unused).await.unwrap()[0]).await, 200);
    let code = login.finish([b, a]).await;
    assert_eq!(a.call(&b.exchange(&client, &code).await.unwrap()[0]).await, 200);
}

#[support::test]
async fn logins_go_on_after_redis_was_stopped_and_has_its_data_again() {
    // With `everysec`, a Redis that is killed can lose its last two seconds.
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    check_outage(needs(RedisServer::start(&options)), false).await;
}

#[support::test]
async fn logins_go_on_after_redis_was_paused() {
    check_outage(needs(RedisServer::start(&[])), true).await;
}
