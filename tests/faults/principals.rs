//! Who goes on with a call is who began it, as far as the application in front of the server knows its users.

use axum::{
    Router,
    extract::Request as HttpRequest,
    middleware::{Next, from_fn},
};
use mcp_runtime::{Principal, prelude::*};
use serde_json::json;

use crate::{
    client::{Request, run},
    mounted::Application,
    rounds::{Rounds, check_refused},
};

#[form]
struct Word {
    word: String,
}

/// Asks twice, and says who it talked to.
#[tool(asks(elicitation))]
async fn confide(ctx: &Context) -> Result<String> {
    let who = ctx.principal().unwrap_or("nobody").to_owned();
    let began = ctx.once("began", async || Ok::<_, Error>(who.clone())).await?;
    let first: Word = ctx.elicit("first", "Word?").await?;
    let second: Word = ctx.elicit("second", "And?").await?;
    Ok(format!("{began} said {} {} as {who}", first.word, second.word))
}

/// Middleware that believes a header.
async fn sign_in(mut request: HttpRequest, next: Next) -> axum::response::Response {
    let name = request.headers().get("x-user").and_then(|it| it.to_str().ok());
    if let Some(principal) = name.map(Principal::new) {
        request.extensions_mut().insert(principal);
    }
    next.run(request).await
}

/// The request as this user sends it; nobody is who has no name.
fn by(user: Option<&str>, request: Request) -> Request {
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
        for other in users.into_iter().filter(|it| *it != own) {
            check_refused(&by(other, call.saying("stolen")).ask(address).await);
        }
        let asked = by(own, call.saying("one")).ask(address).await;
        assert_eq!(call.asked(&asked), "And?");
        for other in users.into_iter().filter(|it| *it != own) {
            check_refused(&by(other, call.saying("stolen")).ask(address).await);
        }
        let done = by(own, call.saying("two")).ask(address).await.text();
        let name = own.unwrap_or("nobody");
        assert_eq!(done, format!("{name} said one two as {name}"));
    }
    // A name that says nothing is nobody's.
    let mut call = Rounds::of("confide", json!({}));
    let asked = by(Some(""), call.beginning()).ask(address).await;
    call.asked(&asked);
    let asked = by(None, call.saying("one")).ask(address).await;
    assert_eq!(call.asked(&asked), "And?");
    app.end().await;
}

#[test]
fn state_is_refused_to_another_principal() {
    run(async {
        let server = || mcp_runtime::server!(name = "principals").items(items![confide]);
        check(server().into_router().await.unwrap()).await;
        let service = server().into_service().await.unwrap();
        check(Router::new().nest_service("/mcp", service)).await;
    });
}
