//! Limits of a server, per client and for all clients together. A request beyond a limit fails with an error that names the limit.

mod caller;
mod gate;
mod leases;
mod rate_limiter;
mod reservation;
mod shared_gate;
mod shared_stats;
mod shares;
mod stats;

use std::time::Duration;

#[doc(hidden)]
pub use caller::CallerKey;
pub(crate) use gate::{Closed, EnteringCall, ItemGate, Permit, RateConfig};
#[cfg(feature = "auth")]
#[doc(hidden)]
pub use rate_limiter::RateLimiter;
pub(crate) use reservation::{ByteBudget, Reservation, TakenBytes};
pub(crate) use shared_gate::SharedLimits;
#[cfg(feature = "http")]
pub(crate) use shared_stats::{ALL_SESSIONS, SESSIONS};
pub use shared_stats::{SharedItemStats, SharedStats};
pub(crate) use shares::{Capacity, NoShare, Pool, Share, Shares, Tenant};
#[doc(hidden)]
pub use stats::RefusalCounters;
pub use stats::{ItemStats, Limit, Stats};

pub use crate::model::Rate;

use mcp_runtime_wire as wire;

/// Size in bytes above which a message counts toward the byte limits that all clients share. For smaller messages, updating the shared
/// counter would cost too much.
pub(crate) const LARGE: usize = 64 << 10;

