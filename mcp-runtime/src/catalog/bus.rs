use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What clients can listen for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    ToolsChanged,
    ResourcesChanged,
    PromptsChanged,
    ResourceUpdated(Arc<str>),
}

/// Somebody who passes events on to clients. Called on whatever thread the event happened on: it must not wait.
pub(crate) trait Listener: Send + Sync {
    fn notify(&self, event: &Event);
}

/// One bus for all events; sessions and listen streams are deliveries of it.
#[derive(Default)]
pub(crate) struct Bus {
    listeners: Mutex<Vec<Weak<dyn Listener>>>,
}

impl Bus {
    pub(crate) fn listen(&self, listener: Weak<dyn Listener>) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that are gone leave here, so that connections that come and go do not pile up.
        listeners.retain(|it| it.strong_count() > 0);
        listeners.push(listener);
    }

    pub(crate) fn publish(&self, event: &Event) {
        let listeners: Vec<_> = {
            let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.iter().filter_map(Weak::upgrade).collect()
        };
        for listener in listeners {
            listener.notify(event);
        }
    }
}
