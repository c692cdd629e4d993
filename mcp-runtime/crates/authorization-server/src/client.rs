//! OAuth clients, which act for users (RFC 6749, section 2). A client has registered itself (RFC 7591), or is identified by the URL of its
//! metadata (draft-ietf-oauth-client-id-metadata-document).

use std::{
    collections::HashMap,
    ffi::OsStr,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, header};
use mcp_runtime::{
    __companion::{Fetch as _, PageRequest, RateLimiter, Web},
    limits::{Limit, Rate},
};
use serde::{Deserialize, Serialize};
use tokio::{sync::Semaphore, time::Instant};

use crate::{
    form::{self, Form},
    oauth_error::{OAuthError, RefusalCounts},
    redirect_uri::RedirectUri,
    secret::Digest,
    store::{Journal, RecordKind},
};

/// Maximum number of registered clients.
const MOST: usize = 10_000;

/// Lifetime of a client that has not been used yet, in seconds.
pub(crate) const UNUSED: u64 = 7 * 24 * 60 * 60;

/// Lifetime of a client after its last use, in seconds.
pub(crate) const USED: u64 = 90 * 24 * 60 * 60;

const DAY: u64 = 24 * 60 * 60;

/// Maximum number of redirect URIs of a client.
const REDIRECTS: usize = 20;

/// Maximum size of all redirect URIs of a client together, in bytes. It limits the memory that each client needs.
const REDIRECT_BYTES: usize = 4 << 10;

/// Maximum size of a client's name or URL, in bytes.
const LONGEST_TEXT: usize = 500;

/// Time for which a metadata document is cached.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// Maximum number of cached metadata documents.
const MOST_DOCUMENTS: usize = 500;

/// Maximum size of a metadata document, in bytes.
const LONGEST_DOCUMENT: usize = 64 << 10;

/// Maximum number of metadata documents that are fetched concurrently.
const AT_ONCE: usize = 8;

/// OAuth client that has registered itself, or is identified by the URL of its metadata.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    pub(crate) redirects: Vec<String>,
    /// Digest of the client's secret. A public client has none.
    pub(crate) secret: Option<Digest>,
    /// Whether the client gets refresh tokens.
    pub(crate) refreshes: bool,
    pub(crate) expires: u64,
}

/// Clients that have registered themselves.
#[derive(Default)]
pub(crate) struct Clients {
    all: Mutex<HashMap<String, Arc<Client>>>,
    counts: RefusalCounts,
}

impl Clients {
    pub(crate) fn new(counts: RefusalCounts) -> Self {
        Self { counts, ..Self::default() }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Client>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client that was loaded from the store.
    pub(crate) fn restore(&self, client: Client) {
        self.all().insert(client.id.clone(), Arc::new(client));
    }

    /// Adds a client. If the table is full, an unused client is evicted.
    ///
    /// # Errors
    /// Fails if the table is full of clients that are in use.
    pub(crate) fn add(
        &self,
        client: Client,
        now: u64,
        journal: &Journal,
    ) -> Result<(), OAuthError> {
        let mut all = self.all();
        if all.len() >= MOST {
            all.retain(|id, client| {
                let is_kept = client.expires > now;
                if !is_kept {
                    journal.remove(RecordKind::Client, id);
                }
                is_kept
            });
        }
        if all.len() >= MOST {
            // Evicts only a client that was not used yet, or not for a long time, so that a flood of registrations does not affect clients
            // in use.
            let unused = all.values().filter(|client| client.expires <= now + UNUSED);
            let oldest = unused.min_by_key(|client| client.expires).map(|client| client.id.clone());
            let limit = Limit::RegisteredClients;
            let busy = || self.counts.limit_reached(limit, "there are too many clients");
            let oldest = oldest.ok_or_else(busy)?;
            self.counts.count(limit);
            all.remove(&oldest);
            journal.remove(RecordKind::Client, &oldest);
        }
        journal.put(RecordKind::Client, &client.id, client.expires, &client);
        all.insert(client.id.clone(), Arc::new(client));
        Ok(())
    }

    /// Returns the registered client with this id.
    pub(crate) fn find(&self, id: &str, now: u64) -> Option<Arc<Client>> {
        self.all().get(id).filter(|client| client.expires > now).cloned()
    }

    /// Extends the lifetime of a client that was used, at most once a day.
    pub(crate) fn touch(&self, id: &str, now: u64, journal: &Journal) {
        let mut all = self.all();
        let Some(client) = all.get_mut(id).filter(|client| client.is_due(now)) else { return };
        let client = Arc::make_mut(client);
        client.expires = now + USED;
        journal.put(RecordKind::Client, &client.id, client.expires, &*client);
    }
}

/// Client credentials of a request (RFC 6749, section 2.3). A client without a secret is identified by its id alone.
pub(crate) struct ClientCredentials {
    pub(crate) id: String,
    secret: Option<String>,
}

impl ClientCredentials {
    /// Whether the client is identified by its metadata URL. Such a client has no secret to check. Its id is compared later with the id in
    /// the code or the grant.
    pub(crate) fn is_metadata_url(&self) -> bool {
        is_metadata_url(&self.id) && self.secret.is_none()
    }

