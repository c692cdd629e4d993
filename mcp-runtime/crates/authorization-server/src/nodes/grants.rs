//! Grants of all nodes: how their tokens are issued, refreshed, verified and revoked. Each grant is a record in a partition of its own.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use mcp_runtime::{
    auth::Authorization,
    limits::Limit,
    store::{Condition, Record, Rejection, StoreOperation, Transaction},
};
use tokio::time::{Instant, sleep};

use crate::{
    codes::CodeUse,
    grant::{GRACE, Grant, IssuedTokens, OF_USER, SealedTokens, Standing, grant_name},
    nodes::{
        ends::{self, EndsFollower, Recheck},
        key_ring::{IssuedToken, KeyRing, TokenKind},
        known_grants::{Known, KnownGrants, ReadAt, Seen},
        shared_store::{Round, SharedStore, json, record},
        users::{Enlisted, SharedUsers},
    },
    oauth_error::{OAuthError, RefusalCounts},
    secret::{Digest, random},
};

/// Record of a grant.
const NAME: &str = "grant";

/// Record with the digest of the refresh token that was exchanged last. It expires with the grace period, by the clock of the store.
const USED: &str = "used";

/// Name of a place, which a node holds while it refreshes the upstream tokens of a grant. Each grant has a single place.
const REFRESHING: &str = "refreshing";

/// Time after which another node may refresh if the node with the place has died. A refresh takes less time.
const LEASE: Duration = Duration::from_secs(60);

/// Time between two tries to get the place, and the number of tries.
const PAUSE: Duration = Duration::from_millis(100);
const TRIES: usize = 100;

/// Maximum number of times that a node reads a grant to verify a token. It reads the grant again if a message about the grant, or many
/// messages, came during the read.
const ROUNDS: usize = 8;

/// Number of grants that are read in one round trip.
const PAGE: usize = 128;

/// Grants of all nodes.
pub(crate) struct SharedGrants {
    store: Arc<SharedStore>,
    users: Arc<SharedUsers>,
    keys: Arc<KeyRing>,
    known: KnownGrants,
    counts: RefusalCounts,
    follower: OnceLock<EndsFollower>,
}

/// Permission to refresh the upstream tokens of a grant. Only one node has it at a time.
pub(crate) struct RefreshPlace {
    partition: String,
    holder: String,
}

fn partition(grant: &Digest) -> String {
    format!("authorization:grant:{}", grant.text())
}

fn gone() -> OAuthError {
    OAuthError::invalid_grant("the refresh token is invalid, expired or revoked")
}

fn put(
    key: &Digest,
    grant: &Grant,
    now: u64,
    condition: Condition,
) -> Result<Transaction, OAuthError> {
    let put = StoreOperation::put(NAME, json(grant)?, lifetime(grant, now), condition);
    Ok(Transaction::on(partition(key)).then(put))
}

/// Returns the time after which the record of a grant expires. Until then, each node checks with its own clock whether the grant has ended.
fn lifetime(grant: &Grant, now: u64) -> Duration {
    Duration::from_secs(grant.ends.saturating_sub(now) + 60)
}

impl SharedGrants {
    pub(crate) fn new(
        store: Arc<SharedStore>,
        users: Arc<SharedUsers>,
        keys: Arc<KeyRing>,
        counts: RefusalCounts,
    ) -> Self {
        let (known, follower) = Default::default();
        Self { store, users, keys, known, counts, follower }
    }

    /// Begins to follow the ends of grants on other nodes.
    ///
    /// # Errors
    /// Fails if the store cannot be used.
    pub(crate) async fn start(self: &Arc<Self>) -> Result<(), OAuthError> {
        let follower = ends::follow(self.store.clone(), Arc::downgrade(self)).await?;
        // A second follower, if the server is started twice, ends at once.
        let _ = self.follower.set(follower);
        Ok(())
    }

    async fn read(&self, key: &Digest) -> Result<Option<(Record, Grant)>, OAuthError> {
        let Some(found) = self.store.get(partition(key), NAME).await? else { return Ok(None) };
        let grant = self.store.read(&found)?;
        Ok(Some((found, grant)))
    }

