//! Cache of an issuer's keys.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

use super::{algorithm::Algorithm, discovery, fetch::Fetch, jwks::KeySet};

/// Age from which the keys are fetched again.
const FRESH: Duration = Duration::from_secs(10 * 60);

/// Maximum age of keys that are used while the issuer cannot be reached.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// Minimum time between two fetches, however many tokens name unknown keys.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// Maximum time of one fetch, including that of the metadata.
const PATIENCE: Duration = Duration::from_secs(8);

/// Keys of one issuer. A known key is found without waiting. For an unknown key the issuer is asked: once for all callers that wait, and
/// not again within `PAUSE`.
pub(super) struct Keys<F>(Arc<Shared<F>>);

struct Shared<F> {
    fetch: Arc<F>,
    issuer: String,
    /// URL of the keys, if the author has set it.
    jwks_uri: Option<String>,
    state: Mutex<State>,
    /// Notified after each fetch.
    asked: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    set: Option<Versioned>,
    got: Option<Instant>,
    tried: Option<Instant>,
    is_asking: bool,
    /// Whether the last fetch has failed.
    has_failed: bool,
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
        Self(Arc::new(Shared { fetch: Arc::new(fetch), issuer, jwks_uri, state, asked }))
    }

    /// Returns the version of the keys if they are fresh, so that they can be used without a fetch.
    pub(super) fn fresh(&self) -> Option<u64> {
        let state = self.0.state();
        let is_fresh = state.got.is_some_and(|it| it.elapsed() < FRESH);
        state.set.as_ref().filter(|_| is_fresh).map(|it| it.version)
    }

    /// Returns the keys, after a fetch if one is needed. Even then the wanted key may be missing.
    ///
    /// # Errors
    /// Fails if the keys are not available now.
    pub(super) async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Versioned, &'static str> {
        // Two passes at most: a caller that has waited for a fetch takes what there is.
        for has_waited in [false, true] {
            let mut asked = {
                let mut state = self.0.state();
                let age = state.got.map_or(Duration::MAX, |it| it.elapsed());
                let kept = state.set.clone().filter(|_| age < KEPT);
                let known =
                    kept.clone().filter(|it| it.set.candidates(id, algorithm).next().is_some());
                if let (Some(known), true) = (&known, age < FRESH) {
                    return Ok(known.clone());
                }
                let may_ask = !has_waited
                    && !state.is_asking
                    && state.tried.is_none_or(|it| it.elapsed() >= PAUSE);
                if may_ask {
                    state.is_asking = true;
                    state.tried = Some(Instant::now());
                }
                let asked = self.0.asked.subscribe();
                let (is_asking, has_failed) = (state.is_asking, state.has_failed);
                drop(state);
                if may_ask {
                    // The fetch is a task of its own, because the caller that waits for it may be cancelled.
                    tokio::spawn(Asking(self.0.clone()).ask());
                }
                match (known, kept) {
                    // Old keys are good enough while new ones are fetched.
                    (Some(known), _) => return Ok(known),
                    _ if is_asking && !has_waited => asked,
                    // The last fetch has failed, so the token may be signed with a new key that is not known here.
                    _ if has_failed => return Err(UNREACHABLE),
                    (None, kept) => return kept.ok_or(UNREACHABLE),
                }
            };
            let _ = asked.changed().await;
        }
        Err(UNREACHABLE)
    }
}

const UNREACHABLE: &str = "the issuer's keys cannot be had now";

impl<F> Shared<F> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A fetch in progress. When it ends, or is cancelled, the next one may begin.
struct Asking<F>(Arc<Shared<F>>);

impl<F: Fetch> Asking<F> {
    async fn ask(self) {
        let shared = &self.0;
        let found = async {
            let address = match &shared.jwks_uri {
                Some(address) => address.clone(),
                None => discovery::jwks_uri(&*shared.fetch, &shared.issuer).await?,
            };
            let found = match shared.fetch.get(&address).await {
                Ok(document) => KeySet::parse(&document),
                Err(problem) => Err(problem),
            };
            found.map_err(|problem| format!("{address}: {problem}"))
        };
        let late = |_| Err(format!("they take longer than {} s", PATIENCE.as_secs()));
        match tokio::time::timeout(PATIENCE, found).await.unwrap_or_else(late) {
            Ok(set) => {
                let mut state = shared.state();
                (state.got, state.has_failed) = (Some(Instant::now()), false);
                let version = state.set.as_ref().map_or(0, |it| it.version);
                if state.set.as_ref().is_none_or(|it| *it.set != set) {
                    state.set = Some(Versioned { version: version + 1, set: Arc::new(set) });
                }
            }
            Err(problem) => {
                shared.state().has_failed = true;
                tracing::warn!("the keys of the issuer {} cannot be had: {problem}", shared.issuer);
            }
        }
    }
}

impl<F> Drop for Asking<F> {
    fn drop(&mut self) {
        self.0.state().is_asking = false;
        self.0.asked.send_replace(());
    }
}
