//! Grants of users to clients, and their tokens (RFC 6749, sections 5 and 6; RFC 9700, section 4.14).

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    access::AccessTokens,
    counts::Counts,
    grant::{Access, Backing, Grant, Refresh},
    journal::{Journal, Kind},
    refusal::Refusal,
    secret::{Chain, Digest, random},
};
use mcp_runtime::{Authorization, Limit};

/// Lifetime of an access token, in seconds.
const ACCESS: u64 = 60 * 60;

/// Time for which a used refresh token gets the same answer again, in seconds.
const GRACE: u64 = 10;

/// Maximum number of access tokens of a grant. The oldest are evicted.
const TOKENS: usize = 8;

/// Maximum number of grants of a user. The grant that would end first is evicted.
const OF_USER: usize = 128;

const MOST: usize = 20_000;

/// Number of characters at the start of a refresh token that name its grant.
const NAME: usize = 22;

/// Tokens issued to a client.
pub(crate) struct Issued {
    /// Key of the grant.
    pub(crate) grant: Digest,
    pub(crate) access: String,
    pub(crate) refresh: Option<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) expires_in: u64,
}

/// Validity of a stored grant after a restart.
pub(crate) enum Standing {
    Good,
    /// The grant belongs to another server, or to this server under another URL.
    Elsewhere,
    Lost,
}

#[derive(Default)]
pub(crate) struct Grants {
    table: Mutex<HashMap<Digest, Grant>>,
    /// Stored grants that are not valid here: not checked yet, or issued under another URL of the server. A caller that locks both locks
    /// `table` first.
    aside: Mutex<HashMap<Digest, Grant>>,
    tokens: AccessTokens,
    chain: Chain,
    counts: Counts,
}

/// Locked table of grants.
struct State<'a> {
    grants: MutexGuard<'a, HashMap<Digest, Grant>>,
    tokens: &'a AccessTokens,
    counts: &'a Counts,
}

impl Grants {
    pub(crate) fn new(counts: Counts) -> Self {
        Self { counts, ..Self::default() }
    }

