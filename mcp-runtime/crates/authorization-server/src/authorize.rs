//! The beginning of an authorization (RFC 6749, section 4.1.1).

use std::sync::Arc;

use http::{HeaderValue, StatusCode};

use super::{
    client::Client,
    core::{Core, Way},
    form::{self, Form},
    login::LoginPage,
    page::{self, Who},
    pkce::Challenge,
    redirect::{Redirect, is_registered},
    refusal::Refusal,
    reply::{self, Reply},
    waiting::Held,
};
use mcp_runtime::{__companion::PageRequest, Limit};

/// Validated authorization request of a client.
pub(crate) struct Asked {
    pub(crate) client: Arc<Client>,
    /// Destination of the response.
    pub(crate) back: Back,
    pub(crate) challenge: Challenge,
    /// Requested scopes that this server has.
    pub(crate) scopes: Vec<String>,
    pub(crate) resource: String,
}

/// Redirect URI of a client, with the parameters that each response carries.
pub(crate) struct Back {
    pub(crate) redirect: String,
    state: Option<String>,
    issuer: String,
}

impl Back {
    #[cfg(test)]
    pub(crate) fn to(redirect: &str) -> Self {
        Self { redirect: redirect.to_owned(), state: None, issuer: String::new() }
    }

    /// Builds the URL with these parameters, the client's unchanged `state`, and the issuer as `iss` (RFC 9207).
    fn url(&self, parameters: &[(&str, &str)]) -> String {
        let mut url = self.redirect.clone();
        for (name, value) in parameters {
            form::push(&mut url, name, value);
        }
        if let Some(state) = &self.state {
            form::push(&mut url, "state", state);
        }
        form::push(&mut url, "iss", &self.issuer);
        url
    }

    pub(crate) fn code(&self, code: &str) -> String {
        self.url(&[("code", code)])
    }

    pub(crate) fn refusal(&self, refusal: &Refusal) -> String {
        self.url(&[("error", refusal.error), ("error_description", &refusal.why)])
    }
}

/// Shows the first page, or redirects the browser at once.
pub(crate) async fn begin(core: &Core, visit: &PageRequest) -> Reply {
    // A page of another site could embed this address, for example as an image, and use up the rate limit of the user.
    let shown_in = visit.parts.headers.get("sec-fetch-dest");
    if shown_in.is_some_and(|it| it != "document") {
        let status = StatusCode::FORBIDDEN;
        let why = "This page is to be opened by itself.";
        return page::problem(core, &Refusal { status, ..Refusal::request(why) });
    }
    if core.authorizations.pass(visit.who()).is_err() {
        let why = "Too many applications have sent somebody here. Wait a moment.";
        return page::problem(core, &core.records.counts.busy(Limit::Authorizations, why));
    }
    let (client, form, back) = match who(core, visit).await {
        Ok(known) => known,
        // The client or the redirect URI is not valid, so the browser must not be redirected.
        Err(refusal) => return page::problem(core, &refusal),
    };
    match read(core, visit, &form) {
        Ok((challenge, scopes)) => {
            let resource = visit.resource.clone();
            let asked = Asked { client, back, challenge, scopes, resource };
            wait(core, visit, Arc::new(asked))
        }
        Err(refusal) => turned_back(core, &back, &refusal),
    }
}

/// Tells a client that its request is invalid. The user has not agreed to anything yet. An attacker could register a site and use a link
/// with an invalid request to send users to that site (RFC 9700, section 4.11.2). So the user must click to follow a redirect to a site.
fn turned_back(core: &Core, back: &Back, refusal: &Refusal) -> Reply {
    let url = back.refusal(refusal);
    match Redirect::parse(&back.redirect) {
        Ok(site @ Redirect::Site { .. }) => page::turned_back(core, refusal, &url, &site.place()),
        _ => reply::redirect(&url),
    }
}

/// Validates the client and the redirect URI, which must happen before the browser is redirected.
async fn who(core: &Core, visit: &PageRequest) -> Result<(Arc<Client>, Form, Back), Refusal> {
    let form = Form::parse(visit.parts.uri.query().unwrap_or_default())?;
    let client = core.client(form.required("client_id")?, visit).await?;
    let redirect = match (form.one("redirect_uri")?, &*client.redirects) {
        (Some(asked), all) if all.iter().any(|it| is_registered(it, asked)) => asked.to_owned(),
        (Some(_), _) => {
            let why = "the redirect_uri is none that the client has registered";
            return Err(Refusal::request(why));
        }
        (None, [only]) => only.clone(),
        (None, _) => return Err(Refusal::request("the parameter redirect_uri is missing")),
    };
    let state = form.one("state")?.map(str::to_owned);
    let issuer = core.issuer(&visit.origin);
    Ok((client, form, Back { redirect, state, issuer }))
}

fn read(
    core: &Core,
    visit: &PageRequest,
    form: &Form,
) -> Result<(Challenge, Vec<String>), Refusal> {
    if form.required("response_type")? != "code" {
        return Err(Refusal::response_type());
    }
    if form.one("response_mode")?.is_some_and(|it| it != "query") {
        return Err(Refusal::request("the parameter response_mode must be query"));
    }
    let challenge = Challenge::asked(form)?;
    if !form.all("resource").all(|it| core.is_target(it, visit)) {
        return Err(Refusal::target());
    }
    Ok((challenge, core.wanted(form.one("scope")?)?))
}

fn wait(core: &Core, visit: &PageRequest, asked: Arc<Asked>) -> Reply {
    let held =
        match core.records.waiting.add(asked.clone(), visit.who(), core.has_tls(&visit.origin)) {
            Ok(held) => held,
            Err(refusal) => return page::problem(core, &refusal),
        };
    match &core.way {
        Way::Asked { page, .. } => login_page(core, &held, &page::source(&asked), page),
        // The consent page comes before the upstream login. The provider knows only this server, not its clients, and may not ask the user
        // at all.
        Way::Delegated(provider) => {
            with_cookie(page::consent(core, &held, &asked, &Who::Elsewhere(provider)), &held)
        }
    }
}

/// Shows the login page.
pub(crate) fn login_page(core: &Core, held: &Held, shown: &page::Shown, page: &LoginPage) -> Reply {
    with_cookie(page::login(core, held, shown, page), held)
}

pub(crate) fn with_cookie(mut reply: Reply, held: &Held) -> Reply {
    if let Some(cookie) = held.cookie.as_deref().and_then(|it| HeaderValue::from_str(it).ok()) {
        reply.headers_mut().insert(http::header::SET_COOKIE, cookie);
    }
    reply
}
