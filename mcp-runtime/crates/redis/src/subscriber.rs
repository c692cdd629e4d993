//! Connection on which Redis announces that a log has grown.
//!
//! An announcement only wakes the followers of a log, which then read the log itself. So an announcement that is lost delays an event, and
//! does not lose it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt as _, future::Either};
use redis::RedisResult;
use tokio::sync::{mpsc, watch};

use crate::address::Address;

/// Shortest and longest time between two attempts to connect.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];

/// Names of logs with their followers. Each announcement raises the number that the followers watch.
type Channels = HashMap<String, watch::Sender<u64>>;

/// Subscriptions of all followers, on one connection.
pub(crate) struct Subscriber {
    channels: Arc<Mutex<Channels>>,
    /// Tells the task of the connection that the names of the channels have changed.
    changed: mpsc::UnboundedSender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Subscriber {
    /// Starts the task of the connection. Must be called within a tokio runtime.
    pub(crate) fn start(address: Arc<Address>) -> Self {
        let channels = Arc::<Mutex<Channels>>::default();
        let (changed, changes) = mpsc::unbounded_channel();
        let task = tokio::spawn(run(address, channels.clone(), changes));
        Self { channels, changed, task }
    }

    /// Subscribes to the announcements of a log. The number that the receiver watches also changes once the subscription is active.
    pub(crate) fn subscribe(&self, channel: &str) -> watch::Receiver<u64> {
        let mut channels = lock(&self.channels);
        let receiver = match channels.get(channel) {
            Some(sender) => return sender.subscribe(),
            None => {
                let (sender, receiver) = watch::channel(0);
                channels.insert(channel.to_owned(), sender);
                receiver
            }
        };
        drop(channels);
        // The task ends only together with this value.
        let _ = self.changed.send(());
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
    mut changes: mpsc::UnboundedReceiver<()>,
) {
    let (mut attempt, mut pause) = (0, PAUSES[0]);
    loop {
        let begun = tokio::time::Instant::now();
        if let Err(why) = listen(&address, attempt, &channels, &mut changes).await {
            tracing::debug!("the connection for announcements of Redis has failed: {why}");
        }
        attempt = attempt.wrapping_add(1);
        pause = if begun.elapsed() > PAUSES[1] { PAUSES[0] } else { (2 * pause).min(PAUSES[1]) };
        tokio::time::sleep(pause).await;
    }
}

/// Passes announcements on until the connection fails.
async fn listen(
    address: &Address,
    attempt: usize,
    channels: &Mutex<Channels>,
    changes: &mut mpsc::UnboundedReceiver<()>,
) -> RedisResult<()> {
    let client = address.client(attempt).await?;
    let (mut sink, mut messages) = client.get_async_pubsub().await?.split();
    let mut subscribed: Vec<String> = Vec::new();
    loop {
        // Subscriptions without a follower end here, and new ones begin.
        let gone: Vec<String> = {
            let mut channels = lock(channels);
            channels.retain(|_, sender| sender.receiver_count() > 0);
            subscribed.extract_if(.., |name| !channels.contains_key(name)).collect()
        };
        if !gone.is_empty() {
            sink.unsubscribe(gone).await?;
        }
        let new: Vec<String> = {
            let channels = lock(channels);
            channels.keys().filter(|name| !subscribed.contains(name)).cloned().collect()
        };
        if !new.is_empty() {
            sink.subscribe(new.clone()).await?;
            // Events may have been announced before the subscription was active.
            let channels = lock(channels);
            for sender in new.iter().filter_map(|name| channels.get(name)) {
                sender.send_modify(|number| *number += 1);
            }
            drop(channels);
            subscribed.extend(new);
        }
        loop {
            let change = std::pin::pin!(changes.recv());
            match futures_util::future::select(messages.next(), change).await {
                Either::Left((None, _)) => return Ok(()),
                Either::Left((Some(message), _)) => {
                    let channels = lock(channels);
                    if let Some(sender) = channels.get(message.get_channel_name()) {
                        sender.send_modify(|number| *number += 1);
                    }
                }
                Either::Right(_) => break,
            }
        }
    }
}
