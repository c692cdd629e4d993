//! Clients that are known by the URL of their metadata (draft-ietf-oauth-client-id-metadata-document).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use tokio::{sync::Semaphore, time::Instant};

use super::{client::Client, core::Core, redirect::Redirect, refusal::Refusal, registration::Said};
use mcp_runtime::{
    __companion::{Fetch as _, PageRequest, Turnstile, Web},
    Limit, Rate,
};

/// Time for which a document is cached.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// Maximum number of cached documents.
const MOST: usize = 500;

/// Maximum size of a document, in bytes.
const LONGEST: usize = 64 << 10;

/// Maximum number of concurrent fetches.
const AT_ONCE: usize = 8;

/// Metadata documents that clients have published, with a cache.
pub(crate) struct Documents {
    web: Web,
    /// Web client that may also reach loopback addresses. Set if the server listens on loopback.
    own: OnceLock<Web>,
    known: Mutex<HashMap<String, (Instant, Arc<Client>)>>,
    places: Semaphore,
    /// Rate limit of fetches per caller. Without the limit a caller could make the server fetch any number of URLs.
    asking: Turnstile,
}

impl Documents {
    pub(crate) fn new() -> Self {
        Self {
            web: Web::of_strangers(false),
            own: OnceLock::new(),
            known: Mutex::default(),
            places: Semaphore::new(AT_ONCE),
            asking: Turnstile::new(Rate::per_minute(20).burst(30)),
        }
    }

    /// Whether an id is the URL of client metadata.
    pub(crate) fn is_id(id: &str) -> bool {
        id.starts_with("https://") || id.starts_with("http://")
    }

    /// Allows documents on loopback addresses, because the server listens on loopback.
    pub(crate) fn listen_on_loopback(&self) {
        let _ = self.own.set(Web::of_strangers(true));
    }

    /// Returns the client whose metadata is at this URL.
    ///
    /// # Errors
    /// Fails if the URL or its document is invalid, the document cannot be fetched, or a limit is reached.
    pub(crate) async fn find(
        &self,
        url: &str,
        core: &Core,
        visit: &PageRequest,
    ) -> Result<Arc<Client>, Refusal> {
        check_id(url)?;
        if let Some(known) = self.known(url) {
            return Ok(known);
        }
        let busy = || {
            let why = "too many applications are being looked up: try again later";
            core.records.counts.busy(Limit::ClientDocuments, why)
        };
        if self.asking.pass(visit.who()).is_err() {
            return Err(busy());
        }
        let _place = self.places.try_acquire().map_err(|_| busy())?;
        let unknown = || {
            Refusal::client(
                "the application that sent you has no metadata at the URL that is its id",
            )
        };
        // An origin with `https` is a public name, so the request may come from a stranger through a proxy. Loopback addresses stay
        // unreachable then.
        let own = self.own.get().filter(|_| !core.has_tls(&visit.origin));
        let asked = own.unwrap_or(&self.web).get(url).await;
        let document = asked.map_err(|why| {
            // The client must not learn what this server can reach, so only the log has the reason.
            tracing::debug!("the metadata of a client cannot be had: {why}");
            unknown()
        })?;
        let client = Arc::new(read(url, &document, core)?);
        self.keep(url, client.clone());
        Ok(client)
    }

    fn known(&self, url: &str) -> Option<Arc<Client>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(url).filter(|it| it.0.elapsed() < FRESH).map(|it| it.1.clone())
    }

    fn keep(&self, url: &str, client: Arc<Client>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.retain(|_, it| it.0.elapsed() < FRESH);
        }
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(url.to_owned(), (Instant::now(), client));
    }
}

/// Checks that an id is a URL with a path, in its only accepted spelling.
fn check_id(url: &str) -> Result<(), Refusal> {
    let is_location =
        matches!(Redirect::parse(url), Ok(Redirect::Site { .. } | Redirect::Loopback { .. }));
    let path = url.split_once("://").and_then(|it| it.1.split_once('/')).map(|it| it.1);
    let path = path.map(|it| it.split('?').next().unwrap_or_default()).unwrap_or_default();
    let has_dots = path.split('/').any(|it| matches!(it, "." | ".."));
    if is_location && !path.is_empty() && !has_dots {
        Ok(())
    } else {
        Err(Refusal::client("the id of the application that sent you is no URL of metadata"))
    }
}

fn read(url: &str, document: &[u8], core: &Core) -> Result<Client, Refusal> {
    let wrong = |_| Refusal::client("the metadata of the application that sent you cannot be read");
    if document.len() > LONGEST {
        return Err(Refusal::client("the metadata of the application that sent you is too long"));
    }
    let said: Said = serde_json::from_slice(document).map_err(wrong)?;
    // A document must not describe a client with another id than its own URL.
    if said.client_id.as_deref() != Some(url) {
        let why = "the metadata of the application that sent you is of another id than its URL";
        return Err(Refusal::client(why));
    }
    // Public metadata cannot contain a secret.
    if said.token_endpoint_auth_method.as_deref().is_some_and(|it| it != "none") {
        let why =
            "an application that is known by its URL must use token_endpoint_auth_method none here";
        return Err(Refusal::client(why));
    }
    said.check(core)?;
    Ok(Client {
        id: url.to_owned(),
        refreshes: said.refreshes(),
        name: said.client_name,
        uri: said.client_uri,
        redirects: said.redirect_uris,
        secret: None,
        expires: u64::MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_written_in_one_way() {
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
}
