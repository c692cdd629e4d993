//! How much one server takes upon itself. Each limit has an answer of its own when it is passed.

mod callers;
mod gate;
mod pace;
mod reservation;
mod room;
mod shares;
mod stats;
mod tally;
mod turnstile;

use std::time::Duration;

pub(crate) use callers::Who;
pub(crate) use gate::{Gate, Permit, Wanted};
pub(crate) use reservation::Reservation;
pub(crate) use room::{Room, Taken};
pub(crate) use shares::{Capacity, NoShare, Pool, Share, Shares, Tenant};
pub use stats::{ItemStats, Stats};
pub use tally::Limit;
pub(crate) use tally::Tally;
#[cfg(feature = "auth-server")]
pub(crate) use turnstile::Turnstile;

use crate::wire;

/// Size in bytes above which a message counts for the limits of all clients. For smaller messages the shared counter would cost too much.
pub(crate) const LARGE: usize = 64 << 10;

/// How much a server takes, from one client and from all of them together: [`Builder::limits`](crate::Builder::limits).
///
/// What goes beyond a limit is answered with an error that names it; nothing is queued without bound.
/// [`Handle::stats`](crate::Handle::stats) counts it.
///
/// The limits of all clients together (`all_calls`, `all_streams`, `connections`, `sessions`, `tasks`, `all_subscription_bytes`,
/// `all_state`) are shared fairly. The last eighth of each limit is a reserve: from there a client gets more only while it has less than is left. So one client alone gets at most
/// seven eighths. A limit below 8 has no reserve.
///
/// A client is a [`Principal`](crate::Principal). If none is known, it is an address: behind a proxy that `trust_proxy` names, the address of
/// the caller. Otherwise it is the connection.
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
    pub(crate) all_answers: usize,
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
    pub(crate) write_time: Duration,
    pub(crate) keep_alive: Duration,
    pub(crate) grace: Duration,
    pub(crate) question_time: Duration,
    pub(crate) state: usize,
    pub(crate) all_state: usize,
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
            all_answers: 1 << 30,
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
            write_time: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            grace: Duration::from_secs(5),
            question_time: Duration::from_secs(600),
            state: 64 << 10,
            all_state: 64 << 20,
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
        /// Connections over HTTP that are open at once. Default: 16,384. On Unix at most three quarters of the descriptors that
        /// the process may open (`ulimit -n`).
        ///
        /// Beyond the limit a new connection takes the place of the connection that has waited longest for its client: for a
        /// request, for a body, or for the client to read. While the server works for every connection, health checks are
        /// answered and all other requests are refused with 503. A client that keeps seven eighths of the connections, with calls
        /// that wait and with streams, is refused with 503 so that other clients find room.
        connections: usize;
        /// Bytes of all large messages together: HTTP bodies that are being read, and requests of all transports whose calls
        /// run. Default: 1 GiB.
        ///
        /// A message of more than 64 KiB counts with its bytes on the wire, until its call ends. Beyond the limit an HTTP request
        /// is refused with 503, and a call on another transport with an error.
        all_bodies: usize;
        /// Bytes of all large HTTP answers together that clients have not read yet. Default: 1 GiB.
        ///
        /// An answer of more than 64 KiB counts with all of its bytes, until the last one is written. Beyond the limit the server
        /// closes connections whose clients do not read, beginning with the client that has read nothing for longest. If these
        /// connections hold too little, a 503 replaces the new answer, and a stream of events ends.
        all_answers: usize;
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
        /// Sessions over HTTP of all clients together. Default: 16,384.
        ///
        /// When all are taken, the client with the most sessions makes room for a client with less than an equal part. Only sessions
        /// end that nothing uses at the time, beginning with the one with the oldest last use.
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
        /// Time after which a connection over HTTP is closed whose client reads nothing while an answer waits for it. It may take a
        /// quarter longer. A client that reads slowly keeps its connection. Default: 60 seconds.
        write_time: Duration;
        /// How long a stream over HTTP stays silent before a comment shows that it lives. 15 seconds.
        keep_alive: Duration;
        /// How long a person may think about a question before it is taken back, in the revisions where the call waits. 10 minutes.
        question_time: Duration;
        /// Bytes that a call may keep between its rounds (2026-07-28). 64 KiB.
        state: usize;
        /// Bytes that the process keeps between the rounds of calls, of all clients together (protocol revision 2026-07-28): the state
        /// of each round, and 256 bytes. Default: 64 MiB.
        ///
        /// One client has at most seven eighths of them. A client without room loses its own oldest rounds, and has to begin those
        /// calls again. With `.state_key(…)` the process keeps no state, and this limit has no effect.
        all_state: usize;
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
            ("all_answers", self.all_answers == 0),
            ("body_time", self.body_time.is_zero()),
            ("write_time", self.write_time.is_zero()),
            ("question_time", self.question_time.is_zero()),
            ("all_state", self.all_state == 0),
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
