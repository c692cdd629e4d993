//! Metadata of the authorization server (RFC 8414).

use serde::Serialize;

use super::address::{AUTHORIZE, REGISTER, REVOKE, TOKEN};

/// Supported methods of client authentication.
const METHODS: [&str; 3] = ["none", "client_secret_basic", "client_secret_post"];

#[derive(Serialize)]
pub(crate) struct Metadata<'a> {
    issuer: &'a str,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: String,
    revocation_endpoint: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<&'a str>,
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: [&'static str; 2],
    token_endpoint_auth_methods_supported: [&'static str; 3],
    revocation_endpoint_auth_methods_supported: [&'static str; 3],
    code_challenge_methods_supported: [&'static str; 1],
    authorization_response_iss_parameter_supported: bool,
    client_id_metadata_document_supported: bool,
}

impl<'a> Metadata<'a> {
    pub(crate) fn new(issuer: &'a str, scopes: impl Iterator<Item = &'a str>) -> Self {
        let at = |path| format!("{}{path}", issuer.trim_end_matches('/'));
        Self {
            issuer,
            authorization_endpoint: at(AUTHORIZE),
            token_endpoint: at(TOKEN),
            registration_endpoint: at(REGISTER),
            revocation_endpoint: at(REVOKE),
            scopes_supported: scopes.collect(),
            response_types_supported: ["code"],
            response_modes_supported: ["query"],
            grant_types_supported: ["authorization_code", "refresh_token"],
            token_endpoint_auth_methods_supported: METHODS,
            revocation_endpoint_auth_methods_supported: METHODS,
            code_challenge_methods_supported: ["S256"],
            authorization_response_iss_parameter_supported: true,
            client_id_metadata_document_supported: true,
        }
    }
}
