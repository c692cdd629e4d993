//! Clients that register themselves (RFC 7591).

use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::{
    client::{Client, UNUSED},
    core::Core,
    redirect::Redirect,
    refusal::Refusal,
    reply::{self, Reply},
    secret::{Digest, random},
};
use mcp_runtime::{__companion::PageRequest, Limit};

/// Maximum number of redirect URIs of a client.
const REDIRECTS: usize = 20;

/// Maximum size of all redirect URIs of a client, in bytes, because they are stored for each client.
const REDIRECT_BYTES: usize = 4 << 10;

/// Maximum size of a client's name or URL, in bytes.
const LONGEST: usize = 500;

/// Metadata of a client. Other fields are ignored.
#[derive(Deserialize)]
pub(crate) struct Said {
    /// Set in the document of a client that is identified by its metadata URL.
    pub(crate) client_id: Option<String>,
    #[serde(default)]
    pub(crate) redirect_uris: Vec<String>,
    pub(crate) client_name: Option<String>,
    pub(crate) client_uri: Option<String>,
    pub(crate) grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    pub(crate) token_endpoint_auth_method: Option<String>,
}

/// Response to a registration.
#[derive(Serialize)]
struct Registered<'a> {
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

impl Said {
    /// Checks the metadata of a client that registers itself or is identified by its metadata URL.
    ///
    /// # Errors
    /// Returns what is wrong with the metadata.
    pub(crate) fn check(&self, core: &Core) -> Result<(), Refusal> {
        if self.redirect_uris.is_empty() {
            return Err(Refusal::redirect("redirect_uris names no address to send the browser to"));
        }
        if self.redirect_uris.len() > REDIRECTS {
            return Err(Refusal::redirect("redirect_uris names more than 20 addresses"));
        }
        if self.redirect_uris.iter().map(String::len).sum::<usize>() > REDIRECT_BYTES {
            return Err(Refusal::redirect("redirect_uris are longer than 4,096 bytes together"));
        }
        for uri in &self.redirect_uris {
            match Redirect::parse(uri).map_err(Refusal::redirect)? {
                Redirect::Private { .. } if !core.allows(uri) => {
                    let why = "a redirect URI must be https, or http on the user's own machine";
                    return Err(Refusal::redirect(why));
                }
                _ => {}
            }
        }
        let has = |list: &Option<Vec<String>>, it: &str| {
            list.as_ref().is_none_or(|list| list.iter().any(|other| other == it))
        };
        if !has(&self.grant_types, "authorization_code") || !has(&self.response_types, "code") {
            let why = "this server gives tokens for authorization codes: grant_types must name authorization_code, response_types code";
            return Err(Refusal::metadata(why));
        }
        let texts = [&self.client_name, &self.client_uri].into_iter().flatten();
        if texts.into_iter().any(|it| it.len() > LONGEST) {
            return Err(Refusal::metadata("client_name or client_uri is longer than 500 bytes"));
        }
        Ok(())
    }

    /// Whether the client gets refresh tokens. By default, it uses codes alone (RFC 7591, section 2).
    pub(crate) fn refreshes(&self) -> bool {
        let types = self.grant_types.as_deref().unwrap_or_default();
        types.iter().any(|it| it == "refresh_token")
    }
}

pub(crate) async fn answer(core: &Core, visit: &PageRequest) -> Result<Reply, Refusal> {
    if core.registrations.pass(visit.who()).is_err() {
        let why = "too many clients have registered: try again later";
        return Err(core.records.counts.busy(Limit::Registrations, why));
    }
    let said: Said = serde_json::from_slice(&visit.body)
        .map_err(|_| Refusal::metadata("the body is no JSON that describes a client"))?;
    said.check(core)?;
    let method = said.token_endpoint_auth_method.as_deref().unwrap_or("client_secret_basic");
    let secret = match method {
        "none" => None,
        "client_secret_basic" | "client_secret_post" => Some(random::<32>()?),
        _ => {
            let why = "token_endpoint_auth_method must be none, client_secret_basic or client_secret_post";
            return Err(Refusal::metadata(why));
        }
    };
    let now = core.records.clock.now();
    let refreshes = said.refreshes();
    let client = Client {
        id: random::<16>()?,
        name: said.client_name,
        uri: said.client_uri,
        redirects: said.redirect_uris,
        secret: secret.as_deref().map(Digest::of),
        refreshes,
        expires: now + UNUSED,
    };
    core.records.clients.add(client.clone(), now, &core.records.journal)?;
    core.records.journal.save().await?;
    let grant_types: &[_] =
        if refreshes { &["authorization_code", "refresh_token"] } else { &["authorization_code"] };
    let registered = Registered {
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
    Ok(reply::json(StatusCode::CREATED, &registered))
}
