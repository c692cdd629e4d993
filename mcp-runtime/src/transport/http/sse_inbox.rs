//! Messages of clients of protocol revision 2024-11-05 that other nodes have received, at the node that has their stream.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    endpoint::Endpoint,
    legacy_sse,
    session::{RelayedId, SseSession},
    session_table::{HasSessionId as _, SessionId},
    shared_sessions::SharedSessions,
    sse_relay::{KEPT, read, record_name},
};
use crate::{
    limits::{LARGE, Limit, TakenBytes},
    storage::{Condition, Output, StoreOperation},
};

/// Receives a message of `size` bytes that another node has stored, if this node has the stream of the session. The messages of a session are
/// handled in the order in which they were stored.
pub(super) fn receive(endpoint: &Arc<Endpoint>, id: &SessionId, message: RelayedId, size: usize) {
    let Some(session) = endpoint.sse_sessions.find(id) else { return };
    if !session.relayed().push(message, size) {
        return;
    }
    let Some(runtime) = session.runtime().cloned() else { return };
    runtime.spawn(handle_all(endpoint.clone(), session));
}

/// Ends the sessions of this node that may have lost a message, so that their clients begin again.
pub(super) fn end_after_gap(endpoint: &Endpoint) {
    endpoint.sse_sessions.for_each(|session| {
        if session.relayed().has_any() || !session.peer.has_begun() {
            session.close();
        }
    });
}

async fn handle_all(endpoint: Arc<Endpoint>, session: Arc<SseSession>) {
    let Some(shared) = &endpoint.shared else { return };
    // A record is removed only after its message was handled. If reading removed it, the message would be lost together with a lost reply of the
    // store.
    let (mut removals, mut has_lost) = (Vec::new(), false);
    loop {
        let Some((message, size)) = session.relayed().next() else { break };
        if !has_lost
            && let Err(why) =
                handle(&endpoint, shared, &session, (message, size), &mut removals).await
        {
            tracing::warn!("a stream ends, because a message for it is lost: {why}");
            session.close();
            has_lost = true;
        }
        removals.push(StoreOperation::remove(record_name(message), Condition::Any));
    }
    if let Err(why) = shared.node.execute(removals).await {
        tracing::debug!("messages that were handled stay in the store until they expire: {why}");
    }
}

/// Reads and handles a message. Executes `removals` together with the read.
///
/// # Errors
/// Fails if the message cannot be handled in time, or cannot be read. Returns the reason for the log.
async fn handle(
    endpoint: &Endpoint,
    shared: &SharedSessions,
    session: &Arc<SseSession>,
    (message, size): (RelayedId, usize),
    removals: &mut Vec<StoreOperation>,
) -> Result<(), String> {
    let is_open = || endpoint.sse_sessions.find(session.id()).is_some();
    let (mut taken, mut pauses) = (TakenBytes::default(), RetryPauses::default());
    while let Err(limit) = make_room(endpoint, session, size, &mut taken) {
        if !is_open() {
            return Ok(());
        }
        if pauses.pause().await.is_err() {
            endpoint.service.tally().refuse(limit);
            return Err(format!("the limit `{}` is reached", limit.name()));
        }
    }
    let mut pauses = RetryPauses::default();
    let record = loop {
        if !is_open() {
            return Ok(());
        }
        let get = StoreOperation::get(record_name(message));
        let operations = removals.iter().cloned().chain([get]).collect();
        match shared.node.execute(operations).await {
            Ok(mut outputs) => break outputs.pop(),
            Err(why) => pauses.pause().await.map_err(|()| why.to_string())?,
        }
    };
    removals.clear();
    let Some(Output::Record(Some(record))) = record else {
        return Err("its record has expired".to_owned());
    };
    let relayed = read(endpoint, record.value).ok_or("its record has another form")?;
    if !is_open() {
        return Ok(());
    }
    if let (true, Some(head)) = (relayed.shows_token, &relayed.carrier.http) {
        session.show(&head.extensions);
    }
    legacy_sse::receive(endpoint, session, relayed.carrier, &relayed.body);
    Ok(())
}

/// Takes the bytes of a message.
///
/// # Errors
/// Fails if a limit is reached, and returns it.
fn make_room(
    endpoint: &Endpoint,
    session: &SseSession,
    size: usize,
    taken: &mut TakenBytes,
) -> Result<(), Limit> {
    if legacy_sse::is_unread(endpoint, session) {
        return Err(Limit::EventBytes);
    }
    let is_taken =
        size <= LARGE || taken.grow(&endpoint.service.bodies, size, endpoint.limits().all_bodies);
    if is_taken { Ok(()) } else { Err(Limit::AllBodies) }
}

/// Pauses between attempts to handle a message, each twice as long as the one before, up to a second.
struct RetryPauses {
    next: Duration,
    until: Instant,
}

impl Default for RetryPauses {
    fn default() -> Self {
        Self { next: Duration::from_millis(25), until: Instant::now() + KEPT }
    }
}

impl RetryPauses {
    /// Waits until the next attempt.
    ///
    /// # Errors
    /// Fails if the record of the message has expired in the meantime.
    async fn pause(&mut self) -> Result<(), ()> {
        if Instant::now() > self.until {
            return Err(());
        }
        tokio::time::sleep(self.next).await;
        self.next = (2 * self.next).min(Duration::from_secs(1));
        Ok(())
    }
}
