//! Waiting for a task in the older dialect: what it asks meanwhile goes out on the stream of whoever waits (TASK4-08).

use std::{
    future::{Future, poll_fn},
    sync::Arc,
    task::{Context, Poll, Waker},
};

use crate::{
    context::{Asker as _, Asking},
    model::{Answer, Done, TaskAnswer, TaskState},
    protocol::{call::ReplyTo, questions::Questioner, request::Terms, shared::Shared},
    task::{Live, Viewer, Waiter},
};

pub(super) struct Waiting {
    pub(super) shared: Arc<Shared>,
    pub(super) to: ReplyTo,
    pub(super) terms: Terms,
    pub(super) id: Box<str>,
    pub(super) viewer: Viewer,
}

impl Waiting {
    /// What the call would have been answered with, when it is there.
    pub(super) async fn result(self) -> Answer {
        let tasks = self.shared.service.tasks.clone();
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

    /// Until the task has ended.
    async fn answer_questions(&self, live: &Arc<Live>) {
        let waiter = live.wait(self.terms.client.clone());
        let mut asked = Asked { waiter: &waiter, live, asking: Vec::new() };
        let mut ended = std::pin::pin!(live.until(|it| it.has_ended().then_some(())));
        loop {
            while let Some((key, question)) = waiter.claim() {
                let questioner = Questioner::new(self.shared.clone(), &self.to, self.terms.clone());
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

/// The questions that one who waits has put to the client.
struct Asked<'a> {
    waiter: &'a Waiter,
    live: &'a Arc<Live>,
    asking: Vec<(Box<str>, Asking)>,
}

impl Asked<'_> {
    /// Hands over what has been answered. The user has said it once, whoever would put the question now; why there is no answer
    /// counts only from who still waits and is to bring it.
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
        // What was withdrawn, or is somebody else's to ask now, is taken back at the client too.
        asking.retain(|(key, _)| waiter.holds(key));
    }
}

impl Drop for Asked<'_> {
    /// An answer may have come just before the client gave the waiting up.
    fn drop(&mut self) {
        self.poll(&mut Context::from_waker(Waker::noop()), false);
    }
}
