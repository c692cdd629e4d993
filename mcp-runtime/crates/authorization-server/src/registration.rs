//! Clients that register themselves (RFC 7591).

use http::StatusCode;
use mcp_runtime::{__companion::PageRequest, limits::Limit};
use serde::Serialize;

use crate::{
    client::{Client, ClientMetadata, UNUSED},
    nodes::CallerRate,
    oauth_error::OAuthError,
    response::{self, Reply},
    secret::{Digest, random},
    state::ServerState,
};

/// Response to a registration.
#[derive(Serialize)]
struct RegistrationResponse<'a> {
    client_id: &'a str,
    client_id_issued_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret_expires_at: Option<u64>,
    redirect_uris: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    client_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_uri: Option<&'a str>,
    grant_types: &'a [&'static str],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'a str,
}

/// Answers the registration of a client.
pub(crate) async fn answer(
    server: &ServerState,
    request: &PageRequest,
) -> Result<Reply, OAuthError> {
    if !server.pass(CallerRate::Registrations, request).await? {
        let why = "too many clients have registered: try again later";
        return Err(server.records.counts.limit_reached(Limit::Registrations, why));
    }
    let metadata: ClientMetadata = serde_json::from_slice(&request.body).map_err(|_| {
        OAuthError::invalid_client_metadata("the body is not client metadata in JSON")
    })?;
    metadata.check(&server.private_redirects)?;
    let method = metadata.token_endpoint_auth_method.as_deref().unwrap_or("client_secret_basic");
    let secret = match method {
        "none" => None,
        "client_secret_basic" | "client_secret_post" => Some(random::<32>()?),
        _ => {
            let why = "token_endpoint_auth_method must be none, client_secret_basic or client_secret_post";
            return Err(OAuthError::invalid_client_metadata(why));
        }
    };
    let now = server.records.clock.now();
    let refreshes = metadata.refreshes();
    let client = Client {
        id: random::<16>()?,
        name: metadata.client_name,
        uri: metadata.client_uri,
        redirects: metadata.redirect_uris,
        secret: secret.as_deref().map(Digest::of),
        refreshes,
        expires: now + UNUSED,
    };
    server.records.add_client(&client).await?;
    let grant_types: &[_] =
        if refreshes { &["authorization_code", "refresh_token"] } else { &["authorization_code"] };
    let registered = RegistrationResponse {
        client_id: &client.id,
        client_id_issued_at: now,
        client_secret: secret.as_deref(),
        // `0` means that the secret does not expire.
        client_secret_expires_at: secret.is_some().then_some(0),
        redirect_uris: &client.redirects,
        client_name: client.name.as_deref(),
        client_uri: client.uri.as_deref(),
        grant_types,
        response_types: ["code"],
        token_endpoint_auth_method: method,
    };
    Ok(response::json(StatusCode::CREATED, &registered))
}
