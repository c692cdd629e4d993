//! The items that a caller sees in lists and may subscribe to, and callers that the application around the server names.

use std::time::Duration;

use axum::{
    extract::Request as HttpRequest,
    middleware::{Next, from_fn},
};
use mcp_runtime::auth::{Authorization, Principal};
use serde_json::json;
use support::clock::moment_after;

use crate::{
    authorization::{Served, challenge, with},
    client::{Request, Session, initialize, run},
    mounted::Application,
    scopes::{Way, check_refused, check_step_up, names, protected, server},
};

#[support::test]
fn lists_have_what_a_caller_may_use_page_by_page() {
    run(async {
        let build = server().tools_per_page(2).items_per_page(1).auth(protected());
        let served = Served::start(build).await;
        let address = served.address;
        let ways =
            Way::all(address, "none").await.into_iter().zip(Way::all(address, "grace").await);
        for (of_ada, of_grace) in ways {
            for (token, tools, prompts, resources) in [
                ("none", "runs", "", "public"),
                ("read", "runs", "summary", "all|public"),
                ("write", "runs write", "summary", "all|public"),
                ("admin", "runs write|delete", "summary", "all|public"),
                ("grace", "runs write|delete", "summary", "all|public"),
                ("none", "runs", "", "public"),
            ] {
                let way = if token == "grace" { &of_grace } else { &of_ada };
                for (method, member, expected) in [
                    ("tools/list", "tools", tools),
                    ("prompts/list", "prompts", prompts),
                    ("resources/list", "resources", resources),
                    ("resources/templates/list", "resourceTemplates", "note"),
                ] {
                    let mut pages = Vec::new();
                    let mut params = json!({});
                    loop {
                        let reply = with(token, way.request(method, params)).ask(address).await;
                        let result = reply.json()["result"].take();
                        pages.push(names(&result[member]));
                        if matches!(way, Way::Alone) {
                            assert_eq!(result["cacheScope"], "private");
                        }
                        let Some(cursor) = result.get("nextCursor") else { break };
                        params = json!({ "cursor": cursor });
                    }
                    assert_eq!(pages.join("|"), expected, "{token} {method}");
                }
            }
        }
        served.end().await;
    });
}

#[support::test]
fn lists_can_include_items_that_need_further_scopes() {
    run(async {
        let protected = protected().optional().list_beyond_scopes();
        let served = Served::start(server().auth(protected)).await;
        let list = async |request: Request, member: &str| {
            names(&request.ask(served.address).await.json()["result"][member])
        };
        for (method, member, anybodys, adas) in [
            ("tools/list", "tools", "runs write", "runs write delete"),
            ("prompts/list", "prompts", "summary", "summary"),
            ("resources/list", "resources", "all public", "all public"),
            ("resources/templates/list", "resourceTemplates", "", "note"),
        ] {
            let request = Way::Alone.request(method, json!({}));
            assert_eq!(list(request.clone(), member).await, anybodys, "{method}");
            assert_eq!(list(with("none", request), member).await, adas, "{method}");
        }
        let refused = with("none", Way::Alone.call("write", json!({}))).ask(served.address).await;
        check_step_up(&refused, "grants `notes:write`", "notes:write");
        served.end().await;
    });
}

#[support::test]
fn a_caller_cannot_subscribe_to_a_resource_that_it_may_not_read() {
    run(async {
        let served = Served::start(server().auth(protected())).await;
        let address = served.address;
        let session = Way::session(address, "2025-11-25", "none").await;
        let listen = |uris: &[&str]| {
            let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
            with("none", Way::Alone.request("subscriptions/listen", filter))
        };
        let subscribe =
            |uri: &str| with("none", session.request("resources/subscribe", json!({ "uri": uri })));
        for (uri, says) in
            [("notes://grace/1", "may not use"), ("notes://gr%61ce/1", "may not use")]
        {
            check_refused(&subscribe(uri).ask(address).await, 403, says);
            check_refused(&listen(&["notes://public", uri]).ask(address).await, 403, says);
        }
        check_step_up(&subscribe("notes://all").ask(address).await, "notes:read", "notes:read");
        check_step_up(
            &listen(&["notes://public", "notes://all"]).ask(address).await,
            "notes:read",
            "notes:read",
        );
        assert_eq!(subscribe("notes://ada/1").ask(address).await.status(), 200);
        let mut stream =
            listen(&["notes://public", "notes://ada/1"]).open(address).await.check_events();
        let first = stream.message().await.unwrap();
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        drop(stream);
        served.end().await;
    });
}

