//! OAuth clients, which act for users (RFC 6749, section 2).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, header};
use serde::{Deserialize, Serialize};

use super::{
    counts::Counts,
    document::Documents,
    form::{self, Form},
    journal::{Journal, Kind},
    refusal::Refusal,
    secret::Digest,
};
use mcp_runtime::Limit;

/// Maximum number of registered clients.
const MOST: usize = 10_000;

/// Lifetime of a client that has not been used yet, in seconds.
pub(crate) const UNUSED: u64 = 7 * 24 * 60 * 60;

/// Lifetime of a client after its last use, in seconds.
const USED: u64 = 90 * 24 * 60 * 60;

const DAY: u64 = 24 * 60 * 60;

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
    counts: Counts,
}

impl Clients {
    pub(crate) fn new(counts: Counts) -> Self {
        Self { counts, ..Self::default() }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Client>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a client that was loaded from the store.
    pub(crate) fn restore(&self, client: Client) {
        self.all().insert(client.id.clone(), Arc::new(client));
    }

    /// # Errors
    /// Fails if the table is full of clients that are in use.
    pub(crate) fn add(&self, client: Client, now: u64, journal: &Journal) -> Result<(), Refusal> {
        let mut all = self.all();
        if all.len() >= MOST {
            all.retain(|id, it| {
                let is_kept = it.expires > now;
                if !is_kept {
                    journal.remove(Kind::Client, id);
                }
                is_kept
            });
        }
        if all.len() >= MOST {
            // A flood of registrations evicts unused clients, not clients in use.
            let unused = all.values().filter(|it| it.expires <= now + UNUSED);
            let oldest = unused.min_by_key(|it| it.expires).map(|it| it.id.clone());
            let limit = Limit::RegisteredClients;
            let busy = || self.counts.busy(limit, "there are too many clients");
            let oldest = oldest.ok_or_else(busy)?;
            self.counts.count(limit);
            all.remove(&oldest);
            journal.remove(Kind::Client, &oldest);
        }
        journal.put(Kind::Client, &client.id, client.expires, &client);
        all.insert(client.id.clone(), Arc::new(client));
        Ok(())
    }

    pub(crate) fn find(&self, id: &str, now: u64) -> Option<Arc<Client>> {
        self.all().get(id).filter(|it| it.expires > now).cloned()
    }

    /// Extends the lifetime of a client that was used, at most once a day.
    pub(crate) fn touch(&self, id: &str, now: u64, journal: &Journal) {
        let mut all = self.all();
        let Some(client) = all.get_mut(id).filter(|it| it.expires < now + USED - DAY) else {
            return;
        };
        let client = Arc::make_mut(client);
        client.expires = now + USED;
        journal.put(Kind::Client, &client.id, client.expires, &*client);
    }
}

/// Client credentials of a request (RFC 6749, section 2.3).
struct Shown {
    id: String,
    secret: Option<String>,
}

impl Shown {
    fn read(headers: &HeaderMap, form: &Form) -> Result<Self, Refusal> {
        let (id, secret) = (form.one("client_id")?, form.one("client_secret")?);
        let Some(header) = headers.get(header::AUTHORIZATION) else {
            let id = id.ok_or_else(|| Refusal::request("the parameter client_id is missing"))?;
            return Ok(Self { id: id.to_owned(), secret: secret.map(str::to_owned) });
        };
        let shown = basic(header.to_str().unwrap_or_default());
        let shown =
            shown.ok_or_else(|| Refusal::client("the header Authorization cannot be read"))?;
        if secret.is_some() || id.is_some_and(|it| it != shown.id) {
            return Err(Refusal::request("the client shows who it is in two ways"));
        }
        Ok(shown)
    }
}

fn basic(header: &str) -> Option<Shown> {
    let (scheme, credentials) = header.split_once(' ')?;
    let credentials = String::from_utf8(STANDARD.decode(credentials.trim()).ok()?).ok()?;
    let (id, secret) = credentials.split_once(':')?;
    let decoded = |it| form::decoded(it).ok();
    scheme.eq_ignore_ascii_case("basic").then_some(())?;
    Some(Shown { id: decoded(id)?, secret: decoded(secret).filter(|it| !it.is_empty()) })
}

impl Clients {
    /// Authenticates the client that sends a request, and returns its id. A client without a secret is identified by its id alone.
    ///
    /// # Errors
    /// Fails if the client is unknown, or its credentials are missing or wrong.
    pub(crate) fn authenticate(
        &self,
        headers: &HeaderMap,
        form: &Form,
        now: u64,
    ) -> Result<String, Refusal> {
        let Shown { id, secret } = Shown::read(headers, form)?;
        // A client that is identified by its metadata URL has no secret. Codes and grants are compared with its id.
        if Documents::is_id(&id) && secret.is_none() {
            return Ok(id);
        }
        let client = self.find(&id, now);
        let client = client.ok_or_else(|| Refusal::client("nobody here knows this client"))?;
        match (&client.secret, &secret) {
            (None, None) => Ok(id),
            (Some(known), Some(shown)) if known.is_of(shown) => Ok(id),
            _ => Err(Refusal::client("the secret of the client is missing or wrong")),
        }
    }
}

impl Client {
    /// Returns the host of the metadata URL, if the id is one.
    pub(crate) fn host(&self) -> Option<&str> {
        let rest = self.id.split_once("://")?.1;
        rest.split('/').next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_registrations_displace_no_client_that_is_used() {
        let (counts, tally) = Counts::of_test();
        let (clients, journal) = (Clients::new(counts), Journal::default());
        let add = |id: String, now: u64| {
            let (name, uri, secret) = (None, None, None);
            let (redirects, refreshes, expires) = (Vec::new(), false, now + UNUSED);
            let client = Client { id, name, uri, redirects, secret, refreshes, expires };
            clients.add(client, now, &journal).is_ok()
        };
        assert!(add("used".into(), 0) && add("first".into(), 1));
        clients.touch("used", 1, &journal);
        assert!((0..MOST).all(|it| add(it.to_string(), 2)));
        assert_eq!((clients.all().len(), tally.refused(Limit::RegisteredClients)), (MOST, 2));
        assert!(clients.find("used", 2).is_some() && clients.find("first", 2).is_none());
        // Unused clients expire in the end.
        assert!(add("late".into(), 3 + UNUSED));
        assert_eq!(clients.all().len(), 2);
        assert_eq!(tally.refused(Limit::RegisteredClients), 2);
    }
}