    /// Checks the credentials of the client with this id, if there is one.
    ///
    /// # Errors
    /// Fails if the client is unknown, or its credentials are missing or wrong.
    pub(crate) fn check(&self, client: Option<&Client>) -> Result<(), OAuthError> {
        let client = client.ok_or_else(|| OAuthError::invalid_client("this client is unknown"))?;
        match (&client.secret, &self.secret) {
            (None, None) => Ok(()),
            (Some(known), Some(shown)) if known.is_of(shown) => Ok(()),
            _ => Err(OAuthError::invalid_client("the secret of the client is missing or wrong")),
        }
    }

    /// Reads the credentials of a request.
    ///
    /// # Errors
    /// Fails if there are none, or the client authenticates in more than one way.
    pub(crate) fn read(headers: &HeaderMap, form: &Form) -> Result<Self, OAuthError> {
        let (id, secret) = (form.one("client_id")?, form.one("client_secret")?);
        let Some(header) = headers.get(header::AUTHORIZATION) else {
            let id = id
                .ok_or_else(|| OAuthError::invalid_request("the parameter client_id is missing"))?;
            return Ok(Self { id: id.to_owned(), secret: secret.map(str::to_owned) });
        };
        let shown = basic(header.to_str().unwrap_or_default());
        let shown = shown
            .ok_or_else(|| OAuthError::invalid_client("the header Authorization cannot be read"))?;
        if secret.is_some() || id.is_some_and(|id| id != shown.id) {
            return Err(OAuthError::invalid_request(
                "the client authenticates in more than one way",
            ));
        }
        Ok(shown)
    }
}

fn basic(header: &str) -> Option<ClientCredentials> {
    let (scheme, credentials) = header.split_once(' ')?;
    let credentials = String::from_utf8(STANDARD.decode(credentials.trim()).ok()?).ok()?;
    let (id, secret) = credentials.split_once(':')?;
    let decoded = |text| form::decoded(text).ok();
    scheme.eq_ignore_ascii_case("basic").then_some(())?;
    Some(ClientCredentials {
        id: decoded(id)?,
        secret: decoded(secret).filter(|secret| !secret.is_empty()),
    })
}

impl Client {
    /// Whether the lifetime of the client is extended by its next use, which happens at most once a day.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        self.expires < now + USED - DAY
    }

    /// Returns the host of the client's metadata URL, or `None` if the client registered itself.
    pub(crate) fn host(&self) -> Option<&str> {
        let rest = self.id.split_once("://")?.1;
        rest.split('/').next()
    }
}

