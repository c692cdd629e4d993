//! Authorizations that wait for the user's decision, each bound to the browser that began it.

use std::{
    cmp::Reverse,
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{HeaderMap, header};
use mcp_runtime::{__companion::CallerKey, limits::Limit};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::{
    authorization_request::AuthorizationRequest,
    login::User,
    oauth_error::{OAuthError, RefusalCounts},
    secret::{Digest, random},
};

/// Time after which a pending authorization expires. The time starts again when the browser goes to the upstream provider.
pub(crate) const TIME: Duration = Duration::from_secs(10 * 60);

/// Maximum number of pending authorizations.
const MOST: usize = 1000;

/// Maximum number of login attempts for an authorization.
const TRIES: u32 = 5;

/// Part of a cookie's name before the id of the authorization.
const COOKIE: &str = "mcp-authorization-";

/// Authorization whose user has not decided yet.
struct PendingAuthorization {
    authorization: Arc<AuthorizationRequest>,
    state: PendingState,
    until: Instant,
    /// Address from which the authorization was begun, if it is known.
    from: CallerKey<'static>,
}

/// The part of a pending authorization that changes until the user has decided.
#[derive(Serialize, Deserialize)]
pub(crate) struct PendingState {
    /// Digest of the secret in the cookie, which the browser sends with every request.
    cookie: Digest,
    /// Digest of the ticket, a secret that the form of the page or the `state` of the callback contains.
    ticket: Digest,
    user: Option<LoggedInUser>,
    /// Approval of the user, given before the browser went to the upstream provider.
    approval: Option<Approval>,
    tries: u32,
}

/// Start of a login. The login is not valid if all logins of its user were ended after this start.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct LoginStart {
    /// Time in this process. Only the process that began the login compares it.
    #[serde(skip, default = "Instant::now")]
    pub(crate) at: Instant,
    /// Epoch in the shared store, which each end of all logins of a user raises. Zero without a shared store.
    pub(crate) epoch: u64,
}

/// User who has logged in, and the start of the login.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct LoggedInUser {
    pub(crate) user: User,
    pub(crate) since: LoginStart,
}

/// Values with which a page and its browser identify their authorization.
pub(crate) struct PageBinding {
    pub(crate) id: String,
    pub(crate) ticket: String,
    /// Value of `Set-Cookie`, if the cookie is new.
    pub(crate) cookie: Option<String>,
}

/// The pending authorization that a form or callback belongs to.
pub(crate) struct FoundAuthorization {
    pub(crate) id: String,
    pub(crate) authorization: Arc<AuthorizationRequest>,
    pub(crate) user: Option<LoggedInUser>,
    /// Whether the user has already approved. If so, no further form is accepted.
    pub(crate) is_approved: bool,
}

/// Approval of a user, which takes effect when the browser comes back from the upstream provider.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Approval {
    pub(crate) scopes: Vec<String>,
    /// Sealed secrets of the login at the provider.
    pub(crate) secrets: String,
    /// Time at which the browser went to the provider.
    pub(crate) since: LoginStart,
}

