//! How a call becomes a task.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context as Poller, Poll},
};

use tokio::sync::oneshot;

use super::{Live, Tasks, tasks::Running};
use crate::{
    context::{Caller, Context},
    dispatch::{Dispatched, Dispatcher, Pending},
    error::{Error, Result},
    model::{Answer, Done, TaskAnswer},
};

impl Tasks {
    /// Takes a call that may become a task to where it has ended or is one. Whether a call that ends at once becomes a task
    /// all the same, which its client then asks for the end, `always` says.
    pub(crate) fn follow(
        self: &Arc<Self>,
        dispatcher: &Arc<Dispatcher>,
        live: Arc<Live>,
        dispatched: Dispatched,
        always: bool,
    ) -> Dispatched {
        let tasks = self.clone();
        let work: Pin<Box<dyn Future<Output = Answer> + Send>> = match dispatched {
            Dispatched::Ready(answer) if !always => return Dispatched::Ready(answer),
            Dispatched::Ready(answer) => {
                Box::pin(async move { tasks.begin_ended(&live, answer).await })
            }
            Dispatched::Pending(mut pending) => Box::pin(async move {
                match poll_fn(|cx| until_due(&live, &mut pending, cx)).await {
                    None => tasks.begin(&live, pending).await,
                    Some(Some(answer)) if always => tasks.begin_ended(&live, answer).await,
                    Some(Some(answer)) => answer,
                    Some(None) => Err(Error::msg("cancelled")),
                }
            }),
        };
        // A context of its own: that of the handler lives longer than the call.
        let context = Context::new(dispatcher.environment.clone(), Caller::default(), None);
        Dispatched::Pending(Pending::bare(work, context, dispatcher.settings))
    }

    /// The call has an answer, but its client wants to ask a task for it.
    async fn begin_ended(&self, live: &Arc<Live>, answer: Answer) -> Answer {
        live.finish(Some(answer));
        self.put(live).await?;
        Ok(Done::Task(TaskAnswer::Created(live.view())))
    }

    /// Moves the handler into a task of its own. A call that is cancelled meanwhile takes the task with it, kept or not.
    async fn begin(self: &Arc<Self>, live: &Arc<Live>, pending: Pending) -> Answer {
        let (begun, told) = oneshot::channel();
        let (tasks, task) = (self.clone(), live.clone());
        tokio::spawn(async move {
            if let Err(why) = tasks.put(&task).await {
                let _ = begun.send(Err(why));
                return;
            }
            let running = tasks.enter(&task);
            task.set_task(pending.context());
            if begun.send(Ok(task.view())).is_err() {
                task.cancel("its call was cancelled");
            }
            tasks.run(&task, pending, running).await;
        });
        let view = told.await.map_err(Error::internal)??;
        Ok(Done::Task(TaskAnswer::Created(view)))
    }

    /// Takes up one that has been kept already.
    pub(super) fn resume(self: &Arc<Self>, live: &Arc<Live>, pending: Pending) {
        let running = self.enter(live);
        live.set_task(pending.context());
        let (tasks, live) = (self.clone(), live.clone());
        tokio::spawn(async move { tasks.run(&live, pending, running).await });
    }

    /// To its end, which is kept.
    async fn run(&self, live: &Live, pending: Pending, running: Running) {
        match live.ttl {
            None => live.finish(pending.await),
            Some(ttl) => {
                let left = live.created.after(ttl).remaining();
                match tokio::time::timeout(left, pending).await {
                    Ok(answer) => live.finish(answer),
                    Err(_) => drop(live.cancel("it has taken longer than it is kept")),
                }
            }
        }
        drop(running);
        if self.put(live).await.is_ok() {
            self.leave(live);
        }
    }

    /// Puts what there is of it into the store.
    pub(super) async fn put(&self, live: &Live) -> Result<()> {
        let put = self.store.put(live.kept()).await;
        if let Err(why) = &put {
            tracing::error!(
                "task `{}` of `{}` cannot be kept: {}",
                live.id,
                live.tool,
                why.message()
            );
        }
        put
    }
}

/// Polls the handler until it has answered, or has to wait as a task.
fn until_due(
    live: &Live,
    pending: &mut Pending,
    cx: &mut Poller<'_>,
) -> Poll<Option<Option<Answer>>> {
    match Pin::new(pending).poll(cx) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending if live.is_due() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    }
}
