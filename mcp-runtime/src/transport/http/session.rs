//! A session of the legacy era over HTTP (rules HL-16 to HL-20).

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use http::Extensions;

#[cfg(feature = "auth")]
use super::expiry::Until;
use super::{
    endpoint::millis,
    resumable::{EventId, Gone, Memory, Reader, Resumable},
    table::{Key, Keyed},
};
use crate::{
    limits::{Limit, Share, Tenant},
    protocol::{Outbox, OutboxHold, Peer, Revision},
};

/// Time that a stream is kept after its last event was sent, for a client whose connection broke at that moment.
pub(super) const KEPT: Duration = Duration::from_secs(60);

/// State of one client at the server, from `initialize` to the end of the session.
///
/// There are many idle sessions, so parts that most of them never need are boxed, and nothing is stored twice.
pub(super) struct Session {
    key: Key,
    pub(super) peer: Peer,
    memory: Arc<Memory>,
    /// `None` until the first stream is opened.
    streams: Mutex<Option<Box<Streams>>>,
    /// Held until the session ends, because more messages may come on the standalone stream.
    open: Mutex<Option<OutboxHold>>,
    used: Used,
    #[cfg(feature = "auth")]
    pub(super) until: Until,
    /// Share of all sessions. Its tenant is the client that began the session. The id of the session lets in no other client (rule HL-20).
    share: Share,
}

/// Time of the last use, in milliseconds since the start, times two. The lowest bit says whether a message came after `initialize`. Both
/// are in one word, because there are many sessions.
struct Used(AtomicU64);

impl Used {
    fn touch(&self, now: u64) {
        let _ = self.0.fetch_update(Relaxed, Relaxed, |it| Some(2 * now + it % 2));
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
    /// Stream 0, for messages that belong to no request. Most clients never read it.
    standalone: Option<Arc<Resumable>>,
    /// Streams of requests. `last` is the number of the newest one.
    kept: VecDeque<Arc<Resumable>>,
    last: u32,
}

impl Session {
    pub(super) fn new(key: Key, peer: Peer, memory: Arc<Memory>, share: Share) -> Self {
        let used = Used(AtomicU64::new(2 * memory.millis()));
        let outbox = peer.outbox().clone();
        outbox.set_unread(Some(peer.limits().event_bytes));
        Self {
            key,
            peer,
            memory,
            streams: Mutex::default(),
            open: Mutex::new(Some(outbox.hold())),
            used,
            #[cfg(feature = "auth")]
            until: Until::default(),
            share,
        }
    }

    /// Returns the client that began the session.
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

