use std::sync::{
    Arc, Mutex, PoisonError, Weak,
    atomic::{AtomicBool, Ordering},
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

/// Somebody who passes events on to clients. Called on whatever thread the event happened on: it must not wait.
pub(crate) trait Listener: Send + Sync {
    fn notify(&self, event: &Event);

    /// The server stops: what only waits for events ends.
    fn stop(&self);
}

/// One bus for all events; sessions and listen streams are deliveries of it.
#[derive(Default)]
pub(crate) struct Bus {
    listeners: Mutex<Vec<Weak<dyn Listener>>>,
    is_stopped: AtomicBool,
}

impl Bus {
    pub(crate) fn listen(&self, listener: Weak<dyn Listener>) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that are gone leave here, so that connections that come and go do not pile up; only when there is no room,
        // so that a thousand that come do not look at each other.
        if listeners.len() == listeners.capacity() {
            listeners.retain(|it| it.strong_count() > 0);
            let live = listeners.len();
            listeners.reserve(live + 1);
        }
        listeners.push(listener);
    }

    fn all(&self) -> Vec<Arc<dyn Listener>> {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn publish(&self, event: &Event) {
        for listener in self.all() {
            listener.notify(event);
        }
    }

    /// Whether a listener that comes now must stop by itself.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    #[cfg_attr(
        not(feature = "http"),
        allow(dead_code, reason = "elsewhere a connection ends as a whole")
    )]
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        for listener in self.all() {
            listener.stop();
        }
    }
}