    fn state(&self) -> State<'_> {
        let grants = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        State { grants, tokens: &self.tokens, counts: &self.counts }
    }

    fn aside(&self) -> MutexGuard<'_, HashMap<Digest, Grant>> {
        self.aside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a loaded grant until `wake` checks it.
    pub(crate) fn set_aside(&self, key: Digest, grant: Grant) {
        self.aside().insert(key, grant);
    }

    /// Activates the valid grants that were set aside, and removes the lost ones.
    pub(crate) fn wake(
        &self,
        standing: impl Fn(&Digest, &mut Grant) -> Standing,
        journal: &Journal,
    ) {
        let mut state = self.state();
        let mut aside = self.aside();
        for (key, mut grant) in std::mem::take(&mut *aside) {
            match standing(&key, &mut grant) {
                Standing::Good => state.wake(key, grant),
                Standing::Elsewhere => drop(aside.insert(key, grant)),
                Standing::Lost => journal.remove(Kind::Grant, &key.text()),
            }
        }
    }

    /// Stores a new grant and issues its first tokens.
    ///
    /// # Errors
    /// Fails if there is no room, if `back` fails, or if the operating system provides no random numbers.
    pub(crate) fn begin(
        &self,
        mut grant: Grant,
        refreshes: bool,
        back: impl FnOnce(&Digest) -> Result<Option<Backing>, Refusal>,
        now: u64,
        journal: &Journal,
    ) -> Result<Issued, Refusal> {
        let name = random::<16>()?;
        let key = Digest::of(&name);
        grant.backing = back(&key)?;
        let mut state = self.state();
        state.make_room(grant.user.principal(), now, journal)?;
        let access = random::<32>()?;
        let refresh = match refreshes {
            true => Some(format!("{name}{}", random::<32>()?)),
            false => None,
        };
        grant.since = now;
        grant.ends = if refreshes { grant.end_from(now) } else { now + ACCESS };
        grant.refresh = refresh.as_ref().map(|it| Refresh::first(Digest::of(it)));
        let scopes = grant.scopes.clone();
        state.grants.insert(key, grant);
        state.issue(key, access, scopes, refresh, now, journal)
    }

    /// Issues new tokens for a refresh token, which can be used once. A second use means that the token was stolen, and that the client and
    /// the thief both have it: the grant ends.
    ///
    /// Within `GRACE` seconds, a second use gets the same answer again. A client that did not receive the answer retries at once. A client
    /// with several concurrent calls may refresh once for each call, while other calls already use the first answer. A thief who uses the
    /// token in this time gets the same tokens as the client. The theft is detected later, when one of them uses the next refresh token too
    /// late.
    ///
    /// A process that was killed before it answered leaves only digests in the store. The next process gives another answer, and both
    /// answers are valid.
    ///
    /// # Errors
    /// Fails if the refresh token is not valid, or the user has not granted all of the scopes.
    pub(crate) fn refresh(
        &self,
        token: &str,
        client: &str,
        scopes: Option<Vec<String>>,
        backing: Option<Backing>,
        now: u64,
        journal: &Journal,
    ) -> Result<Issued, Refusal> {
        let gone = || Refusal::grant("the refresh token is not good, or no longer");
        let name = name(token);
        let (key, shown) = (Digest::of(name), Digest::of(token));
        let mut state = self.state();
        let grant = state.grants.get(&key).ok_or_else(gone)?;
        if grant.client != client {
            return Err(gone());
        }
        let Some(refresh) = &grant.refresh else { return Err(gone()) };
        if grant.ends <= now {
            state.end(key, journal);
            return Err(gone());
        }
        if !refresh.is_current(shown) && !state.was_just_used(&key, shown, now) {
            tracing::warn!("a refresh token was used twice: its grant has been revoked");
            state.end(key, journal);
            return Err(gone());
        }
        let granted = &grant.scopes;
        let scopes = match scopes {
            Some(asked) if !asked.iter().all(|it| granted.contains(it)) => {
                return Err(Refusal::scope("the user has not granted all of this"));
            }
            // Each scope is stored once with the token, however often the request names it.
            Some(asked) => granted.iter().filter(|it| asked.contains(it)).cloned().collect(),
            None => granted.clone(),
        };
        let next = format!("{name}{}", self.chain.next("refresh", token)?);
        let access = self.chain.next(&format!("access {}", scopes.join(" ")), token)?;
        if let Some(grant) = state.grants.get_mut(&key) {
            if let Some(refresh) = &mut grant.refresh {
                refresh.used(shown, Digest::of(&next), now);
            }
            if backing.is_some() {
                grant.backing = backing;
            }
            grant.ends = grant.end_from(now);
        }
        state.issue(key, access, scopes, Some(next), now, journal)
    }

    /// Returns the upstream tokens for a refresh token, if the token is valid and these scopes were granted.
    pub(crate) fn backing(
        &self,
        token: &str,
        client: &str,
        scopes: Option<&[String]>,
        now: u64,
    ) -> Option<(Digest, Backing)> {
        let (key, shown) = (Digest::of(name(token)), Digest::of(token));
        let state = self.state();
        let grant = state.grants.get(&key).filter(|it| it.client == client && it.ends > now)?;
        let is_current = grant.refresh.as_ref().is_some_and(|it| it.is_current(shown));
        let is_good = is_current || state.was_just_used(&key, shown, now);
        let may = scopes.is_none_or(|it| it.iter().all(|it| grant.scopes.contains(it)));
        (is_good && may).then(|| Some((key, grant.backing.clone()?))).flatten()
    }

    /// Revokes a token (RFC 7009, section 2.1). A refresh token ends its whole grant, which is returned. An access token ends alone.
    pub(crate) fn revoke(
        &self,
        token: &str,
        client: &str,
        journal: &Journal,
    ) -> Option<(Digest, Grant)> {
        let mut state = self.state();
        let digest = Digest::of(token);
        if let Some(key) = self.tokens.grant(&digest) {
            if state.grants.get(&key).is_some_and(|it| it.client == client) {
                self.tokens.remove(&digest);
                state.change(key, journal, |it| {
                    it.tokens.retain(|it| it.digest != digest);
                    // A client that revokes the token has received the answer with it. So the grace period ends, and the token is not
                    // issued again.
                    if let Some(refresh) = &mut it.refresh {
                        refresh.previous = None;
                    }
                });
            }
            return None;
        }
        let key = Digest::of(name(token));
        let is_of = |it: &Grant| it.client == client && it.refresh.is_some();
        state.grants.get(&key).filter(|it| is_of(it))?;
        Some((key, state.end(key, journal)?))
    }

    pub(crate) fn end(&self, key: Digest, journal: &Journal) {
        self.state().end(key, journal);
    }

    /// Calls `each` for the grants of a user that have not ended.
    pub(crate) fn of<T>(
        &self,
        user: &str,
        now: u64,
        mut each: impl FnMut(&Digest, &Grant) -> T,
    ) -> Vec<T> {
        let (state, aside) = (self.state(), self.aside());
        let all = state.grants.iter().chain(aside.iter());
        let own = all.filter(|it| it.1.user.principal() == user && it.1.ends > now);
        own.map(|(key, grant)| each(key, grant)).collect()
    }

    /// Ends one grant of a user, or all of them. Returns the ended grants.
    pub(crate) fn end_of(
        &self,
        user: &str,
        one: Option<&Digest>,
        journal: &Journal,
    ) -> Vec<(Digest, Grant)> {
        let is_meant = |key: &Digest, grant: &Grant| {
            grant.user.principal() == user && one.is_none_or(|it| it == key)
        };
        let mut state = self.state();
        let mut ended = Vec::new();
        for (key, grant) in self.aside().extract_if(|key, grant| is_meant(key, grant)) {
            journal.remove(Kind::Grant, &key.text());
            ended.push((key, grant));
        }
        let own = state.grants.iter().filter(|it| is_meant(it.0, it.1)).map(|it| *it.0);
        for key in own.collect::<Vec<_>>() {
            ended.extend(state.end(key, journal).map(|it| (key, it)));
        }
        ended
    }

    /// Returns the authorization of a valid access token.
    pub(crate) fn verify(&self, token: &str, now: u64) -> Option<Authorization> {
        self.tokens.verify(&Digest::of(token), now)
    }
}

