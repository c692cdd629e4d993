//! Forms that users send from a page: the login, and the decision whether a client may act for the user.

use std::time::Duration;

use http::{HeaderValue, StatusCode, header};
use tokio::time::{Instant, timeout};

use super::{
    authorize::{Asked, login_page, with_cookie},
    callback,
    codes::Code,
    core::{Core, Way},
    form::Form,
    login::{Judge, LoginPage, LoginRequest},
    page::{self, Who},
    provider::{Given, Provider},
    refusal::Refusal,
    reply::{self, Reply},
    token,
    user::User,
    waiting::{Approved, Found, Held, Known, forget},
};
use mcp_runtime::{__companion::PageRequest, Limit};

/// Time limit of the author's login function.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn answer(core: &Core, visit: &PageRequest) -> Reply {
    let decided = decide(core, visit).await;
    decided.unwrap_or_else(|refusal| page::problem(core, &refusal))
}

async fn decide(core: &Core, visit: &PageRequest) -> Result<Reply, Refusal> {
    let stray = || Refusal {
        status: StatusCode::FORBIDDEN,
        ..Refusal::request("This page has expired, or it was not opened in this browser.")
    };
    check_origin(core, visit)?;
    let form = token::form(visit)?;
    let (id, ticket) = (form.required("pending")?, form.required("ticket")?);
    let has_tls = core.has_tls(&visit.origin);
    let found = core.records.waiting.find(id, ticket, &visit.parts.headers, has_tls);
    let found = found.filter(|it| !it.is_approved).ok_or_else(stray)?;
    let action = form.one("action")?;
    if action == Some("deny") {
        return Ok(finish(core, visit, &found, Err(Refusal::denied())));
    }
    match (&core.way, &found.user) {
        (Way::Asked { login, page }, None) => log_in(core, visit, form, found, login, page).await,
        // The form does not come from the consent page.
        _ if action != Some("allow") => Err(stray()),
        (Way::Asked { .. }, Some(known)) => {
            let scopes = chosen(&form, &found.asked, |it| known.user.may(it));
            let code = scopes.and_then(|it| coded(core, &found.asked, it, known.clone(), None));
            Ok(finish(core, visit, &found, code))
        }
        (Way::Delegated(provider), _) => match chosen(&form, &found.asked, |_| true) {
            Ok(scopes) => send_on(core, visit, &found, scopes, provider).await,
            Err(refusal) => Ok(finish(core, visit, &found, Err(refusal))),
        },
    }
}

/// Redirects the browser to the upstream provider, where the user logs in.
async fn send_on(
    core: &Core,
    visit: &PageRequest,
    found: &Found,
    scopes: Vec<String>,
    provider: &Provider,
) -> Result<Reply, Refusal> {
    let journey = Provider::journey()?;
    let gone = || Refusal::request("This page was used before.");
    let approved = Approved { scopes, journey: journey.clone(), since: Instant::now() };
    let held = core.records.waiting.approve(&found.id, approved, core.has_tls(&visit.origin))?;
    let held = held.ok_or_else(gone)?;
    let state = callback::state(&held.id, &held.ticket);
    let begun = provider.begin(&journey, &callback::address(core, visit), &state).await;
    Ok(match begun {
        Ok(url) => with_cookie(reply::redirect(&url), &held),
        Err(failed) => finish(core, visit, found, Err(callback::refusal(&failed))),
    })
}

/// Rejects a form that a page of another origin has sent.
fn check_origin(core: &Core, visit: &PageRequest) -> Result<(), Refusal> {
    let said = visit.parts.headers.get(header::ORIGIN);
    let own = core.origin(&visit.origin);
    match said {
        Some(said) if !said.as_bytes().eq_ignore_ascii_case(own.as_bytes()) => Err(Refusal {
            status: StatusCode::FORBIDDEN,
            ..Refusal::request("Another site has sent this form.")
        }),
        _ => Ok(()),
    }
}

