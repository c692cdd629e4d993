//! Sessions of the legacy era over HTTP: [`HttpSession`] (rules HL-16 to HL-20), and [`SseSession`] for protocol revision 2024-11-05.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};

use http::Extensions;
use tokio::runtime::Handle;

#[cfg(feature = "auth")]
use super::expiry::StreamLifetime;
use super::{
    session_table::{HasSessionId, SessionId, SessionTable},
    sse::{EventId, EventMemory, Gone, ResumableStream, StreamReader, millis},
    sse_owners::OwnedStream,
};
use crate::{
    limits::{Limit, Share, Tenant},
    node::NodeId,
    protocol::{Outbox, OutboxHold, Peer, Revision},
};

/// Time for which a stream is kept after it has ended. During this time, a client whose connection broke before the end can still resume
/// the stream.
pub(super) const KEPT: Duration = Duration::from_secs(60);

/// Session of one client, from `initialize` until the session ends.
///
/// A server may have many idle sessions, so a session uses as little memory as possible. Rarely used parts are boxed, and no value is
/// stored twice.
pub(super) struct HttpSession {
    id: SessionId,
    pub(super) peer: Peer,
    memory: Arc<EventMemory>,
    /// Streams of the session. `None` until the first stream is opened.
    streams: Mutex<Option<Box<Streams>>>,
    /// Hold on the outbox of the standalone stream, which may get messages until the session ends. Dropping the hold ends the stream.
    open: Mutex<Option<OutboxHold>>,
    used: Used,
    #[cfg(feature = "auth")]
    lifetime: StreamLifetime,
    /// Share of the limit on sessions. Its tenant is the client that began the session. A client with another principal has no access, even if
    /// it knows the session id (rule HL-20).
    share: Share,
}

/// Time of the last use, in milliseconds since the start, shifted left by one bit. The lowest bit is set if a message has followed
/// `initialize`. Both values share one integer, which saves memory in idle sessions.
struct Used(AtomicU64);

impl Used {
    fn touch(&self, now: u64) {
        let _ = self.0.fetch_update(Relaxed, Relaxed, |used| Some(2 * now + used % 2));
    }

    fn speak(&self, now: u64) {
        self.0.store(2 * now + 1, Relaxed);
    }

    fn has_spoken(&self) -> bool {
        self.0.load(Relaxed) % 2 == 1
    }

    fn last(&self) -> u64 {
        self.0.load(Relaxed) / 2
    }
}

#[derive(Default)]
struct Streams {
    /// Stream 0, for messages that belong to no request. Most clients do not read this stream.
    standalone: Option<Arc<ResumableStream>>,
    /// Streams of requests, from the oldest to the newest. `last` is the number of the newest stream.
    kept: VecDeque<Arc<ResumableStream>>,
    last: u64,
}

impl HttpSession {
    pub(super) fn new(id: SessionId, peer: Peer, memory: Arc<EventMemory>, share: Share) -> Self {
        let used = Used(AtomicU64::new(2 * memory.millis()));
        let outbox = peer.outbox().clone();
        outbox.set_unread(Some(peer.limits().event_bytes));
        Self {
            id,
            peer,
            memory,
            streams: Mutex::default(),
            open: Mutex::new(Some(outbox.hold())),
            used,
            #[cfg(feature = "auth")]
            lifetime: StreamLifetime::default(),
            share,
        }
    }

    /// Returns the tenant that began the session.
    pub(super) fn tenant(&self) -> &Arc<Tenant> {
        self.share.tenant()
    }

    /// Returns the time of the last use, in milliseconds since the start.
    pub(super) fn used(&self) -> u64 {
        self.used.last()
    }

    pub(super) fn is_of(&self, principal: &str) -> bool {
        *self.tenant().principal() == *principal
    }

    #[cfg(feature = "auth")]
    pub(super) fn lifetime(&self) -> &StreamLifetime {
        &self.lifetime
    }

    /// Records the token of a request. The streams of the session may stay open as long as one of its tokens is valid.
    pub(super) fn show(&self, extensions: &Extensions) {
        #[cfg(feature = "auth")]
        self.lifetime.show(extensions);
        #[cfg(not(feature = "auth"))]
        let _ = extensions;
    }

    pub(super) fn revision(&self) -> Revision {
        self.peer.revision()
    }

    /// Whether the client can resume a stream that ended early.
    pub(super) fn resumes(&self) -> bool {
        self.revision().resumes()
    }

    fn standalone(&self) -> Arc<ResumableStream> {
        let new = || ResumableStream::new(0, self.peer.outbox().clone(), self.memory.clone());
        let mut streams = self.streams();
        let standalone = &mut streams.get_or_insert_default().standalone;
        standalone.get_or_insert_with(|| Arc::new(new())).clone()
    }