    /// Stores a new grant and issues its first tokens. `back` seals the upstream tokens, if there are any, for the key of the new grant. If
    /// all logins of the user were ended after the login began, returns `false`, and the caller must end the grant.
    ///
    /// # Errors
    /// Fails if `back` fails, or if the store cannot be used.
    pub(crate) async fn begin(
        &self,
        mut grant: Grant,
        refreshes: bool,
        back: impl FnOnce(&Digest) -> Result<Option<SealedTokens>, OAuthError>,
        used: CodeUse,
        now: u64,
    ) -> Result<(IssuedTokens, bool), OAuthError> {
        let minting = self.keys.current().await?;
        let name = random::<16>()?;
        let key = Digest::of(&name);
        grant.backing = back(&key)?;
        let access = minting.mint(TokenKind::Access, &name, &random::<32>()?);
        let refresh = match refreshes {
            true => Some(minting.mint(TokenKind::Refresh, &name, &random::<32>()?)),
            false => None,
        };
        grant.start(refresh.as_deref(), now);
        let scopes = grant.scopes.clone();
        let (expires, _) = grant.add_token(Digest::of(&access), &scopes, now);
        self.store.apply(put(&key, &grant, now, Condition::Any)?).await?;
        // The client gets the tokens only after the user's partition has confirmed that the login has not been ended.
        let (user, ttl) = (grant.user.principal(), lifetime(&grant, now));
        let (enlisted, all) = self.users.add_grant(user, &key, grant.ends, ttl, used.epoch).await?;
        let is_good = matches!(enlisted, Enlisted::Good);
        if all.len() > OF_USER {
            self.evict(&key, &all, user).await?;
        }
        let expires_in = expires - now.min(expires);
        Ok((IssuedTokens { grant: key, access, refresh, scopes, expires_in }, is_good))
    }

    /// Ends the grants of a user that end first, other than `key`, if the user has more than the maximum number. `all` are the entries of the
    /// user's index in their order.
    async fn evict(&self, key: &Digest, all: &[Digest], user: &str) -> Result<(), OAuthError> {
        let (mut live, mut stale) = (Vec::new(), Vec::new());
        for (other, grant) in self.read_all(all).await? {
            if grant.is_some() {
                live.push(other);
            } else {
                stale.push(SharedUsers::forget(user, &other));
            }
        }
        // A grant that ends while it is refreshed leaves its entry behind.
        self.store.execute(stale).await?;
        let beyond = live.len().saturating_sub(OF_USER);
        let first: Vec<_> = live.into_iter().filter(|other| other != key).take(beyond).collect();
        for _ in self.end(&first).await? {
            self.counts.count(Limit::Logins);
        }
        Ok(())
    }

    /// Issues new tokens for a refresh token, which can be used once. [`Grants::refresh`](crate::grants::Grants::refresh) has the reasons.
    ///
    /// All nodes derive the same tokens from a refresh token. So if a client uses the token at two nodes at once, one of them changes the
    /// grant, and both give the same answer. The grace period ends by the clock of the store.
    ///
    /// # Errors
    /// Fails if the refresh token is not valid, the user has not granted all of the scopes, or the store cannot be used.
    pub(crate) async fn refresh(
        &self,
        token: &str,
        client: &str,
        scopes: Option<Vec<String>>,
        backing: Option<SealedTokens>,
        now: u64,
    ) -> Result<IssuedTokens, OAuthError> {
        let shown = self.shown(token, TokenKind::Refresh).await?.ok_or_else(gone)?;
        let (token, client, scopes, backing) = (token, client, scopes.as_deref(), backing.as_ref());
        self.store.repeat(|| self.refresh_once(shown, token, client, scopes, backing, now)).await
    }

