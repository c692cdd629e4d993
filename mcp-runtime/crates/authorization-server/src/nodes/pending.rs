//! Pending authorizations, whose pages every node can answer.

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use http::HeaderMap;
use mcp_runtime::{
    __companion::CallerKey,
    limits::Limit,
    store::{Condition, IndexEntry, StoreOperation, Transaction},
};
use serde::{Deserialize, Serialize};

use crate::{
    authorization_request::{AuthorizationRequest, Challenge, RedirectTarget},
    client::Client,
    nodes::{
        limits::caller_name,
        shards::{Added, NewEntry, SHARDS, STATE, Shards},
        shared_store::{Round, SharedStore, json, record},
    },
    oauth_error::{OAuthError, RefusalCounts},
    pending::{Approval, FoundAuthorization, LoggedInUser, PageBinding, PendingState, TIME},
    secret::{Digest, random},
};

/// Maximum number of pending authorizations in a partition.
const MOST: u32 = 256;

/// Request of a pending authorization as it is stored. It does not change.
#[derive(Serialize, Deserialize)]
struct StoredRequest {
    client: Client,
    target: RedirectTarget,
    challenge: Challenge,
    scopes: Vec<String>,
    resource: String,
    /// Name of the entry in the index, which begins with the caller.
    name: String,
    /// Time at which the authorization began, in seconds since 1970. It is the order of the entry.
    began: u64,
}

/// Pending authorizations of all nodes. Each has two records: its request, and the [`PendingState`] that the user's answers change.
pub(crate) struct SharedAuthorizations {
    store: Arc<SharedStore>,
    shards: Shards,
    counts: RefusalCounts,
}

/// Change of a pending authorization.
enum PendingChange<T> {
    /// Leave the record as it is.
    Keep(T),
    Write(T),
    /// Write the record, and begin the time for the user's decision again.
    Renew(T),
}

/// Returns the partition that an id names.
fn shard(id: &str) -> Option<u8> {
    let first = id.get(..1)?;
    u8::from_str_radix(first, 16).ok().filter(|shard| *shard < SHARDS && id.len() == 23)
}

impl SharedAuthorizations {
    pub(crate) fn new(store: Arc<SharedStore>, counts: RefusalCounts) -> Self {
        let shards = Shards::new(store.clone(), "pending", MOST);
        Self { store, shards, counts }
    }

    /// Adds an authorization. If its partition is full, another authorization is evicted.
    ///
    /// # Errors
    /// Fails if the operating system provides no random numbers, if evictions make no room because many authorizations begin at once, or if
    /// the store cannot be used.
    pub(crate) async fn add(
        &self,
        authorization: &AuthorizationRequest,
        from: CallerKey<'static>,
        has_tls: bool,
        now: u64,
    ) -> Result<PageBinding, OAuthError> {
        let secret = random::<16>()?;
        // All authorizations of an address are in one partition. The address with the most authorizations in a partition makes room, so a
        // flood from one address evicts its own authorizations.
        let shard = match from {
            CallerKey::Address(_) => Digest::of(&caller_name(from)).first(),
            _ => Digest::of(&secret).first(),
        } % SHARDS;
        let id = format!("{shard:x}{secret}");
        let name = format!("{}/{id}", caller_name(from));
        let (state, binding) = PendingState::begin(&id, has_tls)?;
        let request = StoredRequest {
            client: Client::clone(&authorization.client),
            target: authorization.target.clone(),
            challenge: authorization.challenge,
            scopes: authorization.scopes.clone(),
            resource: authorization.resource.clone(),
            name: name.clone(),
            began: now,
        };
        let records = vec![(id.clone(), json(&request)?), (state_name(&id), json(&state)?)];
        let entry = NewEntry { shard, id: &id, name: &name, order: now, records, ttl: TIME };
        match self.shards.add(&entry, 2 * MOST as usize, victim).await? {
            Added::Good(evicted) => {
                (0..evicted).for_each(|_| self.counts.count(Limit::Authorizations));
                Ok(binding)
            }
            Added::Full => {
                let why = "too many logins have been started: wait a moment";
                Err(self.counts.limit_reached(Limit::Authorizations, why))
            }
        }
    }

    /// Returns the authorization that a form or callback belongs to. The request must contain the page's ticket and the browser's cookie.
    pub(crate) async fn find(
        &self,
        id: &str,
        ticket: &str,
        headers: &HeaderMap,
        has_tls: bool,
    ) -> Result<Option<FoundAuthorization>, OAuthError> {
        let Some(shard) = shard(id) else { return Ok(None) };
        let read = Transaction::on(self.shards.partition(shard))
            .then(StoreOperation::get(id))
            .then(StoreOperation::get(state_name(id)));
        let mut outputs = self.store.apply(read).await?;
        let (state, request) = (record(outputs.pop()), record(outputs.pop()));
        let (Some(state), Some(request)) = (state, request) else { return Ok(None) };
        let state: PendingState = self.store.read(&state)?;
        let StoredRequest { client, target, challenge, scopes, resource, .. } =
            self.store.read(&request)?;
        let client = Arc::new(client);
        let authorization = AuthorizationRequest { client, target, challenge, scopes, resource };
        Ok(state.find(id, Arc::new(authorization), ticket, headers, has_tls))
    }

