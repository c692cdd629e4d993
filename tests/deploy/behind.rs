//! Clients of servers behind nginx and Caddy, with the options that the header of each file names.

use std::{net::Ipv4Addr, process::Command};

use serde_json::{Value, json};
use support::{
    clock::eventually,
    examples::example,
    http::{
        connection::{Connection, Next},
        events::Item,
    },
    process::HttpServer,
    requirement::{Missing, needs},
    server::PASSWORDS,
};
use tokio::task::spawn_blocking;

use crate::{
    client::{
        Reply, Request, SOON, Stream, call, initialize, initialize_as, message, modern, plain_call,
        read_by_every_reactor, run, text_of, tool_call,
    },
    files::{Folder, HOST, committed, options},
    front::{Changes, Front, Program, behind_both},
    server::{MIB, Server, fixture},
};

/// Starts this server with the options that the header of the proxy's file names, and the proxy in front of it.
async fn started(
    program: Program,
    server: &str,
    settings: &[(&str, &str)],
    changes: Changes<'_>,
) -> (Server, Front) {
    let binary = if server == "fixture" { fixture() } else { example(server) };
    let server = Server::start_with(binary, &words(&of_header(program)), settings);
    let front = needs(Front::start(program, server.address(), changes).await);
    (server, front)
}

fn of_header(program: Program) -> Vec<String> {
    let file = match program {
        Program::Nginx => "nginx.conf",
        Program::Caddy => "Caddyfile",
    };
    options(&committed(file), "mine ")
}

fn words(options: &[String]) -> Vec<&str> {
    options.iter().map(String::as_str).collect()
}

/// Session of protocol revision 2025-11-25 behind a proxy.
struct Session(String);

impl Session {
    fn of(reply: &Reply) -> Self {
        assert_eq!(reply.json()["result"]["protocolVersion"], "2025-11-25", "{reply:?}");
        Self(reply.head.get("mcp-session-id").expect("a session"))
    }

    fn named(&self, request: Request) -> Request {
        let request = request.host(HOST).header("MCP-Protocol-Version", "2025-11-25");
        request.header("Mcp-Session-Id", &*self.0)
    }

    fn post(&self, message: &Value) -> Request {
        self.named(Request::post(message.to_string()))
    }
}

/// Reads items of a stream up to the next event that has a message, and returns the message.
async fn next_message(stream: &mut Stream) -> Value {
    let message = stream.message().await;
    message.unwrap_or_else(|| panic!("the stream has ended: {stream:?}"))
}

#[support::test]
fn calls_are_answered_in_both_eras() {
    behind_both(async |program| {
        let (_server, front) = started(program, "quickstart", &[], &[]).await;
        let address = front.secured().await;
        let sum = json!({ "a": 20, "b": 22 });
        let modern = plain_call(1, "add", sum.clone()).host(HOST).ask(address).await;
        assert_eq!(modern.text(), "42", "{program:?}");
        let session = Session::of(&initialize("2025-11-25").host(HOST).ask(address).await);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.post(&initialized).ask(address).await.status(), 202);
        let legacy = session.post(&tool_call(2, "add", sum));
        let legacy = legacy.replace("Accept", "application/json").ask(address).await;
        assert_eq!(legacy.text(), "42", "{program:?}");
        let mut listening = session.named(Request::get()).open(address).await.check_events();
        let ended = session.named(Request::new("DELETE", "/mcp")).ask(address).await;
        assert_eq!(ended.status(), 204, "{program:?}");
        assert!(listening.rest().await.is_empty());
        let gone = session.post(&message(3, "ping", json!({}))).ask(address).await;
        assert_eq!(gone.status(), 404, "{program:?}");
    });
}

/// A call that reports its progress and waits. The client gets the report before it lets the call end.
#[support::test]
fn events_reach_the_client_while_the_call_waits() {
    behind_both(async |program| {
        let (_server, front) = started(program, "fixture", &[], &[]).await;
        let address = front.secured().await;
        let session = Session::of(&initialize("2025-11-25").host(HOST).ask(address).await);
        let hold = |key: &str| json!({ "key": key });
        for (key, request) in [
            ("modern", call(1, "hold", hold("modern")).host(HOST)),
            ("legacy", session.post(&tool_call(1, "hold", hold("legacy")))),
        ] {
            let mut stream = request.open(address).await.check_events();
            let progress = next_message(&mut stream).await;
            assert_eq!(progress["method"], "notifications/progress", "{program:?} {key}");
            let let_go = plain_call(2, "let_go", hold(key)).host(HOST).ask(address).await;
            assert_eq!(let_go.status(), 200, "{program:?}");
            assert_eq!(text_of(&next_message(&mut stream).await), "let go", "{program:?}");
        }
    });
}