async fn log_in(
    core: &Core,
    visit: &PageRequest,
    form: Form,
    found: Found,
    login: &Judge,
    first: &LoginPage,
) -> Result<Reply, Refusal> {
    // The attempt counts against both limits before the login function runs, so that concurrent attempts cannot exceed them.
    if core.logins.pass(visit.who()).is_err() || !core.records.waiting.may_try(&found.id) {
        let why = "Too many have tried to log in. Wait a minute before you start again.";
        return Err(core.records.counts.busy(Limit::LoginAttempts, why));
    }
    let ticket = form.required("ticket")?.to_owned();
    let request =
        LoginRequest { form, headers: visit.parts.headers.clone(), asked: found.asked.clone() };
    let since = Instant::now();
    let judged = timeout(PATIENCE, login.begin(request)).await;
    let judged = judged.map_err(|why| Refusal::broken("logging in took too long", &why))?;
    let page = match judged {
        Ok(user) => {
            core.logins.give_back(visit.who());
            return logged_in(core, visit, &found, Known { user, since });
        }
        Err(page) => page,
    };
    if let Some(problem) = page.problem() {
        return Err(Refusal::broken("the page cannot be shown", &problem));
    }
    if !core.records.waiting.has_tries(&found.id) {
        core.records.counts.count(Limit::LoginAttempts);
        return Ok(finish(core, visit, &found, Err(Refusal::denied())));
    }
    let held = Held { id: found.id, ticket, cookie: None };
    Ok(login_page(core, &held, &page::source(&found.asked), &again(first, page)))
}

/// Shows the consent page to a user who has logged in.
fn logged_in(
    core: &Core,
    visit: &PageRequest,
    found: &Found,
    known: Known,
) -> Result<Reply, Refusal> {
    let user = &known.user;
    check_user(user)?;
    let asked = &found.asked;
    if !asked.scopes.is_empty() && !asked.scopes.iter().any(|it| user.may(it)) {
        return Ok(finish(core, visit, found, Err(nothing_to_grant())));
    }
    let gone = || Refusal::request("This page has expired.");
    let held = core.records.waiting.log_in(&found.id, known.clone())?.ok_or_else(gone)?;
    Ok(page::consent(core, &held, asked, &Who::User(user)))
}

pub(crate) fn nothing_to_grant() -> Refusal {
    Refusal::scope("the user may grant nothing of this")
}

/// # Errors
/// Fails if the author's function has returned an invalid user.
pub(crate) fn check_user(user: &User) -> Result<(), Refusal> {
    match user.problem() {
        Some(problem) => Err(Refusal::broken("nobody can be logged in now", &problem)),
        None => Ok(()),
    }
}

/// Returns the login page to show again. Without HTML in `page`, the HTML of the first page is used.
fn again(first: &LoginPage, page: LoginPage) -> LoginPage {
    let message = page.message.unwrap_or_else(|| "That was not right.".to_owned());
    LoginPage { html: page.html.or_else(|| first.html.clone()), message: Some(message) }
}

/// Returns the scopes that the user has ticked, limited to those that were requested and may be granted.
///
/// # Errors
/// Fails if scopes were requested and none is left.
fn chosen(form: &Form, asked: &Asked, may: impl Fn(&str) -> bool) -> Result<Vec<String>, Refusal> {
    let ticked: Vec<_> = form.all("scope").collect();
    let scopes = asked.scopes.iter().filter(|it| may(it) && ticked.contains(&&***it));
    let scopes: Vec<_> = scopes.cloned().collect();
    if scopes.is_empty() && !asked.scopes.is_empty() { Err(Refusal::denied()) } else { Ok(scopes) }
}

/// Creates the code for what a user has allowed.
///
/// # Errors
/// Fails if there is no room for the code, or the user was logged out in the meantime.
pub(crate) fn coded(
    core: &Core,
    asked: &Asked,
    scopes: Vec<String>,
    Known { user, since }: Known,
    given: Option<Given>,
) -> Result<String, Refusal> {
    let code = Code {
        client: asked.client.id.clone(),
        client_name: asked.client.name.clone(),
        redirect: asked.back.redirect.clone(),
        refreshes: asked.client.refreshes,
        challenge: asked.challenge,
        resource: asked.resource.clone(),
        scopes,
        user,
        given,
    };
    core.records.codes.add(code, since)
}

/// Ends the authorization and redirects the browser to the client.
pub(crate) fn finish(
    core: &Core,
    visit: &PageRequest,
    found: &Found,
    code: Result<String, Refusal>,
) -> Reply {
    let back = &found.asked.back;
    if !core.records.waiting.take(&found.id) {
        return page::problem(core, &Refusal::request("This page was used before."));
    }
    let url = match code {
        Ok(code) => back.code(&code),
        Err(refusal) => back.refusal(&refusal),
    };
    let mut reply = reply::redirect(&url);
    let cookie = forget(&found.id, core.has_tls(&visit.origin));
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        reply.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    reply
}
