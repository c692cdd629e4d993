//! Return of the browser from the upstream provider.

use super::{
    core::Core,
    decide::{check_user, coded, finish, nothing_to_grant},
    form::Form,
    page,
    provider::{Failed, Provider},
    refusal::Refusal,
    reply::Reply,
    waiting::Known,
};
use mcp_runtime::__companion::PageRequest;

/// Returns the redirect URI of this server at the provider.
pub(crate) fn address(core: &Core, visit: &PageRequest) -> String {
    format!("{}/callback", core.issuer(&visit.origin))
}

/// Builds the `state` for the provider: the id of the authorization, and the ticket that proves that this server sent the browser.
pub(crate) fn state(id: &str, ticket: &str) -> String {
    format!("{id}.{ticket}")
}

pub(crate) async fn answer(core: &Core, visit: &PageRequest, provider: &Provider) -> Reply {
    let come = come(core, visit, provider).await;
    come.unwrap_or_else(|refusal| page::problem(core, &refusal))
}

async fn come(core: &Core, visit: &PageRequest, provider: &Provider) -> Result<Reply, Refusal> {
    let stray = || Refusal {
        status: http::StatusCode::FORBIDDEN,
        ..Refusal::request("This login has expired, or it was not begun in this browser.")
    };
    let form = Form::parse(visit.parts.uri.query().unwrap_or_default())?;
    let (id, ticket) = form.required("state")?.split_once('.').ok_or_else(stray)?;
    let has_tls = core.has_tls(&visit.origin);
    let found =
        core.records.waiting.find(id, ticket, &visit.parts.headers, has_tls).ok_or_else(stray)?;
    // A callback needs the approval that the user gave here. Taking the approval makes the callback valid only once.
    let approved = core.records.waiting.take_approved(&found.id).ok_or_else(stray)?;
    let end = |code| Ok(finish(core, visit, &found, code));
    match provider.is_answer_of(form.one("iss")?).await {
        Ok(true) => {}
        Ok(false) => return end(Err(refusal(&Failed::Refused))),
        Err(failed) => return end(Err(refusal(&failed))),
    }
    let (None, Some(code)) = (form.one("error")?, form.one("code")?) else {
        return end(Err(refusal(&Failed::Refused)));
    };
    let (now, address) = (core.records.clock.now(), address(core, visit));
    let (user, given) = match provider.finish(&approved.journey, &address, code, now).await {
        Ok(known) => known,
        Err(failed) => return end(Err(refusal(&failed))),
    };
    check_user(&user)?;
    let mut scopes = approved.scopes;
    let is_for_some = !scopes.is_empty();
    scopes.retain(|it| user.may(it));
    if is_for_some && scopes.is_empty() {
        return end(Err(nothing_to_grant()));
    }
    let known = Known { user, since: approved.since };
    end(coded(core, &found.asked, scopes, known, Some(given)))
}

/// Maps a failure of the provider to the error for the client.
pub(crate) fn refusal(failed: &Failed) -> Refusal {
    match failed {
        Failed::Refused => Refusal::denied(),
        Failed::Away => Refusal::away(),
    }
}
