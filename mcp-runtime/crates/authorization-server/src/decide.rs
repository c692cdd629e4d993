//! Decisions of users: the forms that users send from a page, and the callback to which the upstream provider redirects the browser.

use std::time::Duration;

use http::{HeaderValue, StatusCode, header};
use mcp_runtime::{__companion::PageRequest, limits::Limit};
use tokio::time::timeout;

use crate::{
    authorization_request::AuthorizationRequest,
    authorize::{login_page, with_cookie},
    codes::AuthorizationCode,
    form::Form,
    login::{LoginFunction, LoginPage, LoginRequest, User},
    oauth_error::OAuthError,
    page::{self, ConsentUser, ShownClient},
    pending::{
        Approval, FoundAuthorization, LoggedInUser, PageBinding, expired_cookie, has_tls_cookie,
    },
    provider::{Provider, ProviderError, UpstreamTokens},
    response::{self, Reply},
    state::{LoginMethod, ServerState},
};

/// Time limit of the author's login function.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers a form that a user has sent from a page.
pub(crate) async fn answer(server: &ServerState, request: &PageRequest) -> Reply {
    let decided = decide(server, request).await;
    decided.unwrap_or_else(|refusal| page::problem(server, &refusal))
}

async fn decide(server: &ServerState, request: &PageRequest) -> Result<Reply, OAuthError> {
    let stray = || OAuthError {
        status: StatusCode::FORBIDDEN,
        ..OAuthError::invalid_request(format!(
            "This page has expired, or it was not opened in this browser{}.",
            without_tls(server, request)
        ))
    };
    check_origin(server, request)?;
    let form = Form::posted(request)?;
    let (id, ticket) = (form.required("pending")?, form.required("ticket")?);
    let has_tls = server.has_tls(&request.origin);
    let headers = &request.parts.headers;
    let found = server.records.find_authorization(id, ticket, headers, has_tls).await?;
    let found = found.filter(|found| !found.is_approved).ok_or_else(stray)?;
    let action = form.one("action")?;
    if action == Some("deny") {
        return finish(server, request, &found, Err(OAuthError::access_denied())).await;
    }
    match (&server.login_method, &found.user) {
        (LoginMethod::Local { login, page }, None) => {
            log_in(server, request, form, found, login, page).await
        }
        // At this point only the form of the consent page is valid, which sends `allow`.
        _ if action != Some("allow") => Err(stray()),
        (LoginMethod::Local { .. }, Some(login_user)) => {
            let scopes =
                ticked_scopes(&form, &found.authorization, |scope| login_user.user.may(scope));
            let code = match scopes {
                Ok(scopes) => {
                    let login_user = login_user.clone();
                    issue_code(server, &found.authorization, scopes, login_user, None).await
                }
                Err(refusal) => Err(refusal),
            };
            finish(server, request, &found, code).await
        }
        (LoginMethod::Delegated(provider), _) => {
            match ticked_scopes(&form, &found.authorization, |_| true) {
                Ok(scopes) => redirect_to_provider(server, request, &found, scopes, provider).await,
                Err(refusal) => finish(server, request, &found, Err(refusal)).await,
            }
        }
    }
}

/// Redirects the browser to the upstream provider, where the user logs in.
async fn redirect_to_provider(
    server: &ServerState,
    request: &PageRequest,
    found: &FoundAuthorization,
    scopes: Vec<String>,
    provider: &Provider,
) -> Result<Reply, OAuthError> {
    let secrets = Provider::login_secrets()?;
    let gone = || OAuthError::invalid_request("This page has already been used.");
    let sealed = provider.seal_login(&secrets, &found.id)?;
    let since = server.records.login_start().await?;
    let approval = Approval { scopes, secrets: sealed, since };
    let has_tls = server.has_tls(&request.origin);
    let binding = server.records.approve(&found.id, approval, has_tls).await?;
    let binding = binding.ok_or_else(gone)?;
    let state = provider_state(&binding.id, &binding.ticket);
    let begun = provider.begin(&secrets, &callback_url(server, request), &state).await;
    match begun {
        Ok(url) => Ok(with_cookie(response::redirect(&url), &binding)),
        Err(failed) => finish(server, request, found, Err(failed.into())).await,
    }
}

/// Rejects a form that a page of another origin has sent.
fn check_origin(server: &ServerState, request: &PageRequest) -> Result<(), OAuthError> {
    let said = request.parts.headers.get(header::ORIGIN);
    let own = server.origin(&request.origin);
    match said {
        Some(said) if !said.as_bytes().eq_ignore_ascii_case(own.as_bytes()) => {
            let plain = own.replacen("https://", "http://", 1);
            let why = if said.as_bytes().eq_ignore_ascii_case(plain.as_bytes()) {
                format!(
                    "This page was opened over http://, and the address of this server is {own}."
                )
            } else {
                "Another site has sent this form.".to_owned()
            };
            Err(OAuthError { status: StatusCode::FORBIDDEN, ..OAuthError::invalid_request(why) })
        }
        _ => Ok(()),
    }
}

