//! Copies of sessions that several nodes share. Each node that gets requests of a session has a copy of the session, and updates the copy
//! from the store.

use std::{
    net::IpAddr,
    sync::{Arc, Weak},
    time::Duration,
};

use http::Response;

use super::{
    body::HttpBody,
    endpoint::Endpoint,
    head::Head,
    reply,
    session::HttpSession,
    session_places,
    session_table::{HasSessionId as _, SessionId},
    shared_sessions::SharedSessions,
    shared_stream,
};
use crate::{
    call::context::Carrier,
    limits::Limit,
    node::NodeId,
    protocol::{Revision, SavedClient, SessionSettings},
    storage::StoreError,
};

/// Number of attempts to read the settings of a session again, and the pause between them.
const TRIES: usize = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// Returns the session of a request, if this node has to read the store before it handles the request.
pub(super) fn to_refresh(endpoint: &Endpoint, head: &Head<'_>) -> Option<SessionId> {
    let shared = endpoint.shared.as_ref()?;
    let version = head.version.first.and_then(|version| version.to_str().ok());
    // Requests of the modern era belong to no session.
    if version.and_then(Revision::parse).is_some_and(Revision::is_modern) {
        return None;
    }
    let id = head.session.first.and_then(|id| SessionId::parse(id.as_bytes()))?;
    // If the request has another revision than the copy, the client may have initialized the session again at another node.
    let is_known = |session: Arc<HttpSession>| {
        version.is_none_or(|version| version == session.revision().name())
    };
    let is_ready = shared.is_fresh(&id) && endpoint.sessions.find(&id).is_some_and(is_known);
    (!is_ready).then_some(id)
}

/// Updates this node's copy of a session from the store, or creates the copy. A session that has ended is not in the table of sessions
/// afterwards. No copy is created for a caller to whom the session does not belong.
///
/// # Errors
/// Returns the reason if the store is unavailable, or if this node has no room for another session.
pub(super) async fn refresh(
    endpoint: &Arc<Endpoint>,
    id: &SessionId,
    carrier: &Carrier,
) -> Result<(), String> {
    let Some(shared) = &endpoint.shared else { return Ok(()) };
    if let (Some(session), Some(copy)) = (endpoint.sessions.find(id), shared.copy(id)) {
        let replace = |client: &SavedClient| session.peer.replace_client(client);
        let apply = |settings: &SessionSettings| apply(&session, settings);
        let refreshed = shared.refresh(id, &copy, (replace, apply)).await;
        if !refreshed.map_err(away)? {
            shared.tell_end(id);
            end(endpoint, id);
        }
        return Ok(());
    }
    if endpoint.sessions.find(id).is_none() {
        // The copy belongs to a session that this node has dropped.
        shared.forget(id);
    }
    let Some(loaded) = shared.load(id).await.map_err(away)? else {
        end(endpoint, id);
        return Ok(());
    };
    if loaded.client.principal != carrier.principal() {
        return Ok(());
    }
    let session = endpoint.session(*id, carrier)?;
    session.peer.restore(&loaded.client);
    // If another request has added the session in the meantime, that copy stays.
    if endpoint.sessions.insert(Arc::new(session)) {
        // If this node had an earlier copy, the tokio task that logged the messages of that copy has ended.
        shared.end_log(id);
    }
    if let Some(session) = endpoint.sessions.find(id) {
        let hearing = loaded.hearing;
        let replace = |client: &SavedClient| session.peer.replace_client(client);
        shared.remember_loaded(id, loaded, (replace, |settings: &_| apply(&session, settings)));
        if let Some((node, version)) = hearing {
            move_hearing(shared, &session, node, version);
        }
        // This node reports its own tasks and URL-mode elicitations through the log, even if the client's stream is at another node.
        log_messages(shared, &session);
    }
    Ok(())
}

pub(super) fn apply(session: &HttpSession, settings: &SessionSettings) {
    session.peer.set_settings(settings, session.tenant());
}

/// Stores a session that has begun, or the new client of a session that was known before. `address` is the address of the client.
///
/// # Errors
/// Returns the reason if the store is unavailable, or if there are too many sessions.
pub(super) async fn begin(
    endpoint: &Endpoint,
    session: &HttpSession,
    address: Option<IpAddr>,
    was_known: bool,
) -> Result<(), String> {
    let Some(shared) = &endpoint.shared else { return Ok(()) };
    let principal = session.tenant().principal();
    let id = *session.id();
    // The session keeps its place among those of the caller that began it.
    let known = shared.copy(&id).map(|copy| copy.caller().to_owned());
    let caller = known.unwrap_or_else(|| session_places::caller(principal, address));
    let Some(client) = session.peer.saved_client(principal, caller) else { return Ok(()) };
    if was_known {
        return shared.replace_client(id, &client).await.map_err(away);
    }
    let begun = shared.begin(id, &client).await.map_err(away)?;
    if begun.is_err() {
        endpoint.service.tally().refuse(Limit::Sessions);
    }
    begun
}

/// Stores the settings that a client has changed. If that fails, the next request reads the settings in the store.
///
/// # Errors
/// Returns the reason if the change cannot be stored.
pub(super) async fn change(
    endpoint: &Endpoint,
    session: &HttpSession,
    before: &SessionSettings,
    after: &SessionSettings,
) -> Result<(), String> {
    let Some(shared) = &endpoint.shared else { return Ok(()) };
    let id = session.id();
    let apply = |settings: &SessionSettings| apply(session, settings);
    let changed = match shared.copy(id) {
        Some(copy) => shared.change(id, &copy, (before, after), apply).await,
        // The session has ended, or another request reads it at this moment.
        None => Err(StoreError::unavailable("the node has no copy of the session")),
    };
    changed.map_err(|why| {
        // The change is taken back, so that the request makes it again when the client repeats it.
        let settings = session.peer.settings().without_change(before, after);
        session.peer.set_settings(&settings, session.tenant());
        away(why)
    })
}

