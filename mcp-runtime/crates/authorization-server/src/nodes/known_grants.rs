//! Grants that a node has read. For a second after a read, the node verifies the access tokens of the grant without its store.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_runtime::auth::Authorization;
use tokio::time::Instant;

use crate::{grant::Grant, secret::Digest};

/// Time for which a node trusts what it has read about a grant.
pub(super) const FRESH: Duration = Duration::from_secs(1);

/// Number of parts, each with its own lock.
const PARTS: usize = 16;

/// Number of grants in a part from which on unused grants are dropped.
const MOST: usize = 1024;

/// Number of the last messages whose grants a part remembers.
const NEWS: usize = 64;

/// Maximum number of tokens of a grant that a node remembers as not valid.
const DENIED: usize = 8;

/// Grants that a node has seen.
#[derive(Default)]
pub(crate) struct KnownGrants {
    parts: [Mutex<KnownPart>; PARTS],
}

#[derive(Default)]
struct KnownPart {
    grants: HashMap<Digest, KnownGrant>,
    /// Size at which the part is swept again.
    sweep_at: usize,
    /// Number of messages about ended grants and tokens of this part so far. A record that was read before a message about its grant may be
    /// outdated.
    news: u64,
    /// Grants of the last messages.
    last_news: VecDeque<Digest>,
}

/// Grant as the node has read it last.
struct KnownGrant {
    /// Version of the grant's record. Zero if there is no record, or if the record has changed since the node has read it.
    version: u64,
    /// Time at which the node asked the store.
    read: Instant,
    tokens: Vec<CachedToken>,
    /// Tokens that the grant did not have, with the time at which the node asked the store.
    denied: Vec<(Digest, Instant)>,
    gate: Arc<Gate>,
}

struct CachedToken {
    digest: Digest,
    authorization: Authorization,
    expires: u64,
}

impl CachedToken {
    fn flag(&self) -> Option<&Arc<AtomicBool>> {
        self.authorization.revoked()
    }

    fn revoke(&self) {
        if let Some(revoked) = self.flag() {
            revoked.store(true, Ordering::Release);
        }
    }

    /// Whether a call or a stream holds the flag of this token.
    fn is_in_use(&self) -> bool {
        self.flag().is_some_and(|flag| Arc::strong_count(flag) > 1)
    }
}

/// Lock that lets one request at a time read a grant. It contains the time of the last failure, so that requests that have waited for the
/// lock fail too.
pub(super) type Gate = tokio::sync::Mutex<Option<Instant>>;

/// Authorization of a token, as far as a node knows it without asking the store.
pub(super) enum Known {
    /// Authorization of the token, or `None` if the token is not valid.
    Fresh(Option<Authorization>),
    /// The grant must be read.
    Stale {
        /// Version of the record that the node has seen.
        version: Option<u64>,
        gate: Arc<Gate>,
    },
}

/// Record of a grant as the store has returned it.
pub(super) enum Seen {
    /// The record has the version that the node knows.
    Unchanged(u64),
    /// The record has this version, or version zero if it is missing. The grant is `None` if the record is missing or is not valid on this
    /// server.
    Changed(u64, Option<Box<Grant>>),
}

/// Time at which a node asked the store, and the number of messages about the part of the grant that it had got by then.
#[derive(Clone, Copy)]
pub(super) struct ReadAt {
    pub(super) at: Instant,
    pub(super) news: u64,
}

impl KnownGrants {
    fn part(&self, grant: &Digest) -> MutexGuard<'_, KnownPart> {
        let part = &self.parts[usize::from(grant.first()) % PARTS];
        part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the authorization of a token, as far as the node knows it.
    pub(super) fn look_up(&self, grant: &Digest, token: &Digest, now: u64) -> Known {
        let part = self.part(grant);
        let Some(known) = part.grants.get(grant) else {
            return Known::Stale { version: None, gate: Arc::default() };
        };
        let authorization = known.authorization(token, now);
        if authorization.is_some() && known.read.elapsed() < FRESH {
            return Known::Fresh(authorization);
        }
        // The grant did not have this token when the node read it. Another node may add the token later, so the denial holds for a short
        // time only.
        if known.denied.iter().any(|(denied, at)| denied == token && at.elapsed() < FRESH) {
            return Known::Fresh(None);
        }
        Known::Stale { version: Some(known.version), gate: known.gate.clone() }
    }

