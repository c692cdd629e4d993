//! `tracing` subscriber that is built when the first event is logged, so that a server that logs nothing starts faster.

use std::sync::LazyLock;

use tracing::{
    Event, Metadata, Subscriber,
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
    subscriber::Interest,
};
use tracing_core::span::Current;

/// Placeholder for a subscriber that is built on first use. Building a subscriber takes longer than the rest of the server's start, so a
/// server that logs nothing never builds one.
///
/// `most` computes the most verbose enabled level without the subscriber, because `tracing` queries this level before the first event.
/// `tracing` discards more verbose events before they reach this type.
pub(super) struct LazySubscriber<S, F, M> {
    subscriber: LazyLock<S, F>,
    most: M,
}

impl<S, F: FnOnce() -> S, M: Fn() -> LevelFilter> LazySubscriber<S, F, M> {
    pub(super) fn new(make: F, most: M) -> Self {
        Self { subscriber: LazyLock::new(make), most }
    }
}

impl<S, F, M> Subscriber for LazySubscriber<S, F, M>
where
    S: Subscriber,
    F: FnOnce() -> S + Send + 'static,
    M: Fn() -> LevelFilter + Send + Sync + 'static,
{
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some((self.most)())
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        self.subscriber.register_callsite(metadata)
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.subscriber.enabled(metadata)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.subscriber.new_span(span)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.subscriber.record(span, values);
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.subscriber.record_follows_from(span, follows);
    }

    fn event_enabled(&self, event: &Event<'_>) -> bool {
        self.subscriber.event_enabled(event)
    }

    fn event(&self, event: &Event<'_>) {
        self.subscriber.event(event);
    }

    fn enter(&self, span: &Id) {
        self.subscriber.enter(span);
    }

    fn exit(&self, span: &Id) {
        self.subscriber.exit(span);
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.subscriber.clone_span(id)
    }

    fn try_close(&self, id: Id) -> bool {
        self.subscriber.try_close(id)
    }

    fn current_span(&self) -> Current {
        self.subscriber.current_span()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn the_subscriber_is_built_once_and_not_for_the_level_hint() {
        let made = &*Box::leak(Box::new(AtomicUsize::new(0)));
        let make = || {
            made.fetch_add(1, Ordering::SeqCst);
            tracing_subscriber::registry()
        };
        let subscriber = LazySubscriber::new(make, || LevelFilter::INFO);
        for _ in 0..2 {
            assert_eq!(subscriber.max_level_hint(), Some(LevelFilter::INFO));
        }
        assert_eq!(made.load(Ordering::SeqCst), 0);
        for _ in 0..2 {
            assert!(subscriber.current_span().into_inner().is_none());
        }
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn spans_are_those_of_the_subscriber() {
        let subscriber = LazySubscriber::new(tracing_subscriber::registry, || LevelFilter::INFO);
        tracing::subscriber::with_default(subscriber, || {
            let outer = tracing::info_span!("outer");
            let inner = outer.in_scope(|| tracing::info_span!("inner"));
            let current = || tracing::Span::current().metadata().map(tracing::Metadata::name);
            inner.in_scope(|| assert_eq!(current(), Some("inner")));
            assert_eq!(current(), None);
        });
    }
}