/// Returns the part of a refresh token that names its grant.
pub(crate) fn name(token: &str) -> &str {
    token.get(..NAME).unwrap_or(token)
}

impl State<'_> {
    /// Whether this refresh token is the one that was used last, at most `GRACE` seconds ago. The difference is absolute, because the clock
    /// may have been set back.
    fn was_just_used(&self, key: &Digest, shown: Digest, now: u64) -> bool {
        let refresh = self.grants.get(key).and_then(|it| it.refresh.as_ref());
        let previous = refresh.and_then(|it| it.previous);
        previous.is_some_and(|(it, at)| it == shown && now.abs_diff(at) <= GRACE)
    }

    fn issue(
        &mut self,
        key: Digest,
        access: String,
        scopes: Vec<String>,
        refresh: Option<String>,
        now: u64,
        journal: &Journal,
    ) -> Result<Issued, Refusal> {
        let digest = Digest::of(&access);
        let Some(grant) = self.grants.get_mut(&key) else {
            return Err(Refusal::grant("the user has taken it back"));
        };
        let until = grant.backing.as_ref().map_or(u64::MAX, |it| it.until);
        let expires = until.min(now + ACCESS);
        let authorization = grant.authorization(&scopes, expires);
        self.tokens.insert(digest, key, authorization, expires);
        // The token is already present if the same answer is given again.
        grant.tokens.retain(|it| it.digest != digest);
        grant.tokens.push(Access { digest, expires, scopes: scopes.clone() });
        let beyond = grant.tokens.len().saturating_sub(TOKENS);
        let mut gone: Vec<_> = grant.tokens.drain(..beyond).map(|it| it.digest).collect();
        grant.tokens.retain(|it| {
            let is_kept = it.expires > now;
            if !is_kept {
                gone.push(it.digest);
            }
            is_kept
        });
        journal.put(Kind::Grant, &key.text(), grant.ends, &*grant);
        for digest in gone {
            self.tokens.remove(&digest);
        }
        Ok(Issued { grant: key, access, refresh, scopes, expires_in: expires - now.min(expires) })
    }

    /// Activates a grant that was loaded from the store.
    fn wake(&mut self, key: Digest, grant: Grant) {
        for access in &grant.tokens {
            let authorization = grant.authorization(&access.scopes, access.expires);
            self.tokens.insert(access.digest, key, authorization, access.expires);
        }
        self.grants.insert(key, grant);
    }

    fn change(&mut self, key: Digest, journal: &Journal, change: impl FnOnce(&mut Grant)) {
        if let Some(grant) = self.grants.get_mut(&key) {
            change(grant);
            journal.put(Kind::Grant, &key.text(), grant.ends, &*grant);
        }
    }

    fn end(&mut self, key: Digest, journal: &Journal) -> Option<Grant> {
        let grant = self.grants.remove(&key)?;
        for access in &grant.tokens {
            self.tokens.remove(&access.digest);
        }
        journal.remove(Kind::Grant, &key.text());
        Some(grant)
    }

    /// Makes room for one more grant of this user.
    fn make_room(&mut self, principal: &str, now: u64, journal: &Journal) -> Result<(), Refusal> {
        let expired = self.grants.iter().filter(|it| it.1.ends <= now).map(|it| *it.0);
        for key in expired.collect::<Vec<_>>() {
            self.end(key, journal);
        }
        let own = |it: &(&Digest, &Grant)| it.1.user.principal() == principal;
        if self.grants.iter().filter(own).count() >= OF_USER {
            let first = self.grants.iter().filter(own).min_by_key(|it| it.1.ends);
            if let Some(key) = first.map(|it| *it.0) {
                self.end(key, journal);
                self.counts.count(Limit::Logins);
            }
        }
        if self.grants.len() >= MOST {
            return Err(self.counts.busy(Limit::Logins, "there are too many grants"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