/// Metadata of a client (RFC 7591, section 2). Other fields of the document are ignored.
#[derive(Deserialize)]
pub(crate) struct ClientMetadata {
    /// Id of the client. Only the document of a client that is identified by its metadata URL contains it.
    pub(crate) client_id: Option<String>,
    #[serde(default)]
    pub(crate) redirect_uris: Vec<String>,
    pub(crate) client_name: Option<String>,
    pub(crate) client_uri: Option<String>,
    pub(crate) grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    pub(crate) token_endpoint_auth_method: Option<String>,
}

impl ClientMetadata {
    /// Checks the metadata of a client that registers itself or is identified by its metadata URL. `private_redirects` are the redirect
    /// URIs with private schemes that the author allows.
    ///
    /// # Errors
    /// Fails if the metadata is invalid. The error says why.
    pub(crate) fn check(&self, private_redirects: &[String]) -> Result<(), OAuthError> {
        if self.redirect_uris.is_empty() {
            return Err(OAuthError::invalid_redirect_uri(
                "redirect_uris must name at least one address",
            ));
        }
        if self.redirect_uris.len() > REDIRECTS {
            return Err(OAuthError::invalid_redirect_uri(
                "redirect_uris names more than 20 addresses",
            ));
        }
        if self.redirect_uris.iter().map(String::len).sum::<usize>() > REDIRECT_BYTES {
            return Err(OAuthError::invalid_redirect_uri(
                "redirect_uris is longer than 4,096 bytes in total",
            ));
        }
        for uri in &self.redirect_uris {
            match RedirectUri::parse(uri).map_err(OAuthError::invalid_redirect_uri)? {
                RedirectUri::Private { .. } if !private_redirects.contains(uri) => {
                    let why = "a redirect URI must be https, or http on the user's own machine";
                    return Err(OAuthError::invalid_redirect_uri(why));
                }
                _ => {}
            }
        }
        let has = |list: &Option<Vec<String>>, name: &str| {
            list.as_ref().is_none_or(|list| list.iter().any(|other| other == name))
        };
        if !has(&self.grant_types, "authorization_code") || !has(&self.response_types, "code") {
            let why = "this server issues tokens for authorization codes: grant_types must name authorization_code, and response_types must name code";
            return Err(OAuthError::invalid_client_metadata(why));
        }
        let texts = [&self.client_name, &self.client_uri].into_iter().flatten();
        if texts.into_iter().any(|text| text.len() > LONGEST_TEXT) {
            return Err(OAuthError::invalid_client_metadata(
                "client_name or client_uri is longer than 500 bytes",
            ));
        }
        Ok(())
    }

    /// Whether the client gets refresh tokens. By default it gets none, because the default grant type is the authorization code alone (RFC
    /// 7591, section 2).
    pub(crate) fn refreshes(&self) -> bool {
        let types = self.grant_types.as_deref().unwrap_or_default();
        types.iter().any(|name| name == "refresh_token")
    }
}

/// Whether the id of a client is the URL of its metadata (draft-ietf-oauth-client-id-metadata-document).
pub(crate) fn is_metadata_url(id: &str) -> bool {
    id.starts_with("https://") || id.starts_with("http://")
}

/// Environment variable that turns the metadata documents of clients off.
const SWITCH: &str = "MCP_CLIENT_DOCUMENTS";

/// Returns whether the value of [`SWITCH`] leaves the metadata documents on.
fn read_switch(value: Option<&OsStr>) -> Result<bool, String> {
    match value.map(OsStr::to_str) {
        None | Some(Some("" | "on")) => Ok(true),
        Some(Some("off")) => Ok(false),
        _ => Err(format!("the variable `{SWITCH}` must be `on` or `off`")),
    }
}

/// Fetches the metadata documents that clients publish, and caches them.
pub(crate) struct ClientDocuments {
    /// Whether a client may be identified by the URL of its document.
    is_on: Result<bool, String>,
    web: Web,
    /// HTTP client that may also connect to loopback addresses. It is set if this server listens on loopback.
    own: OnceLock<Web>,
    known: Mutex<HashMap<String, (Instant, Arc<Client>)>>,
    running: Semaphore,
    /// Rate limit of fetches per caller. Without the limit a caller could make the server fetch any number of URLs.
    fetches: RateLimiter,
    counts: RefusalCounts,
}