fn header(request: &HttpRequest, name: &str) -> Option<String> {
    request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// Middleware that takes the caller from headers.
async fn sign_in(mut request: HttpRequest, next: Next) -> axum::response::Response {
    let (user, scopes) = (header(&request, "x-user"), header(&request, "x-scopes"));
    if let Some(name) = user {
        let scopes = scopes.unwrap_or_default();
        let scopes = scopes.split(' ').map(Box::<str>::from);
        let authorization = Authorization::new(name).scopes(scopes);
        let left = header(&request, "x-left").and_then(|seconds| seconds.parse().ok());
        let ends = |seconds| moment_after(Duration::from_secs(seconds));
        request.extensions_mut().insert(match left.map(ends) {
            Some(ends) => authorization.expires(ends),
            None => authorization,
        });
    } else if let Some(name) = header(&request, "x-principal") {
        request.extensions_mut().insert(Principal::new(name));
    }
    next.run(request).await
}

#[support::test]
fn an_application_may_supply_the_authorization_of_a_caller() {
    run(async {
        let router = server().into_router().await.unwrap().layer(from_fn(sign_in));
        let application = Application::start(router).await;
        let address = application.address;
        let call = || Way::Alone.call("delete", json!({ "owner": "ada" }));
        let ada = |scopes: &str, request: Request| {
            request.header("X-User", "ada").header("X-Scopes", scopes)
        };
        let done = ada("notes:write notes:delete", call()).ask(address).await;
        assert_eq!(done.text(), "what ada wrote is gone");
        let refused = ada("notes:write", call()).ask(address).await;
        check_refused(&refused, 403, "`notes:delete` too");
        assert!(challenge(&refused).ends_with("scope=\"notes:write notes:delete\""), "{refused:?}");
        // A caller without an `Authorization`, or with an empty name, may only use unrestricted items.
        for request in [call(), call().header("X-Principal", "ada"), call().header("X-User", "")] {
            let refused = request.ask(address).await;
            check_refused(&refused, 401, "requires an access token");
            assert_eq!(challenge(&refused), "Bearer scope=\"notes:write notes:delete\"");
        }
        let public = || Way::Alone.request("resources/read", json!({ "uri": "notes://public" }));
        assert_eq!(public().ask(address).await.status(), 200);
        // An `Authorization` of the application is rejected after it has expired.
        let done =
            ada("notes:write notes:delete", call()).header("X-Left", "60").ask(address).await;
        assert_eq!(done.text(), "what ada wrote is gone");
        for request in [call(), public(), initialize("2025-11-25")] {
            let late = ada("notes:write notes:delete", request).header("X-Left", "0");
            let late = late.ask(address).await;
            assert_eq!(late.status(), 401);
            assert!(challenge(&late).starts_with("Bearer error=\"invalid_token\""), "{late:?}");
        }
        // A session belongs to the user of its `Authorization`, even if the application adds no `Principal`.
        let begun = ada("", initialize("2025-11-25")).ask(address).await;
        let id = begun.head.get("mcp-session-id").expect("a session");
        let session = Way::Session(Session { address, revision: "2025-11-25", id });
        let ping = || session.request("ping", json!({}));
        assert_eq!(ping().ask(address).await.status(), 404);
        assert_eq!(ping().header("X-User", "grace").ask(address).await.status(), 404);
        assert_eq!(ada("", ping()).ask(address).await.status(), 200);
        application.end().await;
    });
}
