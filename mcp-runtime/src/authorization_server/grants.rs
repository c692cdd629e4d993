//! What users have granted to clients, and the tokens that stand for it (RFC 6749, sections 5 and 6; RFC 9700, section 4.14).

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
use crate::{context::Authorization, limits::Limit};

/// How long an access token is good.
const ACCESS: u64 = 60 * 60;

/// How long a refresh token that was used is answered again, in the same way.
const GRACE: u64 = 10;

/// Access tokens of one grant at once: the oldest go.
const TOKENS: usize = 8;

/// Grants of one user: those that would end first go.
const OF_USER: usize = 128;

const MOST: usize = 20_000;

/// Letters of a refresh token that say which grant it is of.
const NAME: usize = 22;

/// What a client is given.
pub(super) struct Issued {
    /// Which grant it is of.
    pub(super) grant: Digest,
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) expires_in: u64,
}

/// What a grant is worth that was kept before a restart.
pub(super) enum Standing {
    Good,
    /// It is another server's, or would be good if this one were called as it was.
    Elsewhere,
    Lost,
}

#[derive(Default)]
pub(super) struct Grants {
    table: Mutex<HashMap<Digest, Grant>>,
    /// Kept, and good for nothing here: not yet, or under another name of the server. Whoever has both has the table first.
    aside: Mutex<HashMap<Digest, Grant>>,
    tokens: AccessTokens,
    chain: Chain,
    counts: Counts,
}

/// The grants, while somebody works on them.
struct State<'a> {
    grants: MutexGuard<'a, HashMap<Digest, Grant>>,
    tokens: &'a AccessTokens,
    counts: &'a Counts,
}

impl Grants {
    pub(super) fn new(counts: Counts) -> Self {
        Self { counts, ..Self::default() }
    }

    fn state(&self) -> State<'_> {
        let grants = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        State { grants, tokens: &self.tokens, counts: &self.counts }
    }

    fn aside(&self) -> MutexGuard<'_, HashMap<Digest, Grant>> {
        self.aside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of one that was kept.
    pub(super) fn set_aside(&self, key: Digest, grant: Grant) {
        self.aside().insert(key, grant);
    }

    /// Takes up those that were set aside and are good.
    pub(super) fn wake(
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

    /// The first tokens of a grant.
    ///
    /// # Errors
    /// When there is no room.
    pub(super) fn begin(
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

    /// New tokens for a refresh token, which is good once. One that was used before has been stolen, from its client or by it: the grant
    /// ends. But a client that has not had our answer asks again at once, and one that has several calls under way asks for each of them,
    /// while others go on with the first answer: for some seconds the answer is the same again. Whoever steals a token in that time has
    /// what its client has, and one of both shows it too late.
    ///
    /// A process that was killed before it answered leaves only digests behind. The next process gives another answer, and both are good.
    ///
    /// # Errors
    /// When it is not good.
    pub(super) fn refresh(
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
            // Each of them once, however often it is named: they are kept with the token.
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

    /// What another provider has given for the grant of a refresh token that is good and may get these scopes.
    pub(super) fn backing(
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

    /// Ends what a token is of: the whole grant for a refresh token (RFC 7009, section 2.1), which it returns; itself for an access token.
    pub(super) fn revoke(
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
                    // Whoever gives it back has had the answer that it came in.
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

    pub(super) fn end(&self, key: Digest, journal: &Journal) {
        self.state().end(key, journal);
    }

    /// Those of a user that have not ended.
    pub(super) fn of<T>(
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

    /// Ends one of a user's, or all of them.
    pub(super) fn end_of(
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

    /// Whom an access token lets in.
    pub(super) fn verify(&self, token: &str, now: u64) -> Option<Authorization> {
        self.tokens.verify(&Digest::of(token), now)
    }
}

/// The part of a refresh token that says which grant it is of.
pub(super) fn name(token: &str) -> &str {
    token.get(..NAME).unwrap_or(token)
}

impl State<'_> {
    /// Whether this refresh token was replaced by the current one only a moment ago. The clock may have been set back since.
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
        // It is there already when the same answer is given again.
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

    /// Takes over a grant that the store has kept.
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

    /// For one more grant of this user.
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
