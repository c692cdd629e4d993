//! Tokens for codes and for refresh tokens (RFC 6749, sections 4.1.3 and 6), and revocation (RFC 7009).

use http::{StatusCode, header};
use serde::Serialize;

use super::{
    codes::{Code, Taken},
    core::Core,
    farewell,
    form::Form,
    grant::{Backing, Grant},
    grants::Issued,
    provider::{Failed, Provider},
    refusal::Refusal,
    reply::{self, Reply},
    secret::Digest,
};
use mcp_runtime::__companion::PageRequest;

#[derive(Serialize)]
struct Tokens<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    scope: String,
}

/// Parses the form in the body of a request.
///
/// # Errors
/// Fails if the body is no form.
pub(crate) fn form(visit: &PageRequest) -> Result<Form, Refusal> {
    let kind = visit.parts.headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        let why = "the body must be of the type application/x-www-form-urlencoded";
        return Err(Refusal::request(why));
    }
    let text = str::from_utf8(&visit.body);
    Form::parse(text.map_err(|_| Refusal::request("the body is not UTF-8"))?)
}

pub(crate) async fn answer(core: &Core, visit: &PageRequest) -> Result<Reply, Refusal> {
    let records = &core.records;
    let form = form(visit)?;
    let kind = form.required("grant_type")?;
    let client = records.clients.authenticate(&visit.parts.headers, &form, records.clock.now())?;
    let issued = match kind {
        "authorization_code" => exchange(core, visit, &form, &client).await?,
        "refresh_token" => refresh(core, visit, &form, &client).await?,
        _ => return Err(Refusal::grant_type()),
    };
    records.clients.touch(&client, records.clock.now(), &records.journal);
    records.journal.save().await?;
    Ok(reply::json(
        StatusCode::OK,
        &Tokens {
            access_token: &issued.access,
            token_type: "Bearer",
            expires_in: issued.expires_in,
            refresh_token: issued.refresh.as_deref(),
            scope: issued.scopes.join(" "),
        },
    ))
}

async fn exchange(
    core: &Core,
    visit: &PageRequest,
    form: &Form,
    client: &str,
) -> Result<Issued, Refusal> {
    let records = &core.records;
    let text = form.required("code")?;
    let verifier = form.required("code_verifier")?;
    let redirect = form.one("redirect_uri")?;
    let code = match records.codes.take(text) {
        Taken::Good(code) => code,
        Taken::Again(grant) => {
            tracing::warn!("an authorization code was used twice: what it gave has been revoked");
            if let Some(grant) = grant {
                records.grants.end(grant, &records.journal);
                records.journal.save().await?;
            }
            return Err(Refusal::grant("the code was used before"));
        }
        Taken::Unknown => return Err(Refusal::grant("the code is not good, or no longer")),
    };
    let Code { client: owner, client_name, redirect: asked, refreshes, challenge, .. } = *code;
    let Code { resource, scopes, user, given, .. } = *code;
    if owner != client {
        return Err(Refusal::grant("the code is another client's"));
    }
    // Clients that follow OAuth 2.1 send no `redirect_uri` here.
    if redirect.is_some_and(|it| it != asked) {
        return Err(Refusal::grant("the redirect URI is another than that of the authorization"));
    }
    if !challenge.is_met_by(verifier) {
        return Err(Refusal::grant("the code verifier does not fit the challenge"));
    }
    if !form.all("resource").all(|it| core.is_target(it, visit)) {
        return Err(Refusal::target());
    }
    let grant = Grant::new(owner, client_name, user, scopes, resource);
    let back = |key: &Digest| match (core.provider(), &given) {
        (Some(provider), Some(given)) => provider.seal(given, key).map(Some),
        _ => Ok(None),
    };
    let issued =
        records.grants.begin(grant, refreshes, back, records.clock.now(), &records.journal)?;
    if records.codes.gave(text, issued.grant) {
        return Ok(issued);
    }
    records.grants.end(issued.grant, &records.journal);
    records.journal.save().await?;
    Err(Refusal::grant("the code was used before, or its user has been logged out"))
}

async fn refresh(
    core: &Core,
    visit: &PageRequest,
    form: &Form,
    client: &str,
) -> Result<Issued, Refusal> {
    let records = &core.records;
    let token = form.required("refresh_token")?;
    let scopes = form.one("scope")?;
    let scopes =
        scopes.map(|it| it.split(' ').filter(|it| !it.is_empty() && *it != "offline_access"));
    // A request without scopes, or with `offline_access` alone, asks for all granted scopes.
    let scopes = scopes.map(|it| it.map(str::to_owned).collect::<Vec<_>>());
    let scopes = scopes.filter(|it| !it.is_empty());
    if !form.all("resource").all(|it| core.is_target(it, visit)) {
        return Err(Refusal::target());
    }
    // The turn is held until the tokens of this server are refreshed too.
    let _turn = match core.provider() {
        Some(provider) => Some(provider.turn(token).await),
        None => None,
    };
    let backing = match core.provider() {
        Some(provider) => renew(core, provider, token, client, scopes.as_deref()).await?,
        None => None,
    };
    let now = records.clock.now();
    let refreshed = records.grants.refresh(token, client, scopes, backing, now, &records.journal);
    if refreshed.is_err() {
        // The failed refresh may have ended the grant.
        records.journal.save().await?;
    }
    refreshed
}

/// Refreshes the upstream tokens of a grant before its own tokens. If the provider refuses, the grant ends.
async fn renew(
    core: &Core,
    provider: &Provider,
    token: &str,
    client: &str,
    scopes: Option<&[String]>,
) -> Result<Option<Backing>, Refusal> {
    let records = &core.records;
    let found = records.grants.backing(token, client, scopes, records.clock.now());
    let Some((key, backing)) = found.filter(|it| it.1.refreshes) else { return Ok(None) };
    match provider.refresh(&backing, &key, records.clock.now()).await {
        Ok(given) => provider.seal(&given, &key).map(Some),
        Err(Failed::Away) => Err(Refusal::away()),
        Err(Failed::Refused) => {
            records.grants.end(key, &records.journal);
            records.journal.save().await?;
            Err(Refusal::grant("the provider that knows the user no longer lets them in"))
        }
    }
}

pub(crate) async fn revoke(core: &Core, visit: &PageRequest) -> Result<Reply, Refusal> {
    let records = &core.records;
    let form = form(visit)?;
    let client = records.clients.authenticate(&visit.parts.headers, &form, records.clock.now())?;
    let ended = records.grants.revoke(form.required("token")?, &client, &records.journal);
    records.journal.save().await?;
    farewell::say(records.provider.as_ref(), ended.into_iter().collect());
    // An unknown token gets the same response, because there is nothing left to do (RFC 7009, section 2.2).
    Ok(reply::empty(StatusCode::OK))
}
