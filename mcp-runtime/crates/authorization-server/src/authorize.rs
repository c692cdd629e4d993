//! Authorization endpoint, at which a client asks for access in the browser of its user (RFC 6749, section 4.1.1). It checks the request,
//! and shows the login page or the consent page.

use std::sync::Arc;

use http::{HeaderValue, StatusCode};
use mcp_runtime::{__companion::PageRequest, limits::Limit};

use crate::{
    authorization_request::{AuthorizationRequest, Challenge, RedirectTarget},
    client::Client,
    form::Form,
    login::LoginPage,
    nodes::CallerRate,
    oauth_error::OAuthError,
    page::{self, ConsentUser, ShownClient},
    pending::PageBinding,
    redirect_uri::{RedirectUri, is_registered},
    response::{self, Reply},
    state::{LoginMethod, ServerState},
};

/// Answers an authorization request: shows the login page or the consent page, or reports an error.
pub(crate) async fn begin(server: &ServerState, request: &PageRequest) -> Reply {
    // Rejects a request for an embedded image or frame. Otherwise a page of another site could use up the rate limit of the user's address.
    let shown_in = request.parts.headers.get("sec-fetch-dest");
    if shown_in.is_some_and(|place| place != "document") {
        let status = StatusCode::FORBIDDEN;
        let why = "This page must not be embedded in another page.";
        return page::problem(server, &OAuthError { status, ..OAuthError::invalid_request(why) });
    }
    let busy = || {
        let why = "Too many logins have been started. Wait a moment.";
        server.records.counts.limit_reached(Limit::Authorizations, why)
    };
    match server.pass(CallerRate::Authorizations, request).await {
        Ok(true) => {}
        Ok(false) => return page::problem(server, &busy()),
        Err(refusal) => return page::problem(server, &refusal),
    }
    let (client, form, target) = match identify(server, request).await {
        Ok(known) => known,
        // The client or the redirect URI is not valid, so the error is shown on a page instead of being sent to the redirect URI.
        Err(refusal) => return page::problem(server, &refusal),
    };
    match read(server, request, &form) {
        Ok((challenge, scopes)) => {
            let resource = request.resource.clone();
            let authorization =
                AuthorizationRequest { client, target, challenge, scopes, resource };
            wait(server, request, Arc::new(authorization)).await
        }
        Err(refusal) => reject(server, &target, &refusal),
    }
}

/// Reports an invalid request to its client. The user has not agreed to anything yet, so the browser goes to a site only after the user has
/// clicked a link. Otherwise an attacker could register a client, and send users to the attacker's site through links with invalid requests
/// (RFC 9700, section 4.11.2).
fn reject(server: &ServerState, target: &RedirectTarget, refusal: &OAuthError) -> Reply {
    let url = target.refusal(refusal);
    match RedirectUri::parse(&target.redirect) {
        Ok(site @ RedirectUri::Site { .. }) => {
            page::rejected(server, refusal, &url, &site.destination())
        }
        _ => response::redirect(&url),
    }
}

/// Finds the client of a request, and checks the redirect URI. If this fails, the caller must not redirect the browser.
async fn identify(
    server: &ServerState,
    request: &PageRequest,
) -> Result<(Arc<Client>, Form, RedirectTarget), OAuthError> {
    let form = Form::parse(request.parts.uri.query().unwrap_or_default())?;
    let client = server.client(form.required("client_id")?, request).await?;
    let redirect = match (form.one("redirect_uri")?, &*client.redirects) {
        (Some(requested), all) if all.iter().any(|uri| is_registered(uri, requested)) => {
            requested.to_owned()
        }
        (Some(_), _) => {
            let why = "the client has not registered this redirect_uri";
            return Err(OAuthError::invalid_request(why));
        }
        (None, [only]) => only.clone(),
        (None, _) => {
            return Err(OAuthError::invalid_request("the parameter redirect_uri is missing"));
        }
    };
    let state = form.one("state")?.map(str::to_owned);
    let issuer = server.issuer(&request.origin);
    Ok((client, form, RedirectTarget { redirect, state, issuer }))
}

/// Validates the other parameters of the request. Returns the PKCE challenge and the scopes.
fn read(
    server: &ServerState,
    request: &PageRequest,
    form: &Form,
) -> Result<(Challenge, Vec<String>), OAuthError> {
    if form.required("response_type")? != "code" {
        return Err(OAuthError::unsupported_response_type());
    }
    if form.one("response_mode")?.is_some_and(|mode| mode != "query") {
        return Err(OAuthError::invalid_request("the parameter response_mode must be query"));
    }
    let challenge = Challenge::of(form)?;
    if !form.all("resource").all(|uri| server.is_target(uri, request)) {
        return Err(OAuthError::invalid_target());
    }
    Ok((challenge, server.requested_scopes(form.one("scope")?)?))
}

/// Stores the authorization until the user decides, and shows the login page. With an upstream provider, shows the consent page.
async fn wait(
    server: &ServerState,
    request: &PageRequest,
    authorization: Arc<AuthorizationRequest>,
) -> Reply {
    let has_tls = server.has_tls(&request.origin);
    let added = server.records.add_authorization(authorization.clone(), request.caller(), has_tls);
    let binding = match added.await {
        Ok(binding) => binding,
        Err(refusal) => return page::problem(server, &refusal),
    };
    match &server.login_method {
        LoginMethod::Local { page, .. } => {
            login_page(server, &binding, &ShownClient::of(&authorization), page)
        }
        // Shows the consent page before the upstream login. The provider does not know the clients of this server, and might log the user
        // in without asking anything. Without the consent page, a client could then get a code unnoticed.
        LoginMethod::Delegated(provider) => with_cookie(
            page::consent(server, &binding, &authorization, &ConsentUser::AtProvider(provider)),
            &binding,
        ),
    }
}

/// Shows the login page.
pub(crate) fn login_page(
    server: &ServerState,
    binding: &PageBinding,
    shown: &ShownClient,
    page: &LoginPage,
) -> Reply {
    with_cookie(page::login(server, binding, shown, page), binding)
}

/// Sets the cookie of a binding in a response, if the binding has a new cookie.
pub(crate) fn with_cookie(mut response: Reply, binding: &PageBinding) -> Reply {
    if let Some(cookie) =
        binding.cookie.as_deref().and_then(|value| HeaderValue::from_str(value).ok())
    {
        response.headers_mut().insert(http::header::SET_COOKIE, cookie);
    }
    response
}
