//! How much one server takes upon itself. Each limit has an answer of its own when it is passed.

mod callers;
mod gate;
mod pace;
#[cfg(feature = "http")]
mod room;
mod shares;
mod stats;
mod tally;
mod turnstile;

use std::time::Duration;

pub(crate) use callers::Who;
pub(crate) use gate::{Gate, Permit, Wanted};
#[cfg(feature = "http")]
pub(crate) use room::{Room, Taken};
pub(crate) use shares::{Capacity, NoShare, Pool, Share, Shares, Tenant};
pub use stats::{ItemStats, Stats};
pub use tally::Limit;
pub(crate) use tally::Tally;
#[cfg(feature = "auth-server")]
pub(crate) use turnstile::Turnstile;

use crate::wire;

/// How much a server takes, from one client and from all of them together: [`Builder::limits`](crate::Builder::limits).
///
/// What goes beyond a limit is answered with an error that names it; nothing is queued without bound.
/// [`Handle::stats`](crate::Handle::stats) counts it.
///
/// Limits of all clients together (`all_calls`, `all_streams`, `sessions`, `tasks`, `all_subscription_bytes`) are shared fairly. From the last
/// eighth of each, a client gets more only as long as it has less than is left, so a client alone has at most seven eighths. A client is a
/// [`Principal`](crate::Principal), else an address (behind a proxy named with `trust_proxy`, the address of the caller), else
/// the connection. A limit below 8 has no such reserve.
///
/// ```
/// use mcp_runtime::Limits;
///
/// let server = mcp_runtime::server!().limits(Limits::new().message(1 << 20).calls(64));
/// # let _ = server;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub(crate) message: usize,
    pub(crate) depth: usize,
    pub(crate) batch: usize,
    pub(crate) calls: usize,
    pub(crate) all_calls: usize,
    pub(crate) uri: usize,
    pub(crate) client: usize,
    pub(crate) connections: usize,
    pub(crate) all_bodies: usize,
    pub(crate) subscription_bytes: usize,
    pub(crate) all_subscription_bytes: usize,
    pub(crate) subscriptions: usize,
    pub(crate) streams: usize,
    pub(crate) all_streams: usize,
    pub(crate) sessions: usize,
    pub(crate) session_idle: Duration,
    pub(crate) events: usize,
    pub(crate) event_bytes: usize,
    pub(crate) all_event_bytes: usize,
    pub(crate) head: usize,
    pub(crate) body_time: Duration,
    pub(crate) keep_alive: Duration,
    pub(crate) grace: Duration,
    pub(crate) question_time: Duration,
    pub(crate) state: usize,
    pub(crate) tasks: usize,
    pub(crate) owner_tasks: usize,
    pub(crate) task_ttl: Duration,
    pub(crate) task_poll: Duration,
}

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $name;
            self
        }
    )*};
}

impl Limits {
    /// The usual ones.
    pub const fn new() -> Self {
        Self {
            message: 16 << 20,
            depth: 128,
            batch: 100,
            calls: 1024,
            all_calls: 16_384,
            uri: 8 << 10,
            client: 64 << 10,
            connections: 16_384,
            all_bodies: 1 << 30,
            subscription_bytes: 1 << 20,
            all_subscription_bytes: 256 << 20,
            subscriptions: 4096,
            streams: 64,
            all_streams: 4096,
            sessions: 16_384,
            session_idle: Duration::from_secs(30 * 60),
            events: 256,
            event_bytes: 1 << 20,
            all_event_bytes: 256 << 20,
            head: 64 << 10,
            body_time: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
            grace: Duration::from_secs(5),
            question_time: Duration::from_secs(600),
            state: 64 << 10,
            tasks: 1024,
            owner_tasks: 256,
            task_ttl: Duration::from_secs(60 * 60),
            task_poll: Duration::from_secs(1),
        }
    }