impl ClientDocuments {
    pub(crate) fn new(counts: RefusalCounts) -> Self {
        Self {
            is_on: read_switch(std::env::var_os(SWITCH).as_deref()),
            web: Web::of_strangers(false),
            own: OnceLock::new(),
            known: Mutex::default(),
            running: Semaphore::new(AT_ONCE),
            fetches: RateLimiter::new(Rate::per_minute(20).burst(30)),
            counts,
        }
    }

    /// Requires all clients to register.
    pub(crate) fn turn_off(&mut self) {
        self.is_on = Ok(false);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on == Ok(true)
    }

    /// Returns what is wrong with the environment variable, or `None` if it is valid.
    pub(crate) fn problem(&self) -> Option<String> {
        self.is_on.clone().err()
    }

    /// Allows documents on loopback addresses. Called if the server itself listens on loopback.
    pub(crate) fn listen_on_loopback(&self) {
        let _ = self.own.set(Web::of_strangers(true));
    }

    /// Returns the client whose metadata is at this URL. `has_tls` tells whether browsers reach this server through TLS.
    ///
    /// # Errors
    /// Fails if the URL or its document is invalid, the document cannot be fetched, a limit is reached, or documents are turned off.
    pub(crate) async fn find(
        &self,
        url: &str,
        private_redirects: &[String],
        has_tls: bool,
        request: &PageRequest,
    ) -> Result<Arc<Client>, OAuthError> {
        if !self.is_on() {
            return Err(OAuthError::invalid_client(
                "the application that sent you must register here: its id is the URL of its metadata, which this server does not fetch",
            ));
        }
        check_id(url)?;
        if let Some(known) = self.known(url) {
            return Ok(known);
        }
        let busy = || {
            let why = "too many applications are being looked up: try again later";
            self.counts.limit_reached(Limit::ClientDocuments, why)
        };
        if self.fetches.pass(request.caller()).is_err() {
            return Err(busy());
        }
        let _running = self.running.try_acquire().map_err(|_| busy())?;
        let unknown = || {
            OAuthError::invalid_client(
                "the metadata of the application that sent you cannot be fetched from its URL",
            )
        };
        // A server with an `https` origin is usually reached through a proxy, so a request may come from anybody even if the server listens
        // on loopback. Such a server does not fetch from loopback addresses.
        let own = self.own.get().filter(|_| !has_tls);
        let asked = own.unwrap_or(&self.web).get(url).await;
        let document = asked.map_err(|why| {
            // The client must not learn which hosts this server can reach, so the reason is only logged.
            tracing::warn!(
                "the metadata of a client cannot be fetched, so its login ends here: {why}; if this machine has no access to the internet, call `.without_client_documents()` or set `{SWITCH}=off`, and clients register instead"
            );
            unknown()
        })?;
        let client = Arc::new(read_document(url, &document, private_redirects)?);
        self.keep(url, client.clone());
        Ok(client)
    }

    fn known(&self, url: &str) -> Option<Arc<Client>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(url).filter(|entry| entry.0.elapsed() < FRESH).map(|entry| entry.1.clone())
    }

    fn keep(&self, url: &str, client: Arc<Client>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_DOCUMENTS {
            known.retain(|_, entry| entry.0.elapsed() < FRESH);
        }
        if known.len() >= MOST_DOCUMENTS {
            known.clear();
        }
        known.insert(url.to_owned(), (Instant::now(), client));
    }
}

/// Checks that a client id is a metadata URL with a path, without the segments `.` and `..`.
fn check_id(url: &str) -> Result<(), OAuthError> {
    let is_location = matches!(
        RedirectUri::parse(url),
        Ok(RedirectUri::Site { .. } | RedirectUri::Loopback { .. })
    );
    let path = url.split_once("://").and_then(|parts| parts.1.split_once('/')).map(|parts| parts.1);
    let path = path.map(|path| path.split('?').next().unwrap_or_default()).unwrap_or_default();
    let has_dots = path.split('/').any(|segment| matches!(segment, "." | ".."));
    if is_location && !path.is_empty() && !has_dots {
        Ok(())
    } else {
        Err(OAuthError::invalid_client(
            "the client id of the application that sent you is not a valid metadata URL",
        ))
    }
}