    /// Returns the number of messages about the part of this grant so far.
    pub(super) fn news(&self, grant: &Digest) -> u64 {
        self.part(grant).news
    }

    /// Keeps what was read about a grant, and revokes the tokens that the grant no longer has. Returns the authorization of `token`, or
    /// `None` if the token is not valid. The outer `None` means that the grant must be read again, because a message about it has come
    /// meanwhile, or because the node no longer knows the version that is unchanged.
    pub(super) fn keep(
        &self,
        key: Digest,
        token: &Digest,
        seen: Seen,
        read: ReadAt,
        now: u64,
    ) -> Option<Option<Authorization>> {
        let mut part = self.part(&key);
        if part.has_news(&key, read.news) {
            return None;
        }
        let known = match seen {
            Seen::Unchanged(version) => {
                part.grants.get_mut(&key).filter(|known| known.version == version)?
            }
            Seen::Changed(version, grant) => {
                part.make_room(&key);
                let known = part.grants.entry(key).or_insert_with(|| KnownGrant::unread(read.at));
                known.replace(version, grant.as_deref());
                known
            }
        };
        known.read = known.read.max(read.at);
        let found = known.authorization(token, now);
        if found.is_none() {
            known.denied.retain(|(other, _)| other != token);
            known.denied.truncate(DENIED - 1);
            known.denied.insert(0, (*token, read.at));
        }
        Some(found)
    }

    /// Revokes the tokens that a grant no longer has. The next read of the grant replaces everything that the node knows about it.
    pub(super) fn prune(&self, key: &Digest, grant: &Grant) {
        let mut part = self.part(key);
        let Some(known) = part.grants.get_mut(key) else { return };
        known.tokens.retain(|known| {
            let is_kept = grant.tokens.iter().any(|token| token.digest == known.digest);
            if !is_kept {
                known.revoke();
            }
            is_kept
        });
        // No record has this version.
        known.version = 0;
    }

    /// Notes that a grant, or one of its tokens, has ended on some node, and revokes the tokens that have ended. The next read of the grant
    /// replaces everything that the node knows about it.
    pub(super) fn end(&self, grant: &Digest, token: Option<&Digest>) {
        let mut part = self.part(grant);
        part.news += 1;
        part.last_news.truncate(NEWS - 1);
        part.last_news.push_front(*grant);
        let Some(token) = token else {
            let known = part.grants.remove(grant);
            known.into_iter().flat_map(|known| known.tokens).for_each(|token| token.revoke());
            return;
        };
        let Some(known) = part.grants.get_mut(grant) else { return };
        known.tokens.iter().filter(|known| known.digest == *token).for_each(CachedToken::revoke);
        known.tokens.retain(|known| known.digest != *token);
        known.version = 0;
    }

    /// Returns the grants whose tokens calls or streams use.
    pub(super) fn in_use(&self) -> Vec<Digest> {
        let mut found = Vec::new();
        for part in &self.parts {
            let part = part.lock().unwrap_or_else(PoisonError::into_inner);
            let used = part.grants.iter().filter(|entry| entry.1.is_in_use());
            found.extend(used.map(|entry| *entry.0));
        }
        found
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.lock().unwrap().grants.len()).sum()
    }
}

impl KnownPart {
    /// Returns whether a message about the grant may have come after the first `before` messages.
    fn has_news(&self, grant: &Digest, before: u64) -> bool {
        let since = usize::try_from(self.news - before).unwrap_or(usize::MAX);
        since > self.last_news.len() || self.last_news.range(..since).any(|about| about == grant)
    }

    /// Drops grants that the node does not need, if there are many.
    fn make_room(&mut self, key: &Digest) {
        if self.grants.len() < self.sweep_at.max(MOST) || self.grants.contains_key(key) {
            return;
        }
        self.grants.retain(|_, known| known.read.elapsed() < FRESH || known.is_in_use());
        if self.grants.len() >= 2 * MOST {
            self.grants.retain(|_, known| known.is_in_use());
        }
        // The next sweep runs at twice the size, so that the cost of a new grant does not grow with the number of grants.
        self.sweep_at = (2 * self.grants.len()).max(MOST);
    }
}

impl KnownGrant {
    fn unread(read: Instant) -> Self {
        let (tokens, denied, gate) = Default::default();
        Self { version: 0, read, tokens, denied, gate }
    }

    fn authorization(&self, token: &Digest, now: u64) -> Option<Authorization> {
        let found = self.tokens.iter().find(|known| known.digest == *token)?;
        (found.expires > now).then(|| found.authorization.clone())
    }

