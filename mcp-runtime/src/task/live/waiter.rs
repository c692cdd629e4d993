use std::sync::Arc;

use super::{LiveTask, LiveTaskState};
use crate::model::{ClientInfo, Question};

/// A client's request that waits for the end of a task, and can put the questions of the task to the client. Of the waiters whose clients
/// can be asked, the last one puts them. The reason: over HTTP a client that has lost its stream looks like one that thinks, and comes
/// again.
pub(crate) struct Waiter {
    live: Arc<LiveTask>,
    number: u64,
}

impl LiveTask {
    pub(crate) fn wait(self: &Arc<Self>, client: Arc<ClientInfo>) -> Waiter {
        let mut state = self.state();
        let number = state.waiters.last().map_or(1, |it| it.0 + 1);
        state.waiters.push((number, client));
        drop(state);
        self.changed.notify_waiters();
        Waiter { live: self.clone(), number }
    }
}

impl LiveTaskState {
    /// Whether this waiter has to put the question.
    fn is_to_put(&self, waiter: u64, question: &Question) -> bool {
        let mut able =
            self.waiters.iter().rev().filter(|it| question.missing(&it.1, true).is_empty());
        able.next().is_some_and(|it| it.0 == waiter)
    }
}

impl Waiter {
    /// Returns a question that this waiter has to put and has not put yet. The waiter holds the question until it is answered or another
    /// waiter comes.
    pub(crate) fn claim(&self) -> Option<(Box<str>, Question)> {
        let mut state = self.live.state();
        let at = state.open.iter().position(|it| {
            it.claimed != Some(self.number) && state.is_to_put(self.number, &it.question)
        })?;
        let open = &mut state.open[at];
        open.claimed = Some(self.number);
        Some((open.key.clone(), open.question.clone()))
    }

    /// Whether there is a question to claim.
    pub(crate) fn has_more(&self) -> bool {
        let state = self.live.state();
        state
            .open
            .iter()
            .any(|it| it.claimed != Some(self.number) && state.is_to_put(self.number, &it.question))
    }

    /// Whether this waiter still has to bring the answer.
    pub(crate) fn holds(&self, key: &str) -> bool {
        let state = self.live.state();
        let mut own = state.open.iter().filter(|it| it.claimed == Some(self.number));
        own.any(|it| &*it.key == key && state.is_to_put(self.number, &it.question))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut state = self.live.state();
        state.waiters.retain(|it| it.0 != self.number);
        for open in &mut state.open {
            if open.claimed == Some(self.number) {
                open.claimed = None;
            }
        }
        drop(state);
        self.live.changed.notify_waiters();
    }
}