    fn streams(&self) -> MutexGuard<'_, Option<Box<Streams>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn touch(&self) {
        self.used.touch(self.memory.millis());
    }

    /// Records that the client has sent a request in the session at the time `now`.
    pub(super) fn spoken(&self, now: u64) {
        self.used.speak(now);
    }

    /// Whether the session is not in use, and was last used at least `idle` ago. If no message has followed `initialize`, `unused` applies
    /// instead of `idle`.
    pub(super) fn is_idle(self: &Arc<Self>, now: u64, idle: Duration, unused: Duration) -> bool {
        let allowed = if self.used.has_spoken() { idle } else { unused };
        let since = now.saturating_sub(self.used.last());
        // The table holds one reference. Readers, calls and requests that use the session hold further ones.
        since >= millis(allowed) && Arc::strong_count(self) == 1 && self.peer.in_flight() == 0
    }

    /// Whether a stream, a call or a request uses the session.
    pub(super) fn is_in_use(self: &Arc<Self>) -> bool {
        // The table and the caller hold one reference each.
        Arc::strong_count(self) > 2 || self.peer.in_flight() > 0
    }

    /// Drops streams that no client will resume. In streams without a reader, turns unread messages into kept events.
    pub(super) fn tidy(&self) {
        let mut streams = self.streams();
        let Some(kept) = streams.as_mut().map(|streams| &mut streams.kept) else { return };
        kept.retain(|stream| !stream.is_past(KEPT));
        kept.iter().for_each(|stream| stream.settle());
    }

    /// Opens a stream for the answer to a request. Returns `None` if there are too many streams.
    pub(super) fn open_stream(self: &Arc<Self>, outbox: &Arc<Outbox>) -> Option<SessionReader> {
        self.tidy();
        let mut guard = self.streams();
        let streams = guard.get_or_insert_default();
        if streams.kept.len() >= self.peer.limits().streams {
            // Drops the oldest stream that has ended, or that gets no more messages and has lost its reader, to make space for the new one. If
            // there is none, refuses the new stream.
            let past = streams.kept.iter().position(|stream| stream.is_past(Duration::ZERO));
            if past.is_none() {
                self.peer.refuse(Limit::Streams);
            }
            streams.kept.remove(past?);
        }
        streams.last += 1;
        let stream = ResumableStream::new(streams.last, outbox.clone(), self.memory.clone());
        let stream = Arc::new(stream);
        streams.kept.push_back(stream.clone());
        drop(guard);
        self.read(&stream, None).ok()
    }

    /// Returns a reader for new messages of the standalone stream.
    pub(super) fn listen(self: &Arc<Self>) -> Result<SessionReader, Gone> {
        self.read(&self.standalone(), None)
    }

    /// Resumes the stream that an event belongs to, after that event.
    pub(super) fn resume(self: &Arc<Self>, after: EventId) -> Result<SessionReader, Gone> {
        let stream = if after.stream == 0 {
            self.standalone()
        } else {
            let streams = self.streams();
            let mut kept = streams.iter().flat_map(|streams| &streams.kept);
            let found = kept.find(|stream| stream.number() == after.stream);
            found.cloned().ok_or(Gone::Unknown)?
        };
        self.read(&stream, Some(after))
    }

    fn read(
        self: &Arc<Self>,
        stream: &Arc<ResumableStream>,
        after: Option<EventId>,
    ) -> Result<SessionReader, Gone> {
        Ok(SessionReader { stream: stream.read(after)?, session: self.clone() })
    }

    /// Ends the session, and cancels its running calls.
    pub(super) fn close(&self) {
        self.stop();
        self.peer.cancel_all();
    }

    /// Ends the standalone stream. Running calls continue.
    pub(super) fn stop(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl HasSessionId for HttpSession {
    fn id(&self) -> &SessionId {
        &self.id
    }
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        self.close();
    }
}

/// Reader of a stream of a session. The session counts as used while it has a reader.
pub(super) struct SessionReader {
    stream: StreamReader,
    session: Arc<HttpSession>,
}

impl SessionReader {
    /// Writes an event whose id lets the client resume the stream from here. Writes nothing if the protocol revision of the session has no
    /// such events (rule HL-08).
    pub(super) fn prime(&self, frames: &mut Vec<u8>) {
        if self.session.resumes() {
            self.stream.prime(frames);
        }
    }

    #[cfg(feature = "auth")]
    pub(super) fn lifetime(&self) -> &StreamLifetime {
        &self.session.lifetime
    }

    /// Writes the first messages of the stream as events. The caller has already taken `lines` from the outbox.
    pub(super) fn begin(&mut self, lines: &[u8], frames: &mut Vec<u8>) {
        self.stream.begin(lines, frames);
    }

