use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, Weak,
    atomic::{AtomicBool, Ordering, fence},
};

use crate::model::TaskView;

/// What clients can listen for.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    ToolsChanged,
    ResourcesChanged,
    PromptsChanged,
    ResourceUpdated(Arc<str>),
    TaskChanged(Arc<TaskView>),
    /// Users who were sent to this page are done there.
    UrlCompleted(Arc<str>),
}

/// What an event is about. Whoever has no interest in one is not asked about its events: of 10,000 sessions few have subscribed to
/// a resource, and nobody should wait for the others when it changes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Topic {
    /// Of these everybody hears who hears of anything.
    Lists,
    Resources,
    Tasks,
    Pages,
}

impl Event {
    fn topic(&self) -> Topic {
        match self {
            Self::ToolsChanged | Self::ResourcesChanged | Self::PromptsChanged => Topic::Lists,
            Self::ResourceUpdated(_) => Topic::Resources,
            Self::TaskChanged(_) => Topic::Tasks,
            Self::UrlCompleted(_) => Topic::Pages,
        }
    }
}

/// Somebody who passes events on to clients. Called on whatever thread the event happened on: it must not wait.
pub(crate) trait Listener: Send + Sync {
    fn notify(&self, event: &Event);

    /// The server stops: what only waits for events ends.
    fn stop(&self);
}

/// One bus for all events; sessions and listen streams are deliveries of it.
#[derive(Default)]
pub(crate) struct Bus {
    listeners: [Mutex<Vec<Weak<dyn Listener>>>; 4],
    is_stopped: AtomicBool,
}

impl Bus {
    fn listeners(&self, topic: Topic) -> MutexGuard<'_, Vec<Weak<dyn Listener>>> {
        self.listeners[topic as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be said once for each topic, and of [`Topic::Lists`] in any case.
    pub(crate) fn listen(&self, topic: Topic, listener: Weak<dyn Listener>) {
        let mut listeners = self.listeners(topic);
        // Those that are gone leave here, so that connections that come and go do not pile up; only when there is no room,
        // so that a thousand that come do not look at each other.
        if listeners.len() == listeners.capacity() {
            listeners.retain(|it| it.strong_count() > 0);
            let live = listeners.len();
            listeners.reserve(live + 1);
        }
        listeners.push(listener);
    }

    fn all(&self, topic: Topic) -> Vec<Arc<dyn Listener>> {
        let listeners = self.listeners(topic);
        listeners.iter().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn publish(&self, event: &Event) {
        for listener in self.all(event.topic()) {
            listener.notify(event);
        }
    }

    /// Whether a listener that comes now must stop by itself.
    pub(crate) fn is_stopped(&self) -> bool {
        // Who has just begun to listen either sees this or is seen by `stop`.
        fence(Ordering::SeqCst);
        self.is_stopped.load(Ordering::SeqCst)
    }

    #[cfg_attr(
        not(feature = "http"),
        allow(dead_code, reason = "elsewhere a connection ends as a whole")
    )]
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        for listener in self.all(Topic::Lists) {
            listener.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Listener for Heard {
        fn notify(&self, event: &Event) {
            self.0.lock().unwrap().push(format!("{event:?}"));
        }

        fn stop(&self) {
            self.0.lock().unwrap().push("stop".to_owned());
        }
    }

    #[test]
    fn only_who_has_an_interest_is_asked_and_everybody_stops_once() {
        fn check(topics: &[Topic], expected: &[&str]) {
            let (bus, heard) = (Bus::default(), Arc::new(Heard::default()));
            for topic in topics {
                let listener: Arc<dyn Listener> = heard.clone();
                bus.listen(*topic, Arc::downgrade(&listener));
            }
            for event in [
                Event::ToolsChanged,
                Event::ResourceUpdated("a:b".into()),
                Event::UrlCompleted("c:d".into()),
                Event::PromptsChanged,
            ] {
                bus.publish(&event);
            }
            bus.stop();
            assert_eq!(*heard.0.lock().unwrap(), expected, "{topics:?}");
        }
        check(&[Topic::Lists], &["ToolsChanged", "PromptsChanged", "stop"]);
        check(
            &[Topic::Lists, Topic::Resources, Topic::Tasks],
            &["ToolsChanged", r#"ResourceUpdated("a:b")"#, "PromptsChanged", "stop"],
        );
        check(
            &[Topic::Pages, Topic::Lists],
            &["ToolsChanged", r#"UrlCompleted("c:d")"#, "PromptsChanged", "stop"],
        );
    }
}
