//! Followers, which read a log and wait for its next event.

use std::{collections::VecDeque, sync::Arc};

use mcp_runtime::store::{
    Follower, LogEvent, Output, StoreError, StoreFuture, StoreOperation, Transaction,
};
use tokio::time::{Instant, timeout_at};

use crate::{mailbox::Mailbox, redis_core::RedisCore};

/// Maximum number of events that are read at once. After a read that fails, for example because its events are too large for the deadline,
/// the next read asks for half as many.
const PAGE: usize = 100;

/// Number of bytes after which a read of a whole page ends.
const PAGE_BYTES: usize = 256 << 10;

pub(crate) struct RedisFollower {
    core: Arc<RedisCore>,
    partition: String,
    log: String,
    after: u64,
    /// Events that were read and not returned yet.
    read: VecDeque<LogEvent>,
    /// Number of events to ask for.
    page: usize,
    mailbox: Option<Arc<Mailbox>>,
    /// Time at which the follower had read all events. `None` if there may be more.
    looked: Option<Instant>,
}

impl RedisFollower {
    pub(crate) fn new(core: Arc<RedisCore>, partition: &str, log: &str, after: u64) -> Self {
        let (partition, log) = (partition.to_owned(), log.to_owned());
        Self {
            core,
            partition,
            log,
            after,
            read: VecDeque::new(),
            page: PAGE,
            mailbox: None,
            looked: None,
        }
    }

    /// Reads the next events. Returns whether these are all events that the log had at this time.
    async fn look(&mut self) -> Result<bool, StoreError> {
        let page = self.page;
        let read = StoreOperation::read(&*self.log, self.after, page);
        let read = Transaction::on(&*self.partition).then(read);
        // The page is smaller also if the future is dropped, because its caller may have a deadline of its own.
        self.page = (page / 2).max(1);
        let bytes = (page * PAGE_BYTES).div_ceil(PAGE);
        let result = self.core.run(&read, Some(bytes)).await?;
        self.page = (2 * page).min(PAGE);
        let Ok(outputs) = result else { return Ok(false) };
        let Some(Output::Events { events, last: newest }) = outputs.into_iter().next() else {
            return Ok(false);
        };
        let is_all = events.last().is_none_or(|event| event.id == newest);
        self.read.extend(events);
        Ok(is_all)
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
                if self.mailbox.is_none() {
                    let channel = self.core.channel(&self.partition, &self.log)?;
                    self.mailbox =
                        self.core.subscriber().map(|subscriber| subscriber.subscribe(&channel));
                }
                if let Some(mailbox) = &self.mailbox {
                    // The future may be dropped while it waits, and the next call goes on waiting.
                    if let Some(at) = self.looked
                        && timeout_at(at + mailbox.look(), mailbox.changed()).await.is_ok()
                        && let Some(events) = mailbox.take(self.after)
                    {
                        self.read = events;
                        continue;
                    }
                    // The log is read after this, so that no event between the two is missed.
                    mailbox.clear();
                }
                self.looked = None;
                let begun = Instant::now();
                self.looked = self.look().await?.then_some(begun);
            }
        })
    }
}
