//! Settings and connections of a store, and the commands that it sends.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::future::try_join_all;
use mcp_runtime::store::{StoreError, Transaction, TransactionResult};

use crate::{
    address::Address,
    connection::{Connection, failure},
    script,
    subscriber::Subscriber,
};

/// Oldest version of Redis that has the commands of the store.
const OLDEST: (u32, u32) = (6, 2);

/// Settings and connections, which followers share with the store.
pub(crate) struct RedisCore {
    /// Address, or the reason why the URL names none.
    pub(crate) address: Result<Arc<Address>, String>,
    pub(crate) prefix: String,
    pub(crate) deadline: Duration,
    pub(crate) connection: OnceLock<Arc<Connection>>,
    pub(crate) subscriber: OnceLock<Subscriber>,
}

impl RedisCore {
    fn address(&self) -> Result<&Arc<Address>, StoreError> {
        self.address
            .as_ref()
            .map_err(|why| StoreError::failed(format_args!("the URL of Redis is invalid: {why}")))
    }

    fn connection(&self) -> Result<&Arc<Connection>, StoreError> {
        let address = self.address()?;
        Ok(self.connection.get_or_init(|| Arc::new(Connection::new(address.clone()))))
    }

    /// Returns the subscriptions, and starts their task on first use.
    pub(crate) fn subscriber(&self) -> Option<&Subscriber> {
        let (address, connection) = (self.address.as_ref().ok()?, self.connection().ok()?);
        let start = || Subscriber::start(address.clone(), connection.replaced());
        Some(self.subscriber.get_or_init(start))
    }

    pub(crate) fn partition_key(&self, partition: &str) -> String {
        script::partition_key(&self.prefix, partition)
    }

    /// Executes transactions. They are sent together, so that they take one round trip.
    pub(crate) async fn execute(
        &self,
        transactions: Vec<Transaction>,
    ) -> Result<Vec<TransactionResult>, StoreError> {
        try_join_all(transactions.iter().map(|transaction| self.run(transaction, None))).await
    }

    /// Executes a transaction. Each of its reads of a log ends with the event that reaches `bytes`.
    pub(crate) async fn run(
        &self,
        transaction: &Transaction,
        bytes: Option<usize>,
    ) -> Result<TransactionResult, StoreError> {
        let connection = self.connection()?;
        let command = script::command(&self.prefix, transaction, bytes)?;
        let sent = connection.send(&transaction.partition, &command);
        let Ok(answer) = tokio::time::timeout(self.deadline, sent).await else {
            connection.report_late(&transaction.partition);
            return Err(self.is_late());
        };
        script::read(transaction, answer.map_err(|why| failure(&why))?)
    }

    fn is_late(&self) -> StoreError {
        let deadline = self.deadline;
        StoreError::unavailable(format_args!(
            "Redis does not answer within {deadline:?} (`Redis::deadline`)"
        ))
    }

    /// Connects, and checks the version of Redis.
    pub(crate) async fn open(&self) -> Result<(), StoreError> {
        // A start may take longer than a request: names are resolved, and sentinels and nodes are asked.
        let deadline = self.deadline.max(Duration::from_secs(5));
        let version = self.connection()?.version();
        let version = tokio::time::timeout(deadline, version).await;
        let version = version.map_err(|_| self.is_late())?.map_err(|why| {
            StoreError::unavailable(format_args!("cannot connect to Redis: {why}"))
        })?;
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if found < OLDEST {
            return Err(StoreError::failed(format_args!(
                "Redis is version {version}: the store needs {}.{} or later, or Valkey",
                OLDEST.0, OLDEST.1
            )));
        }
        Ok(())
    }
}
