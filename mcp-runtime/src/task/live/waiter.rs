use std::sync::Arc;

use super::Live;
use crate::model::Question;

/// Somebody who waits for the end of a task, and can put its questions to a client. Whoever came last does: over HTTP a client
/// that has lost its stream looks like one that thinks, and comes again.
pub(crate) struct Waiter {
    live: Arc<Live>,
    number: u64,
}

impl Live {
    pub(crate) fn wait(self: &Arc<Self>) -> Waiter {
        let mut state = self.state();
        let number = state.waiters.last().map_or(1, |it| it + 1);
        state.waiters.push(number);
        drop(state);
        self.changed.notify_waiters();
        Waiter { live: self.clone(), number }
    }
}

impl Waiter {
    /// A question that this waiter is to put, and has not put yet. It holds it until it is answered, or somebody else waits.
    pub(crate) fn claim(&self) -> Option<(Box<str>, Question)> {
        let mut state = self.live.state();
        if state.waiters.last() != Some(&self.number) {
            return None;
        }
        let open = state.open.iter_mut().find(|it| it.claimed != Some(self.number))?;
        open.claimed = Some(self.number);
        Some((open.key.clone(), open.question.clone()))
    }

    /// Whether there is something to claim.
    pub(crate) fn has_more(&self) -> bool {
        let state = self.live.state();
        state.waiters.last() == Some(&self.number)
            && state.open.iter().any(|it| it.claimed != Some(self.number))
    }

    /// Whether the answer is this waiter's to bring still.
    pub(crate) fn holds(&self, key: &str) -> bool {
        let state = self.live.state();
        state.waiters.last() == Some(&self.number)
            && state.open.iter().any(|it| &*it.key == key && it.claimed == Some(self.number))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut state = self.live.state();
        state.waiters.retain(|it| *it != self.number);
        for open in &mut state.open {
            if open.claimed == Some(self.number) {
                open.claimed = None;
            }
        }
        drop(state);
        self.live.changed.notify_waiters();
    }
}
