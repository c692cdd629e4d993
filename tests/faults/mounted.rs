//! A server mounted in an axum application, and as a service in a tower stack.

use std::{convert::Infallible, net::SocketAddr};

use axum::{
    Router,
    extract::Request as HttpRequest,
    http::{Response, StatusCode},
    middleware::{Next, from_fn},
    routing::get,
    serve::Listener,
};
use mcp_runtime::{
    Builder,
    http::{Extension, HeaderMap, HttpBody, HttpService},
    prelude::*,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use tower::{Service as _, ServiceBuilder, ServiceExt as _};

use crate::client::{MODERN, Request, Session, call, plain_call, run};

/// User that the application has signed in.
#[derive(Clone)]
struct User(String);

/// Returns the user and the `User-Agent` header.
#[tool]
fn whoami(user: Extension<User>, headers: &HeaderMap) -> String {
    let agent =
        headers.get("user-agent").map_or("nobody", |agent| agent.to_str().unwrap_or_default());
    format!("{} with {agent}", user.0.0)
}

/// Reports a step and returns the user.
#[tool]
async fn slowly(user: Extension<User>, progress: Progress) -> String {
    progress.step();
    tokio::task::yield_now().await;
    user.0.0.clone()
}

fn server() -> Builder {
    mcp_runtime::server!(name = "mounted").items(items![whoami, slowly])
}

/// Middleware that takes the user from a header.
async fn sign_in(mut request: HttpRequest, next: Next) -> axum::response::Response {
    let name = request.headers().get("x-user").and_then(|value| value.to_str().ok());
    if let Some(user) = name.map(|name| User(name.to_owned())) {
        request.extensions_mut().insert(user);
    }
    next.run(request).await
}

/// Application that runs until `end` is called.
pub(crate) struct Application {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Application {
    pub(crate) async fn start(router: Router) -> Self {
        Self::start_at(TcpListener::bind("127.0.0.1:0").await.unwrap(), router)
    }

    pub(crate) fn start_at(listener: impl Listener<Addr = SocketAddr>, router: Router) -> Self {
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            axum::serve(listener, router).with_graceful_shutdown(stopped).await.unwrap();
        });
        Self { address, stop, served }
    }

    /// Stops the application and waits for its end.
    pub(crate) async fn end(self) {
        self.stop.send(()).unwrap();
        self.served.await.unwrap();
    }
}

async fn check_mounted(router: Router, path: &str) {
    let own = get(async || "the application's own");
    let app = Application::start(router.route("/", own).layer(from_fn(sign_in))).await;
    let front = Request::new("GET", "/").ask(app.address).await;
    assert_eq!(String::from_utf8(front.body).unwrap(), "the application's own");
    assert_eq!(Request::new("GET", "/else").ask(app.address).await.status(), 404);

    let ada = |request: Request| request.to(path).header("X-User", "Ada");
    let request = ada(plain_call(1, "whoami", json!({}))).header("User-Agent", "curl");
    assert_eq!(request.ask(app.address).await.text(), "Ada with curl");
    let mut stream = ada(call(2, "slowly", json!({}))).open(app.address).await.check_events();
    let messages = stream.rest().await;
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[1]["result"]["content"][0]["text"], "Ada");
    // Without the header the application adds no user, so the extractor fails.
    let nobody = plain_call(3, "whoami", json!({})).to(path).ask(app.address).await;
    nobody.check_error(200, -32603, "");

    // The user belongs to each request, not to the session.
    let hello = crate::client::initialize("2025-11-25").to(path).ask(app.address).await;
    let id = hello.head.get("mcp-session-id").unwrap();
    let session = Session { address: app.address, revision: "2025-11-25", id };
    for name in ["Ada", "Grace"] {
        let request = session.call(4, "whoami", json!({})).to(path).header("X-User", name);
        assert_eq!(request.ask(app.address).await.text(), format!("{name} with nobody"));
    }
    assert_eq!(session.delete().to(path).ask(app.address).await.status(), 204);
    let evil = ada(plain_call(5, "whoami", json!({}))).header("Origin", "http://evil.example");
    assert_eq!(evil.ask(app.address).await.status(), 403);
    app.end().await;
}