/// Without the buffers of its file, Caddy cuts about one in a hundred of these streams.
#[support::test]
fn no_stream_breaks_off() {
    behind_both(async |program| {
        let (_server, front) = started(program, "fixture", &[], &[]).await;
        let address = front.secured().await;
        for round in 0..300 {
            let late = call(1, "late", json!({ "bytes": 1, "ms": 2 })).host(HOST);
            let messages = late.open(address).await.check_events().rest().await;
            assert_eq!(messages.len(), 2, "{program:?}, round {round}");
        }
    });
}

/// Under protocol revision 2026-07-28, a client cancels its call when it closes the connection.
#[support::test]
fn a_call_ends_when_its_client_leaves() {
    behind_both(async |program| {
        let (server, front) = started(program, "fixture", &[], &[]).await;
        let address = front.secured().await;
        for accept in ["application/json, text/event-stream", "application/json"] {
            let key = json!({ "key": accept });
            let hold = call(1, "hold", key.clone()).host(HOST).replace("Accept", accept);
            let connection = hold.send(address).await;
            let begun = plain_call(2, "begun", key.clone()).ask(server.address()).await;
            assert_eq!(begun.status(), 200, "{program:?}");
            drop(connection);
            let fate = plain_call(3, "fate", key).ask(server.address()).await;
            assert_eq!(fate.text(), "dropped", "{program:?} {accept}");
        }
    });
}

/// The question of a tool reaches its user while the call waits for the answer, which comes with another request.
#[support::test]
fn a_tool_asks_its_user_in_a_session() {
    behind_both(async |program| {
        let (_server, front) = started(program, "everything", &[], &[]).await;
        let address = front.secured().await;
        let capabilities = json!({ "elicitation": {} });
        let begun = initialize_as("2025-11-25", capabilities).host(HOST).ask(address).await;
        let session = Session::of(&begun);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.post(&initialized).ask(address).await.status(), 202);
        let ask = tool_call(2, "test_elicitation", json!({ "message": "Who are you?" }));
        let mut stream = session.post(&ask).open(address).await.check_events();
        let question = next_message(&mut stream).await;
        assert_eq!(question["method"], "elicitation/create", "{program:?}: {question}");
        let content = json!({ "username": "ada", "email": "ada@example.com" });
        let answer = json!({
            "jsonrpc": "2.0", "id": question["id"],
            "result": { "action": "accept", "content": content },
        });
        assert_eq!(session.post(&answer).ask(address).await.status(), 202);
        let said = text_of(&next_message(&mut stream).await);
        assert_eq!(said, "User response: ada <ada@example.com>", "{program:?}");
    });
}

/// Number of comments, 50 ms apart, that take longer than one second.
const COMMENTS: usize = 25;
const OFTEN: (&str, &str) = ("FIXTURE_LIMITS", "keep_alive=50");

/// Time between two pieces of a response that nginx allows here, instead of an hour.
const ONE_SECOND: (&str, &str) = ("proxy_read_timeout 1h;", "proxy_read_timeout 1s;");

/// Opens a stream for messages that never come.
async fn listen(front: &Front) -> Stream {
    let filter = json!({ "notifications": { "resourceSubscriptions": ["notes://1"] } });
    let request = modern(1, "subscriptions/listen", filter).host(HOST);
    let mut stream = request.open(front.secured().await).await.check_events();
    let first = next_message(&mut stream).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    stream
}

#[support::test]
fn comments_keep_a_silent_stream_open_beyond_the_timeout_of_nginx() {
    behind_both(async |program| {
        let changes = if program == Program::Nginx { &[ONE_SECOND][..] } else { &[] };
        let (_server, front) = started(program, "fixture", &[OFTEN], changes).await;
        let mut stream = listen(&front).await;
        for _ in 0..COMMENTS {
            let next = stream.connection.next(SOON).await;
            assert!(matches!(next, Ok(Next::Item(Item::Comment(_)))), "{program:?}: {next:?}");
        }
    });
}

/// Without comments, nginx cuts the stream. A client that accepts only JSON gets no comments, so `proxy_read_timeout` limits its calls.
#[support::test]
fn nginx_cuts_a_response_that_is_silent_for_too_long() {
    run(async {
        let seldom = ("FIXTURE_LIMITS", "keep_alive=600000");
        let (_server, front) = started(Program::Nginx, "fixture", &[seldom], &[ONE_SECOND]).await;
        let mut stream = listen(&front).await;
        assert!(!matches!(stream.connection.next(SOON).await, Ok(Next::Item(_) | Next::Silence)));
        let held = plain_call(1, "hold", json!({ "key": "a" })).host(HOST);
        assert_eq!(held.ask(front.secured().await).await.status(), 504);
    });
}

