//! Table of all grants: how their tokens are issued, refreshed, verified and revoked (RFC 6749, sections 5 and 6; RFC 9700, section 4.14).

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_runtime::{auth::Authorization, limits::Limit};

use crate::{
    grant::{
        AccessTokens, GRACE, Grant, IssuedTokens, OF_USER, SealedTokens, Standing, grant_name,
    },
    oauth_error::{OAuthError, RefusalCounts},
    secret::{Digest, SecretChain, random},
    store::{Journal, RecordKind},
};

/// Maximum number of grants of all users together.
const MOST: usize = 20_000;

/// All grants, with their access tokens.
#[derive(Default)]
pub(crate) struct Grants {
    table: Mutex<HashMap<Digest, Grant>>,
    /// Loaded grants that are not active: they are not checked yet, or belong to another server or to another URL of this server. A
    /// function that needs both locks takes the lock of `table` first.
    aside: Mutex<HashMap<Digest, Grant>>,
    tokens: AccessTokens,
    chain: SecretChain,
    counts: RefusalCounts,
}

/// Locked table of grants.
struct LockedGrants<'a> {
    grants: MutexGuard<'a, HashMap<Digest, Grant>>,
    tokens: &'a AccessTokens,
    counts: &'a RefusalCounts,
}

impl Grants {
    pub(crate) fn new(counts: RefusalCounts) -> Self {
        Self { counts, ..Self::default() }
    }