    async fn refresh_once(
        &self,
        shown: IssuedToken,
        token: &str,
        client: &str,
        scopes: Option<&[String]>,
        backing: Option<&SealedTokens>,
        now: u64,
    ) -> Result<Round<IssuedTokens>, OAuthError> {
        let Some((found, mut grant, is_good)) = self.presented(&shown, client).await? else {
            return Err(gone());
        };
        let key = shown.grant;
        if grant.ends <= now || !is_good {
            if !is_good {
                tracing::warn!("a refresh token was used twice: its grant has been revoked");
            }
            self.end(&[key]).await?;
            return Err(gone());
        }
        let scopes = grant.narrowed(scopes)?;
        let minting = self.keys.current().await?;
        let name = grant_name(token);
        let next = minting.mint(TokenKind::Refresh, name, &minting.chain.next("refresh", token)?);
        let purpose = format!("access {}", scopes.join(" "));
        let access = minting.mint(TokenKind::Access, name, &minting.chain.next(&purpose, token)?);
        let is_first = grant.refresh.as_ref().is_some_and(|all| all.is_current(shown.digest));
        grant.refreshed(shown.digest, Digest::of(&next), backing.cloned(), now);
        let live = grant.tokens.iter().filter(|token| token.expires > now);
        let live: Vec<_> = live.map(|token| token.digest).collect();
        let (expires, mut displaced) = grant.add_token(Digest::of(&access), &scopes, now);
        displaced.retain(|digest| live.contains(digest) && *digest != Digest::of(&access));
        let mut change = put(&key, &grant, now, Condition::Version(found.version))?;
        if is_first {
            let grace = Duration::from_secs(GRACE);
            let used = json(&shown.digest)?;
            change = change.then(StoreOperation::put(USED, used, grace, Condition::Any));
        }
        let (user, ttl) = (grant.user.principal(), lifetime(&grant, now));
        let entry = SharedUsers::grant_entry(user, &key, grant.ends, ttl);
        // If the change of the grant is rejected, the new entry does no harm: it only expires later than the grant.
        let results = self.store.execute(vec![change, entry]).await?;
        if !results.iter().all(Result::is_ok) {
            return Ok(Round::Again);
        }
        let displaced = displaced.into_iter().map(|digest| (key, Some(digest)));
        let _ = ends::tell(&self.store, displaced).await;
        let expires_in = expires - now.min(expires);
        Ok(Round::Done(IssuedTokens {
            grant: key,
            access,
            refresh: Some(next),
            scopes,
            expires_in,
        }))
    }

    /// Returns the grant of a refresh token of this client, and whether the token is current or was exchanged within the grace period.
    async fn presented(
        &self,
        shown: &IssuedToken,
        client: &str,
    ) -> Result<Option<(Record, Grant, bool)>, OAuthError> {
        let read = Transaction::on(partition(&shown.grant))
            .then(StoreOperation::get(NAME))
            .then(StoreOperation::get(USED));
        let mut outputs = self.store.apply(read).await?;
        let used = record(outputs.pop());
        let Some(found) = record(outputs.pop()) else { return Ok(None) };
        let grant: Grant = self.store.read(&found)?;
        let Some(refresh) = grant.refresh.as_ref().filter(|_| grant.client == client) else {
            return Ok(None);
        };
        let used: Option<Digest> = used.map(|used| self.store.read(&used)).transpose()?;
        let was_just_used = used == Some(shown.digest) && refresh.is_previous(shown.digest);
        let is_good = refresh.is_current(shown.digest) || was_just_used;
        Ok(Some((found, grant, is_good)))
    }

    /// Returns the key and the upstream tokens of the grant to which a refresh token belongs, if the token is valid and these scopes were
    /// granted.
    pub(crate) async fn backing(
        &self,
        token: &str,
        client: &str,
        scopes: Option<&[String]>,
        now: u64,
    ) -> Result<Option<(Digest, SealedTokens)>, OAuthError> {
        let Some(shown) = self.shown(token, TokenKind::Refresh).await? else { return Ok(None) };
        let Some((_, grant, is_good)) = self.presented(&shown, client).await? else {
            return Ok(None);
        };
        let may = is_good && grant.ends > now && grant.narrowed(scopes).is_ok();
        Ok(grant.backing.filter(|_| may).map(|backing| (shown.grant, backing)))
    }