#[support::test]
fn a_body_passes_up_to_the_limit_of_the_server() {
    const LIMIT: usize = 16 * MIB;
    behind_both(async |program| {
        let (_server, front) = started(program, "quickstart", &[], &[]).await;
        let address = front.secured().await;
        let add = plain_call(1, "add", json!({ "a": 20, "b": 22 })).host(HOST);
        let largest = add.clone().padded(LIMIT).ask(address).await;
        assert_eq!(largest.text(), "42", "{program:?}");
        let refused = add.padded(LIMIT + 1).ask(address).await;
        assert_eq!(refused.status(), 413, "{program:?}");
        // nginx has the same limit, and answers with a page of its own.
        if program == Program::Caddy {
            refused.check_error(413, -32600, "the body is longer than 16777216 bytes");
        }
    });
}

/// A tool that may be called once an hour by each address.
#[support::test]
fn limits_apply_to_the_address_of_the_client() {
    behind_both(async |program| {
        let (_server, front) = started(program, "fixture", &[], &[]).await;
        let once = || plain_call(1, "once", json!({})).host(HOST);
        let [ada, bob] = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)];
        let (ada, bob) = (front.secured_for(ada).await, front.secured_for(bob).await);
        assert_eq!(once().ask(ada).await.text(), "said", "{program:?}");
        for forged in ["203.0.113.5", "127.0.0.3", "203.0.113.5, 127.0.0.1"] {
            let again = once().header("X-Forwarded-For", forged).ask(ada).await.text();
            assert!(again.starts_with("`once` may be called once an hour"), "{again}");
        }
        assert_eq!(once().ask(bob).await.text(), "said", "{program:?}");
    });
}

#[support::test]
fn a_request_for_another_host_is_not_served() {
    behind_both(async |program| {
        let (_server, front) = started(program, "quickstart", &[], &[]).await;
        let address = front.secured().await;
        let list = || modern(1, "tools/list", json!({}));
        assert_eq!(list().host(HOST).ask(address).await.status(), 200, "{program:?}");
        let refused = list().host("evil.example").ask(address).await;
        match program {
            Program::Nginx => refused.check_error(403, -32600, "`--allow-host evil.example`"),
            // Caddy itself has no such site, and answers with an empty response.
            Program::Caddy => assert!(refused.body.is_empty(), "{refused:?}"),
        }
    });
}

#[support::test]
fn only_the_endpoint_is_public() {
    behind_both(async |program| {
        let (server, front) = started(program, "quickstart", &[], &[]).await;
        let address = front.secured().await;
        for path in ["/healthz", "/readyz", "/", "/sse", "/mcp/", "/mcp/more"] {
            let reply = Request::new("GET", path).host(HOST).ask(address).await;
            assert_eq!(reply.status(), 404, "{program:?} {path}");
            let of_server = String::from_utf8_lossy(&reply.body).contains("jsonrpc");
            assert!(!of_server, "{program:?} {path}: {reply:?}");
        }
        let health = Request::new("GET", "/healthz").ask(server.address()).await;
        assert_eq!(health.status(), 200);
    });
}

/// nginx.conf has the paths of an authorization server, and the Caddyfile names them in a comment.
#[support::test]
fn a_client_finds_the_authorization_server() {
    let public = format!("https://{HOST}");
    let settings =
        [("NOTES_URL", &*public), ("NOTES_ADA", PASSWORDS[0].1), ("NOTES_BOB", PASSWORDS[1].1)];
    let more =
        "/authorize /token /register /revoke /callback /.well-known/oauth-authorization-server";
    let caddy = ("@mcp path ", format!("@mcp path {more} "));
    assert!(
        committed("Caddyfile").contains(&format!("\t# {more}\n")),
        "the comment names the paths"
    );
    let caddy = [(caddy.0, &*caddy.1)];
    behind_both(async |program| {
        let changes = if program == Program::Nginx { &[][..] } else { &caddy };
        let (_server, front) = started(program, "notes", &settings, changes).await;
        let address = front.secured().await;
        let get = |path: &str| Request::new("GET", path).host(HOST);
        let refused = initialize("2025-11-25").host(HOST).ask(address).await;
        let challenge = refused.head.get("www-authenticate").unwrap_or_default();
        let metadata = format!("{public}/.well-known/oauth-protected-resource/mcp");
        assert!(refused.status() == 401 && challenge.contains(&metadata), "{refused:?}");
        for path in ["", "/mcp"] {
            let path = format!("/.well-known/oauth-protected-resource{path}");
            let resource = get(&path).ask(address).await.json();
            assert_eq!(resource["resource"], format!("{public}/mcp"), "{program:?} {path}");
            assert_eq!(resource["authorization_servers"], json!([public]), "{program:?}");
        }
        let server = get("/.well-known/oauth-authorization-server").ask(address).await.json();
        for (name, path) in [
            ("authorization_endpoint", "/authorize"),
            ("token_endpoint", "/token"),
            ("registration_endpoint", "/register"),
        ] {
            assert_eq!(server[name], format!("{public}{path}"), "{program:?}");
        }
        let client = json!({ "redirect_uris": ["http://127.0.0.1:1/callback"] });
        let kind = "application/json";
        let registered = Request::sending("/register", kind, client.to_string()).host(HOST);
        assert_eq!(registered.ask(address).await.status(), 201, "{program:?}");
        for path in ["/authorize", "/token", "/revoke"] {
            let reply = get(path).ask(address).await;
            assert_ne!(reply.status(), 404, "{program:?} {path}: {reply:?}");
        }
    });
}

