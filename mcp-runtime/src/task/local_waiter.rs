//! Requests that wait for the end of a task of this process, and the rule that decides which of them sends a question.

use std::sync::Arc;

use super::live::{LiveTask, LiveTaskState, OpenQuestion};
use crate::model::{ClientInfo, Question, TaskState, TaskView};

/// A client's request that waits for the end of a task, and can send the task's questions to the client. A question is sent by the newest
/// waiter whose client supports it. Over HTTP, the server cannot distinguish a client that lost its stream from a client that answers
/// slowly. A client that lost its stream sends a new request, so the newest waiter has a working stream.
pub(crate) struct Waiter {
    live: Arc<LiveTask>,
    number: u64,
}

impl Waiter {
    /// Returns a question that this waiter has to send and has not sent yet. The question belongs to this waiter until it is answered or a
    /// newer waiter takes over.
    pub(crate) fn claim(&self) -> Option<(Box<str>, Question)> {
        let mut state = self.live.state();
        let at = state.unclaimed(self.number, self.live.origin.is_shared)?;
        let open = &mut state.open[at];
        open.claimed = Some(self.number);
        Some((open.key.clone(), open.question.clone()))
    }

    /// Waits until the task is over. Returns its end, or `None` if another node has taken the task.
    pub(crate) async fn over(&self) -> Option<TaskView> {
        self.live.until(|task| (task.has_ended() || task.is_lost()).then_some(())).await;
        self.live.has_ended().then(|| self.live.view())
    }

    /// Waits until [`claim`](Self::claim) returns a question.
    pub(crate) async fn more(&self) {
        self.live.until(|_| self.has_more().then_some(())).await;
    }

    pub(super) fn live(&self) -> &Arc<LiveTask> {
        &self.live
    }

    /// Returns whether `claim` would return a question.
    pub(super) fn has_more(&self) -> bool {
        self.live.state().unclaimed(self.number, self.live.origin.is_shared).is_some()
    }

    /// Returns whether this waiter is still responsible for the answer to the question `key`.
    pub(crate) fn holds(&self, key: &str) -> bool {
        let state = self.live.state();
        let mut own = state.open.iter().filter(|open| open.claimed == Some(self.number));
        own.any(|open| &*open.key == key && state.must_put(self.number, &open.question))
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut state = self.live.state();
        state.waiters.retain(|waiter| waiter.0 != self.number);
        for open in &mut state.open {
            if open.claimed == Some(self.number) {
                open.claimed = None;
            }
        }
        drop(state);
        self.live.changed.notify_waiters();
    }
}

impl LiveTask {
    /// Registers a client that waits for the end of the task.
    pub(crate) fn wait(self: &Arc<Self>, client: Arc<ClientInfo>) -> Waiter {
        let mut state = self.state();
        let number = state.waiters.last().map_or(1, |last| last.0 + 1);
        state.waiters.push((number, client));
        drop(state);
        self.changed.notify_waiters();
        Waiter { live: self.clone(), number }
    }
}

impl LiveTaskState {
    /// Returns whether clients may see the question. If several nodes share the store, the question must be stored first.
    fn shows(&self, open: &OpenQuestion, is_shared: bool) -> bool {
        let Some(TaskState::InputRequired(shown)) = self.shown.as_ref().map(|view| &view.state)
        else {
            return !is_shared;
        };
        shown.iter().any(|(key, _)| *key == open.key)
    }

    /// Returns the position of a question that this waiter has to send and has not sent yet.
    fn unclaimed(&self, number: u64, is_shared: bool) -> Option<usize> {
        self.open.iter().position(|open| {
            open.claimed != Some(number)
                && self.must_put(number, &open.question)
                && self.shows(open, is_shared)
        })
    }

    /// Returns whether this waiter has to send the question, because it is the newest waiter whose client supports the question.
    fn must_put(&self, number: u64, question: &Question) -> bool {
        let mut able =
            self.waiters.iter().rev().filter(|waiter| question.missing(&waiter.1, true).is_empty());
        able.next().is_some_and(|waiter| waiter.0 == number)
    }
}
