//! Settings and connections of a store, and the commands that it sends.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::future::try_join_all;
use mcp_runtime::store::{Condition, StoreError, StoreOperation, Transaction, TransactionResult};

use crate::{
    address::Address,
    connection::{Connection, failure, is_denied},
    script,
    subscriber::Subscriber,
};

/// Oldest version of Redis that has the commands of the store.
const OLDEST: (u32, u32) = (6, 2);

/// Name of the partition, and of everything in it, that the start of the store uses to try the operations.
const CHECK: &str = "check";

/// Settings and connections, which followers share with the store.
pub(crate) struct RedisCore {
    /// Address, or the reason why the URL names none.
    pub(crate) address: Result<Arc<Address>, String>,
    /// Hosts of the URL, for errors.
    pub(crate) hosts: String,
    pub(crate) prefix: String,
    pub(crate) deadline: Duration,
    pub(crate) connection: OnceLock<Arc<Connection>>,
    pub(crate) subscriber: OnceLock<Subscriber>,
}

impl RedisCore {
    fn address(&self) -> Result<&Arc<Address>, StoreError> {
        self.address
            .as_ref()
            .map_err(|why| {
                StoreError::failed(format_args!(
                    "the URL of Redis is invalid: {why}; expected `redis://user:password@host:6379/0`, with special characters percent-encoded"
                ))
            })
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

    fn database(&self) -> Result<i64, StoreError> {
        self.address().map(|address| address.database())
    }

    /// Returns the name of the channel on which Redis announces the events of a log.
    pub(crate) fn channel(&self, partition: &str, log: &str) -> Result<String, StoreError> {
        let partition = script::partition_key(&self.prefix, partition);
        Ok(script::channel(&partition, log, self.database()?))
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
        let command = script::command(&self.prefix, self.database()?, transaction, bytes)?;
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

    /// Connects, and checks that Redis has the commands of the store and lets this server use them.
    pub(crate) async fn open(&self) -> Result<(), StoreError> {
        self.within("the first command", self.check_server()).await?;
        self.within("the commands of the store", self.try_all_operations()).await?;
        self.within("a subscription", self.try_subscription()).await
    }

    /// Limits the time of a part of the start. A part may take longer than a request: names are resolved, and sentinels and nodes are asked.
    async fn within(
        &self,
        what: &str,
        part: impl Future<Output = Result<(), StoreError>>,
    ) -> Result<(), StoreError> {
        let deadline = self.deadline.max(Duration::from_secs(5));
        tokio::time::timeout(deadline, part).await.unwrap_or_else(|_| {
            Err(StoreError::unavailable(format_args!(
                "Redis at {} does not answer {what} within {deadline:?}",
                self.hosts
            )))
        })
    }

    /// Checks the version of Redis, and warns about settings that lose records.
    async fn check_server(&self) -> Result<(), StoreError> {
        let (connection, hosts) = (self.connection()?, &self.hosts);
        let info = connection.info().await.map_err(|why| match failure(&why) {
            lacks if is_denied(&why) => self.at_start(&lacks),
            _ => StoreError::unavailable(format_args!("cannot connect to Redis at {hosts}: {why}")),
        })?;
        let of = |name: &str| {
            let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map(str::trim)
        };
        let version = of("redis_version").unwrap_or("0");
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
        let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if found < OLDEST {
            return Err(StoreError::failed(format_args!(
                "Redis at {hosts} is version {version}: the store needs {}.{} or later, or Valkey",
                OLDEST.0, OLDEST.1
            )));
        }
        let policy = of("maxmemory_policy").unwrap_or("noeviction");
        if policy != "noeviction" && of("maxmemory").is_some_and(|most| most != "0") {
            tracing::warn!(
                "Redis at {hosts} removes records when it is full, and with them sessions, tasks and logins: set `maxmemory-policy noeviction` in place of `{policy}`"
            );
        }
        Ok(())
    }

    /// Executes every operation. A user of Redis without the rights for it, a full Redis and a replica are noticed at the start.
    async fn try_all_operations(&self) -> Result<(), StoreError> {
        use StoreOperation::{Clear, Delist, Enter, Leave, Pass, Touch};

        let (ttl, text) = (Duration::from_secs(1), |name: &str| name.to_owned());
        let operations = [
            StoreOperation::put(CHECK, "", ttl, Condition::Any),
            StoreOperation::get(CHECK),
            Touch { name: text(CHECK), ttl },
            StoreOperation::remove(CHECK, Condition::Any),
            StoreOperation::append(CHECK, "", ttl, 1),
            StoreOperation::read(CHECK, 0, 1),
            Clear { log: text(CHECK) },
            StoreOperation::enlist(CHECK, CHECK, 0, ttl),
            StoreOperation::list(CHECK, None, 1),
            Delist { index: text(CHECK), name: text(CHECK) },
            Pass { rate: text(CHECK), interval: Duration::ZERO, slack: ttl },
            Enter { places: text(CHECK), holder: text(CHECK), most: u32::MAX, lease: ttl },
            Leave { places: text(CHECK), holder: text(CHECK) },
            StoreOperation::count(CHECK),
        ];
        let all = operations.into_iter().fold(Transaction::on(CHECK), Transaction::then);
        // A full Redis accepts every operation of a script that has removed something before.
        let first = Transaction::on(CHECK).then(all.operations[0].clone());
        for transaction in [first, all] {
            let command = script::command(&self.prefix, self.database()?, &transaction, None)?;
            let answer = self.connection()?.send(&transaction.partition, &command).await;
            answer.map_err(|why| self.at_start(&failure(&why)))?;
        }
        Ok(())
    }

    /// Subscribes to the announcements of a log once, because a user of Redis has rights of its own for channels.
    async fn try_subscription(&self) -> Result<(), StoreError> {
        let channel = self.channel(CHECK, CHECK)?;
        let client = self.address()?.client(0).await.map_err(|why| failure(&why))?;
        // A server of a cluster may be away, and the others announce events as well.
        let Ok(mut connection) = client.get_async_pubsub().await else { return Ok(()) };
        connection.subscribe(channel).await.map_err(|why| self.at_start(&failure(&why)))
    }

    fn at_start(&self, why: &StoreError) -> StoreError {
        StoreError::failed(format_args!("Redis at {} cannot be used: {why}", self.hosts))
    }
}
