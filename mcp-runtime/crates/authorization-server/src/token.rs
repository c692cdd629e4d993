//! Token endpoint, which exchanges codes and refresh tokens for tokens (RFC 6749, sections 4.1.3 and 6), and revocation endpoint (RFC
//! 7009).

use http::StatusCode;
use mcp_runtime::__companion::PageRequest;
use serde::Serialize;

use crate::{
    codes::{AuthorizationCode, TakenCode},
    form::Form,
    grant::{Grant, IssuedTokens, SealedTokens},
    oauth_error::OAuthError,
    provider::{self, Provider, ProviderError},
    records::Records,
    response::{self, Reply},
    secret::Digest,
    state::ServerState,
};

#[derive(Serialize)]
struct TokenResponse<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    scope: String,
}

/// Answers a request for tokens.
pub(crate) async fn answer(
    server: &ServerState,
    request: &PageRequest,
) -> Result<Reply, OAuthError> {
    let records = &server.records;
    let form = Form::posted(request)?;
    let kind = form.required("grant_type")?;
    let client = records.authenticate(&request.parts.headers, &form).await?;
    let issued = match kind {
        "authorization_code" => exchange(server, request, &form, &client.id).await?,
        "refresh_token" => refresh(server, request, &form, &client.id).await?,
        _ => return Err(OAuthError::unsupported_grant_type()),
    };
    records.touch(&client).await?;
    records.journal.save().await?;
    Ok(response::json(
        StatusCode::OK,
        &TokenResponse {
            access_token: &issued.access,
            token_type: "Bearer",
            expires_in: issued.expires_in,
            refresh_token: issued.refresh.as_deref(),
            scope: issued.scopes.join(" "),
        },
    ))
}

async fn exchange(
    server: &ServerState,
    request: &PageRequest,
    form: &Form,
    client: &str,
) -> Result<IssuedTokens, OAuthError> {
    let records = &server.records;
    let text = form.required("code")?;
    let verifier = form.required("code_verifier")?;
    let redirect = form.one("redirect_uri")?;
    let (code, used) = match records.take_code(text).await? {
        TakenCode::Good(code, used) => (code, used),
        TakenCode::Again(grant) => {
            tracing::warn!(
                "an authorization code was used twice: the tokens issued for it have been revoked"
            );
            if let Some(grant) = grant {
                end(records, grant).await?;
            }
            return Err(OAuthError::invalid_grant("the code has already been used"));
        }
        TakenCode::Unknown => {
            return Err(OAuthError::invalid_grant("the code is invalid or has expired"));
        }
    };
    let AuthorizationCode {
        client: owner,
        client_name,
        redirect: requested,
        refreshes,
        challenge,
        ..
    } = *code;
    let AuthorizationCode { resource, scopes, user, upstream, .. } = *code;
    if owner != client {
        return Err(OAuthError::invalid_grant("the code was issued to another client"));
    }
    // Clients that follow OAuth 2.1 send no `redirect_uri` here, so the parameter is optional.
    if redirect.is_some_and(|uri| uri != requested) {
        return Err(OAuthError::invalid_grant(
            "the redirect URI differs from that of the authorization request",
        ));
    }
    if !challenge.is_met_by(verifier) {
        return Err(OAuthError::invalid_grant(
            "the code verifier does not match the code challenge",
        ));
    }
    if !form.all("resource").all(|uri| server.is_target(uri, request)) {
        return Err(OAuthError::invalid_target());
    }
    let grant = Grant::new(owner, client_name, user, scopes, resource);
    let back = |key: &Digest| match (server.provider(), &upstream) {
        (Some(provider), Some(upstream)) => provider.seal(upstream, key).map(Some),
        _ => Ok(None),
    };
    let (issued, is_good) = records.begin_grant(grant, refreshes, back, used).await?;
    if is_good && records.gave(text, issued.grant, used).await? {
        return Ok(issued);
    }
    end(records, issued.grant).await?;
    Err(OAuthError::invalid_grant(
        "the code has already been used, or its user has been logged out",
    ))
}

/// Ends a grant, and revokes its upstream tokens.
async fn end(records: &Records, grant: Digest) -> Result<(), OAuthError> {
    let ended = records.end_grant(grant).await?;
    provider::revoke_upstream(records.provider.as_ref(), ended, Vec::new());
    records.journal.save().await
}

async fn refresh(
    server: &ServerState,
    request: &PageRequest,
    form: &Form,
    client: &str,
) -> Result<IssuedTokens, OAuthError> {
    let records = &server.records;
    let token = form.required("refresh_token")?;
    let scopes = form.one("scope")?;
    let scopes = scopes
        .map(|text| text.split(' ').filter(|name| !name.is_empty() && *name != "offline_access"));
    // A request without scopes, or with `offline_access` alone, is a request for all granted scopes.
    let scopes = scopes.map(|names| names.map(str::to_owned).collect::<Vec<_>>());
    let scopes = scopes.filter(|names| !names.is_empty());
    if !form.all("resource").all(|uri| server.is_target(uri, request)) {
        return Err(OAuthError::invalid_target());
    }
    // Held until both the upstream tokens and the tokens of this server are refreshed, so that two refreshes of a grant never overlap.
    let lock = match server.provider() {
        Some(provider) => Some(records.lock_refresh(provider, token).await?),
        None => None,
    };
    let refreshed = refresh_locked(server, token, client, scopes).await;
    if let Some(lock) = lock {
        records.unlock_refresh(lock).await;
    }
    refreshed
}

async fn refresh_locked(
    server: &ServerState,
    token: &str,
    client: &str,
    scopes: Option<Vec<String>>,
) -> Result<IssuedTokens, OAuthError> {
    let records = &server.records;
    let backing = match server.provider() {
        Some(provider) => renew(server, provider, token, client, scopes.as_deref()).await?,
        None => None,
    };
    let refreshed = records.refresh(token, client, scopes, backing).await;
    if refreshed.is_err() {
        // The failed refresh may have ended the grant. This saves the end.
        records.journal.save().await?;
    }
    refreshed
}

/// Refreshes the upstream tokens of a grant, before this server issues tokens of its own. If the provider refuses, the grant ends.
async fn renew(
    server: &ServerState,
    provider: &Provider,
    token: &str,
    client: &str,
    scopes: Option<&[String]>,
) -> Result<Option<SealedTokens>, OAuthError> {
    let records = &server.records;
    let found = records.backing(token, client, scopes).await?;
    let Some((key, backing)) = found.filter(|found| found.1.refreshes) else { return Ok(None) };
    match provider.refresh(&backing, &key, records.clock.now()).await {
        Ok(upstream) => provider.seal(&upstream, &key).map(Some),
        Err(ProviderError::Unavailable) => Err(OAuthError::provider_unavailable()),
        Err(ProviderError::Refused) => {
            records.end_grant(key).await?;
            records.journal.save().await?;
            Err(OAuthError::invalid_grant(
                "the identity provider no longer accepts the login of the user",
            ))
        }
    }
}

/// Answers a request to revoke a token.
pub(crate) async fn revoke(
    server: &ServerState,
    request: &PageRequest,
) -> Result<Reply, OAuthError> {
    let records = &server.records;
    let form = Form::posted(request)?;
    let client = records.authenticate(&request.parts.headers, &form).await?;
    let ended = records.revoke(form.required("token")?, &client.id).await?;
    provider::revoke_upstream(records.provider.as_ref(), ended, Vec::new());
    records.journal.save().await?;
    // An unknown token gets the same response, because it is invalid already (RFC 7009, section 2.2).
    Ok(response::empty(StatusCode::OK))
}