/// Returns a further reason for a missing cookie: the server has an `https://` address, and the page may have been opened over `http://`.
/// Browsers then ignore the cookie of the page. The text is empty if this reason is excluded.
fn without_tls(server: &ServerState, request: &PageRequest) -> String {
    let own = server.origin(&request.origin);
    if server.has_tls(&request.origin) && !has_tls_cookie(&request.parts.headers) {
        format!(", or it was opened over http://, and the address of this server is {own}")
    } else {
        String::new()
    }
}

async fn log_in(
    server: &ServerState,
    request: &PageRequest,
    form: Form,
    found: FoundAuthorization,
    login: &LoginFunction,
    first: &LoginPage,
) -> Result<Reply, OAuthError> {
    // The attempt counts against both limits before the login function runs, so that concurrent attempts cannot exceed them.
    let too_many = || {
        let why = "There were too many attempts to log in. Wait a minute before you start again.";
        server.records.counts.limit_reached(Limit::LoginAttempts, why)
    };
    let counted = server.attempt(request).await?.ok_or_else(too_many)?;
    if !server.records.may_try(&found.id).await? {
        return Err(too_many());
    }
    let ticket = form.required("ticket")?.to_owned();
    let attempt = LoginRequest {
        form,
        headers: request.parts.headers.clone(),
        authorization: found.authorization.clone(),
    };
    let since = server.records.login_start().await?;
    let result = timeout(PATIENCE, login.begin(attempt)).await;
    let result =
        result.map_err(|why| OAuthError::server_error("logging in took too long", &why))?;
    let page = match result {
        Ok(user) => {
            server.give_back(counted, request).await;
            return show_consent(server, request, &found, LoggedInUser { user, since }).await;
        }
        Err(page) => page,
    };
    if let Some(problem) = page.problem() {
        return Err(OAuthError::server_error("the page cannot be shown", &problem));
    }
    if !server.records.has_tries(&found.id).await? {
        server.records.counts.count(Limit::LoginAttempts);
        return finish(server, request, &found, Err(OAuthError::access_denied())).await;
    }
    let binding = PageBinding { id: found.id, ticket, cookie: None };
    Ok(login_page(
        server,
        &binding,
        &ShownClient::of(&found.authorization),
        &login_page_again(first, page),
    ))
}

/// Shows the consent page to a user who has logged in.
async fn show_consent(
    server: &ServerState,
    request: &PageRequest,
    found: &FoundAuthorization,
    login_user: LoggedInUser,
) -> Result<Reply, OAuthError> {
    let user = &login_user.user;
    check_user(user)?;
    let authorization = &found.authorization;
    if !authorization.scopes.is_empty() && !authorization.scopes.iter().any(|scope| user.may(scope))
    {
        return finish(server, request, found, Err(nothing_to_grant())).await;
    }
    let gone = || OAuthError::invalid_request("This page has expired.");
    let binding = server.records.log_in(&found.id, login_user.clone()).await?.ok_or_else(gone)?;
    Ok(page::consent(server, &binding, authorization, &ConsentUser::LoggedIn(user)))
}

fn nothing_to_grant() -> OAuthError {
    OAuthError::invalid_scope("the user may not grant any of the requested scopes")
}

/// Checks the user that the author's function has returned.
///
/// # Errors
/// Fails if the user is invalid.
fn check_user(user: &User) -> Result<(), OAuthError> {
    match user.problem() {
        Some(problem) => Err(OAuthError::server_error("the user cannot be logged in", &problem)),
        None => Ok(()),
    }
}

/// Returns the login page to show again. If `page` has no HTML of its own, the HTML of the first page is used.
fn login_page_again(first: &LoginPage, page: LoginPage) -> LoginPage {
    let message = page.message.unwrap_or_else(|| "The login failed. Try again.".to_owned());
    LoginPage { html: page.html.or_else(|| first.html.clone()), message: Some(message) }
}

/// Returns the scopes that the user has ticked, limited to those that were requested and may be granted.
///
/// # Errors
/// Fails if scopes were requested and none is left.
fn ticked_scopes(
    form: &Form,
    authorization: &AuthorizationRequest,
    may: impl Fn(&str) -> bool,
) -> Result<Vec<String>, OAuthError> {
    // The page sends a field for each scope. A script may send a single field with a list, as in the other requests of OAuth.
    let ticked: Vec<_> = form.all("scope").flat_map(|list| list.split(' ')).collect();
    let scopes =
        authorization.scopes.iter().filter(|scope| may(scope) && ticked.contains(&&***scope));
    let scopes: Vec<_> = scopes.cloned().collect();
    if scopes.is_empty() && !authorization.scopes.is_empty() {
        Err(OAuthError::no_scope_chosen())
    } else {
        Ok(scopes)
    }
}