    fn locked(&self) -> LockedGrants<'_> {
        let grants = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        LockedGrants { grants, tokens: &self.tokens, counts: &self.counts }
    }

    fn aside(&self) -> MutexGuard<'_, HashMap<Digest, Grant>> {
        self.aside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a loaded grant until `activate` checks it.
    pub(crate) fn set_aside(&self, key: Digest, grant: Grant) {
        self.aside().insert(key, grant);
    }

    /// Checks the loaded grants with `standing`. Activates valid grants, and removes lost grants from the store.
    pub(crate) fn activate(
        &self,
        standing: impl Fn(&Digest, &mut Grant) -> Standing,
        journal: &Journal,
    ) {
        let mut locked = self.locked();
        let mut aside = self.aside();
        for (key, mut grant) in std::mem::take(&mut *aside) {
            match standing(&key, &mut grant) {
                Standing::Good => locked.activate(key, grant),
                Standing::Elsewhere => drop(aside.insert(key, grant)),
                Standing::Lost => journal.remove(RecordKind::Grant, &key.text()),
            }
        }
    }

    /// Stores a new grant and issues its first tokens. `back` seals the upstream tokens, if there are any, for the key of the new grant.
    ///
    /// # Errors
    /// Fails if there are too many grants, if `back` fails, or if the operating system provides no random numbers.
    pub(crate) fn begin(
        &self,
        mut grant: Grant,
        refreshes: bool,
        back: impl FnOnce(&Digest) -> Result<Option<SealedTokens>, OAuthError>,
        now: u64,
        journal: &Journal,
    ) -> Result<IssuedTokens, OAuthError> {
        let name = random::<16>()?;
        let key = Digest::of(&name);
        grant.backing = back(&key)?;
        let mut locked = self.locked();
        locked.make_room(grant.user.principal(), now, journal)?;
        let access = random::<32>()?;
        let refresh = match refreshes {
            true => Some(format!("{name}{}", random::<32>()?)),
            false => None,
        };
        grant.start(refresh.as_deref(), now);
        let scopes = grant.scopes.clone();
        locked.grants.insert(key, grant);
        locked.issue(key, access, scopes, refresh, now, journal)
    }

    /// Issues new tokens for a refresh token. A refresh token can be used once. A second use means that both the client and a thief have
    /// the token, so the grant ends.
    ///
    /// Within `GRACE` seconds, a second use returns the same tokens again. A client may use a token twice if it did not receive the
    /// response, or if each of several concurrent calls refreshes the token. A thief who uses the token in this time gets the same tokens
    /// as the client. The theft is detected when both of them use the next refresh token more than `GRACE` seconds apart.
    ///
    /// If the process is killed before it responds, the store contains only digests of the new tokens. If the client then retries, the next
    /// process issues different tokens. The tokens of both processes are valid.
    ///
    /// # Errors
    /// Fails if the refresh token is not valid, or the user has not granted all of the scopes.
    pub(crate) fn refresh(
        &self,
        token: &str,
        client: &str,
        scopes: Option<Vec<String>>,
        backing: Option<SealedTokens>,
        now: u64,
        journal: &Journal,
    ) -> Result<IssuedTokens, OAuthError> {
        let gone = || OAuthError::invalid_grant("the refresh token is invalid, expired or revoked");
        let name = grant_name(token);
        let (key, shown) = (Digest::of(name), Digest::of(token));
        let mut locked = self.locked();
        let grant = locked.grants.get(&key).ok_or_else(gone)?;
        if grant.client != client {
            return Err(gone());
        }
        let Some(refresh) = &grant.refresh else { return Err(gone()) };
        if grant.ends <= now {
            locked.end(key, journal);
            return Err(gone());
        }
        if !refresh.is_current(shown) && !locked.was_just_used(&key, shown, now) {
            tracing::warn!("a refresh token was used twice: its grant has been revoked");
            locked.end(key, journal);
            return Err(gone());
        }
        let scopes = grant.narrowed(scopes.as_deref())?;
        let next = format!("{name}{}", self.chain.next("refresh", token)?);
        let access = self.chain.next(&format!("access {}", scopes.join(" ")), token)?;
        if let Some(grant) = locked.grants.get_mut(&key) {
            grant.refreshed(shown, Digest::of(&next), backing, now);
        }
        locked.issue(key, access, scopes, Some(next), now, journal)
    }

    /// Returns the key and the upstream tokens of the grant to which a refresh token belongs, if the token is valid and these scopes were
    /// granted.
    pub(crate) fn backing(
        &self,
        token: &str,
        client: &str,
        scopes: Option<&[String]>,
        now: u64,
    ) -> Option<(Digest, SealedTokens)> {
        let (key, shown) = (Digest::of(grant_name(token)), Digest::of(token));
        let locked = self.locked();
        let grant =
            locked.grants.get(&key).filter(|grant| grant.client == client && grant.ends > now)?;
        let is_current = grant.refresh.as_ref().is_some_and(|refresh| refresh.is_current(shown));
        let is_good = is_current || locked.was_just_used(&key, shown, now);
        let may =
            scopes.is_none_or(|scopes| scopes.iter().all(|scope| grant.scopes.contains(scope)));
        (is_good && may).then(|| Some((key, grant.backing.clone()?))).flatten()
    }

    /// Revokes a token (RFC 7009, section 2.1). Revoking a refresh token ends its whole grant, which is returned. Revoking an access token
    /// ends only this token.
    pub(crate) fn revoke(
        &self,
        token: &str,
        client: &str,
        journal: &Journal,
    ) -> Option<(Digest, Grant)> {
        let mut locked = self.locked();
        let digest = Digest::of(token);
        if let Some(key) = self.tokens.grant(&digest) {
            if locked.grants.get(&key).is_some_and(|grant| grant.client == client) {
                self.tokens.remove(&digest);
                locked.change(key, journal, |grant| _ = grant.revoke(digest));
            }
            return None;
        }
        let key = Digest::of(grant_name(token));
        let is_of = |grant: &Grant| grant.client == client && grant.refresh.is_some();
        locked.grants.get(&key).filter(|grant| is_of(grant))?;
        Some((key, locked.end(key, journal)?))
    }

    pub(crate) fn end(&self, key: Digest, journal: &Journal) -> Option<(Digest, Grant)> {
        Some((key, self.locked().end(key, journal)?))
    }

    /// Calls `each` for each grant of a user that has not ended, and returns the results.
    pub(crate) fn of<T>(
        &self,
        user: &str,
        now: u64,
        mut each: impl FnMut(&Digest, &Grant) -> T,
    ) -> Vec<T> {
        let (locked, aside) = (self.locked(), self.aside());
        let all = locked.grants.iter().chain(aside.iter());
        let own = all.filter(|entry| entry.1.user.principal() == user && entry.1.ends > now);
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
            grant.user.principal() == user && one.is_none_or(|one| one == key)
        };
        let mut locked = self.locked();
        let mut ended = Vec::new();
        for (key, grant) in self.aside().extract_if(|key, grant| is_meant(key, grant)) {
            journal.remove(RecordKind::Grant, &key.text());
            ended.push((key, grant));
        }
        let own =
            locked.grants.iter().filter(|entry| is_meant(entry.0, entry.1)).map(|entry| *entry.0);
        for key in own.collect::<Vec<_>>() {
            ended.extend(locked.end(key, journal).map(|grant| (key, grant)));
        }
        ended
    }

    /// Returns the authorization of a valid access token.
    pub(crate) fn verify(&self, token: &str, now: u64) -> Option<Authorization> {
        self.tokens.verify(&Digest::of(token), now)
    }
}

