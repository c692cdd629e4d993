//! Events of the catalog and of tasks, and the listeners that pass them on to clients.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, Ordering, fence},
    },
};

use crate::model::TaskView;

/// Event that clients can listen for.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    ToolsChanged,
    ResourcesChanged,
    PromptsChanged,
    ResourceUpdated(Arc<str>),
    TaskChanged(Arc<TaskView>),
    /// A user has completed the URL-mode elicitation with this URL.
    UrlCompleted(Arc<str>),
}

/// Subject of an event. Each listener is registered only for the topics that it needs, so that an event does not visit all listeners. For
/// example, if only a few of 10,000 sessions have subscribed to resources, an update of a resource visits only these few.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Topic {
    /// Changes of lists. Every listener is registered for this topic.
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

/// Receiver that passes events on to clients. Its methods run on the thread that publishes the event, so they must not block.
pub(crate) trait Listener: Send + Sync {
    fn notify(&self, event: &Event);

    /// Adds the URIs of the resources that the clients of this listener are subscribed to.
    fn add_subscribed(&self, uris: &mut BTreeSet<String>);

    /// Returns whether the clients of this listener follow the task with this id.
    fn follows_task(&self, id: &str) -> bool;

    /// Called when the server stops. Implementations end the streams that only wait for events.
    fn stop(&self);
}

/// Function that sends an event to all nodes, this one included. It returns `false` for an event that concerns only this node.
pub(super) type Relay = Box<dyn Fn(&Event) -> bool + Send + Sync>;

/// Bus for all events. Sessions and listen streams are its listeners.
#[derive(Default)]
pub(crate) struct Bus {
    /// Set if the server has several nodes.
    relay: OnceLock<Relay>,
    listeners: [Mutex<Vec<Weak<dyn Listener>>>; 4],
    is_stopped: AtomicBool,
}

impl Bus {
    fn listeners(&self, topic: Topic) -> MutexGuard<'_, Vec<Weak<dyn Listener>>> {
        self.listeners[topic as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a listener to a topic. Each listener must be added once to each of its topics, and always to [`Topic::Lists`].
    pub(crate) fn listen(&self, topic: Topic, listener: Weak<dyn Listener>) {
        let mut listeners = self.listeners(topic);
        // Removes dropped listeners, so that they do not accumulate. This is done only when the vector is full, because otherwise each new
        // listener would cause a check of all others.
        if listeners.len() == listeners.capacity() {
            listeners.retain(|listener| listener.strong_count() > 0);
            let live = listeners.len();
            listeners.reserve(live + 1);
        }
        listeners.push(listener);
    }

    fn all(&self, topic: Topic) -> Vec<Arc<dyn Listener>> {
        let listeners = self.listeners(topic);
        listeners.iter().filter_map(Weak::upgrade).collect()
    }

    pub(super) fn set_relay(&self, relay: Relay) {
        let _ = self.relay.set(relay);
    }

    /// Notifies the listeners of an event. If the relay takes the event, each node, this one included, notifies its listeners when it reads
    /// the event from the log of messages.
    pub(crate) fn publish(&self, event: &Event) {
        if !self.relay.get().is_some_and(|relay| relay(event)) {
            self.deliver(event);
        }
    }

    /// Notifies the listeners of this node.
    pub(super) fn deliver(&self, event: &Event) {
        for listener in self.all(event.topic()) {
            listener.notify(event);
        }
    }

    /// Reports an update of every resource that a client of this node is subscribed to. Called when messages about updates were lost.
    pub(super) fn deliver_all_updates(&self) {
        for listener in self.all(Topic::Resources) {
            let mut uris = BTreeSet::new();
            listener.add_subscribed(&mut uris);
            for uri in uris {
                listener.notify(&Event::ResourceUpdated(uri.into()));
            }
        }
    }

    /// Returns whether clients of this node follow the task with this id.
    pub(crate) fn follows_task(&self, id: &str) -> bool {
        self.all(Topic::Tasks).iter().any(|listener| listener.follows_task(id))
    }

    /// Returns whether the bus has stopped. `stop` does not reach a listener that is added later, so code that adds a listener calls this
    /// method afterwards.
    pub(crate) fn is_stopped(&self) -> bool {
        // Pairs with the fence in `stop`: a listener that was just added either sees this flag or is stopped by `stop`.
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

        fn add_subscribed(&self, uris: &mut BTreeSet<String>) {
            uris.extend(["a:b", "c:d"].map(str::to_owned));
        }

        fn follows_task(&self, _: &str) -> bool {
            false
        }

        fn stop(&self) {
            self.0.lock().unwrap().push("stop".to_owned());
        }
    }

    #[test]
    fn lost_updates_are_made_up_for_by_an_update_of_every_subscribed_resource() {
        let (bus, heard) = (Bus::default(), Arc::new(Heard::default()));
        let listener: Arc<dyn Listener> = heard.clone();
        bus.listen(Topic::Resources, Arc::downgrade(&listener));
        bus.deliver_all_updates();
        let expected = [r#"ResourceUpdated("a:b")"#, r#"ResourceUpdated("c:d")"#];
        assert_eq!(*heard.0.lock().unwrap(), expected);
    }

    #[test]
    fn a_listener_is_notified_only_of_its_topics_and_stopped_once() {
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