/// Reads the metadata of a client that is identified by its metadata URL.
fn read_document(
    url: &str,
    document: &[u8],
    private_redirects: &[String],
) -> Result<Client, OAuthError> {
    let wrong = |_| {
        OAuthError::invalid_client("the metadata of the application that sent you cannot be read")
    };
    if document.len() > LONGEST_DOCUMENT {
        return Err(OAuthError::invalid_client(
            "the metadata of the application that sent you is too long",
        ));
    }
    let metadata: ClientMetadata = serde_json::from_slice(document).map_err(wrong)?;
    // The specification requires that the client id in a document is the URL of the document.
    if metadata.client_id.as_deref() != Some(url) {
        let why =
            "the metadata of the application that sent you has a client_id other than its URL";
        return Err(OAuthError::invalid_client(why));
    }
    // The metadata is public and cannot contain a secret, so the client must not use a method that needs one.
    if metadata.token_endpoint_auth_method.as_deref().is_some_and(|method| method != "none") {
        let why =
            "an application that is identified by its URL must use token_endpoint_auth_method none";
        return Err(OAuthError::invalid_client(why));
    }
    metadata.check(private_redirects)?;
    Ok(Client {
        id: url.to_owned(),
        refreshes: metadata.refreshes(),
        name: metadata.client_name,
        uri: metadata.client_uri,
        redirects: metadata.redirect_uris,
        secret: None,
        expires: u64::MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_registrations_displace_no_client_that_is_used() {
        let (counts, tally) = RefusalCounts::of_test();
        let (clients, journal) = (Clients::new(counts), Journal::default());
        let add = |id: String, now: u64| {
            let (name, uri, secret) = (None, None, None);
            let (redirects, refreshes, expires) = (Vec::new(), false, now + UNUSED);
            let client = Client { id, name, uri, redirects, secret, refreshes, expires };
            clients.add(client, now, &journal).is_ok()
        };
        assert!(add("used".into(), 0) && add("first".into(), 1));
        clients.touch("used", 1, &journal);
        assert!((0..MOST).all(|number| add(number.to_string(), 2)));
        assert_eq!((clients.all().len(), tally.refused(Limit::RegisteredClients)), (MOST, 2));
        assert!(clients.find("used", 2).is_some() && clients.find("first", 2).is_none());
        // Once the unused clients have expired, a new client can be registered.
        assert!(add("late".into(), 3 + UNUSED));
        assert_eq!(clients.all().len(), 2);
        assert_eq!(tally.refused(Limit::RegisteredClients), 2);
    }

    #[test]
    fn a_client_id_is_a_url_with_a_path_and_in_canonical_form() {
        for good in
            ["https://a.example/c.json", "https://a.example:8443/a/b?x=1", "http://127.0.0.1:1/c"]
        {
            assert!(check_id(good).is_ok(), "{good}");
        }
        for bad in [
            "https://a.example",
            "https://a.example/",
            "https://a.example?x",
            "https://a.example/a/../b",
            "https://a.example/./b",
            "https://user@a.example/b",
            "https://a.example/b#c",
            "http://a.example/b",
            "https:///b",
        ] {
            assert!(check_id(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_variable_turns_metadata_documents_on_or_off() {
        let read = |value: &str| read_switch(Some(OsStr::new(value)));
        assert_eq!(
            (read_switch(None), read(""), read("on"), read("off")),
            (Ok(true), Ok(true), Ok(true), Ok(false))
        );
        for wrong in ["0", "OFF", "false"] {
            assert!(read(wrong).unwrap_err().contains("`MCP_CLIENT_DOCUMENTS` must be"));
        }
    }
}