impl LockedGrants<'_> {
    /// Whether this is the refresh token that was used last, and its first use was at most `GRACE` seconds ago. If the clock was set back,
    /// the first use lies in the future, so the difference is absolute.
    fn was_just_used(&self, key: &Digest, shown: Digest, now: u64) -> bool {
        let refresh = self.grants.get(key).and_then(|grant| grant.refresh.as_ref());
        let previous = refresh.and_then(|refresh| refresh.previous);
        previous.is_some_and(|(token, at)| token == shown && now.abs_diff(at) <= GRACE)
    }

    fn issue(
        &mut self,
        key: Digest,
        access: String,
        scopes: Vec<String>,
        refresh: Option<String>,
        now: u64,
        journal: &Journal,
    ) -> Result<IssuedTokens, OAuthError> {
        let digest = Digest::of(&access);
        let Some(grant) = self.grants.get_mut(&key) else {
            return Err(OAuthError::invalid_grant("the grant has been revoked"));
        };
        let (expires, gone) = grant.add_token(digest, &scopes, now);
        let authorization = grant.authorization(&scopes, expires);
        self.tokens.insert(digest, key, authorization, expires);
        journal.put(RecordKind::Grant, &key.text(), grant.ends, &*grant);
        for digest in gone {
            self.tokens.remove(&digest);
        }
        Ok(IssuedTokens {
            grant: key,
            access,
            refresh,
            scopes,
            expires_in: expires - now.min(expires),
        })
    }

    /// Activates a grant that was loaded from the store.
    fn activate(&mut self, key: Digest, grant: Grant) {
        for access in &grant.tokens {
            let authorization = grant.authorization(&access.scopes, access.expires);
            self.tokens.insert(access.digest, key, authorization, access.expires);
        }
        self.grants.insert(key, grant);
    }

    fn change(&mut self, key: Digest, journal: &Journal, change: impl FnOnce(&mut Grant)) {
        if let Some(grant) = self.grants.get_mut(&key) {
            change(grant);
            journal.put(RecordKind::Grant, &key.text(), grant.ends, &*grant);
        }
    }

    fn end(&mut self, key: Digest, journal: &Journal) -> Option<Grant> {
        let grant = self.grants.remove(&key)?;
        for access in &grant.tokens {
            self.tokens.remove(&access.digest);
        }
        journal.remove(RecordKind::Grant, &key.text());
        Some(grant)
    }

    /// Removes expired grants, and evicts a grant of this user if the user already has the maximum number.
    ///
    /// # Errors
    /// Fails if there are too many grants of all users together.
    fn make_room(
        &mut self,
        principal: &str,
        now: u64,
        journal: &Journal,
    ) -> Result<(), OAuthError> {
        let expired = self.grants.iter().filter(|entry| entry.1.ends <= now).map(|entry| *entry.0);
        for key in expired.collect::<Vec<_>>() {
            self.end(key, journal);
        }
        let own = |entry: &(&Digest, &Grant)| entry.1.user.principal() == principal;
        if self.grants.iter().filter(own).count() >= OF_USER {
            let first = self.grants.iter().filter(own).min_by_key(|entry| entry.1.ends);
            if let Some(key) = first.map(|entry| *entry.0) {
                self.end(key, journal);
                self.counts.count(Limit::Logins);
            }
        }
        if self.grants.len() >= MOST {
            return Err(self.counts.limit_reached(Limit::Logins, "there are too many grants"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        grant::{ACCESS, IDLE, TOKENS},
        login::User,
    };

    const NOW: u64 = 1_000_000;

    struct Table(Grants, Journal);

    impl Table {
        fn new() -> Self {
            Self(Grants::default(), Journal::default())
        }

        fn begin(&self, user: &str) -> IssuedTokens {
            let scopes = ["a", "b"].map(str::to_owned).to_vec();
            let grant = Grant::new("c".into(), None, User::new(user), scopes, "http://r".into());
            self.0.begin(grant, true, |_| Ok(None), NOW, &self.1).ok().unwrap()
        }

        fn refresh(&self, token: &str, now: u64) -> Option<(String, String)> {
            let issued = self.0.refresh(token, "c", None, None, now, &self.1).ok()?;
            Some((issued.access, issued.refresh.unwrap()))
        }

        /// Returns the table of the next process, after this one was killed.
        fn restarted(&self) -> Self {
            let next = Self::new();
            for (key, grant) in self.0.locked().grants.iter() {
                let kept = serde_json::to_string(grant).unwrap();
                next.0.set_aside(*key, serde_json::from_str(&kept).unwrap());
            }
            next.0.activate(|_, _| Standing::Good, &next.1);
            next
        }

        fn is_good(&self, access: &str, now: u64) -> bool {
            self.0.verify(access, now).is_some()
        }
    }

    #[test]
    fn access_tokens_end_and_refresh_tokens_change() {
        let table = Table::new();
        let first = table.begin("ada");
        let authorization = table.0.verify(&first.access, NOW).unwrap();
        assert_eq!(authorization.principal(), "ada");
        assert!(authorization.has_scope("a") && authorization.has_scope("b"));
        assert!(table.is_good(&first.access, NOW + ACCESS - 1));
        assert!(!table.is_good(&first.access, NOW + ACCESS));
        let (access, refresh) = table.refresh(&first.refresh.unwrap(), NOW + ACCESS).unwrap();
        assert!(table.is_good(&access, NOW + ACCESS));
        // A grant ends if its client does not refresh it in time.
        let (_, refresh) = table.refresh(&refresh, NOW + ACCESS + IDLE - 1).unwrap();
        assert!(table.refresh(&refresh, NOW + ACCESS + IDLE - 1 + IDLE).is_none());
    }

    #[test]
    fn a_refresh_token_that_is_used_twice_ends_the_grant() {
        let table = Table::new();
        let stolen = table.begin("ada").refresh.unwrap();
        let (access, refresh) = table.refresh(&stolen, NOW).unwrap();
        assert!(table.is_good(&access, NOW));
        assert!(table.refresh(&stolen, NOW + GRACE + 1).is_none());
        assert!(!table.is_good(&access, NOW) && table.refresh(&refresh, NOW).is_none());
    }

    #[test]
    fn a_client_that_repeats_a_refresh_at_once_gets_the_same_tokens() {
        let table = Table::new();
        let first = table.begin("ada").refresh.unwrap();
        let answer = table.refresh(&first, NOW).unwrap();
        for _ in 0..TOKENS * 2 {
            assert_eq!(table.refresh(&first, NOW + GRACE), Some(answer.clone()));
        }
        // The response is still the same after the client has used its access token.
        assert!(table.is_good(&answer.0, NOW + GRACE + ACCESS - 1));
        assert_eq!(table.refresh(&first, NOW + GRACE), Some(answer.clone()));
        assert!(table.refresh(&first, NOW + GRACE + 1).is_none());
        assert!(table.refresh(&answer.1, NOW).is_none());

        // Each table has its own key, so the two tables derive different tokens from the same refresh token.
        let [one, other] = [Table::new(), Table::new()];
        let token = one.begin("ada").refresh.unwrap();
        assert_ne!(
            one.0.chain.next("refresh", &token).ok(),
            other.0.chain.next("refresh", &token).ok()
        );

        let table = Table::new();
        let first = table.begin("ada").refresh.unwrap();
        table.refresh(&first, NOW).unwrap();
        // A use within the grace period does not start the period again.
        table.refresh(&first, NOW + GRACE).unwrap();
        assert!(table.refresh(&first, NOW + GRACE + 1).is_none());

        let table = Table::new();
        let first = table.begin("ada").refresh.unwrap();
        let (_, next) = table.refresh(&first, NOW).unwrap();
        table.refresh(&next, NOW).unwrap();
        assert!(table.refresh(&first, NOW).is_none());
    }

    #[test]
    fn a_refresh_whose_answer_was_lost_works_after_a_restart() {
        let table = Table::new();
        let first = table.begin("ada").refresh.unwrap();
        let lost = table.refresh(&first, NOW).unwrap();
        let table = table.restarted();
        let answer = table.refresh(&first, NOW + GRACE).unwrap();
        assert_ne!(answer, lost, "the key of the process before is gone");
        assert_eq!(table.refresh(&first, NOW + GRACE), Some(answer.clone()));
        assert!(table.is_good(&answer.0, NOW + GRACE) && table.is_good(&lost.0, NOW + GRACE));
        let (_, third) = table.refresh(&answer.1, NOW + GRACE).unwrap();
        assert!(table.refresh(&third, NOW + GRACE).is_some());
        // A retry also works if the clock was set back by a few seconds at the restart.
        let table = Table::new();
        let first = table.begin("ada").refresh.unwrap();
        table.refresh(&first, NOW).unwrap();
        assert!(table.restarted().refresh(&first, NOW - GRACE).is_some());
    }

    #[test]
    fn answers_to_a_refresh_from_before_and_after_a_restart_are_all_valid() {
        let table = Table::new();
        let first = table.begin("ada").refresh.unwrap();
        let answers: Vec<_> = (0..3)
            .scan(table, |table, at| {
                let answer = table.refresh(&first, NOW + at).unwrap();
                *table = table.restarted();
                Some((answer, table.restarted()))
            })
            .collect();
        let (_, table) = answers.last().unwrap();
        for ((access, refresh), _) in &answers {
            // Using one refresh token makes its alternatives invalid.
            let table = table.restarted();
            assert!(table.is_good(access, NOW));
            let (_, next) = table.refresh(refresh, NOW + GRACE + 1).unwrap();
            assert!(table.refresh(&next, NOW + GRACE + 1).is_some());
            for ((_, other), _) in answers.iter().filter(|answer| answer.0.1 != *refresh).take(1) {
                assert!(table.refresh(other, NOW + GRACE + 1).is_none());
            }
            assert!(table.refresh(&next, NOW + GRACE + 1).is_none(), "the grant has ended");
        }
    }

    #[test]
    fn a_refresh_token_that_is_used_twice_ends_the_grant_after_a_restart() {
        let table = Table::new();
        let stolen = table.begin("ada").refresh.unwrap();
        let (access, refresh) = table.refresh(&stolen, NOW).unwrap();
        let table = table.restarted();
        assert!(table.is_good(&access, NOW));
        assert!(table.refresh(&stolen, NOW + GRACE + 1).is_none());
        assert!(!table.is_good(&access, NOW) && table.refresh(&refresh, NOW).is_none());
    }

    #[test]
    fn a_refresh_works_only_for_its_client_and_may_narrow_the_scopes() {
        let table = Table::new();
        let token = table.begin("ada").refresh.unwrap();
        let refresh = |client: &str, scopes: &[&str]| {
            let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
            table.0.refresh(&token, client, Some(scopes), None, NOW, &table.1)
        };
        assert_eq!(refresh("d", &["a"]).err().unwrap().error, "invalid_grant");
        assert_eq!(refresh("c", &["a", "x"]).err().unwrap().error, "invalid_scope");
        let less = refresh("c", &["a"]).ok().unwrap();
        let authorization = table.0.verify(&less.access, NOW).unwrap();
        assert_eq!(authorization.granted().collect::<Vec<_>>(), ["a"]);
        // A refresh without scopes requests all granted scopes again.
        let all =
            table.0.refresh(&less.refresh.unwrap(), "c", None, None, NOW, &table.1).ok().unwrap();
        assert_eq!(all.scopes, ["a", "b"]);
    }

    #[test]
    fn a_repeated_scope_is_kept_once() {
        let table = Table::new();
        let token = table.begin("ada").refresh.unwrap();
        let scopes = ["b", "a"].repeat(10_000).into_iter().map(str::to_owned).collect();
        let issued = table.0.refresh(&token, "c", Some(scopes), None, NOW, &table.1).ok().unwrap();
        assert_eq!(issued.scopes, ["a", "b"]);
        let authorization = table.0.verify(&issued.access, NOW).unwrap();
        assert_eq!(authorization.granted().count(), 2);
    }

    #[test]
    fn a_revoked_access_token_is_not_issued_again_by_a_repeated_refresh() {
        let table = Table::new();
        let first = table.begin("ada").refresh.unwrap();
        let (access, _) = table.refresh(&first, NOW).unwrap();
        assert!(table.is_good(&access, NOW));
        table.0.revoke(&access, "c", &table.1);
        assert!(table.refresh(&first, NOW).is_none());
        assert!(!table.is_good(&access, NOW));
    }

    #[test]
    fn a_client_can_revoke_only_its_own_tokens() {
        let table = Table::new();
        let issued = table.begin("ada");
        let (access, refresh) = (issued.access, issued.refresh.unwrap());
        for foreign in [&access, &refresh] {
            table.0.revoke(foreign, "d", &table.1);
        }
        table.0.revoke("unknown", "c", &table.1);
        assert!(table.is_good(&access, NOW));
        table.0.revoke(&access, "c", &table.1);
        assert!(!table.is_good(&access, NOW));
        let (access, refresh) = table.refresh(&refresh, NOW).unwrap();
        table.0.revoke(&refresh, "c", &table.1);
        assert!(!table.is_good(&access, NOW) && table.refresh(&refresh, NOW).is_none());
    }

    #[test]
    fn one_user_does_not_fill_the_table() {
        let (counts, tally) = RefusalCounts::of_test();
        let table = Table(Grants::new(counts), Journal::default());
        let bob = table.begin("bob");
        let all: Vec<_> = (0..OF_USER + 3).map(|_| table.begin("ada")).collect();
        let kept = all.iter().filter(|issued| table.is_good(&issued.access, NOW)).count();
        assert_eq!(kept, OF_USER);
        assert_eq!(tally.refused(Limit::Logins), 3);
        assert!(table.is_good(&bob.access, NOW));
        let mut refresh = bob.refresh.unwrap();
        for _ in 0..TOKENS * 2 {
            refresh = table.refresh(&refresh, NOW).unwrap().1;
        }
        assert_eq!(table.0.tokens.len(), OF_USER + TOKENS);
        assert_eq!(table.0.locked().grants.len(), OF_USER + 1);
    }
}