    limits! {
        /// Bytes of one message: a line on stdio, a body over HTTP. 16 MiB.
        message: usize;
        /// Arrays and objects inside one another in a message. 128.
        depth: usize;
        /// Messages in one array, in the revision that has those. 100.
        batch: usize;
        /// Calls of one connection or session that wait at once. 1,024.
        calls: usize;
        /// Calls of all clients together that wait at once. 16,384.
        all_calls: usize;
        /// Bytes in which a client says who it is and what it can do. 64 KiB.
        client: usize;
        /// Connections over HTTP that are open at once; more have to wait for one to end. 16,384.
        connections: usize;
        /// Bytes of all HTTP bodies together that are being read, or being worked on; more are answered with 503. 1 GiB.
        all_bodies: usize;
        /// Bytes of all URIs that a session, or the listen streams of a connection, may subscribe to. 1 MiB.
        subscription_bytes: usize;
        /// Bytes that the subscriptions of all clients together take: twice each URI, and 128. 256 MiB.
        all_subscription_bytes: usize;
        /// Bytes of a URI that is subscribed to. 8 KiB.
        uri: usize;
        /// Resources that a session, or all listen streams of a connection, may subscribe to. 4,096.
        subscriptions: usize;
        /// Streams of one connection or session that are open at once, or can still be resumed. 64.
        streams: usize;
        /// Streams of sessions and listen streams that are open, of all clients together. 4,096.
        all_streams: usize;
        /// Sessions over HTTP. Where they run out, the client with the most of them makes room for a client with less than an equal part: those of
        /// its sessions end that nothing uses now and that were not used for longest. 16,384.
        sessions: usize;
        /// How long a session is kept that nobody uses. 30 minutes.
        session_idle: Duration;
        /// Events that a stream keeps for a client that comes back. 256.
        events: usize;
        /// Bytes of those events. 1 MiB.
        event_bytes: usize;
        /// Bytes of such events of all streams together: beyond them streams cannot be resumed. 256 MiB.
        all_event_bytes: usize;
        /// Bytes of the head of an HTTP request, 8 KiB at least. 64 KiB, and no more than 100 headers.
        head: usize;
        /// How long an HTTP request may take to arrive, its head and its body each; a connection that waits for one as long is
        /// closed, at most a quarter of it later. 30 seconds.
        body_time: Duration;
        /// How long a stream over HTTP stays silent before a comment shows that it lives. 15 seconds.
        keep_alive: Duration;
        /// How long a person may think about a question before it is taken back, in the revisions where the call waits. 10 minutes.
        question_time: Duration;
        /// Bytes that a call may keep between its rounds (2026-07-28). 64 KiB.
        state: usize;
        /// Tasks of all clients together that run at once, and calls that may become one. 1,024.
        tasks: usize;
        /// Tasks of one [`Principal`](crate::Principal) that run at once, where it is known who calls. 256.
        owner_tasks: usize;
        /// How long a task is kept, from when it was made, where its tool says nothing. Clients may ask for less. 1 hour.
        task_ttl: Duration;
        /// How often clients are told to look at a task, where its tool says nothing. 1 second.
        task_poll: Duration;
        /// How long calls that run may take to finish when the server stops. 5 seconds.
        grace: Duration;
    }
}

impl Limits {
    /// Those that are zero where zero does not mean "none of these", but that no client is ever answered.
    pub(crate) fn that_let_nothing_through(&self) -> impl Iterator<Item = &'static str> {
        let zeros = [
            ("message", self.message == 0),
            ("depth", self.depth == 0),
            ("calls", self.calls == 0),
            ("all_calls", self.all_calls == 0),
            ("client", self.client == 0),
            ("all_bodies", self.all_bodies == 0),
            ("body_time", self.body_time.is_zero()),
            ("question_time", self.question_time.is_zero()),
        ];
        zeros.into_iter().filter(|it| it.1).map(|it| it.0)
    }

    pub(crate) fn of_wire(&self) -> wire::Limits {
        wire::Limits { depth: self.depth, batch: self.batch }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
