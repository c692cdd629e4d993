//! Finds the keys of an issuer through the issuer's metadata (RFC 8414, and OpenID Connect Discovery 1.0), and caches the keys.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::Deserialize;
use tokio::{sync::watch, time::Instant};

use super::{
    fetch::Fetch,
    jwks::{Algorithm, KeySet},
};

/// Age at which the keys are fetched again.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// Maximum age of keys that are used while the issuer cannot be reached.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// Minimum time between two fetches, however many tokens name unknown keys.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// Maximum number of ids of withdrawn keys that are remembered.
const MOST_WITHDRAWN: usize = 100;

/// Maximum time to fetch the keys, including the metadata.
const PATIENCE: Duration = Duration::from_secs(8);

/// Keys of one issuer. A known key is returned without waiting. An unknown key causes a fetch, which all waiting callers share. There is at
/// most one fetch per `PAUSE`.
pub(super) struct Keys<F>(Arc<KeySource<F>>);

struct KeySource<F> {
    fetch: Arc<F>,
    issuer: String,
    /// URL of the keys, if the author has set it.
    jwks_uri: Option<String>,
    state: Mutex<KeyState>,
    /// Notified after each fetch.
    asked: watch::Sender<()>,
}

#[derive(Default)]
struct KeyState {
    set: Option<Versioned>,
    got: Option<Instant>,
    tried: Option<Instant>,
    is_asking: bool,
    /// Whether the last fetch has failed.
    has_failed: bool,
    /// Ids of keys that the issuer has withdrawn, the latest last.
    withdrawn: Vec<String>,
}

impl KeyState {
    /// Whether the issuer may have published a key with this id since the last fetch.
    fn may_be_new(&self, id: Option<&str>) -> bool {
        let is_known = |id: &str| {
            self.withdrawn.iter().any(|gone| gone == id)
                || self.set.as_ref().is_some_and(|keys| keys.set.ids().any(|known| known == id))
        };
        id.is_some_and(|id| !is_known(id))
    }

    fn replace(&mut self, set: KeySet) {
        let (version, old) = match self.set.take() {
            Some(Versioned { version, set }) => (version, Some(set)),
            None => (0, None),
        };
        let ids = old.iter().flat_map(|old| old.ids());
        self.withdrawn.extend(ids.filter(|id| set.ids().all(|new| new != *id)).map(str::to_owned));
        let beyond = self.withdrawn.len().saturating_sub(MOST_WITHDRAWN);
        self.withdrawn.drain(..beyond);
        self.set = Some(Versioned { version: version + 1, set: Arc::new(set) });
    }
}

/// Keys, with a number that changes when the keys change.
#[derive(Clone)]
pub(super) struct Versioned {
    pub(super) version: u64,
    pub(super) set: Arc<KeySet>,
}

impl<F: Fetch> Keys<F> {
    pub(super) fn new(fetch: F, issuer: String, jwks_uri: Option<String>) -> Self {
        let (state, asked) = (Mutex::default(), watch::Sender::new(()));
        Self(Arc::new(KeySource { fetch: Arc::new(fetch), issuer, jwks_uri, state, asked }))
    }

    /// Returns the version of the keys if they are fresh, so that they can be used without a fetch.
    pub(super) fn fresh(&self) -> Option<u64> {
        let state = self.0.state();
        let is_fresh = state.got.is_some_and(|at| at.elapsed() < FRESH);
        state.set.as_ref().filter(|_| is_fresh).map(|keys| keys.version)
    }

    /// Returns the keys, after a fetch if one is needed. Even after a fetch, the wanted key may be missing.
    ///
    /// # Errors
    /// Fails if the keys are not available now.
    pub(super) async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Versioned, &'static str> {
        // There are at most two passes: a caller that has waited for a fetch uses the keys that are known after it.
        for has_waited in [false, true] {
            let mut asked = {
                let mut state = self.0.state();
                let age = state.got.map_or(Duration::MAX, |at| at.elapsed());
                let kept = state.set.clone().filter(|_| age < KEPT);
                let known =
                    kept.clone().filter(|keys| keys.set.candidates(id, algorithm).next().is_some());
                if let (Some(known), true) = (&known, age < FRESH) {
                    return Ok(known.clone());
                }
                let may_ask = !has_waited
                    && !state.is_asking
                    && state.tried.is_none_or(|at| at.elapsed() >= PAUSE);
                if may_ask {
                    state.is_asking = true;
                    state.tried = Some(Instant::now());
                }
                let asked = self.0.asked.subscribe();
                let (is_asking, has_failed) = (state.is_asking, state.has_failed);
                let may_be_new = !has_waited && state.may_be_new(id);
                drop(state);
                if may_ask {
                    // The fetch runs in its own tokio task, so that it continues if the caller that started it is cancelled.
                    tokio::spawn(KeyFetch(self.0.clone()).ask());
                }
                match (known, kept) {
                    // Uses the old keys while new ones are fetched.
                    (Some(known), _) => return Ok(known),
                    _ if is_asking && !has_waited => asked,
                    // Does not reject the token as invalid: because the last fetch has failed, the token may be signed with a new key that
                    // this server does not know yet.
                    _ if has_failed => return Err(UNREACHABLE),
                    // It is too early for the next fetch.
                    _ if may_be_new => return Err(UNREACHABLE),
                    (None, kept) => return kept.ok_or(UNREACHABLE),
                }
            };
            let _ = asked.changed().await;
        }
        Err(UNREACHABLE)
    }
}

