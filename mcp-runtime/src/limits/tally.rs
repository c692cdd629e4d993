//! What was refused, and why.

use std::{
    fmt,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

macro_rules! limit {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Something that a server refuses more of: one of the [`Limits`](crate::Limits), of what an item says of itself, or of those that
        /// `AuthorizationServer` has.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Limit { $($(#[$doc])* $variant,)* }

        impl Limit {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name, which is that of the setting where there is one.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

limit! {
    /// Messages that were too long.
    Message = "message",
    /// Messages that were too deep.
    Depth = "depth",
    /// Arrays of too many messages.
    Batch = "batch",
    /// Calls beyond those that one connection or session may have.
    Calls = "calls",
    /// Calls beyond those that all clients together may have.
    AllCalls = "all_calls",
    /// URIs that were too long to subscribe to.
    Uri = "uri",
    /// Clients that say too much of themselves.
    Client = "client",
    /// Connections that were closed to make room, or refused, because there were too many.
    Connections = "connections",
    /// HTTP bodies and calls for which there was no room beside other large messages.
    AllBodies = "all_bodies",
    /// HTTP answers for which there was no room beside unread answers.
    AllAnswers = "all_answers",
    /// Subscriptions that were too long together.
    SubscriptionBytes = "subscription_bytes",
    /// Subscriptions for which there was no room beside others.
    AllSubscriptionBytes = "all_subscription_bytes",
    /// Subscriptions that were too many.
    Subscriptions = "subscriptions",
    /// Streams beyond those that one connection or session may have: listen streams, which are refused, and those of sessions, which
    /// cannot be resumed then.
    Streams = "streams",
    /// The same, beyond those that all clients together may have.
    AllStreams = "all_streams",
    /// Messages of HTTP+SSE, whose client has not read its stream for too long.
    EventBytes = "event_bytes",
    /// Streams of sessions that could not be resumed, because what came after the event that was named is not kept any more.
    Events = "events",
    /// Sessions.
    Sessions = "sessions",
    /// Heads of HTTP requests that were too long.
    Head = "head",
    /// HTTP bodies that took too long.
    BodyTime = "body_time",
    /// Connections whose clients did not read their answers for too long.
    WriteTime = "write_time",
    /// Questions that were taken back, because nobody answered.
    QuestionTime = "question_time",
    /// Calls that had to keep too much between their rounds.
    State = "state",
    /// Rounds of calls that made room for others before they had expired.
    AllState = "all_state",
    /// Tasks of all clients together.
    Tasks = "tasks",
    /// Tasks of one principal.
    OwnerTasks = "owner_tasks",
    /// Calls that came too often for their item.
    Rate = "rate",
    /// Calls beyond those of their item that may run at once.
    Concurrency = "concurrency",
    /// Attempts to log in beyond those that one authorization, or one address, may have.
    LoginAttempts = "login_attempts",
    /// Authorizations that were begun too often from one address, or had to give way to others while nobody had decided yet.
    Authorizations = "authorizations",
    /// Clients that registered themselves too often from one address.
    Registrations = "registrations",
    /// Clients for which there was no room, or that were forgotten for others before anybody had used them.
    RegisteredClients = "registered_clients",
    /// Clients whose metadata was to be looked up too often from one address, or while too many others were.
    ClientDocuments = "client_documents",
    /// Codes for which there was no room.
    Codes = "codes",
    /// Logins for which there was no room, or that ended because their user had too many.
    Logins = "logins",
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The counters of a server.
pub(crate) struct Tally {
    counts: [Count; Limit::ALL.len()],
    since: OnceLock<Instant>,
}

#[derive(Default)]
struct Count {
    refused: AtomicU64,
    /// When it was last said aloud, in milliseconds since the first time that anything was; one more than that, so that 0 is never.
    said: AtomicU64,
}

// Arrays of more than 32 elements have no `Default`, so it cannot be derived.
impl Default for Tally {
    fn default() -> Self {
        let counts = std::array::from_fn(|_| Count::default());
        Self { counts, since: OnceLock::new() }
    }
}

impl Tally {
    /// Of what is refused over and over, one is said aloud in so long a time: a flood of refusals is no flood of the log.
    const QUIET: Duration = Duration::from_secs(10);

    /// Something is refused, and said to be: nothing that came from the client.
    #[cold]
    pub(crate) fn refuse(&self, limit: Limit) {
        self.refuse_of(limit, format_args!("the server"));
    }

    /// The same, of an item.
    #[cold]
    pub(crate) fn refuse_of(&self, limit: Limit, of: impl fmt::Display) {
        let count = &self.counts[limit as usize];
        let refused = count.refused.fetch_add(1, Ordering::Relaxed) + 1;
        let name = limit.name();
        if self.is_loud(count) {
            tracing::warn!(limit = name, refused, "`{name}` of {of} has refused something");
        } else {
            tracing::debug!(limit = name, refused, "`{name}` of {of} has refused something");
        }
    }

    fn is_loud(&self, count: &Count) -> bool {
        let since = self.since.get_or_init(Instant::now).elapsed().as_millis();
        let now = u64::try_from(since).unwrap_or(u64::MAX).saturating_add(1);
        let quiet = Self::QUIET.as_secs() * 1000;
        let is_due = |said: u64| (said == 0 || now.saturating_sub(said) >= quiet).then_some(now);
        count.said.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_due).is_ok()
    }

    pub(crate) fn refused(&self, limit: Limit) -> u64 {
        self.counts[limit as usize].refused.load(Ordering::Relaxed)
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
        let tally = Tally::default();
        tally.refuse(Limit::Concurrency);
        tally.refuse(Limit::Message);
        let counted = Limit::ALL.iter().filter(|it| tally.refused(**it) == 1);
        assert_eq!(counted.copied().collect::<Vec<_>>(), [Limit::Message, Limit::Concurrency]);
    }

    /// Remembers events as their level and what they say.
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
    async fn each_refusal_is_one_event_and_few_are_loud() {
        let (log, tally) = (Log::default(), Tally::default());
        let _guard = tracing::subscriber::set_default(log.clone());
        for _ in 0..100 {
            tally.refuse(Limit::Calls);
        }
        tally.refuse_of(Limit::Rate, "the tool `add`");
        tokio::time::advance(Duration::from_secs(10)).await;
        tally.refuse(Limit::Calls);
        let log = log.0.lock().unwrap();
        assert_eq!(log.len(), 102);
        let loud: Vec<_> = log.iter().filter(|it| it.0 == Level::WARN).map(|it| &*it.1).collect();
        let calls = "`calls` of the server has refused something";
        assert_eq!(loud, [calls, "`rate` of the tool `add` has refused something", calls]);
    }
}
