//! Connection on which Redis announces that a log has grown.
//!
//! An announcement has the id of the event, and the event itself if it is small. A follower that lacks an event reads the log. So an
//! announcement that is lost delays an event, and does not lose it.

use std::{
    collections::{HashMap, HashSet},
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::Poll,
    time::Duration,
};

use futures_util::StreamExt as _;
use mcp_runtime::store::LogEvent;
use redis::{ErrorKind, Msg, RedisError, RedisResult, Value};
use tokio::{
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval, timeout},
};

use crate::{address::Address, mailbox::Mailbox};

/// Shortest and longest time between two attempts to connect.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// Time after which a follower reads its log without an announcement, while the subscription is not active.
const LOOK: Duration = Duration::from_secs(1);

/// The same while the subscription is active. The connection is checked more often, and a replaced connection announces everything.
const LOOK_SUBSCRIBED: Duration = Duration::from_secs(30);

/// The same in a cluster, whose servers may lose announcements to each other.
const LOOK_IN_CLUSTER: Duration = Duration::from_secs(5);

/// Time between two checks of the connection, and the time for the answer.
const CHECK: Duration = Duration::from_secs(5);

/// Maximum number of names in a command.
const BATCH: usize = 1000;

/// Followers of a log.
struct Channel {
    mailboxes: Vec<Weak<Mailbox>>,
    /// Time after which the followers read the log without an announcement.
    look: Duration,
}

/// Names of logs with their followers.
type Channels = HashMap<String, Channel>;

/// Subscriptions of all followers, on one connection.
pub(crate) struct Subscriber {
    channels: Arc<Mutex<Channels>>,
    /// Takes the names of new channels to the task of the connection.
    added: mpsc::UnboundedSender<String>,
    task: tokio::task::JoinHandle<()>,
}

impl Subscriber {
    /// Starts the task of the connection. The task connects again when `replaced` changes, because the other connection may have found a new
    /// primary. Must be called within a tokio runtime.
    pub(crate) fn start(address: Arc<Address>, replaced: watch::Receiver<u64>) -> Self {
        let channels = Arc::<Mutex<Channels>>::default();
        let (added, names) = mpsc::unbounded_channel();
        let task = tokio::spawn(run(address, channels.clone(), names, replaced));
        Self { channels, added, task }
    }

