//! Records of one user on all nodes: indexes of codes and grants, and the last end of all of the user's logins.

use std::{sync::Arc, time::Duration};

use mcp_runtime::store::{
    Condition, IndexEntry, Output, Record, Rejection, StoreOperation, Transaction,
};

use crate::{
    codes::{LONGEST, REMEMBERED},
    nodes::shared_store::{Round, SharedStore, json, record},
    oauth_error::OAuthError,
    secret::Digest,
};

/// Partition of the record `epoch`. Each call that ends all logins of a user writes this record, and its version is the new epoch.
const EPOCH_PARTITION: &str = "authorization:epoch";

const EPOCH: &str = "epoch";

/// Record with the epoch of the last end of all logins of a user.
const ENDED: &str = "ended";

/// Indexes of a user.
const CODES: &str = "codes";
const GRANTS: &str = "grants";

/// Maximum number of codes that are remembered for a user.
const CODES_OF_USER: u32 = 500;

/// Maximum number of entries that are read from an index. No index of a user becomes as long.
const MOST: usize = 4096;

/// Users that have codes or grants.
pub(crate) struct SharedUsers(Arc<SharedStore>);

/// Codes and grants of a user whose logins were all ended.
pub(crate) struct EndedUser {
    pub(crate) codes: Vec<Digest>,
    pub(crate) grants: Vec<Digest>,
}

/// Result of adding a code or a grant to a user.
pub(crate) enum Enlisted {
    Good,
    /// All logins of the user were ended after the login began.
    Ended,
    /// The user has too many codes.
    Full,
}

fn partition(user: &str) -> String {
    format!("authorization:user:{}", Digest::of(user).text())
}

impl SharedUsers {
    pub(crate) fn new(store: Arc<SharedStore>) -> Self {
        Self(store)
    }

    /// Returns the current epoch, for a login that begins now.
    pub(crate) async fn epoch(&self) -> Result<u64, OAuthError> {
        let found = self.0.get(EPOCH_PARTITION.to_owned(), EPOCH).await?;
        Ok(found.map_or(0, |record| record.version))
    }

    /// Adds a code to its user. `epoch` is the epoch at the start of the login.
    pub(crate) async fn add_code(
        &self,
        user: &str,
        code: &Digest,
        epoch: u64,
    ) -> Result<Enlisted, OAuthError> {
        let code = code.text();
        let enter = StoreOperation::Enter {
            places: CODES.to_owned(),
            holder: code.clone(),
            most: CODES_OF_USER,
            lease: REMEMBERED,
        };
        let add = Transaction::on(partition(user))
            .then(StoreOperation::get(ENDED))
            .then(StoreOperation::enlist(CODES, code, 0, REMEMBERED))
            .then(enter);
        match self.0.run(add).await? {
            Ok(outputs) => {
                let has_ended = self.has_ended_since(outputs.into_iter().next(), epoch).await?;
                Ok(if has_ended { Enlisted::Ended } else { Enlisted::Good })
            }
            Err(Rejection::NoPlace(_)) => Ok(Enlisted::Full),
            Err(_) => Err(OAuthError::store_unavailable()),
        }
    }

    /// Adds a grant to its user, or changes the time at which it ends. Returns whether the logins of the user have ended since `epoch`, and
    /// the grants of the user, ordered by the time at which they end.
    pub(crate) async fn add_grant(
        &self,
        user: &str,
        grant: &Digest,
        ends: u64,
        ttl: Duration,
        epoch: u64,
    ) -> Result<(Enlisted, Vec<Digest>), OAuthError> {
        let add = Self::grant_entry(user, grant, ends, ttl)
            .then(StoreOperation::get(ENDED))
            .then(StoreOperation::list(GRANTS, None, MOST));
        let mut outputs = self.0.apply(add).await?;
        let grants = digests(outputs.pop());
        let enlisted = match self.has_ended_since(outputs.pop(), epoch).await? {
            true => Enlisted::Ended,
            false => Enlisted::Good,
        };
        Ok((enlisted, grants))
    }

