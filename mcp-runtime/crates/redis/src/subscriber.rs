//! Connection on which Redis announces that a log has grown.
//!
//! An announcement only wakes the followers of a log, which then read the log itself. So an announcement that is lost delays an event, and
//! does not lose it.

use std::{
    collections::{HashMap, HashSet},
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use futures_util::StreamExt as _;
use redis::{ErrorKind, Msg, RedisError, RedisResult, Value};
use tokio::{
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval, timeout},
};

use crate::address::Address;

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

/// State of the subscription to a log.
#[derive(Clone, Copy)]
pub(crate) struct Announced {
    /// Number of announcements.
    number: u64,
    /// Time after which a follower reads the log without an announcement.
    pub(crate) look: Duration,
}

/// Names of logs with their followers, which watch the announcements.
type Channels = HashMap<String, watch::Sender<Announced>>;

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

    /// Subscribes to the announcements of a log. What the receiver watches also changes once the subscription is active.
    pub(crate) fn subscribe(&self, channel: &str) -> watch::Receiver<Announced> {
        let mut channels = lock(&self.channels);
        let receiver = match channels.get(channel) {
            Some(sender) => return sender.subscribe(),
            None => {
                let (sender, receiver) = watch::channel(Announced { number: 0, look: LOOK });
                channels.insert(channel.to_owned(), sender);
                receiver
            }
        };
        drop(channels);
        // The task ends only together with this value.
        let _ = self.added.send(channel.to_owned());
        receiver
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
        for sender in lock(&channels).values() {
            announce(sender, LOOK);
        }
        attempt = attempt.wrapping_add(1);
        pause = if begun.elapsed() > PAUSES[1] { PAUSES[0] } else { (2 * pause).min(PAUSES[1]) };
        tokio::time::sleep(pause).await;
    }
}

fn announce(sender: &watch::Sender<Announced>, look: Duration) {
    sender.send_modify(|announced| {
        announced.number += 1;
        announced.look = look;
    });
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
            if is_active && let Some(sender) = lock(channels).get(name) {
                announce(sender, look);
            }
            !is_active
        });
        for batch in new.chunks(BATCH) {
            answered(sink.subscribe(batch)).await?;
            let channels = lock(channels);
            // Events may have been announced before the subscription was active.
            for sender in batch.iter().filter_map(|name| channels.get(name)) {
                announce(sender, look);
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
                if let Some(sender) = lock(channels).get(message.get_channel_name()) {
                    announce(sender, look);
                }
            }
            Next::Name(name) => new.push(name),
            Next::Check => {
                answered(sink.ping::<Value>()).await?;
                // Subscriptions without a follower end here.
                let gone: Vec<String> = {
                    let mut channels = lock(channels);
                    channels.retain(|_, sender| sender.receiver_count() > 0);
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