#[support::test]
fn a_router_is_merged_into_an_application() {
    run(async {
        check_mounted(server().into_router().await.unwrap(), "/mcp").await;
        check_mounted(server().path("/tools/mcp").into_router().await.unwrap(), "/tools/mcp").await;
    });
}

#[support::test]
fn a_service_is_nested_in_an_application() {
    run(async {
        let service = server().into_service().await.unwrap();
        let router = Router::new().nest_service("/mcp", service.clone());
        check_mounted(router, "/mcp").await;
        let router = Router::new().nest("/v1", Router::new().route_service("/mcp", service));
        check_mounted(router, "/v1/mcp").await;
    });
}

/// An application calls `stop`, which ends the open streams, before it waits for its connections. At the end it calls `close`.
#[support::test]
fn an_application_can_end_the_streams_of_its_server_before_it_waits() {
    run(async {
        let service: HttpService = server().into_service().await.unwrap();
        let app = Application::start(service.router()).await;
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        let listen = crate::client::modern("x", "subscriptions/listen", filter);
        let mut listening = listen.open(app.address).await.check_events();
        let session = Session::begin(app.address, "2025-11-25").await;
        let mut standalone = session.get().open(app.address).await.check_events();
        listening.message().await.unwrap();
        service.stop();
        let result = listening.message().await.unwrap();
        assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "x");
        assert_eq!(listening.message().await, None);
        assert_eq!(standalone.message().await, None);
        app.end().await;
        service.close().await;
    });
}

/// The routes of an application have the handle of its server.
#[support::test]
fn an_application_changes_its_server_and_reaches_the_state() {
    struct Shop(&'static str);

    run(async {
        let service = server().state(Shop("corner")).into_service().await.unwrap();
        let handle = service.handle();
        assert_eq!(handle.state::<Shop>().unwrap().0, "corner");
        let app = Application::start(service.router()).await;
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        let listen = crate::client::modern("x", "subscriptions/listen", filter);
        let mut listening = listen.open(app.address).await.check_events();
        listening.message().await.unwrap();
        handle.add(Tool::new("added").handler(async |_: Context| "new")).unwrap();
        let changed = listening.message().await.unwrap();
        assert_eq!(changed["method"], "notifications/tools/list_changed");
        service.stop();
        app.end().await;
        service.close().await;
        assert!(handle.state::<Shop>().is_none());
    });
}

/// Calls the service directly, without an axum router and without sockets.
#[support::test]
fn a_service_works_in_a_tower_stack() {
    run(async {
        let mcp = server().into_service().await.unwrap();
        let mut tower = ServiceBuilder::new()
            .map_request(|mut request: axum::http::Request<String>| {
                request.extensions_mut().insert(User("Ada".into()));
                request
            })
            .map_response(|response: Response<HttpBody>| response.map(axum::body::Body::new))
            .service(mcp);
        let body = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": { "name": "whoami", "arguments": {}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }},
        });
        for _ in 0..2 {
            let request = HttpRequest::post("http://localhost/anywhere")
                .header("content-type", "application/json")
                .header("mcp-protocol-version", MODERN)
                .header("mcp-method", "tools/call")
                .header("mcp-name", "whoami")
                .header("user-agent", "tower")
                .body(body.to_string())
                .unwrap();
            let responded: Result<_, Infallible> = tower.ready().await.unwrap().call(request).await;
            let response = responded.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(answer["result"]["content"][0]["text"], "Ada with tower");
        }
    });
}

/// The application in the documentation of `into_router`.
#[support::test]
fn a_server_is_a_part_of_an_axum_application() {
    run(async {
        let mcp = server().into_router().await.unwrap();
        let app = Router::new().route("/", get(async || "hello")).merge(mcp);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let served = tokio::spawn(async move { axum::serve(listener, app).await });
        assert_eq!(Request::new("GET", "/").ask(address).await.body, b"hello");
        let tools = crate::client::modern(1, "tools/list", json!({})).ask(address).await.json();
        assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 2);
        served.abort();
    });
}