    /// Records the user's approval before the upstream login, as [`PendingState::approve`] does.
    pub(crate) async fn approve(
        &self,
        id: &str,
        approval: &Approval,
        has_tls: bool,
    ) -> Result<Option<PageBinding>, OAuthError> {
        let approved = self.change(id, |state| {
            Ok(match state.approve(id, approval.clone(), has_tls)? {
                Some(binding) => PendingChange::Renew(Some(binding)),
                None => PendingChange::Keep(None),
            })
        });
        Ok(approved.await?.flatten())
    }

    /// Takes the approval. A second call, on any node, returns `None`.
    pub(crate) async fn take_approval(&self, id: &str) -> Result<Option<Approval>, OAuthError> {
        let taken = self.change(id, |state| {
            Ok(match state.take_approval() {
                Some(approval) => PendingChange::Write(Some(approval)),
                None => PendingChange::Keep(None),
            })
        });
        Ok(taken.await?.flatten())
    }

    /// Counts a login attempt, and returns whether it is allowed. An attempt beyond the limit ends the authorization.
    pub(crate) async fn may_try(&self, id: &str) -> Result<bool, OAuthError> {
        let may = self.change(id, |state| Ok(PendingChange::Write(state.try_once()))).await?;
        if may == Some(false) {
            self.take(id).await?;
        }
        Ok(may == Some(true))
    }

    /// Whether another login attempt is allowed.
    pub(crate) async fn has_tries(&self, id: &str) -> Result<bool, OAuthError> {
        let has = self.change(id, |state| Ok(PendingChange::Keep(state.has_tries()))).await?;
        Ok(has == Some(true))
    }

    /// Records the user who has logged in, as [`PendingState::log_in`] does.
    pub(crate) async fn log_in(
        &self,
        id: &str,
        login_user: &LoggedInUser,
    ) -> Result<Option<PageBinding>, OAuthError> {
        let logged_in = self.change(id, |state| {
            Ok(match state.log_in(id, login_user.clone())? {
                Some(binding) => PendingChange::Write(Some(binding)),
                None => PendingChange::Keep(None),
            })
        });
        Ok(logged_in.await?.flatten())
    }

    /// Ends an authorization. If several calls run concurrently on any nodes, only one of them returns `true`.
    pub(crate) async fn take(&self, id: &str) -> Result<bool, OAuthError> {
        let Some(shard) = shard(id) else { return Ok(false) };
        let found = self.store.get(self.shards.partition(shard), id).await?;
        let Some(found) = found else { return Ok(false) };
        let request: StoredRequest = self.store.read(&found)?;
        self.shards.remove(shard, &request.name).await
    }

    /// Changes the state of an authorization. Returns `None` if there is no such authorization.
    async fn change<T>(
        &self,
        id: &str,
        change: impl Fn(&mut PendingState) -> Result<PendingChange<T>, OAuthError>,
    ) -> Result<Option<T>, OAuthError> {
        let Some(shard) = shard(id) else { return Ok(None) };
        let partition = self.shards.partition(shard);
        self.store.repeat(|| self.change_once(&partition, id, &change)).await
    }

    async fn change_once<T>(
        &self,
        partition: &str,
        id: &str,
        change: &impl Fn(&mut PendingState) -> Result<PendingChange<T>, OAuthError>,
    ) -> Result<Round<Option<T>>, OAuthError> {
        let read = Transaction::on(partition)
            .then(StoreOperation::get(id))
            .then(StoreOperation::get(state_name(id)));
        let mut outputs = self.store.apply(read).await?;
        let (state, request) = (record(outputs.pop()), record(outputs.pop()));
        let (Some(found), Some(request)) = (state, request) else { return Ok(Round::Done(None)) };
        let mut state: PendingState = self.store.read(&found)?;
        let (result, is_renewed) = match change(&mut state)? {
            PendingChange::Keep(result) => return Ok(Round::Done(Some(result))),
            PendingChange::Write(result) => (result, false),
            PendingChange::Renew(result) => (result, true),
        };
        let unchanged = Condition::Version(found.version);
        // The authorization expires with the record of the request. Only an approval begins the lifetime of that record again.
        let put = StoreOperation::put(state_name(id), json(&state)?, TIME, unchanged);
        let mut write = Transaction::on(partition).then(put);
        if is_renewed {
            let StoredRequest { name, began, .. } = self.store.read(&request)?;
            write = write.then(StoreOperation::Touch { name: id.to_owned(), ttl: TIME });
            let renewal = self.shards.renewal(id, &name, began, TIME);
            write = renewal.into_iter().fold(write, Transaction::then);
        }
        Ok(match self.store.run(write).await? {
            Ok(_) => Round::Done(Some(result)),
            Err(_) => Round::Again,
        })
    }
}

fn state_name(id: &str) -> String {
    format!("{id}{STATE}")
}

/// Chooses the oldest authorization of the caller with the most authorizations.
fn victim(entries: &[IndexEntry]) -> Option<usize> {
    let caller = |entry: &IndexEntry| entry.name.split('/').next().unwrap_or_default().to_owned();
    let mut begun: HashMap<_, usize> = HashMap::new();
    entries.iter().for_each(|entry| *begun.entry(caller(entry)).or_default() += 1);
    let rank = |at: &usize| Reverse(begun[&caller(&entries[*at])]);
    (0..entries.len()).min_by_key(rank)
}