    /// Waits until no other node refreshes the upstream tokens of the grant of this refresh token. The provider may treat a second refresh
    /// with the same token as theft.
    ///
    /// # Errors
    /// Fails if another node takes too long, or if the store cannot be used.
    pub(crate) async fn lock_refresh(&self, token: &str) -> Result<RefreshPlace, OAuthError> {
        let partition = partition(&Digest::of(grant_name(token)));
        let holder = random::<16>()?;
        for _ in 0..TRIES {
            let enter = StoreOperation::Enter {
                places: REFRESHING.to_owned(),
                holder: holder.clone(),
                most: 1,
                lease: LEASE,
            };
            match self.store.run(Transaction::on(&*partition).then(enter)).await? {
                Err(Rejection::NoPlace(_)) => sleep(PAUSE).await,
                _ => return Ok(RefreshPlace { partition, holder }),
            }
        }
        Err(OAuthError::provider_unavailable())
    }

    /// Lets other nodes refresh the grant. If the store cannot be used, they wait for the end of the lease.
    pub(crate) async fn unlock_refresh(&self, place: RefreshPlace) {
        let RefreshPlace { partition, holder } = place;
        let leave = StoreOperation::Leave { places: REFRESHING.to_owned(), holder };
        let _ = self.store.run(Transaction::on(partition).then(leave)).await;
    }

    async fn shown(&self, token: &str, kind: TokenKind) -> Result<Option<IssuedToken>, OAuthError> {
        Ok(self.keys.parse(token).await?.filter(|found| found.kind == kind))
    }

    /// Revokes a token (RFC 7009, section 2.1). Revoking a refresh token ends its whole grant, which is returned. Revoking an access token
    /// ends only this token.
    pub(crate) async fn revoke(
        &self,
        token: &str,
        client: &str,
        now: u64,
    ) -> Result<Vec<(Digest, Grant)>, OAuthError> {
        let Some(shown) = self.keys.parse(token).await? else { return Ok(Vec::new()) };
        if shown.kind == TokenKind::Access {
            if self.store.repeat(|| self.revoke_access(shown, client, now)).await? {
                self.known.end(&shown.grant, Some(&shown.digest));
                let _ = ends::tell(&self.store, [(shown.grant, Some(shown.digest))]).await;
            }
            return Ok(Vec::new());
        }
        let found = self.read(&shown.grant).await?;
        match found.filter(|found| found.1.client == client && found.1.refresh.is_some()) {
            Some(_) => self.end(&[shown.grant]).await,
            None => Ok(Vec::new()),
        }
    }

    async fn revoke_access(
        &self,
        shown: IssuedToken,
        client: &str,
        now: u64,
    ) -> Result<Round<bool>, OAuthError> {
        let found = self.read(&shown.grant).await?.filter(|found| found.1.client == client);
        let Some((found, mut grant)) = found else { return Ok(Round::Done(false)) };
        if !grant.revoke(shown.digest) {
            return Ok(Round::Done(false));
        }
        let change = put(&shown.grant, &grant, now, Condition::Version(found.version))?;
        Ok(match self.store.run(change).await? {
            Ok(_) => Round::Done(true),
            Err(_) => Round::Again,
        })
    }

    /// Ends grants on all nodes, and returns those that had not ended yet.
    pub(crate) async fn end(&self, keys: &[Digest]) -> Result<Vec<(Digest, Grant)>, OAuthError> {
        let end = |key: &Digest| {
            Transaction::on(partition(key))
                .then(StoreOperation::get(NAME))
                .then(StoreOperation::remove(NAME, Condition::Any))
                .then(StoreOperation::remove(USED, Condition::Any))
        };
        let results = self.store.execute(keys.iter().map(end).collect()).await?;
        let mut ended: Vec<(Digest, Grant)> = Vec::new();
        for (key, result) in keys.iter().zip(results) {
            self.known.end(key, None);
            let found = record(result.ok().and_then(|outputs| outputs.into_iter().next()));
            // A record that cannot be read is gone too.
            let grant = found.and_then(|found| self.store.read(&found).ok());
            ended.extend(grant.map(|grant| (*key, grant)));
        }
        // The grants have ended, even if the next steps fail. If the store is unavailable now, the other nodes read the records when it is
        // available again, and the entries of the users expire.
        let _ = ends::tell(&self.store, keys.iter().map(|key| (*key, None))).await;
        let of = |(key, grant): &(Digest, Grant)| SharedUsers::forget(grant.user.principal(), key);
        let _ = self.store.execute(ended.iter().map(of).collect()).await;
        Ok(ended)
    }

