//! The store that several nodes share, as the records of the authorization server use it.

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use mcp_runtime::store::{
    Follower, Output, Record, Store, StoreError, StoreOperation, Transaction, TransactionResult,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::Instant;

use crate::oauth_error::OAuthError;

/// Number of times that a change begins again because another node has changed the same record in between.
const ROUNDS: usize = 32;

/// Time between two warnings about a store that cannot be used.
const WARNING: Duration = Duration::from_secs(10);

/// Store that several nodes of this server share.
///
/// All of its methods fail with [`OAuthError::store_unavailable`] if the store cannot be used.
pub(crate) struct SharedStore {
    store: Arc<dyn Store>,
    warned: Mutex<Option<Instant>>,
}

/// Outcome of one round of a change.
pub(crate) enum Round<T> {
    Done(T),
    /// The record was changed by another node after it was read.
    Again,
}

impl SharedStore {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, warned: Mutex::default() }
    }

    /// Executes transactions in one round trip.
    pub(crate) async fn execute(
        &self,
        transactions: Vec<Transaction>,
    ) -> Result<Vec<TransactionResult>, OAuthError> {
        let count = transactions.len();
        if count == 0 {
            return Ok(Vec::new());
        }
        match self.store.execute(transactions).await {
            Ok(results) if results.len() == count => Ok(results),
            Ok(_) => Err(self.failed(&StoreError::failed("the store has lost a result"))),
            Err(why) => Err(self.failed(&why)),
        }
    }

    /// Executes one transaction.
    pub(crate) async fn run(
        &self,
        transaction: Transaction,
    ) -> Result<TransactionResult, OAuthError> {
        let mut results = self.execute(vec![transaction]).await?;
        results.pop().ok_or_else(OAuthError::store_unavailable)
    }

    /// Executes a transaction that has no conditions.
    pub(crate) async fn apply(&self, transaction: Transaction) -> Result<Vec<Output>, OAuthError> {
        let applied = self.run(transaction).await?;
        applied.map_err(|_| self.failed(&StoreError::failed("the store rejects every change")))
    }

    /// Reads one record.
    pub(crate) async fn get(
        &self,
        partition: String,
        name: &str,
    ) -> Result<Option<Record>, OAuthError> {
        let read = Transaction::on(partition).then(StoreOperation::get(name));
        Ok(record(self.apply(read).await?.pop()))
    }

    /// Repeats rounds, which read a record and write it under the condition that it is unchanged, until one of them is done.
    pub(crate) async fn repeat<T, F>(&self, mut round: impl FnMut() -> F) -> Result<T, OAuthError>
    where
        F: Future<Output = Result<Round<T>, OAuthError>>,
    {
        for _ in 0..ROUNDS {
            if let Round::Done(done) = round().await? {
                return Ok(done);
            }
        }
        Err(self.failed(&StoreError::unavailable("too many nodes change one record at once")))
    }

    /// Follows a log from the event after the given id.
    pub(crate) fn follow(&self, partition: &str, log: &str, after: u64) -> Box<dyn Follower> {
        self.store.follow(partition, log, after)
    }

    /// Reads the JSON of a record.
    pub(crate) fn read<T: DeserializeOwned>(&self, record: &Record) -> Result<T, OAuthError> {
        serde_json::from_slice(&record.value).map_err(|why| {
            self.failed(&StoreError::failed(format_args!("a record cannot be read: {why}")))
        })
    }

    fn failed(&self, why: &StoreError) -> OAuthError {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|at| at.elapsed() >= WARNING) {
            *warned = Some(Instant::now());
            tracing::error!("the authorization server cannot use its store: {why}");
        }
        OAuthError::store_unavailable()
    }
}

/// Returns the JSON of a value.
///
/// # Errors
/// Fails if the value cannot be serialized.
pub(crate) fn json(value: &impl Serialize) -> Result<Vec<u8>, OAuthError> {
    serde_json::to_vec(value)
        .map_err(|why| OAuthError::server_error("a record cannot be stored", &why))
}

/// Returns the record that an operation has read.
pub(crate) fn record(output: Option<Output>) -> Option<Record> {
    match output {
        Some(Output::Record(record)) => record,
        _ => None,
    }
}
