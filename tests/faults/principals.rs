//! Only the principal that began a call or a session can continue it. The application around the server names the principal of each
//! request.

use axum::{
    Router,
    extract::Request as HttpRequest,
    middleware::{Next, from_fn},
};
use mcp_runtime::{auth::Principal, prelude::*};
use serde_json::{Value, json};

use crate::{
    client::{Request, Session, initialize, initialize_as, message, run, tool_call},
    mounted::Application,
    rounds::{Rounds, check_refused},
};

#[form]
struct Word {
    word: String,
}

/// Asks for two words, and returns the words and the principals at the beginning and the end.
#[tool(asks(elicitation))]
async fn confide(ctx: &Context) -> Result<String> {
    let who = ctx.principal().unwrap_or("nobody").to_owned();
    let began = ctx.once("began", async || Ok::<_, Error>(who.clone())).await?;
    let first: Word = ctx.elicit("first", "Word?").await?;
    let second: Word = ctx.elicit("second", "And?").await?;
    Ok(format!("{began} said {} {} as {who}", first.word, second.word))
}

/// Middleware that takes the principal from a header without further checks.
pub(crate) async fn sign_in(mut request: HttpRequest, next: Next) -> axum::response::Response {
    let name = request.headers().get("x-user").and_then(|value| value.to_str().ok());
    if let Some(principal) = name.map(Principal::new) {
        request.extensions_mut().insert(principal);
    }
    next.run(request).await
}

/// Adds the header with the name of this user. `None` stands for a caller without a principal.
pub(crate) fn by(user: Option<&str>, request: Request) -> Request {
    match user {
        Some(name) => request.header("X-User", name),
        None => request,
    }
}

async fn check(router: Router) {
    let app = Application::start(router.layer(from_fn(sign_in))).await;
    let address = app.address;
    let users = [Some("ada"), Some("grace"), Some("Ada"), None];
    for own in users {
        let mut call = Rounds::of("confide", json!({}));
        let asked = by(own, call.beginning()).ask(address).await;
        assert_eq!(call.asked(&asked), "Word?");
        for other in users.into_iter().filter(|user| *user != own) {
            check_refused(&by(other, call.saying("stolen")).ask(address).await);
        }
        let asked = by(own, call.saying("one")).ask(address).await;
        assert_eq!(call.asked(&asked), "And?");
        for other in users.into_iter().filter(|user| *user != own) {
            check_refused(&by(other, call.saying("stolen")).ask(address).await);
        }
        let done = by(own, call.saying("two")).ask(address).await.text();
        let name = own.unwrap_or("nobody");
        assert_eq!(done, format!("{name} said one two as {name}"));
    }
    // An empty name is the same as no principal.
    let mut call = Rounds::of("confide", json!({}));
    let asked = by(Some(""), call.beginning()).ask(address).await;
    call.asked(&asked);
    let asked = by(None, call.saying("one")).ask(address).await;
    assert_eq!(call.asked(&asked), "And?");
    app.end().await;
}

#[support::test]
fn state_is_refused_to_another_principal() {
    run(async {
        let server = || mcp_runtime::server!(name = "principals").items(items![confide]);
        check(server().into_router().await.unwrap()).await;
        let service = server().into_service().await.unwrap();
        check(Router::new().nest_service("/mcp", service)).await;
    });
}

/// Checks that the message is an elicitation request, and returns the response with this word.
fn answered(question: &Value, word: &str) -> Value {
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let result = json!({ "action": "accept", "content": { "word": word } });
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}

/// In a session, the server itself holds the state of a call between two elicitation requests, so the session belongs to the principal that
/// began it (rule HL-20).
#[support::test]
fn a_session_is_refused_to_another_principal() {
    run(async {
        let server = mcp_runtime::server!(name = "principals").items(items![confide]);
        let router = server.into_router().await.unwrap();
        let app = Application::start(router.layer(from_fn(sign_in))).await;
        let (address, revision, can) = (app.address, "2025-11-25", json!({ "elicitation": {} }));
        let users = [Some("ada"), Some("grace"), None];
        for own in users {
            let begun = by(own, initialize_as(revision, can.clone()));
            let id = begun.ask(address).await.head.get("mcp-session-id").expect("a session");
            let session = Session { address, revision, id };
            let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            let accepted = by(own, session.post(&initialized)).ask(address).await;
            assert_eq!(accepted.status(), 202);
            let call = session.post(&tool_call(1, "confide", json!({})));
            let mut stream = by(own, call).open(address).await.check_events();
            for word in ["one", "two"] {
                let answer = stream.message().await.expect("a question");
                for other in users.into_iter().filter(|user| *user != own) {
                    let stolen = session.post(&answered(&answer, "stolen"));
                    let requests = [
                        stolen,
                        session.post(&message(2, "ping", json!({}))),
                        session.get(),
                        session.delete(),
                    ];
                    for request in requests {
                        assert_eq!(by(other, request).ask(address).await.status(), 404);
                    }
                }
                let answer = session.post(&answered(&answer, word));
                assert_eq!(by(own, answer).ask(address).await.status(), 202);
            }
            let name = own.unwrap_or("nobody");
            let done = stream.message().await.expect("a result");
            let text = format!("{name} said one two as {name}");
            assert_eq!(done["result"]["content"][0]["text"], text, "{done}");
            assert_eq!(by(own, session.delete()).ask(address).await.status(), 204);
        }
        app.end().await;
    });
}

/// A client of protocol revision 2024-11-05 posts its messages to an address of its stream. Only the principal of the stream may use this
/// address.
#[support::test]
fn a_stream_takes_the_messages_of_its_own_principal() {
    run(async {
        let server = mcp_runtime::server!(name = "principals").items(items![confide]);
        let router = server.legacy_sse(true).into_router().await.unwrap();
        let app = Application::start(router.layer(from_fn(sign_in))).await;
        let users = [Some("ada"), Some("grace"), None];
        for own in users {
            let open = by(own, Request::get().to("/sse")).open(app.address).await;
            let mut stream = open.check_events();
            let path = stream.event().await.and_then(|event| event.data).expect("an address");
            let post = || initialize("2024-11-05").to(&format!("/{path}"));
            for other in users.into_iter().filter(|user| *user != own) {
                assert_eq!(by(other, post()).ask(app.address).await.status(), 404);
            }
            assert_eq!(by(own, post()).ask(app.address).await.status(), 202);
            let begun = stream.message().await.expect("an answer");
            assert_eq!(begun["result"]["protocolVersion"], "2024-11-05", "{begun}");
        }
        app.end().await;
    });
}