    fn replace(&mut self, version: u64, grant: Option<&Grant>) {
        let before = std::mem::take(&mut self.tokens);
        let tokens = grant.map_or(&[][..], |grant| &grant.tokens);
        for token in tokens {
            // A token that was known before keeps its flag, which open streams share.
            let known = before.iter().find(|known| known.digest == token.digest);
            let flag = known.and_then(CachedToken::flag).cloned().unwrap_or_default();
            let authorization =
                grant.map(|grant| grant.authorization(&token.scopes, token.expires));
            self.tokens.extend(authorization.map(|authorization| CachedToken {
                digest: token.digest,
                authorization: authorization.revocable(flag),
                expires: token.expires,
            }));
        }
        let is_gone =
            |known: &&CachedToken| tokens.iter().all(|token| token.digest != known.digest);
        before.iter().filter(is_gone).for_each(CachedToken::revoke);
        self.version = version;
    }

    fn is_in_use(&self) -> bool {
        self.tokens.iter().any(CachedToken::is_in_use)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login::User;

    fn grant(token: &Digest) -> Grant {
        let mut grant =
            Grant::new("c".into(), None, User::new("ada"), Vec::new(), "http://r".into());
        grant.add_token(*token, &[], 0);
        grant
    }

    fn read(known: &KnownGrants, key: &Digest) -> ReadAt {
        ReadAt { at: Instant::now(), news: known.news(key) }
    }

    fn keep(known: &KnownGrants, key: Digest, token: &Digest) -> Option<Authorization> {
        let seen = Seen::Changed(1, Some(Box::new(grant(token))));
        known.keep(key, token, seen, read(known, &key), 0).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn grants_that_nothing_uses_make_room() {
        let (known, token) = (KnownGrants::default(), Digest::of("token"));
        let used = Digest::of("used");
        let authorization = keep(&known, used, &token).unwrap();
        for number in 0..60_000 {
            assert!(keep(&known, Digest::of(&number.to_string()), &token).is_some());
        }
        assert!(known.len() <= 2 * MOST * PARTS, "{}", known.len());
        assert!(known.in_use() == [used]);
        known.end(&used, None);
        assert!(authorization.revoked().unwrap().load(Ordering::Acquire));
        assert!(known.in_use().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_read_before_a_message_is_read_again() {
        let (known, key, token) = (KnownGrants::default(), Digest::of("key"), Digest::of("token"));
        let before = read(&known, &key);
        let seen = || Seen::Changed(1, Some(Box::new(grant(&token))));
        // Messages about other grants do not count, while the node remembers which grants they are about.
        (0..NEWS).for_each(|number| known.end(&Digest::of(&number.to_string()), None));
        assert!(known.keep(key, &token, seen(), before, 0).is_some());
        (0..4 * PARTS * NEWS).for_each(|number| known.end(&Digest::of(&number.to_string()), None));
        assert!(known.keep(key, &token, seen(), before, 0).is_none());
        let before = read(&known, &key);
        known.end(&key, Some(&Digest::of("other")));
        assert!(known.keep(key, &token, seen(), before, 0).is_none());
        assert!(known.keep(key, &token, seen(), read(&known, &key), 0).is_some());
        // `Unchanged` is an answer only for a node that still knows the grant.
        let unchanged = known.keep(key, &token, Seen::Unchanged(1), read(&known, &key), 0);
        assert!(unchanged.unwrap().is_some());
        known.end(&key, None);
        assert!(known.keep(key, &token, Seen::Unchanged(1), read(&known, &key), 0).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_that_a_grant_no_longer_has_is_revoked() {
        let (known, key) = (KnownGrants::default(), Digest::of("key"));
        let [one, other] = ["one", "other"].map(Digest::of);
        for replace in [true, false] {
            let first = keep(&known, key, &one).unwrap();
            let mut both = grant(&one);
            both.add_token(other, &[], 0);
            let second = known.keep(
                key,
                &other,
                Seen::Changed(2, Some(Box::new(both))),
                read(&known, &key),
                0,
            );
            let second = second.unwrap().unwrap();
            match replace {
                true => drop(keep(&known, key, &other)),
                false => known.prune(&key, &grant(&other)),
            }
            let is_revoked =
                |token: &Authorization| token.revoked().unwrap().load(Ordering::Acquire);
            assert!(is_revoked(&first) && !is_revoked(&second));
            known.end(&key, None);
        }
    }
}
