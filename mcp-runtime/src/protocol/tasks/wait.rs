//! Waiting for a task in the older dialect: what it asks meanwhile goes out on the stream of whoever waits (TASK4-08).

use std::{
    future::{Future, poll_fn},
    sync::Arc,
    task::Poll,
};

use crate::{
    context::{Asker as _, Asking},
    model::{Answer, Done, TaskAnswer, TaskState},
    protocol::{call::ReplyTo, questions::Questioner, request::Terms, shared::Shared},
    task::Live,
};

pub(super) struct Waiting {
    pub(super) shared: Arc<Shared>,
    pub(super) to: ReplyTo,
    pub(super) terms: Terms,
    pub(super) id: Box<str>,
    pub(super) owner: Box<str>,
}

impl Waiting {
    /// What the call would have been answered with, when it is there.
    pub(super) async fn result(self) -> Answer {
        let tasks = self.shared.service.tasks.clone();
        if let Some(live) = tasks.live(&self.id, &self.owner) {
            self.answer_questions(&live).await;
            return Ok(Done::Task(TaskAnswer::Result(live.view())));
        }
        let view = tasks.view(&self.id, &self.owner).await?;
        if !matches!(view.state, TaskState::Ended(_)) {
            let text = "the task runs in another process: nobody here learns of its end";
            return Err(crate::error::Error::msg(text));
        }
        Ok(Done::Task(TaskAnswer::Result(view)))
    }

    /// Until the task has ended.
    async fn answer_questions(&self, live: &Arc<Live>) {
        let waiter = live.wait(self.terms.client.clone());
        let mut asked: Vec<(Box<str>, Asking)> = Vec::new();
        let mut ended = std::pin::pin!(live.until(|it| it.has_ended().then_some(())));
        loop {
            while let Some((key, question)) = waiter.claim() {
                let questioner = Questioner::new(self.shared.clone(), &self.to, self.terms.clone());
                let asking = questioner.of_task(live.id().clone()).ask(&key, question);
                asked.push((key, asking));
            }
            let mut more = std::pin::pin!(live.until(|_| waiter.has_more().then_some(())));
            let has_ended = poll_fn(|cx| {
                // What was withdrawn, or is somebody else's to ask now, is taken back at the client too.
                asked.retain(|(key, _)| waiter.holds(key));
                asked.retain_mut(|(key, asking)| match asking.as_mut().poll(cx) {
                    Poll::Ready(answer) => {
                        live.answer(key, answer);
                        false
                    }
                    Poll::Pending => true,
                });
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