    /// Subscribes to the announcements of a log. They go to the returned mailbox, which also learns when the subscription is active.
    pub(crate) fn subscribe(&self, name: &str) -> Arc<Mailbox> {
        let mut channels = lock(&self.channels);
        let is_new = !channels.contains_key(name);
        let new = || Channel { mailboxes: Vec::new(), look: LOOK };
        let channel = channels.entry(name.to_owned()).or_insert_with(new);
        let mailbox = Arc::new(Mailbox::new(channel.look));
        channel.mailboxes.push(Arc::downgrade(&mailbox));
        drop(channels);
        if is_new {
            // The task ends only together with this value.
            let _ = self.added.send(name.to_owned());
        }
        mailbox
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(channels: &Mutex<Channels>) -> MutexGuard<'_, Channels> {
    channels.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn run(
    address: Arc<Address>,
    channels: Arc<Mutex<Channels>>,
    mut names: mpsc::UnboundedReceiver<String>,
    mut replaced: watch::Receiver<u64>,
) {
    let (mut attempt, mut pause) = (0, PAUSES[0]);
    loop {
        let begun = tokio::time::Instant::now();
        if let Err(why) = listen(&address, attempt, &channels, &mut names, &mut replaced).await {
            tracing::debug!("the connection for announcements of Redis has failed: {why}");
        }
        for channel in lock(&channels).values_mut() {
            channel.add_gap(LOOK);
        }
        attempt = attempt.wrapping_add(1);
        pause = if begun.elapsed() > PAUSES[1] { PAUSES[0] } else { (2 * pause).min(PAUSES[1]) };
        tokio::time::sleep(pause).await;
    }
}

impl Channel {
    /// Makes the followers read the log, because announcements may be missing.
    fn add_gap(&mut self, look: Duration) {
        self.look = look;
        self.mailboxes.iter().filter_map(Weak::upgrade).for_each(|mailbox| mailbox.add_gap(look));
    }

    /// Gives an announcement to the followers.
    fn announce(&self, announcement: &[u8]) {
        let event = read(announcement);
        for mailbox in self.mailboxes.iter().filter_map(Weak::upgrade) {
            match &event {
                Some(event) => mailbox.add(event.clone()),
                None => mailbox.add_gap(self.look),
            }
        }
    }

    /// Removes the mailboxes whose followers are gone. Returns whether there are others.
    fn is_followed(&mut self) -> bool {
        self.mailboxes.retain(|mailbox| mailbox.strong_count() > 0);
        !self.mailboxes.is_empty()
    }
}

/// Reads the event of an announcement. Returns `None` if the event was too large, or if the announcement is from a different version of this
/// crate.
fn read(announcement: &[u8]) -> Option<LogEvent> {
    let at = announcement.iter().position(|byte| *byte == b' ')?;
    let id = str::from_utf8(&announcement[..at]).ok()?.parse().ok()?;
    Some(LogEvent { id, value: announcement[at + 1..].to_owned() })
}

/// Returns the result of a command, or an error if it takes too long, because the server hangs.
async fn answered<T>(sent: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let late = || RedisError::from((ErrorKind::Io, "Redis does not answer"));
    timeout(CHECK, sent).await.unwrap_or_else(|_| Err(late()))
}

/// Passes announcements on until the connection fails or the other connection is replaced.
async fn listen(
    address: &Address,
    attempt: usize,
    channels: &Mutex<Channels>,
    names: &mut mpsc::UnboundedReceiver<String>,
    replaced: &mut watch::Receiver<u64>,
) -> RedisResult<()> {
    let look = match address {
        Address::Cluster(..) => LOOK_IN_CLUSTER,
        _ => LOOK_SUBSCRIBED,
    };
    replaced.borrow_and_update();
    let client = answered(address.client(attempt)).await?;
    let (mut sink, mut messages) = answered(client.get_async_pubsub()).await?.split();
    let mut subscribed: HashSet<String> = HashSet::new();
    let mut new: Vec<String> = lock(channels).keys().cloned().collect();
    let mut checks = interval(CHECK);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        while let Ok(name) = names.try_recv() {
            new.push(name);
        }
        new.retain(|name| {
            let is_active = subscribed.contains(name);
            if is_active && let Some(channel) = lock(channels).get_mut(name) {
                channel.add_gap(look);
            }
            !is_active
        });
        for batch in new.chunks(BATCH) {
            answered(sink.subscribe(batch)).await?;
            let mut channels = lock(channels);
            // Events may have been announced before the subscription was active.
            for name in batch {
                if let Some(channel) = channels.get_mut(name) {
                    channel.add_gap(look);
                }
            }
        }
        subscribed.extend(new.drain(..));
        let mut moved = pin!(replaced.changed());
        let next = poll_fn(|cx| {
            if let Poll::Ready(message) = messages.poll_next_unpin(cx) {
                return Poll::Ready(Next::Message(message));
            }
            if let Poll::Ready(Some(name)) = names.poll_recv(cx) {
                return Poll::Ready(Next::Name(name));
            }
            if let Poll::Ready(Ok(())) = moved.as_mut().poll(cx) {
                return Poll::Ready(Next::Message(None));
            }
            checks.poll_tick(cx).map(|_| Next::Check)
        });
        match next.await {
            Next::Message(None) => return Ok(()),
            Next::Message(Some(message)) => {
                if let Some(channel) = lock(channels).get(message.get_channel_name()) {
                    channel.announce(message.get_payload_bytes());
                }
            }
            Next::Name(name) => new.push(name),
            Next::Check => {
                answered(sink.ping::<Value>()).await?;
                // Subscriptions without a follower end here.
                let gone: Vec<String> = {
                    let mut channels = lock(channels);
                    channels.retain(|_, channel| channel.is_followed());
                    subscribed.extract_if(|name| !channels.contains_key(name)).collect()
                };
                for batch in gone.chunks(BATCH) {
                    answered(sink.unsubscribe(batch)).await?;
                }
            }
        }
    }
}

/// What the task of the connection does next.
enum Next {
    /// Passes an announcement on. `None` ends the connection.
    Message(Option<Msg>),
    /// Subscribes to a channel.
    Name(String),
    /// Checks the connection.
    Check,
}
