use std::cell::RefCell;

use super::Context;

thread_local! {
    /// The call whose code runs on this thread, if its client wants log events.
    static CURRENT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Guard: log events on this thread belong to the call until it is dropped.
pub(crate) struct Scope {
    /// Value to restore, or `None` if nothing was changed.
    before: Option<Option<Context>>,
}

pub(crate) fn enter(context: &Context) -> Scope {
    if context.0.caller.log_level.is_none() {
        return Scope { before: None };
    }
    Scope { before: Some(CURRENT.replace(Some(context.clone()))) }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            CURRENT.set(before);
        }
    }
}

#[cfg(feature = "client-log")]
pub(crate) fn current() -> Option<Context> {
    // An event that is logged while the value is being replaced belongs to no call.
    CURRENT.with(|it| it.try_borrow().ok().and_then(|it| it.clone()))
}