const UNREACHABLE: &str = "the issuer's keys are not available now";

impl<F> KeySource<F> {
    fn state(&self) -> MutexGuard<'_, KeyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A fetch in progress. Dropping this value, at the end or on cancellation, allows the next fetch.
struct KeyFetch<F>(Arc<KeySource<F>>);

impl<F: Fetch> KeyFetch<F> {
    async fn ask(self) {
        let shared = &self.0;
        let found = async {
            let address = match &shared.jwks_uri {
                Some(address) => address.clone(),
                None => jwks_uri(&*shared.fetch, &shared.issuer).await?,
            };
            let found = match shared.fetch.get(&address).await {
                Ok(document) => KeySet::parse(&document),
                Err(problem) => Err(problem),
            };
            found.map_err(|problem| format!("{address}: {problem}"))
        };
        let late = |_| Err(format!("fetching them took longer than {} s", PATIENCE.as_secs()));
        match tokio::time::timeout(PATIENCE, found).await.unwrap_or_else(late) {
            Ok(set) => {
                let mut state = shared.state();
                (state.got, state.has_failed) = (Some(Instant::now()), false);
                if state.set.as_ref().is_none_or(|keys| *keys.set != set) {
                    state.replace(set);
                }
            }
            Err(problem) => {
                shared.state().has_failed = true;
                tracing::warn!(
                    "the keys of the issuer {} cannot be fetched: {problem}",
                    shared.issuer
                );
            }
        }
    }
}

impl<F> Drop for KeyFetch<F> {
    fn drop(&mut self) {
        self.0.state().is_asking = false;
        self.0.asked.send_replace(());
    }
}

/// Fields of an issuer's metadata that are needed to find the keys.
#[derive(Deserialize)]
struct IssuerMetadata {
    issuer: String,
    jwks_uri: Option<String>,
}

/// Returns the URLs at which the metadata of an issuer may be, in the order in which they are tried.
fn addresses(issuer: &str) -> Vec<String> {
    let end = issuer.find("://").map_or(0, |at| at + "://".len());
    let end = issuer[end..].find('/').map_or(issuer.len(), |at| end + at);
    let (origin, path) = issuer.split_at(end);
    let path = path.trim_end_matches('/');
    let mut addresses = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        addresses.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    addresses
}

/// Returns the URL of the issuer's keys.
///
/// # Errors
/// Fails if the issuer has no metadata, or its metadata does not contain this URL.
async fn jwks_uri<F: Fetch>(fetch: &F, issuer: &str) -> Result<String, String> {
    discover(fetch, issuer, |document| read_metadata(document, issuer)).await
}

/// Reads the first valid metadata document of an issuer.
///
/// # Errors
/// Fails if there is no valid document. The error names the problem of each URL.
pub async fn discover<F: Fetch, T>(
    fetch: &F,
    issuer: &str,
    read: impl Fn(&[u8]) -> Result<T, String>,
) -> Result<T, String> {
    let mut problems = Vec::new();
    for address in addresses(issuer) {
        let found = match fetch.get(&address).await {
            Ok(document) => read(&document),
            Err(problem) => Err(problem),
        };
        match found {
            Ok(found) => return Ok(found),
            Err(problem) => problems.push(format!("{address}: {problem}")),
        }
    }
    Err(problems.join("; "))
}

fn read_metadata(document: &[u8], issuer: &str) -> Result<String, String> {
    let metadata: IssuerMetadata = serde_json::from_slice(document)
        .map_err(|_| "it is not the metadata of an issuer".to_owned())?;
    // RFC 8414, section 3.3, forbids metadata whose `issuer` differs. Otherwise another issuer could name keys for this one.
    if metadata.issuer != issuer {
        return Err("it is the metadata of another issuer".to_owned());
    }
    metadata.jwks_uri.ok_or_else(|| "it names no `jwks_uri`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_for_where_it_may_be() {
        assert_eq!(
            addresses("https://a.example"),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration"
            ]
        );
        assert_eq!(addresses("https://a.example/"), addresses("https://a.example"));
        assert_eq!(
            addresses("https://a.example:1/t/v2"),
            [
                "https://a.example:1/.well-known/oauth-authorization-server/t/v2",
                "https://a.example:1/.well-known/openid-configuration/t/v2",
                "https://a.example:1/t/v2/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn metadata_that_names_another_issuer_is_refused() {
        let read = |text: &str| read_metadata(text.as_bytes(), "https://a.example");
        assert_eq!(
            read(r#"{"issuer":"https://a.example","jwks_uri":"https://k.example/k","x":[1]}"#),
            Ok("https://k.example/k".to_owned())
        );
        for other in [
            r#"{"issuer":"https://a.example/","jwks_uri":"https://k.example/k"}"#,
            r#"{"issuer":"https://b.example","jwks_uri":"https://k.example/k"}"#,
            r#"{"jwks_uri":"https://k.example/k"}"#,
            r#"{"issuer":"https://a.example"}"#,
            "<html>",
        ] {
            assert!(read(other).is_err(), "{other}");
        }
    }
}
