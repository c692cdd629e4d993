//! Coming back from another provider.

use super::{
    authorize::Back,
    core::Core,
    decide::{finish, logged_in},
    form::Form,
    page,
    provider::{Failed, Provider},
    refusal::Refusal,
    reply::Reply,
    waiting::Found,
};
use crate::auth::Visit;

/// What the provider is told to send the browser back to.
pub(super) fn address(core: &Core, visit: &Visit) -> String {
    format!("{}/callback", core.issuer(&visit.origin))
}

/// What a browser carries there and back: which authorization it is about, and that it is ours.
pub(super) fn state(id: &str, ticket: &str) -> String {
    format!("{id}.{ticket}")
}

pub(super) async fn answer(core: &Core, visit: &Visit, provider: &Provider) -> Reply {
    let come = come(core, visit, provider).await;
    come.unwrap_or_else(|refusal| page::problem(core, &refusal))
}

async fn come(core: &Core, visit: &Visit, provider: &Provider) -> Result<Reply, Refusal> {
    let stray = || Refusal {
        status: http::StatusCode::FORBIDDEN,
        ..Refusal::request("This login has expired, or it was not begun in this browser.")
    };
    let form = Form::parse(visit.parts.uri.query().unwrap_or_default())?;
    let (id, ticket) = form.required("state")?.split_once('.').ok_or_else(stray)?;
    let has_tls = core.has_tls(&visit.origin);
    let found = core.waiting.find(id, ticket, &visit.parts.headers, has_tls).ok_or_else(stray)?;
    // The way back is gone once.
    let journey = core.waiting.take_journey(&found.id).ok_or_else(stray)?;
    let end = |found: &Found, failed| Ok(finish(core, visit, found, Err(refusal(&failed))));
    match provider.is_answer_of(form.one("iss")?).await {
        Ok(true) => {}
        Ok(false) => return end(&found, Failed::Refused),
        Err(failed) => return end(&found, failed),
    }
    let (None, Some(code)) = (form.one("error")?, form.one("code")?) else {
        return end(&found, Failed::Refused);
    };
    let now = core.clock.now();
    let (user, given) = match provider.finish(&journey, &address(core, visit), code, now).await {
        Ok(known) => known,
        Err(failed) => return end(&found, failed),
    };
    logged_in(core, visit, &found, user, Some(given))
}

/// What a client is told.
pub(super) fn refusal(failed: &Failed) -> Refusal {
    match failed {
        Failed::Refused => Refusal::denied(),
        Failed::Away => Refusal::away(),
    }
}

/// Sends the browser back where it cannot be sent on.
pub(super) fn failed(back: &Back, failed: &Failed) -> Reply {
    super::reply::redirect(&back.refusal(&refusal(failed)))
}
