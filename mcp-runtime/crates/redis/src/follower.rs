//! Followers, which read a log and wait for its next event.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use mcp_runtime::store::{
    Follower, LogEvent, Output, StoreError, StoreFuture, StoreOperation, Transaction,
};
use tokio::sync::watch;

use crate::{redis_core::RedisCore, script};

/// Number of events that are read at once.
const PAGE: usize = 100;

/// Time after which a follower reads its log without an announcement, which may be lost while Redis is away.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) struct RedisFollower {
    core: Arc<RedisCore>,
    partition: String,
    log: String,
    after: u64,
    /// Events that were read and not returned yet.
    read: VecDeque<LogEvent>,
    announced: Option<watch::Receiver<u64>>,
}

impl RedisFollower {
    pub(crate) fn new(core: Arc<RedisCore>, partition: &str, log: &str, after: u64) -> Self {
        let (partition, log) = (partition.to_owned(), log.to_owned());
        Self { core, partition, log, after, read: VecDeque::new(), announced: None }
    }

    /// Reads the next events.
    async fn look(&mut self) -> Result<(), StoreError> {
        let read = StoreOperation::read(&*self.log, self.after, PAGE);
        let read = Transaction::on(&*self.partition).then(read);
        let mut results = self.core.execute(vec![read]).await?;
        let Some(Ok(outputs)) = results.pop() else { return Ok(()) };
        if let Some(Output::Events { events, .. }) = outputs.into_iter().next() {
            self.read.extend(events);
        }
        Ok(())
    }
}

impl Follower for RedisFollower {
    fn next(&mut self) -> StoreFuture<'_, LogEvent> {
        Box::pin(async {
            loop {
                if let Some(event) = self.read.pop_front() {
                    self.after = event.id;
                    return Ok(event);
                }
                if self.announced.is_none() {
                    let channel =
                        script::log_key(&self.core.partition_key(&self.partition), &self.log);
                    self.announced =
                        self.core.subscriber().map(|subscriber| subscriber.subscribe(&channel));
                }
                // Counts what was announced until now as seen, and then looks, so that nothing between the two is missed.
                if let Some(announced) = &mut self.announced {
                    announced.borrow_and_update();
                }
                self.look().await?;
                if self.read.is_empty()
                    && let Some(announced) = &mut self.announced
                {
                    let _ = tokio::time::timeout(LOOK, announced.changed()).await;
                }
            }
        })
    }
}