impl PendingState {
    /// Begins the authorization with this id, and returns the values that identify it.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn begin(id: &str, has_tls: bool) -> Result<(Self, PageBinding), OAuthError> {
        let (cookie, ticket) = (random::<32>()?, random::<32>()?);
        let state = Self {
            cookie: Digest::of(&cookie),
            ticket: Digest::of(&ticket),
            user: None,
            approval: None,
            tries: 0,
        };
        Ok((state, PageBinding::new(id, ticket, Some((&cookie, has_tls)))))
    }

    /// Returns the authorization if the request has the page's ticket and the browser's cookie.
    pub(crate) fn find(
        &self,
        id: &str,
        authorization: Arc<AuthorizationRequest>,
        ticket: &str,
        headers: &HeaderMap,
        has_tls: bool,
    ) -> Option<FoundAuthorization> {
        let name = cookie_name(id, has_tls);
        let is_own = cookies(headers, &name).any(|cookie| self.cookie.is_of(cookie));
        (is_own && self.ticket.is_of(ticket)).then(|| FoundAuthorization {
            id: id.to_owned(),
            authorization,
            user: self.user.clone(),
            is_approved: self.approval.is_some(),
        })
    }

    /// Records the user's approval before the upstream login. The browser gets a new cookie and a new ticket, so that only the browser in
    /// which the user has approved can complete the callback. A second approval returns `None`.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn approve(
        &mut self,
        id: &str,
        approval: Approval,
        has_tls: bool,
    ) -> Result<Option<PageBinding>, OAuthError> {
        if self.approval.is_some() {
            return Ok(None);
        }
        let (cookie, ticket) = (random::<32>()?, random::<32>()?);
        self.approval = Some(approval);
        self.cookie = Digest::of(&cookie);
        self.ticket = Digest::of(&ticket);
        Ok(Some(PageBinding::new(id, ticket, Some((&cookie, has_tls)))))
    }

    /// Takes the approval. A second call returns `None`.
    pub(crate) fn take_approval(&mut self) -> Option<Approval> {
        self.approval.take()
    }

    /// Counts a login attempt, and returns whether it is allowed.
    pub(crate) fn try_once(&mut self) -> bool {
        self.tries += 1;
        self.tries <= TRIES
    }

    /// Whether another login attempt is allowed.
    pub(crate) fn has_tries(&self) -> bool {
        self.tries < TRIES
    }

    /// Records the user who has logged in. The ticket of the login page becomes invalid. A second login returns `None`.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn log_in(
        &mut self,
        id: &str,
        login_user: LoggedInUser,
    ) -> Result<Option<PageBinding>, OAuthError> {
        if self.user.is_some() {
            return Ok(None);
        }
        let ticket = random::<32>()?;
        self.user = Some(login_user);
        self.ticket = Digest::of(&ticket);
        Ok(Some(PageBinding::new(id, ticket, None)))
    }
}

impl PageBinding {
    /// `cookie` is the secret of a new cookie, and whether browsers reach the server through TLS.
    fn new(id: &str, ticket: String, cookie: Option<(&str, bool)>) -> Self {
        let cookie =
            cookie.map(|(secret, has_tls)| set_cookie(id, secret, TIME.as_secs(), has_tls));
        Self { id: id.to_owned(), ticket, cookie }
    }
}

/// Authorizations whose users have not decided yet, in memory.
#[derive(Default)]
pub(crate) struct PendingAuthorizations {
    all: Mutex<HashMap<String, PendingAuthorization>>,
    counts: RefusalCounts,
}

impl PendingAuthorizations {
    pub(crate) fn new(counts: RefusalCounts) -> Self {
        Self { counts, ..Self::default() }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, PendingAuthorization>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an authorization. If the table is full, another authorization is evicted.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn add(
        &self,
        authorization: Arc<AuthorizationRequest>,
        from: CallerKey<'static>,
        has_tls: bool,
    ) -> Result<PageBinding, OAuthError> {
        let id = random::<16>()?;
        let (state, binding) = PendingState::begin(&id, has_tls)?;
        let until = Instant::now() + TIME;
        let pending = PendingAuthorization { authorization, state, until, from };
        let mut all = self.all();
        if all.len() >= MOST {
            let now = Instant::now();
            all.retain(|_, pending| pending.until > now);
        }
        if all.len() >= MOST {
            // Evicts an authorization of the address with the most authorizations, so that a flood from one address evicts its own
            // authorizations. Among these, authorizations with a logged-in user are evicted last.
            let mut begun: HashMap<_, usize> = HashMap::new();
            all.values().for_each(|pending| *begun.entry(pending.from).or_default() += 1);
            let rank = |pending: &PendingAuthorization| {
                (Reverse(begun[&pending.from]), pending.state.user.is_some(), pending.until)
            };
            let first = all.iter().min_by_key(|entry| rank(entry.1)).map(|entry| entry.0.clone());
            first.map(|id| all.remove(&id));
            self.counts.count(Limit::Authorizations);
        }
        all.insert(id, pending);
        Ok(binding)
    }

    /// Returns the authorization that a form or callback belongs to. The request must contain the page's ticket and the browser's cookie.
    pub(crate) fn find(
        &self,
        id: &str,
        ticket: &str,
        headers: &HeaderMap,
        has_tls: bool,
    ) -> Option<FoundAuthorization> {
        let mut all = self.all();
        let pending = all.get(id)?;
        if pending.until <= Instant::now() {
            all.remove(id);
            return None;
        }
        pending.state.find(id, pending.authorization.clone(), ticket, headers, has_tls)
    }

    /// Records the user's approval before the upstream login, as [`PendingState::approve`] does.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn approve(
        &self,
        id: &str,
        approval: Approval,
        has_tls: bool,
    ) -> Result<Option<PageBinding>, OAuthError> {
        let mut all = self.all();
        let Some(pending) = all.get_mut(id) else { return Ok(None) };
        let binding = pending.state.approve(id, approval, has_tls)?;
        if binding.is_some() {
            pending.until = Instant::now() + TIME;
        }
        Ok(binding)
    }

