//! Authorizations that wait for the user's decision, each bound to the browser that began it.

use std::{
    cmp::Reverse,
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{HeaderMap, header};
use tokio::time::Instant;

use super::{
    authorize::Asked,
    counts::Counts,
    provider::Journey,
    refusal::Refusal,
    secret::{Digest, random},
    user::User,
};
use mcp_runtime::{__companion::Who, Limit};

/// Time for which an authorization waits. It starts again when the browser goes to the upstream provider.
pub(crate) const TIME: Duration = Duration::from_secs(10 * 60);

const MOST: usize = 1000;

/// Maximum number of login attempts for an authorization.
const TRIES: u32 = 5;

const COOKIE: &str = "mcp-authorization-";

struct Pending {
    asked: Arc<Asked>,
    /// Digest of the secret that the browser sends by itself. `ticket` is the digest of the secret that only the page knows.
    cookie: Digest,
    ticket: Digest,
    user: Option<Known>,
    /// Approval of the user, given before the browser went to the upstream provider.
    approved: Option<Approved>,
    tries: u32,
    until: Instant,
    /// Address from which the authorization was begun, if it is known.
    from: Who<'static>,
}

/// User who has logged in, and the start of the login.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) user: User,
    pub(crate) since: Instant,
}

/// Values with which a page and its browser identify their authorization.
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) ticket: String,
    /// Value of `Set-Cookie`, if the cookie is new.
    pub(crate) cookie: Option<String>,
}

/// The pending authorization of a request.
pub(crate) struct Found {
    pub(crate) id: String,
    pub(crate) asked: Arc<Asked>,
    pub(crate) user: Option<Known>,
    /// The user has already approved, so no further form is accepted.
    pub(crate) is_approved: bool,
}

/// Approval that is used when the browser comes back from the upstream provider.
pub(crate) struct Approved {
    pub(crate) scopes: Vec<String>,
    pub(crate) journey: Journey,
    /// Time at which the browser went to the provider.
    pub(crate) since: Instant,
}

#[derive(Default)]
pub(crate) struct Waiting {
    all: Mutex<HashMap<String, Pending>>,
    counts: Counts,
}

impl Waiting {
    pub(crate) fn new(counts: Counts) -> Self {
        Self { counts, ..Self::default() }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Pending>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an authorization. If there is no room, another one is evicted.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn add(
        &self,
        asked: Arc<Asked>,
        from: Who<'static>,
        has_tls: bool,
    ) -> Result<Held, Refusal> {
        let (id, cookie, ticket) = (random::<16>()?, random::<32>()?, random::<32>()?);
        let pending = Pending {
            asked,
            cookie: Digest::of(&cookie),
            ticket: Digest::of(&ticket),
            user: None,
            approved: None,
            tries: 0,
            until: Instant::now() + TIME,
            from,
        };
        let mut all = self.all();
        if all.len() >= MOST {
            let now = Instant::now();
            all.retain(|_, it| it.until > now);
        }
        if all.len() >= MOST {
            // Evicts an authorization of the address that has the most, so that a flood evicts its own. Authorizations with a logged-in
            // user go last.
            let mut begun: HashMap<_, usize> = HashMap::new();
            all.values().for_each(|it| *begun.entry(it.from).or_default() += 1);
            let rank = |it: &Pending| (Reverse(begun[&it.from]), it.user.is_some(), it.until);
            let first = all.iter().min_by_key(|it| rank(it.1)).map(|it| it.0.clone());
            first.map(|it| all.remove(&it));
            self.counts.count(Limit::Authorizations);
        }
        all.insert(id.clone(), pending);
        let cookie = set_cookie(&id, &cookie, TIME.as_secs(), has_tls);
        Ok(Held { id, ticket, cookie: Some(cookie) })
    }

    /// Returns the authorization of a form or callback. The request must contain the ticket of the page and the cookie of the browser.
    pub(crate) fn find(
        &self,
        id: &str,
        ticket: &str,
        headers: &HeaderMap,
        has_tls: bool,
    ) -> Option<Found> {
        let mut all = self.all();
        let pending = all.get(id)?;
        if pending.until <= Instant::now() {
            all.remove(id);
            return None;
        }
        let name = cookie_name(id, has_tls);
        let is_own = cookies(headers, &name).any(|it| pending.cookie.is_of(it));
        (is_own && pending.ticket.is_of(ticket)).then(|| Found {
            id: id.to_owned(),
            asked: pending.asked.clone(),
            user: pending.user.clone(),
            is_approved: pending.approved.is_some(),
        })
    }

    /// Records the user's approval before the upstream login. The browser gets a new cookie and a new ticket. So only a browser whose user
    /// has approved can come back.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn approve(
        &self,
        id: &str,
        approved: Approved,
        has_tls: bool,
    ) -> Result<Option<Held>, Refusal> {
        let (cookie, ticket) = (random::<32>()?, random::<32>()?);
        let mut all = self.all();
        let Some(pending) = all.get_mut(id).filter(|it| it.approved.is_none()) else {
            return Ok(None);
        };
        pending.approved = Some(approved);
        pending.cookie = Digest::of(&cookie);
        pending.ticket = Digest::of(&ticket);
        pending.until = Instant::now() + TIME;
        let cookie = set_cookie(id, &cookie, TIME.as_secs(), has_tls);
        Ok(Some(Held { id: id.to_owned(), ticket, cookie: Some(cookie) }))
    }