    /// Returns the transaction that adds a grant to its user, or changes the time at which it ends.
    pub(crate) fn grant_entry(user: &str, grant: &Digest, ends: u64, ttl: Duration) -> Transaction {
        Transaction::on(partition(user)).then(StoreOperation::enlist(
            GRANTS,
            grant.text(),
            ends,
            ttl,
        ))
    }

    /// Returns the transaction that removes a grant from its user.
    pub(crate) fn forget(user: &str, grant: &Digest) -> Transaction {
        Transaction::on(partition(user)).then(StoreOperation::delist(GRANTS, grant.text()))
    }

    /// Returns the grants of a user. Some of them may have ended.
    pub(crate) async fn grants(&self, user: &str) -> Result<Vec<Digest>, OAuthError> {
        let list = Transaction::on(partition(user)).then(StoreOperation::list(GRANTS, None, MOST));
        Ok(digests(self.0.apply(list).await?.pop()))
    }

    /// Begins a new epoch, and returns it.
    async fn raise(&self) -> Result<u64, OAuthError> {
        let raise = StoreOperation::put(EPOCH, *b"", 2 * LONGEST, Condition::Any);
        match self.0.apply(Transaction::on(EPOCH_PARTITION).then(raise)).await?.pop() {
            Some(Output::Version(epoch)) => Ok(epoch),
            _ => Err(OAuthError::store_unavailable()),
        }
    }

    /// Ends all logins of a user that have begun before this call: none of them gets a code or a grant. Returns the codes and grants that the
    /// caller has to remove.
    pub(crate) async fn end_all(&self, user: &str) -> Result<EndedUser, OAuthError> {
        let epoch = self.raise().await?;
        let partition = partition(user);
        let ended = self.0.repeat(|| self.end_at(&partition, epoch)).await?;
        let codes = ended.codes.iter().fold(Transaction::on(&*partition), |all, code| {
            let (holder, places) = (code.text(), CODES.to_owned());
            all.then(StoreOperation::delist(CODES, &*holder))
                .then(StoreOperation::Leave { places, holder })
        });
        self.0.apply(codes).await?;
        Ok(ended)
    }

    async fn end_at(&self, partition: &str, epoch: u64) -> Result<Round<EndedUser>, OAuthError> {
        let before = self.0.get(partition.to_owned(), ENDED).await?;
        let condition = match &before {
            Some(Record { version, .. }) => Condition::Version(*version),
            None => Condition::Absent,
        };
        // If several calls end all logins at the same time, the highest epoch counts.
        let last = epoch.max(self.epoch_of(before)?);
        let end = Transaction::on(partition)
            .then(StoreOperation::put(ENDED, json(&last)?, LONGEST, condition))
            .then(StoreOperation::list(CODES, None, MOST))
            .then(StoreOperation::list(GRANTS, None, MOST));
        let Ok(mut outputs) = self.0.run(end).await? else { return Ok(Round::Again) };
        let grants = digests(outputs.pop());
        Ok(Round::Done(EndedUser { codes: digests(outputs.pop()), grants }))
    }

    /// Returns whether the logins of a user have ended after a login that began in `epoch`.
    async fn has_ended_since(&self, ended: Option<Output>, epoch: u64) -> Result<bool, OAuthError> {
        let last = self.epoch_of(record(ended))?;
        if last <= epoch {
            return Ok(false);
        }
        // If the store has lost the last epoch but not the record of the user, logins of this user could begin only in earlier epochs.
        if self.epoch().await? < last {
            self.raise().await?;
        }
        Ok(true)
    }

    fn epoch_of(&self, ended: Option<Record>) -> Result<u64, OAuthError> {
        ended.map_or(Ok(0), |record| self.0.read(&record))
    }
}

fn digests(output: Option<Output>) -> Vec<Digest> {
    let Some(Output::Entries(entries)) = output else { return Vec::new() };
    let digest = |entry: IndexEntry| Digest::parse(&entry.name);
    entries.into_iter().filter_map(digest).collect()
}