/// curl connects without the help of the suite, verifies the certificate, and speaks HTTP/2.
#[support::test]
fn a_client_may_speak_http_2() {
    behind_both(async |program| {
        let (_server, front) = started(program, "quickstart", &[], &[]).await;
        let port = front.address.port();
        let url = format!("https://{HOST}:{port}/mcp");
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/list",
            "params": { "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            } },
        });
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--show-error", "--http2", "--max-time", "60"])
            .args(["--resolve", &format!("{HOST}:{port}:127.0.0.1"), "--cacert"])
            .arg(&front.trusted)
            .args(["--header", "Content-Type: application/json"])
            .args(["--header", "MCP-Protocol-Version: 2026-07-28"])
            .args(["--header", "Mcp-Method: tools/list", "--data", &body.to_string()])
            .args(["--write-out", "\n%{http_code} %{http_version}", &url]);
        let output = curl.output().map_err(|error| Missing::new(format!("curl: {error}")));
        let output = needs(output);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("\"tools\"") && said.ends_with("\n200 2"), "{program:?}: {output:?}");
    });
}

/// Running calls are answered through the proxy while the server stops.
#[support::test]
fn a_server_that_stops_finishes_its_calls() {
    behind_both(async |program| {
        let grace = ("FIXTURE_LIMITS", "grace=600000");
        let (server, front) = started(program, "fixture", &[grace], &[]).await;
        let (address, folder) = (front.secured().await, Folder::new());
        let until = json!({ "path": folder.path("go"), "text": "in time" });
        let mut calling = plain_call(1, "wait_for_file", until).host(HOST).send(address).await;
        let mut listening = listen(&front).await;
        let hold = call(1, "hold", json!({ "key": "a", "more": 1 })).host(HOST);
        let mut held = hold.open(address).await.check_events();
        next_message(&mut held).await;
        read_by_every_reactor(server.address()).await;
        server.terminate();
        // The stream ends with its result, and no proxy reports an error for it.
        let result = next_message(&mut listening).await;
        assert_eq!(result["result"]["resultType"], "complete", "{program:?}");
        assert_eq!(listening.message().await, None, "{program:?}");
        eventually("the listener is closed", async || {
            Connection::open(server.address()).await.err()
        })
        .await;
        folder.write("go", "");
        let head = calling.head(false, SOON).await.expect("an answer");
        let body = calling.body(SOON).await.expect("a whole body");
        assert_eq!(Reply { head, body }.text(), "in time", "{program:?}");
        drop(held);
        // This thread passes on that the client has left.
        let ended = spawn_blocking(|| server.wait()).await.expect("the server ends");
        assert!(ended.status.success(), "{program:?}: {ended:?}");
    });
}

/// While the server restarts, nginx answers with 502. Caddy lets requests wait.
#[support::test]
fn requests_are_served_again_after_a_restart() {
    behind_both(async |program| {
        let (server, front) = started(program, "quickstart", &[], &[]).await;
        let (address, backend) = (front.secured().await, server.address());
        let add = plain_call(1, "add", json!({ "a": 20, "b": 22 })).host(HOST);
        assert_eq!(add.ask(address).await.text(), "42", "{program:?}");
        server.terminate();
        assert!(server.wait().status.success());
        let restarted = || {
            HttpServer::start_at(backend, example("quickstart"), &words(&of_header(program)), &[])
        };
        if program == Program::Nginx {
            assert_eq!(add.ask(address).await.status(), 502);
            let _server = restarted();
            assert_eq!(add.ask(address).await.text(), "42");
            return;
        }
        let mut waiting = add.send(address).await;
        let _server = restarted();
        let head = waiting.head(false, SOON).await.expect("an answer");
        let body = waiting.body(SOON).await.expect("a whole body");
        assert_eq!(Reply { head, body }.text(), "42");
    });
}