    /// Ends a grant if it belongs to this user.
    pub(crate) async fn end_one(
        &self,
        user: &str,
        key: Digest,
    ) -> Result<Vec<(Digest, Grant)>, OAuthError> {
        match self.read(&key).await? {
            Some((_, grant)) if grant.user.principal() == user => self.end(&[key]).await,
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the grants of a user that have not ended.
    pub(crate) async fn of(
        &self,
        user: &str,
        now: u64,
    ) -> Result<Vec<(Digest, Grant)>, OAuthError> {
        let keys = self.users.grants(user).await?;
        let all = self.read_all(&keys).await?.into_iter();
        let mut found: Vec<_> = all.filter_map(|(key, grant)| Some((key, grant?))).collect();
        found.retain(|(_, grant)| grant.user.principal() == user && grant.ends > now);
        Ok(found)
    }

    async fn read_all(&self, keys: &[Digest]) -> Result<Vec<(Digest, Option<Grant>)>, OAuthError> {
        let mut all = Vec::new();
        for page in keys.chunks(PAGE) {
            let read =
                |key: &Digest| Transaction::on(partition(key)).then(StoreOperation::get(NAME));
            let results = self.store.execute(page.iter().map(read).collect()).await?;
            for (key, result) in page.iter().zip(results) {
                let found = record(result.ok().and_then(|mut outputs| outputs.pop()));
                all.push((*key, found.map(|found| self.store.read(&found)).transpose()?));
            }
        }
        Ok(all)
    }

    /// Returns the authorization of a valid access token. `standing` tells whether a grant is valid on this server.
    ///
    /// # Errors
    /// Fails if the store has to be asked, and cannot be used.
    pub(crate) async fn verify(
        &self,
        token: &str,
        now: u64,
        standing: impl Fn(&Digest, &mut Grant) -> Standing + Sync,
    ) -> Result<Option<Authorization>, OAuthError> {
        let key = Digest::of(grant_name(token));
        let digest = Digest::of(token);
        if let Known::Fresh(Some(found)) = self.known.look_up(&key, &digest, now) {
            return Ok(Some(found));
        }
        let shown = self.shown(token, TokenKind::Access).await?;
        let Some(IssuedToken { grant: key, digest, .. }) = shown else { return Ok(None) };
        let asked = Instant::now();
        for _ in 0..ROUNDS {
            let (version, gate) = match self.known.look_up(&key, &digest, now) {
                Known::Fresh(found) => return Ok(found),
                Known::Stale { version, gate } => (version, gate),
            };
            let mut failed = gate.lock().await;
            if failed.is_some_and(|at| at >= asked) {
                return Err(OAuthError::store_unavailable());
            }
            // While this request waited, another request may have read the grant.
            if let Known::Fresh(found) = self.known.look_up(&key, &digest, now) {
                return Ok(found);
            }
            let (at, news) = (Instant::now(), self.known.news(&key));
            let found = self.store.get(partition(&key), NAME).await;
            let found = found.inspect_err(|_| *failed = Some(Instant::now()))?;
            let seen = match found {
                Some(found) if version == Some(found.version) => Seen::Unchanged(found.version),
                Some(found) => {
                    let mut grant = self.store.read::<Grant>(&found)?;
                    let is_good = matches!(standing(&key, &mut grant), Standing::Good);
                    Seen::Changed(found.version, is_good.then(|| Box::new(grant)))
                }
                None => Seen::Changed(0, None),
            };
            if let Some(answer) = self.known.keep(key, &digest, seen, ReadAt { at, news }, now) {
                return Ok(answer);
            }
        }
        Err(OAuthError::store_unavailable())
    }
}

impl Recheck for SharedGrants {
    async fn recheck(&self) -> Result<(), OAuthError> {
        let keys = self.known.in_use();
        for (key, found) in self.read_all(&keys).await? {
            match found {
                Some(grant) => self.known.prune(&key, &grant),
                None => self.known.end(&key, None),
            }
        }
        Ok(())
    }

    fn known(&self) -> &KnownGrants {
        &self.known
    }
}