    /// Waits for more events, and appends them to `frames`. Returns `false` if this reader gets no more events.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        self.stream.poll(cx, frames)
    }
}

impl Drop for SessionReader {
    fn drop(&mut self) {
        self.session.touch();
    }
}

/// Session of protocol revision 2024-11-05. It exists while its stream is open. The client posts messages to the session.
pub(super) struct SseSession {
    id: SessionId,
    pub(super) peer: Peer,
    /// Keeps the outbox open for further messages. Dropping it ends the stream.
    open: Mutex<Option<OutboxHold>>,
    #[cfg(feature = "auth")]
    lifetime: StreamLifetime,
    /// Share of the limit on sessions. Its tenant is the client that opened the stream. Only a client with the same principal may post to the
    /// session.
    share: Share,
    /// Runtime of the stream, if the server has several nodes. It runs the calls whose messages other nodes have received.
    runtime: Option<Handle>,
    relayed: Mutex<RelayedMessages>,
}

/// Message of a client that another node has received: that node, and the number of the message at that node.
pub(super) type RelayedId = (NodeId, u64);

/// Messages of a session that other nodes have received and this node has not handled yet, in their order. Each comes with its size.
#[derive(Default)]
pub(super) struct RelayedMessages {
    waiting: VecDeque<(RelayedId, usize)>,
    /// Whether a tokio task handles the messages.
    is_handling: bool,
    has_any: bool,
}

impl RelayedMessages {
    /// Adds a message. Returns whether the caller has to begin to handle the messages.
    pub(super) fn push(&mut self, message: RelayedId, size: usize) -> bool {
        self.waiting.push_back((message, size));
        self.has_any = true;
        !std::mem::replace(&mut self.is_handling, true)
    }

    /// Takes the next message. If there is none, the caller has finished to handle the messages.
    pub(super) fn next(&mut self) -> Option<(RelayedId, usize)> {
        let next = self.waiting.pop_front();
        self.is_handling = next.is_some();
        next
    }

    /// Whether there was any message.
    pub(super) fn has_any(&self) -> bool {
        self.has_any
    }
}

impl HasSessionId for SseSession {
    fn id(&self) -> &SessionId {
        &self.id
    }
}

impl SseSession {
    pub(super) fn new(id: SessionId, peer: Peer, share: Share, runtime: Option<Handle>) -> Self {
        let open = Mutex::new(Some(peer.outbox().hold()));
        Self {
            id,
            peer,
            open,
            #[cfg(feature = "auth")]
            lifetime: StreamLifetime::default(),
            share,
            runtime,
            relayed: Mutex::default(),
        }
    }

    /// Returns the name of the principal that opened the stream.
    pub(super) fn principal(&self) -> &str {
        self.share.tenant().principal()
    }

    pub(super) fn is_of(&self, principal: &str) -> bool {
        *self.principal() == *principal
    }

    pub(super) fn runtime(&self) -> Option<&Handle> {
        self.runtime.as_ref()
    }

    /// Returns the messages that other nodes have received.
    pub(super) fn relayed(&self) -> MutexGuard<'_, RelayedMessages> {
        self.relayed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the token of a request. The stream may stay open as long as one token of the session is valid.
    pub(super) fn show(&self, extensions: &Extensions) {
        #[cfg(feature = "auth")]
        self.lifetime.show(extensions);
        #[cfg(not(feature = "auth"))]
        let _ = extensions;
    }

    /// Ends the session, and cancels its running calls.
    pub(super) fn close(&self) {
        self.stop();
        self.peer.cancel_all();
    }

    /// Ends the stream.
    pub(super) fn stop(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Open stream of a session. When the stream is closed, the session ends and its calls are cancelled (rule SSE-05).
pub(super) struct SseStream {
    sessions: Arc<SessionTable<SseSession>>,
    session: Arc<SseSession>,
    /// Set if the server has several nodes, which know the node of the stream. It is dropped after the session has left the table.
    _owned: Option<OwnedStream>,
}

impl SseStream {
    pub(super) fn new(
        sessions: Arc<SessionTable<SseSession>>,
        session: Arc<SseSession>,
        owned: Option<OwnedStream>,
    ) -> Self {
        Self { sessions, session, _owned: owned }
    }

    /// Waits for more messages, and appends them to `lines`, each with its newline. Returns `false` if there will be no more messages.
    pub(super) fn poll(&self, cx: &Context<'_>, lines: &mut Vec<u8>) -> Poll<bool> {
        self.session.peer.outbox().poll_take(cx, lines)
    }

    #[cfg(feature = "auth")]
    pub(super) fn lifetime(&self) -> &StreamLifetime {
        &self.session.lifetime
    }
}

impl Drop for SseStream {
    fn drop(&mut self) {
        self.sessions.remove(&self.session.id);
        self.session.peer.cancel_all();
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod tests;