    /// Takes the approval. A second call returns `None`.
    pub(crate) fn take_approval(&self, id: &str) -> Option<Approval> {
        self.all().get_mut(id)?.state.take_approval()
    }

    /// Counts a login attempt, and returns whether it is allowed. An attempt beyond the limit ends the authorization.
    pub(crate) fn may_try(&self, id: &str) -> bool {
        let mut all = self.all();
        let Some(pending) = all.get_mut(id) else { return false };
        let may = pending.state.try_once();
        if !may {
            all.remove(id);
        }
        may
    }

    /// Whether another login attempt is allowed.
    pub(crate) fn has_tries(&self, id: &str) -> bool {
        self.all().get(id).is_some_and(|pending| pending.state.has_tries())
    }

    /// Records the user who has logged in, as [`PendingState::log_in`] does.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers.
    pub(crate) fn log_in(
        &self,
        id: &str,
        login_user: LoggedInUser,
    ) -> Result<Option<PageBinding>, OAuthError> {
        let mut all = self.all();
        let Some(pending) = all.get_mut(id) else { return Ok(None) };
        pending.state.log_in(id, login_user)
    }

    /// Ends an authorization. If several calls run concurrently, only one of them returns `true`.
    pub(crate) fn take(&self, id: &str) -> bool {
        self.all().remove(id).is_some()
    }
}

/// Returns the name of the cookie. The prefix `__Host-` guarantees that no other host of the domain has set the cookie.
fn cookie_name(id: &str, has_tls: bool) -> String {
    format!("{}{COOKIE}{id}", if has_tls { "__Host-" } else { "" })
}

fn set_cookie(id: &str, value: &str, seconds: u64, has_tls: bool) -> String {
    let (name, secure) = (cookie_name(id, has_tls), if has_tls { "; Secure" } else { "" });
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}")
}

/// Returns the value of `Set-Cookie` that deletes the cookie of an authorization.
pub(crate) fn expired_cookie(id: &str, has_tls: bool) -> String {
    set_cookie(id, "", 0, has_tls)
}

/// Returns whether the request has a cookie of any authorization that began over TLS.
pub(crate) fn has_tls_cookie(headers: &HeaderMap) -> bool {
    all_cookies(headers).any(|(name, _)| name.starts_with(&cookie_name("", true)))
}

fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    all_cookies(headers).filter(move |cookie| cookie.0 == name).map(|cookie| cookie.1)
}

/// Returns the names and values of all cookies.
fn all_cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::{
        authorization_request::{Challenge, RedirectTarget},
        client::Client,
        form::Form,
    };

    fn authorization() -> Arc<AuthorizationRequest> {
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
        Arc::new(AuthorizationRequest {
            client: Arc::new(client),
            target: RedirectTarget::to("http://127.0.0.1/"),
            challenge: Challenge::of(&Form::parse(challenge).unwrap()).unwrap(),
            scopes: Vec::new(),
            resource: "http://r".into(),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_authorizations_displaces_no_other_callers_authorization() {
        let (counts, tally) = RefusalCounts::of_test();
        let (table, authorization) = (PendingAuthorizations::new(counts), authorization());
        let add = |address: IpAddr| {
            table.add(authorization.clone(), CallerKey::of_address(address), false).unwrap().id
        };
        let own = add([10, 0, 0, 1].into());
        let login_user = || LoggedInUser {
            user: User::new("mallory"),
            since: LoginStart { at: Instant::now(), epoch: 0 },
        };
        // A few hundred networks each begin as many authorizations as their rate limit allows.
        for number in 0..(MOST * 3).try_into().unwrap() {
            tokio::time::advance(Duration::from_millis(1)).await;
            let id = add([0x2001, 0xdb8, 0, number % 300, number, 0, 0, 1].into());
            // The flood also logs users in, which must not make it evict the authorizations of other addresses.
            table.log_in(&id, login_user()).unwrap();
        }
        assert_eq!(table.all().len(), MOST);
        assert_eq!(tally.refused(Limit::Authorizations), 2 * MOST as u64 + 1);
        assert!(table.has_tries(&own));
        assert!(table.has_tries(&add([10, 0, 0, 2].into())) && table.has_tries(&own));
    }
}
