//! Counters of refusals, one for each limit, and the statistics that a server reads from them.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use crate::storage::StoreStats;

macro_rules! limit {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Limit whose refusals [`Stats`] counts.
        ///
        /// A limit is one of the [`Limits`](crate::limits::Limits), a limit that an item declares, or a limit of the
        /// `AuthorizationServer` of the crate `mcp-runtime-authorization-server`.
        ///
        /// ```
        /// use mcp_runtime::limits::Limit;
        ///
        /// assert_eq!(Limit::MaxTotalCalls.name(), "max_total_calls");
        /// assert!(Limit::ALL.contains(&Limit::Rate));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Limit { $($(#[$doc])* $variant,)* }

        impl Limit {
            /// All limits.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name of the limit, which is the name of its setting if there is one.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

limit! {
    /// Messages that were too long.
    Message = "message",
    /// Messages that were nested too deeply.
    Depth = "depth",
    /// Batches with too many messages.
    Batch = "batch",
    /// Calls beyond the limit of one connection or session.
    Calls = "calls",
    /// Calls beyond the limit of all clients together.
    MaxTotalCalls = "max_total_calls",
    /// URIs that were too long to subscribe to.
    Uri = "uri",
    /// Clients that sent too much data about themselves and their capabilities.
    Client = "client",
    /// Connections that were refused, or closed in favour of new connections, because there were too many.
    Connections = "connections",
    /// HTTP bodies and calls that were refused because all large messages together were too large.
    AllBodies = "all_bodies",
    /// HTTP responses that were refused because all unread responses together were too large.
    AllAnswers = "all_answers",
    /// Subscriptions whose URIs were too long in total.
    SubscriptionBytes = "subscription_bytes",
    /// Subscriptions that were refused because those of all clients together were too large.
    AllSubscriptionBytes = "all_subscription_bytes",
    /// Subscriptions beyond the limit of one session, or of the listen streams of one connection.
    Subscriptions = "subscriptions",
    /// Streams beyond the limit of one connection or session. A listen stream is refused. A stream of a session cannot be resumed.
    Streams = "streams",
    /// Streams beyond the limit of all clients together.
    AllStreams = "all_streams",
    /// HTTP+SSE messages that were refused because their client had not read its stream for too long.
    EventBytes = "event_bytes",
    /// Streams of sessions that could not be resumed, because the server had dropped the events that the client had missed.
    Events = "events",
    /// Sessions beyond the limit of all clients together.
    Sessions = "sessions",
    /// Heads of HTTP requests that were too long.
    Head = "head",
    /// HTTP bodies that took too long.
    BodyTime = "body_time",
    /// Connections whose clients did not read their responses for too long.
    WriteTime = "write_time",
    /// Elicitation, sampling and roots requests that were cancelled because no answer came in time.
    QuestionTime = "question_time",
    /// Calls whose state between two rounds was too large.
    State = "state",
    /// Call states that were not stored, or that were dropped before they had expired, because the states of all clients together were too
    /// large.
    AllState = "all_state",
    /// Tasks beyond the limit of all clients together.
    Tasks = "tasks",
    /// Tasks beyond the limit of one principal.
    OwnerTasks = "owner_tasks",
    /// Calls beyond the `rate` of their item.
    Rate = "rate",
    /// Calls beyond the `concurrency` of their item.
    Concurrency = "concurrency",
    /// Login attempts beyond the limit of one authorization or one address.
    LoginAttempts = "login_attempts",
    /// Authorizations that were begun too often from one address, or that were dropped in favour of newer ones before a user had decided.
    Authorizations = "authorizations",
    /// Clients that registered themselves too often from one address.
    Registrations = "registrations",
    /// Clients that could not be registered because there were too many, or that were dropped in favour of newer ones before their first
    /// use, or long after their last use.
    RegisteredClients = "registered_clients",
    /// Lookups of client metadata that came too often from one address, or while too many others were running.
    ClientDocuments = "client_documents",
    /// Authorization codes that were refused because there were too many.
    Codes = "codes",
    /// Logins that were refused because there were too many, or that ended because their user had too many.
    Logins = "logins",
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Refusal counters of a server.
pub struct RefusalCounters {
    counts: [RefusalCounter; Limit::ALL.len()],
    since: OnceLock<Instant>,
}

#[derive(Default)]
struct RefusalCounter {
    refused: AtomicU64,
    /// Time of the last warning, in milliseconds since the first refusal, plus one. 0 means that no warning has been logged yet.
    warned: AtomicU64,
}

// `Default` cannot be derived, because arrays of more than 32 elements do not implement it.
impl Default for RefusalCounters {
    fn default() -> Self {
        let counts = std::array::from_fn(|_| RefusalCounter::default());
        Self { counts, since: OnceLock::new() }
    }
}

impl RefusalCounters {
    /// Minimum time between two warnings about the same limit, so that a flood of refusals does not flood the log.
    const WARNING_PAUSE: Duration = Duration::from_secs(10);

    /// Counts and logs a refusal. The log contains no text from the client.
    #[cold]
    pub(crate) fn refuse(&self, limit: Limit) {
        self.refuse_of(limit, format_args!("the server"));
    }

    /// Counts and logs a refusal. `of` names the item or the server that refused.
    #[cold]
    pub fn refuse_of(&self, limit: Limit, of: impl fmt::Display) {
        let count = &self.counts[limit as usize];
        let refused = count.refused.fetch_add(1, Ordering::Relaxed) + 1;
        let name = limit.name();
        if self.is_warning_due(count) {
            tracing::warn!(limit = name, refused, "the limit `{name}` of {of} was reached");
        } else {
            tracing::debug!(limit = name, refused, "the limit `{name}` of {of} was reached");
        }
    }

    fn is_warning_due(&self, count: &RefusalCounter) -> bool {
        let since = self.since.get_or_init(Instant::now).elapsed().as_millis();
        let now = u64::try_from(since).unwrap_or(u64::MAX).saturating_add(1);
        let pause = Self::WARNING_PAUSE.as_secs() * 1000;
        let is_due =
            |warned: u64| (warned == 0 || now.saturating_sub(warned) >= pause).then_some(now);
        count.warned.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_due).is_ok()
    }

    /// Returns the number of refusals of a limit.
    pub fn refused(&self, limit: Limit) -> u64 {
        self.counts[limit as usize].refused.load(Ordering::Relaxed)
    }
}

/// Counts of the calls and the refusals of a server.
///
/// [`Handle::stats`](crate::Handle::stats) returns them. The refusals are those of the [`Limits`](crate::limits::Limits), of items with a
/// `rate` or a `concurrency`, and of an `AuthorizationServer`, which limits for example login attempts and registrations.
///
/// The counts are those of this server. Servers that share a store refuse calls by common limits, but each counts its own refusals.
///
/// The counters are read one after another, so two numbers may come from slightly different times.
///
/// ```
/// use mcp_runtime::{limits::Limit, prelude::*};
///
/// /// How busy the server is.
/// #[tool]
/// fn load(server: Handle) -> String {
///     let stats = server.stats();
///     format!(
///         "{} calls wait, {} were too many",
///         stats.calls(),
///         stats.refused(Limit::MaxTotalCalls)
///     )
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct Stats {
    pub(crate) calls: usize,
    pub(crate) refused: Vec<(Limit, u64)>,
    pub(crate) items: Vec<ItemStats>,
    pub(crate) store: Option<StoreStats>,
}

/// Counts of the refusals of one item that has a `rate` or a `concurrency`.
///
/// [`Stats::items`] returns them.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Names the items that are called too often.
/// #[tool]
/// fn busy_items(server: Handle) -> String {
///     let stats = server.stats();
///     let busy = stats.items().iter().filter(|item| item.too_often() > 0);
///     busy.map(|item| item.name()).collect::<Vec<_>>().join(", ")
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct ItemStats {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) rate: u64,
    pub(crate) concurrency: u64,
}

impl Stats {
    /// Returns the number of calls of all clients together that currently wait for their handlers.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Returns the number of refusals by this limit since the server started.
    pub fn refused(&self, limit: Limit) -> u64 {
        self.refused.iter().find(|(of, _)| *of == limit).map_or(0, |(_, count)| *count)
    }

    /// Returns every limit, with the number of its refusals.
    pub fn all_refused(&self) -> impl Iterator<Item = (Limit, u64)> {
        self.refused.iter().copied()
    }

    /// Returns the counts of the current items that have a `rate` or a `concurrency`.
    pub fn items(&self) -> &[ItemStats] {
        &self.items
    }

    /// Returns the counts of the requests to the store. `None` if the store is not shared by several servers.
    pub fn store(&self) -> Option<&StoreStats> {
        self.store.as_ref()
    }
}

impl ItemStats {
    /// Returns the kind of the item: `"tool"`, `"resource"` or `"prompt"`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the name of the item.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of calls that the `rate` has refused because they came too often.
    pub fn too_often(&self) -> u64 {
        self.rate
    }

    /// Returns the number of calls that the `concurrency` has refused because too many others were running.
    pub fn too_many(&self) -> u64 {
        self.concurrency
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::{
        Event, Level, Metadata, Subscriber,
        field::{Field, Visit},
        span,
    };

    use super::*;

    #[test]
    fn each_limit_has_a_counter_of_its_own() {
        for (at, limit) in Limit::ALL.iter().enumerate() {
            assert_eq!(*limit as usize, at, "{limit}");
        }
        let counters = RefusalCounters::default();
        counters.refuse(Limit::Concurrency);
        counters.refuse(Limit::Message);
        let counted = Limit::ALL.iter().filter(|limit| counters.refused(**limit) == 1);
        assert_eq!(counted.copied().collect::<Vec<_>>(), [Limit::Message, Limit::Concurrency]);
    }

    /// Records the level and the message of each event.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<(Level, String)>>>);

    struct Said(String);

    impl Visit for Said {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            if field.name() == "message" {
                self.0 = format!("{value:?}");
            }
        }
    }

    impl Subscriber for Log {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut said = Said(String::new());
            event.record(&mut said);
            self.0.lock().unwrap().push((*event.metadata().level(), said.0));
        }

        fn enter(&self, _: &span::Id) {}

        fn exit(&self, _: &span::Id) {}
    }

    #[tokio::test(start_paused = true)]
    async fn each_refusal_is_one_event_and_few_are_warnings() {
        let (log, counters) = (Log::default(), RefusalCounters::default());
        let _guard = tracing::subscriber::set_default(log.clone());
        for _ in 0..100 {
            counters.refuse(Limit::Calls);
        }
        counters.refuse_of(Limit::Rate, "the tool `add`");
        tokio::time::advance(Duration::from_secs(10)).await;
        counters.refuse(Limit::Calls);
        let log = log.0.lock().unwrap();
        assert_eq!(log.len(), 102);
        let loud: Vec<_> =
            log.iter().filter(|event| event.0 == Level::WARN).map(|event| &*event.1).collect();
        let calls = "the limit `calls` of the server was reached";
        assert_eq!(loud, [calls, "the limit `rate` of the tool `add` was reached", calls]);
    }
}