/// Creates the code for the scopes that a user has granted.
///
/// # Errors
/// Fails if there are too many codes, or if all logins of the user were ended after this login began.
async fn issue_code(
    server: &ServerState,
    authorization: &AuthorizationRequest,
    scopes: Vec<String>,
    LoggedInUser { user, since }: LoggedInUser,
    upstream: Option<UpstreamTokens>,
) -> Result<String, OAuthError> {
    let code = AuthorizationCode {
        client: authorization.client.id.clone(),
        client_name: authorization.client.name.clone(),
        redirect: authorization.target.redirect.clone(),
        refreshes: authorization.client.refreshes,
        challenge: authorization.challenge,
        resource: authorization.resource.clone(),
        scopes,
        user,
        upstream,
    };
    server.records.add_code(code, since).await
}

/// Ends the authorization, and redirects the browser to the client with the code or the error.
///
/// # Errors
/// Fails if the authorization has already ended, or if the store cannot be used.
async fn finish(
    server: &ServerState,
    request: &PageRequest,
    found: &FoundAuthorization,
    code: Result<String, OAuthError>,
) -> Result<Reply, OAuthError> {
    let target = &found.authorization.target;
    if !server.records.take_authorization(&found.id).await? {
        return Err(OAuthError::invalid_request("This page has already been used."));
    }
    let url = match code {
        Ok(code) => target.code(&code),
        Err(refusal) => target.refusal(&refusal),
    };
    let mut response = response::redirect(&url);
    let cookie = expired_cookie(&found.id, server.has_tls(&request.origin));
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Returns the redirect URI of this server at the provider.
fn callback_url(server: &ServerState, request: &PageRequest) -> String {
    format!("{}/callback", server.issuer(&request.origin))
}

/// Builds the parameter `state` for the provider. It contains the id of the authorization, and the ticket that proves that this server sent
/// the browser to the provider.
fn provider_state(id: &str, ticket: &str) -> String {
    format!("{id}.{ticket}")
}

/// Answers the request of a browser that the upstream provider has redirected to this server.
pub(crate) async fn answer_callback(
    server: &ServerState,
    request: &PageRequest,
    provider: &Provider,
) -> Reply {
    let finished = finish_at_provider(server, request, provider).await;
    finished.unwrap_or_else(|refusal| page::problem(server, &refusal))
}

async fn finish_at_provider(
    server: &ServerState,
    request: &PageRequest,
    provider: &Provider,
) -> Result<Reply, OAuthError> {
    let stray = || OAuthError {
        status: StatusCode::FORBIDDEN,
        ..OAuthError::invalid_request(
            "This login has expired, or it was not started in this browser.",
        )
    };
    let form = Form::parse(request.parts.uri.query().unwrap_or_default())?;
    let (id, ticket) = form.required("state")?.split_once('.').ok_or_else(stray)?;
    let has_tls = server.has_tls(&request.origin);
    let headers = &request.parts.headers;
    let found = server.records.find_authorization(id, ticket, headers, has_tls).await?;
    let found = found.ok_or_else(stray)?;
    // A callback needs the approval that the user gave on the consent page. The approval is taken here, so the callback is valid only once.
    let approval = server.records.take_approval(&found.id).await?.ok_or_else(stray)?;
    // A node that has another key cannot finish the login.
    let secrets = provider.open_login(&approval.secrets, &found.id).ok_or_else(stray)?;
    let end = |code| finish(server, request, &found, code);
    match provider.is_answer_of(form.one("iss")?).await {
        Ok(true) => {}
        Ok(false) => return end(Err(ProviderError::Refused.into())).await,
        Err(failed) => return end(Err(failed.into())).await,
    }
    let (None, Some(code)) = (form.one("error")?, form.one("code")?) else {
        return end(Err(ProviderError::Refused.into())).await;
    };
    let (now, redirect) = (server.records.clock.now(), callback_url(server, request));
    let (user, upstream) = match provider.finish(&secrets, &redirect, code, now).await {
        Ok(login_user) => login_user,
        Err(failed) => return end(Err(failed.into())).await,
    };
    check_user(&user)?;
    let mut scopes = approval.scopes;
    let is_for_some = !scopes.is_empty();
    scopes.retain(|scope| user.may(scope));
    if is_for_some && scopes.is_empty() {
        return end(Err(nothing_to_grant())).await;
    }
    let login_user = LoggedInUser { user, since: approval.since };
    let code = issue_code(server, &found.authorization, scopes, login_user, Some(upstream)).await;
    end(code).await
}
