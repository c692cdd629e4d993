//! The way from a call to a task.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context as Poller, Poll},
};

use super::{LiveTask, Tasks};
use crate::{
    call::context::{Caller, Context},
    dispatch::{Dispatched, Dispatcher, Pending},
    error::{Error, Result},
    model::{Answer, Done, TaskAnswer},
    unwind::{self, Panicked},
};

impl Tasks {
    /// Follows a call that may become a task until it has ended or has become one. With `always` a call that ends at once becomes a task
    /// too, and its client asks the task for the result.
    pub(crate) fn follow(
        self: &Arc<Self>,
        dispatcher: &Arc<Dispatcher>,
        live: Arc<LiveTask>,
        dispatched: Dispatched,
        always: bool,
    ) -> Dispatched {
        let tasks = self.clone();
        let work: Pin<Box<dyn Future<Output = Answer> + Send>> = match dispatched {
            Dispatched::Ready(answer) if !always => {
                live.set_share(None);
                return Dispatched::Ready(answer);
            }
            Dispatched::Ready(answer) => {
                Box::pin(async move { tasks.begin_ended(&live, answer).await })
            }
            Dispatched::Pending(mut pending) => Box::pin(async move {
                match poll_fn(|cx| until_due(&live, &mut pending, cx)).await {
                    None => tasks.begin(&live, pending).await,
                    Some(Some(answer)) if always => tasks.begin_ended(&live, answer).await,
                    Some(Some(answer)) => {
                        live.set_share(None);
                        answer
                    }
                    Some(None) => Err(Error::msg("cancelled")),
                }
            }),
        };
        // The call gets its own context, because that of the handler lives longer than the call.
        let context = Context::new(dispatcher.environment.clone(), Caller::default(), None);
        Dispatched::Pending(Pending::bare(work, context, dispatcher.settings))
    }

    /// Makes a task of a call that has an answer already, because its client wants to ask a task for the answer.
    async fn begin_ended(&self, live: &Arc<LiveTask>, answer: Answer) -> Answer {
        live.finish(Some(answer));
        live.set_share(None);
        self.put(live).await?;
        live.publish_end();
        Ok(Done::Task(TaskAnswer::Created(live.view())))
    }

    async fn begin(self: &Arc<Self>, live: &Arc<LiveTask>, pending: Pending) -> Answer {
        let mut abandoned = Abandoned { tasks: self, live, is_kept: true };
        let put = self.put(live).await;
        abandoned.is_kept = false;
        put?;
        self.run(live, pending);
        Ok(Done::Task(TaskAnswer::Created(live.view())))
    }

    /// Lets the task run on its own from here on.
    pub(super) fn run(self: &Arc<Self>, live: &Arc<LiveTask>, pending: Pending) {
        self.enter(live);
        live.set_task(pending.context());
        // The task must not use the store for longer than the server exists: another server may have taken over the store.
        let (tasks, live) = (Arc::downgrade(self), live.clone());
        tokio::spawn(async move {
            match live.origin.ttl {
                None => live.finish(pending.await),
                Some(ttl) => {
                    let left = live.origin.created.after(ttl).remaining();
                    match tokio::time::timeout(left, pending).await {
                        Ok(answer) => live.finish(answer),
                        Err(_) => drop(live.cancel("it has taken longer than it is kept")),
                    }
                }
            }
            let Some(tasks) = tasks.upgrade() else { return };
            tasks.settle(&live).await;
        });
    }

    /// Stores the end of a task, and only then lets clients see it. If the store rejects the end, clients see it as long as this process
    /// runs. Otherwise they would wait for a result that is there.
    pub(super) async fn settle(&self, live: &LiveTask) {
        let is_stored = self.put(live).await.is_ok();
        live.publish_end();
        if is_stored {
            self.leave(live);
        }
    }

    /// Puts the task into the store, as it is now.
    pub(super) async fn put(&self, live: &LiveTask) -> Result<()> {
        self.set_kept();
        let put = unwind::catch_async(|| self.store.put(live.kept())).await;
        // A panic counts as an error. Otherwise clients would never see the end of the task, and it would keep its share.
        let put = put.unwrap_or_else(|Panicked| Err(Error::internal("the task store panicked")));
        if let Err(why) = &put {
            tracing::error!(
                "task `{}` of `{}` cannot be kept: {}",
                live.origin.id,
                live.origin.tool,
                why.message()
            );
        }
        put
    }
}

/// Guard of a task that does not run yet, while the store writes it. If the client gives up the call meanwhile, the task is cancelled.
struct Abandoned<'a> {
    tasks: &'a Arc<Tasks>,
    live: &'a Arc<LiveTask>,
    is_kept: bool,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if self.is_kept
            && self.live.cancel("its call was cancelled")
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (tasks, live) = (self.tasks.clone(), self.live.clone());
            runtime.spawn(async move { tasks.put(&live).await });
        }
    }
}

/// Polls the handler until it has answered, or has to wait as a task.
fn until_due(
    live: &LiveTask,
    pending: &mut Pending,
    cx: &mut Poller<'_>,
) -> Poll<Option<Option<Answer>>> {
    match Pin::new(pending).poll(cx) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending if live.is_due() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    }
}