    /// Records the token of a request. The streams of the session may stay open as long as the last token is valid.
    pub(super) fn show(&self, extensions: &Extensions) {
        #[cfg(feature = "auth")]
        self.until.show(extensions);
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

    fn standalone(&self) -> Arc<Resumable> {
        let new = || Resumable::new(0, self.peer.outbox().clone(), self.memory.clone());
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

    /// Notes that the client uses the session.
    pub(super) fn spoken(&self, now: u64) {
        self.used.speak(now);
    }

    /// Whether nothing uses the session now, and nothing has used it for `idle`. If the client only opened it, `unused` counts instead.
    pub(super) fn is_idle(self: &Arc<Self>, now: u64, idle: Duration, unused: Duration) -> bool {
        let allowed = if self.used.has_spoken() { idle } else { unused };
        let since = now.saturating_sub(self.used.last());
        // The table holds one reference. Readers hold others.
        since >= millis(allowed) && Arc::strong_count(self) == 1 && self.peer.in_flight() == 0
    }

    /// Drops streams that no client will resume, and counts the unread messages of the others as kept.
    pub(super) fn tidy(&self) {
        let mut streams = self.streams();
        let Some(kept) = streams.as_mut().map(|it| &mut it.kept) else { return };
        kept.retain(|it| !it.is_past(KEPT));
        kept.iter().for_each(|it| it.settle());
    }

    /// Opens a stream for the answer to a request. `None` if there are too many streams.
    pub(super) fn open_stream(self: &Arc<Self>, outbox: &Arc<Outbox>) -> Option<Reader> {
        self.tidy();
        let mut guard = self.streams();
        let streams = guard.get_or_insert_default();
        if streams.kept.len() >= self.peer.limits().streams {
            // A stream on which nothing more will come is the smallest loss.
            let past = streams.kept.iter().position(|it| it.is_past(Duration::ZERO));
            if past.is_none() {
                self.peer.refuse(Limit::Streams);
            }
            streams.kept.remove(past?);
        }
        streams.last += 1;
        let stream = Resumable::new(streams.last, outbox.clone(), self.memory.clone());
        let stream = Arc::new(stream);
        streams.kept.push_back(stream.clone());
        drop(guard);
        stream.read(None, self).ok()
    }

    /// Reads the standalone stream from now on.
    pub(super) fn listen(self: &Arc<Self>) -> Result<Reader, Gone> {
        self.standalone().read(None, self)
    }

    /// Resumes the stream of an event, after that event.
    pub(super) fn resume(self: &Arc<Self>, after: EventId) -> Result<Reader, Gone> {
        let stream = if after.stream == 0 {
            self.standalone()
        } else {
            let streams = self.streams();
            let mut kept = streams.iter().flat_map(|it| &it.kept);
            let found = kept.find(|it| it.number() == after.stream);
            found.cloned().ok_or(Gone::Unknown)?
        };
        stream.read(Some(after), self)
    }

    /// Ends the session: nothing more is sent, and running calls are cancelled.
    pub(super) fn close(&self) {
        self.stop();
        self.peer.cancel_all();
    }

    /// Lets the standalone stream end. Calls go on.
    pub(super) fn stop(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Keyed for Session {
    fn key(&self) -> &Key {
        &self.key
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use mcp_runtime_wire::{Parsed, parse};

    use super::{super::endpoint::Endpoint, *};
    use crate::{
        builder::{builder, items},
        call::context::{Carrier, Context},
        catalog::Tool,
        protocol::{Arrival, Era, Received, ReplyTo},
        server::{HttpSettings, Identity},
    };

    /// Measures a session after typical use, because a server needs this memory for each client that has not left.
    #[tokio::test]
    async fn an_idle_session_takes_little_memory() {
        let server =
            builder(Identity::new("test", None, "1.0.0", "")).items(items(&[])).build().unwrap();
        server.handle().add(Tool::new("echo").handler(async |_: Context| "hello")).unwrap();
        let started = server.start().await.unwrap();
        let endpoint = Endpoint::new(started, HttpSettings::default(), None);
        let session = endpoint.session(&Carrier::default()).unwrap();
        let revision = Revision::NEWEST_LEGACY.name();
        let open = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","clientInfo":{{"name":"c","version":"1"}},"capabilities":{{}}}}}}"#
        );
        let mut turn = Received::default();
        let mut said = String::new();
        for message in [
            &*open,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
        ] {
            let outbox = Arc::<Outbox>::default();
            let to = ReplyTo::each(outbox.clone());
            let arrival = Arrival { to, carrier: Carrier::default(), era: Era::OfRequest };
            let (limits, mut parsed) = (endpoint.limits().of_wire(), Parsed::default());
            let incoming = parse(message.as_bytes(), limits, &mut parsed).unwrap();
            session.peer.handle(&incoming, &arrival, &mut turn);
            let mut bytes = Vec::new();
            outbox.take(&mut bytes);
            said += str::from_utf8(&bytes).unwrap();
        }
        assert!(said.contains("hello") && said.contains("inputSchema"), "{said}");
        // Adds two counters and the allocator's overhead for each of three references. A slot in a table that is at least 7/16 full and an
        // entry among the receivers of list changes come on top.
        let around = 3 * (16 + 16) + 9 * 16 / 7 + 2 * 16;
        let bytes = size_of::<Session>() + session.peer.kept() + around;
        assert!(bytes <= 448, "{bytes}");
    }
}