/// Limits of a server, for each client and for all clients together.
///
/// Pass them to [`Builder::limits`](crate::Builder::limits). A request beyond a limit fails with an error that names the limit, and
/// [`Handle::stats`](crate::Handle::stats) counts the failure. No queue grows without bound. For limits of a single tool, resource or
/// prompt, see [`Rate`] and [`Builder::concurrency`](crate::Builder::concurrency).
///
/// All clients share the limits `max_total_calls`, `all_streams`, `connections`, `sessions`, `tasks`, `all_subscription_bytes` and
/// `all_state` fairly. The last eighth of each of these limits is a reserve. A client can take from the reserve only while it holds less
/// than what is left of the limit, so a single client gets at most seven eighths. A limit below 8 has no reserve.
///
/// The server tells clients apart by their [`Principal`](crate::auth::Principal). Clients without a principal are told apart by their
/// address. Behind a proxy that `trust_proxy` names, this is the address of the caller, not the address of the proxy. Without an address,
/// each connection counts as a client.
///
/// ```
/// use mcp_runtime::limits::Limits;
///
/// let server = mcp_runtime::server!().limits(Limits::new().message(1 << 20).calls(64));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub(crate) message: usize,
    pub(crate) depth: usize,
    pub(crate) batch: usize,
    pub(crate) calls: usize,
    pub(crate) max_total_calls: usize,
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
    pub(crate) connection_idle: Duration,
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
    /// Returns the default limits.
    pub const fn new() -> Self {
        Self {
            message: 16 << 20,
            depth: 128,
            batch: 100,
            calls: 1024,
            max_total_calls: 16_384,
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
            connection_idle: Duration::from_secs(150),
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
        /// Sets the maximum size of a message in bytes: a line on stdio, a body over HTTP. Default: 16 MiB.
        message: usize;
        /// Sets the maximum nesting of arrays and objects in a message. Default: 128.
        depth: usize;
        /// Sets the maximum number of messages in a batch. Only protocol revision 2025-03-26 has batches. Default: 100.
        batch: usize;
        /// Sets the maximum number of calls of one connection or session that wait for their handlers at the same time. Default: 1,024.
        calls: usize;
        /// Sets the maximum number of calls of all clients together that wait for their handlers at the same time. Default: 16,384.
        max_total_calls: usize;
        /// Sets the maximum size in bytes of the client information (`clientInfo`) and the capabilities that a client sends, together.
        /// Default: 64 KiB.
        client: usize;
        /// Sets the maximum number of open connections over HTTP. Default: 16,384. On Unix the limit is at most three quarters of the
        /// descriptors that the process may open (`ulimit -n`).
        ///
        /// Beyond the limit, a new connection replaces the connection that has waited longest for its client. A connection waits for its
        /// client if the server expects a request or a body, or if the client does not read. If the server is working for all connections,
        /// none can be replaced. The server then answers health checks, and rejects all other requests with 503.
        ///
        /// The waiting calls and the streams of one client can occupy seven eighths of the connections. The server rejects further requests
        /// of this client with 503, so that other clients can still connect.
        connections: usize;
        /// Sets the maximum size in bytes of all large messages together: HTTP bodies being read, and requests on any transport whose calls
        /// are still running. Default: 1 GiB.
        ///
        /// A message of more than 64 KiB counts with its size on the wire, until its call ends. Beyond the limit, the server rejects an
        /// HTTP request with 503, and a call on another transport with an error.
        all_bodies: usize;
        /// Sets the maximum size in bytes of all large HTTP responses together that clients have not read yet. Default: 1 GiB.
        ///
        /// A response of more than 64 KiB counts with all of its bytes, until the last byte is written. Beyond the limit, the server closes
        /// connections whose clients do not read, beginning with the client that has read nothing for longest. If this could not free
        /// enough bytes, the server closes none of them. A 503 then replaces the new response, and a stream of events ends.
        all_answers: usize;
        /// Sets the maximum size in bytes of all URIs together that a session, or the listen streams of a connection, subscribe to.
        /// Default: 1 MiB.
        subscription_bytes: usize;
        /// Sets the maximum size in bytes of the subscriptions of all clients together. Each subscription counts as twice the length of its
        /// URI plus 128 bytes. Default: 256 MiB.
        all_subscription_bytes: usize;
        /// Sets the maximum length of a URI in a subscription, in bytes. Default: 8 KiB.
        uri: usize;
        /// Sets the maximum number of resources that a session, or the listen streams of a connection together, may subscribe to. Default:
        /// 4,096.
        subscriptions: usize;
        /// Sets the maximum number of streams of one connection or session that are open or can still be resumed. Default: 64.
        streams: usize;
        /// Sets the maximum number of open streams of all clients together: streams of sessions and listen streams. Default: 4,096.
        all_streams: usize;
        /// Sets the maximum number of sessions over HTTP of all clients together. Default: 16,384.
        ///
        /// At the limit, a client that has less than an equal share of the sessions can still open one. The server then ends a session of
        /// the client with the most sessions: the least recently used of its sessions that are not in use.
        sessions: usize;
        /// Sets the idle time after which a session ends. Default: 30 minutes.
        session_idle: Duration;
        /// Sets the maximum number of events that a stream keeps for a client that reconnects. Default: 256.
        events: usize;
        /// Sets the maximum size of the events that a stream keeps for a client that reconnects, in bytes. Default: 1 MiB.
        event_bytes: usize;
        /// Sets the maximum size of the kept events of all streams together, in bytes. Beyond the limit, streams cannot be resumed.
        /// Default: 256 MiB.
        all_event_bytes: usize;
        /// Sets the maximum size of the head of an HTTP request, in bytes. Default: 64 KiB. A head has at most 100 headers.
        head: usize;
        /// Sets the maximum time for the head of an HTTP request to arrive, and for its body after that. Default: 30 seconds.
        ///
        /// The time for the head begins with its first byte, and on a new connection when the server accepts the connection. The server may
        /// close the connection up to a quarter of the time later.
        body_time: Duration;
        /// Sets the time after which the server closes an HTTP connection that receives no further request. Default: 150 seconds.
        ///
        /// A proxy in front of the server must close idle connections first. Otherwise it may send a POST at the moment when the server closes
        /// the connection, and has to answer its client with 502, because it must not repeat a POST. The default is longer than the time for
        /// which proxies usually keep such connections: 60 seconds in nginx and AWS load balancers, 90 seconds in Traefik, and 2 minutes in
        /// Caddy. The load balancers of Google Cloud keep them for 10 minutes, so set 620 seconds behind them.
        ///
        /// An idle connection takes a file descriptor and some memory. If there are too many [`connections`](Self::connections), the one that
        /// has been idle for longest is closed for a new one. The server may close a connection later by up to a quarter of the shortest of
        /// this limit, [`body_time`](Self::body_time) and [`write_time`](Self::write_time).
        connection_idle: Duration;
        /// Sets the time after which the server closes an HTTP connection whose client reads nothing while a response waits. Default: 60
        /// seconds.
        ///
        /// The server may close the connection up to a quarter of this time later. A client that reads slowly keeps its connection.
        write_time: Duration;
        /// Sets how long an HTTP stream may be silent before the server sends a comment, which shows that the stream is alive. Default: 15
        /// seconds.
        keep_alive: Duration;
        /// Sets how long the server waits for the response to an elicitation, sampling or roots request, in the protocol revisions in which
        /// the call itself waits. After that time the server cancels the request. Default: 10 minutes. For 2026-07-28, see
        /// [`Builder::state_lifetime`](crate::Builder::state_lifetime).
        question_time: Duration;
        /// Sets the maximum size in bytes of the state that a call keeps between its rounds (protocol revision 2026-07-28). A round ends
        /// when the call needs input from the client, and the next one begins when the client repeats the call with the input. Default: 64
        /// KiB.
        state: usize;
        /// Sets the maximum size in bytes of the states that the process keeps between the rounds of calls, for all clients together
        /// (protocol revision 2026-07-28). Each round counts as the size of its state plus 256 bytes. Default: 64 MiB.
        ///
        /// One client gets at most seven eighths of this size. If a client needs more than it can get, the server drops the oldest states
        /// of this client, and the client has to begin those calls again. With `.state_key(…)`, and with a store that several servers
        /// share, the process keeps no state, and this limit has no effect.
        all_state: usize;
        /// Sets the maximum number of running tasks and of calls that may become a task, for all clients together. Default: 1,024.
        tasks: usize;
        /// Sets the maximum number of running tasks of one [`Principal`](crate::auth::Principal), if the caller is known. Default: 256.
        owner_tasks: usize;
        /// Sets how long a task is kept after its creation, if its tool sets no time. Clients may request a shorter time. Default: 1 hour.
        task_ttl: Duration;
        /// Sets the interval at which the server asks clients to poll a task, if the tool sets no interval. Default: 1 second.
        task_poll: Duration;
        /// Sets how long running calls have to finish when the server stops. Default: 5 seconds.
        grace: Duration;
    }
}

impl Limits {
    /// Returns the names of the limits that are zero but must be positive, because the server could answer no request with them. Other
    /// limits may be zero, for example to allow no streams.
    pub(crate) fn that_let_nothing_through(&self) -> impl Iterator<Item = &'static str> {
        let zeros = [
            ("message", self.message == 0),
            ("depth", self.depth == 0),
            ("calls", self.calls == 0),
            ("max_total_calls", self.max_total_calls == 0),
            ("client", self.client == 0),
            ("all_bodies", self.all_bodies == 0),
            ("all_answers", self.all_answers == 0),
            ("body_time", self.body_time.is_zero()),
            ("connection_idle", self.connection_idle.is_zero()),
            ("write_time", self.write_time.is_zero()),
            ("question_time", self.question_time.is_zero()),
            ("all_state", self.all_state == 0),
        ];
        zeros.into_iter().filter(|(_, is_zero)| *is_zero).map(|(name, _)| name)
    }

    pub(crate) fn of_wire(&self) -> wire::ParseLimits {
        wire::ParseLimits { depth: self.depth, batch: self.batch }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
