//! Waits for the end of a task in the older dialect. Questions of the task go out on the stream of the request that waits (rule TASK4-08).

use std::{
    future::{Future, poll_fn},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use crate::{
    call::context::{Asker as _, Asking},
    model::{Answer, Done, TaskAnswer, TaskState},
    protocol::{call::ReplyTo, questions::Questioner, request::Terms, shared::PeerState},
    task::{LiveTask, Viewer, Waiter},
};

pub(super) struct TaskWait {
    pub(super) state: Arc<PeerState>,
    pub(super) to: ReplyTo,
    pub(super) terms: Terms,
    pub(super) id: Box<str>,
    pub(super) viewer: Viewer,
}

impl TaskWait {
    /// Waits until the task has ended, and returns the result that its call would have had.
    pub(super) async fn result(self) -> Answer {
        let tasks = self.state.service.tasks.clone();
        if let Some(live) = tasks.live(&self.id, &self.viewer) {
            self.answer_questions(&live).await;
            return Ok(Done::Task(TaskAnswer::Result(live.view())));
        }
        let view = tasks.view(&self.id, &self.viewer).await?;
        if !matches!(view.state, TaskState::Ended(_)) {
            let text = "the task runs in another process: nobody here learns of its end";
            return Err(crate::error::Error::msg(text));
        }
        Ok(Done::Task(TaskAnswer::Result(view)))
    }

    /// Puts the questions of the task to the client, until the task has ended.
    async fn answer_questions(&self, live: &Arc<LiveTask>) {
        let waiter = live.wait(self.terms.client.clone());
        let mut asked = TaskQuestions { waiter: &waiter, live, asking: Vec::new() };
        let mut ended = std::pin::pin!(live.until(|it| it.has_ended().then_some(())));
        loop {
            while let Some((key, question)) = waiter.claim() {
                let questioner = Questioner::new(self.state.clone(), &self.to, self.terms.clone());
                let asking = questioner.of_task(live.id().clone()).ask(&key, question);
                asked.asking.push((key, asking));
            }
            let mut more = std::pin::pin!(live.until(|_| waiter.has_more().then_some(())));
            let has_ended = poll_fn(|cx| {
                asked.poll(cx, true);
                if ended.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(true);
                }
                more.as_mut().poll(cx).map(|()| false)
            })
            .await;
            if has_ended {
                return;
            }
        }
    }
}

/// Questions that a waiting request has put to its client.
struct TaskQuestions<'a> {
    waiter: &'a Waiter,
    live: &'a Arc<LiveTask>,
    asking: Vec<(Box<str>, Asking)>,
}

impl TaskQuestions<'_> {
    /// Hands over the answers that have come. An answer counts even if another waiter would put the question now, because the user has
    /// given it. An error counts only while this waiter waits and holds the question.
    fn poll(&mut self, cx: &mut Context<'_>, waits: bool) {
        let Self { waiter, live, asking } = self;
        asking.retain_mut(|(key, asking)| match asking.as_mut().poll(cx) {
            Poll::Ready(answer) => {
                if answer.is_ok() || (waits && waiter.holds(key)) {
                    live.answer(key, answer);
                }
                false
            }
            Poll::Pending => true,
        });
        // Cancels the questions that were withdrawn, or that another waiter puts now. The client is told.
        asking.retain(|(key, _)| waiter.holds(key));
    }
}

impl Drop for TaskQuestions<'_> {
    /// Hands over an answer that has come just before the client stopped waiting.
    fn drop(&mut self) {
        self.poll(&mut Context::from_waker(Waker::noop()), false);
    }
}