    /// Takes the approval. A second call returns `None`.
    pub(crate) fn take_approved(&self, id: &str) -> Option<Approved> {
        self.all().get_mut(id)?.approved.take()
    }

    /// Counts a login attempt, and returns whether it is allowed. An attempt beyond the limit ends the authorization.
    pub(crate) fn may_try(&self, id: &str) -> bool {
        let mut all = self.all();
        let Some(pending) = all.get_mut(id) else { return false };
        pending.tries += 1;
        let may = pending.tries <= TRIES;
        if !may {
            all.remove(id);
        }
        may
    }

    /// Whether another login attempt is allowed.
    pub(crate) fn has_tries(&self, id: &str) -> bool {
        self.all().get(id).is_some_and(|it| it.tries < TRIES)
    }

    /// Records the user who has logged in. The ticket of the login page becomes invalid.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn log_in(&self, id: &str, known: Known) -> Result<Option<Held>, Refusal> {
        let ticket = random::<32>()?;
        let mut all = self.all();
        let Some(pending) = all.get_mut(id).filter(|it| it.user.is_none()) else { return Ok(None) };
        pending.user = Some(known);
        pending.ticket = Digest::of(&ticket);
        Ok(Some(Held { id: id.to_owned(), ticket, cookie: None }))
    }

    /// Ends an authorization. Of several concurrent calls, only the first returns `true`.
    pub(crate) fn take(&self, id: &str) -> bool {
        self.all().remove(id).is_some()
    }
}

/// Returns the name of the cookie. With the prefix `__Host-`, no other host of the domain can have set the cookie.
fn cookie_name(id: &str, has_tls: bool) -> String {
    format!("{}{COOKIE}{id}", if has_tls { "__Host-" } else { "" })
}

fn set_cookie(id: &str, value: &str, seconds: u64, has_tls: bool) -> String {
    let (name, secure) = (cookie_name(id, has_tls), if has_tls { "; Secure" } else { "" });
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}

/// Returns the value of `Set-Cookie` that deletes the cookie of an authorization.
pub(crate) fn forget(id: &str, has_tls: bool) -> String {
    set_cookie(id, "", 0, has_tls)
}

fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|it| it.to_str().ok());
    let pairs = all.flat_map(|it| it.split(';')).filter_map(|it| it.trim().split_once('='));
    pairs.filter(move |it| it.0 == name).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::{authorize::Back, client::Client, form::Form, pkce::Challenge};

    fn asked() -> Arc<Asked> {
        let challenge =
            "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
        let client = Client {
            id: "c".into(),
            name: None,
            uri: None,
            redirects: Vec::new(),
            secret: None,
            refreshes: false,
            expires: u64::MAX,
        };
        Arc::new(Asked {
            client: Arc::new(client),
            back: Back::to("http://127.0.0.1/"),
            challenge: Challenge::asked(&Form::parse(challenge).unwrap()).unwrap(),
            scopes: Vec::new(),
            resource: "http://r".into(),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_authorizations_displaces_no_other_callers_authorization() {
        let (counts, tally) = Counts::of_test();
        let (waiting, asked) = (Waiting::new(counts), asked());
        let add = |address: IpAddr| waiting.add(asked.clone(), Who::at(address), false).unwrap().id;
        let own = add([10, 0, 0, 1].into());
        let known = || Known { user: User::new("mallory"), since: Instant::now() };
        // A few hundred networks each begin as many authorizations as their rate limit allows.
        for it in 0..(MOST * 3).try_into().unwrap() {
            tokio::time::advance(Duration::from_millis(1)).await;
            let id = add([0x2001, 0xdb8, 0, it % 300, it, 0, 0, 1].into());
            // Authorizations with a logged-in user do not displace other addresses either.
            waiting.log_in(&id, known()).unwrap();
        }
        assert_eq!(waiting.all().len(), MOST);
        assert_eq!(tally.refused(Limit::Authorizations), 2 * MOST as u64 + 1);
        assert!(waiting.has_tries(&own));
        assert!(waiting.has_tries(&add([10, 0, 0, 2].into())) && waiting.has_tries(&own));
    }
}