/// Whether all nodes know the settings of the session.
pub(super) fn is_told(endpoint: &Endpoint, session: &HttpSession) -> bool {
    let copy = endpoint.shared.as_ref().and_then(|shared| shared.copy(session.id()));
    copy.is_none_or(|copy| copy.is_told())
}

/// Tells the other nodes the settings of the session.
///
/// # Errors
/// Returns the reason if the store is unavailable.
pub(super) async fn tell(endpoint: &Endpoint, session: &HttpSession) -> Result<(), String> {
    let Some(shared) = &endpoint.shared else { return Ok(()) };
    let Some(copy) = shared.copy(session.id()) else { return Ok(()) };
    shared.tell(session.id(), &copy).await.map_err(away)
}

/// Appends the messages of the session that belong to no request to the log of stream 0, until the session ends at this node.
pub(super) fn log_messages(shared: &SharedSessions, session: &HttpSession) {
    let outbox = session.peer.outbox();
    if let Some(is_cleared) = shared.begins_log(session.id()) {
        outbox.set_unread(None);
        let log = shared.stream(session.id(), 0);
        let kept = shared.kept(&log, Some(is_cleared));
        shared_stream::pump(log, kept, outbox.clone());
    }
}

/// Records that `node` now sends the messages of the session that belong to no request. Does nothing if this node already knows this
/// version of the record `hearing` or a newer one.
pub(super) fn move_hearing(
    shared: &SharedSessions,
    session: &HttpSession,
    node: NodeId,
    version: u64,
) {
    if !shared.learn_hearing(session.id(), version) {
        return;
    }
    let hears = node == shared.node.id();
    if session.peer.hears() && !hears {
        shared.detach(session.id(), 0);
        log_messages(shared, session);
    }
    session.peer.set_hears(hears);
}

/// Reads the records `hearing` and `settings` of some sessions: those whose clients get the messages that belong to no request from this
/// node. Called when this node may have missed changes of these records.
pub(super) async fn check_hearing(endpoint: Arc<Endpoint>) {
    let Some(shared) = &endpoint.shared else { return };
    let mut hearing = Vec::new();
    endpoint.sessions.for_each(|session| {
        if session.peer.hears() {
            hearing.push(session.clone());
        }
    });
    for session in hearing {
        match shared.hearing(session.id()).await {
            Ok(Some((node, version))) => move_hearing(shared, &session, node, version),
            Ok(None) => {}
            Err(why) => tracing::warn!("two nodes may send a client the same messages: {why}"),
        }
        if session.peer.hears() {
            // The client may send its requests, such as subscriptions, only to other nodes. Then no request at this node would read the
            // settings.
            reload(endpoint.clone(), session).await;
        }
    }
}

/// Reads the settings of a session whose client this node notifies. Called when this node has missed a change of them.
pub(super) async fn reload(endpoint: Arc<Endpoint>, session: Arc<HttpSession>) {
    let Some(shared) = &endpoint.shared else { return };
    for _ in 0..TRIES {
        let apply = |settings: &SessionSettings| apply(&session, settings);
        match shared.reload(session.id(), apply).await {
            Ok(()) => return,
            Err(why) => tracing::debug!("the settings of a session have to wait: {why}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Ends the copy of a session at this node.
pub(super) fn end(endpoint: &Endpoint, id: &SessionId) {
    if let Some(shared) = &endpoint.shared {
        shared.forget(id);
        shared.clear_log(id);
        shared.detach_all(Some(id));
    }
    if let Some(session) = endpoint.sessions.remove(id) {
        session.close();
    }
}

/// Returns the reason for which a request is refused while the store is unavailable.
#[cold]
fn away(why: StoreError) -> String {
    tracing::debug!("a request of a session is refused: {why}");
    "the store of the sessions is not available: try again later".to_owned()
}

/// Refuses a message without an id, or a request without a message, while the store is unavailable.
#[cold]
pub(super) fn unavailable(why: StoreError) -> Box<Response<HttpBody>> {
    reply::busy(away(why)).into()
}

/// Keeps the records of the sessions that are in use at this node, such as those with an open stream, from expiring.
pub(super) async fn keep_used(endpoint: Weak<Endpoint>, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        let Some(endpoint) = endpoint.upgrade() else { return };
        let Some(shared) = &endpoint.shared else { return };
        let (mut used, mut hearing) = (Vec::new(), Vec::new());
        endpoint.sessions.for_each(|session| {
            if session.is_in_use() {
                used.push(*session.id());
            } else if session.peer.hears() {
                hearing.push(session.clone());
            }
        });
        if let Err(why) = shared.keep(&used).await {
            tracing::warn!("sessions in use may expire: {why}");
        }
        if let Err(why) = shared.keep_streams().await {
            tracing::warn!("streams in use may expire: {why}");
        }
        // The client may send its requests only to other nodes. If this node dropped its copy as unused, no node would log the messages of the
        // session that belong to no request.
        match shared.are_heard(hearing.iter().map(|session| session.id())).await {
            Ok(heard) => {
                hearing.iter().zip(heard).filter(|of| of.1).for_each(|of| of.0.touch());
            }
            Err(why) => tracing::warn!("sessions in use may be dropped: {why}"),
        }
        shared.retain(|id| endpoint.sessions.find(id).is_some());
    }
}
