use std::{sync::Arc, time::Duration};

use super::LiveTask;
use crate::{
    call::context::{Asker, Asking, Beginning, Caller, Channel, Report, TaskBegin},
    error::{Error, Result},
    model::{Level, NeedInput, Question},
};

/// Connection of a handler to its client. Before the task begins it is that of the call, after that the one of the task.
pub(crate) struct TaskRoute {
    pub(crate) live: Arc<LiveTask>,
    /// Asker and channel of the call, for the time before the task begins.
    pub(crate) asker: Option<Arc<dyn Asker>>,
    pub(crate) channel: Option<Arc<dyn Channel>>,
    /// Channel for reports after the task has begun. Reports also set the message of the task.
    pub(crate) after: Option<Arc<dyn Channel>>,
}

impl TaskRoute {
    pub(crate) fn new(live: Arc<LiveTask>) -> Self {
        Self { live, asker: None, channel: None, after: None }
    }

    /// Routes the questions and reports of a call through this way, whether or not the item can ask and the client takes reports. A task
    /// has a status in any case, and asks on its own.
    pub(crate) fn lead(self, caller: Caller) -> Caller {
        let way = Arc::new(self);
        Caller {
            asker: Some(way.clone()),
            channel: Some(way.clone()),
            task: Some(way),
            wants_progress: true,
            ..caller
        }
    }

    /// Returns the asker of the call, for a task that the handler begins and has not begun yet.
    fn before(&self) -> Option<&Arc<dyn Asker>> {
        self.asker.as_ref().filter(|_| self.live.begins_later() && !self.live.is_task())
    }

    fn channel(&self) -> Option<&Arc<dyn Channel>> {
        if self.live.is_task() { self.after.as_ref() } else { self.channel.as_ref() }
    }
}

impl Asker for TaskRoute {
    fn ask(&self, key: &str, question: Question) -> Asking {
        match self.before() {
            Some(asker) => asker.ask(key, question),
            None => self.live.ask(key, question),
        }
    }

    fn done(&self, key: &str) -> Option<Box<str>> {
        self.asker.as_ref()?.done(key)
    }

    fn set_done(&self, key: &str, json: Box<str>) {
        if let Some(asker) = self.before() {
            asker.set_done(key, json);
        }
    }

    fn hold(&self) {
        if let Some(asker) = self.before() {
            asker.hold();
        }
    }

    fn release(&self) {
        if let Some(asker) = self.before() {
            asker.release();
        }
    }

    fn fail(&self, error: Error) {
        if let Some(asker) = self.before() {
            asker.fail(error);
        }
    }

    fn begin(&self) -> Result<()> {
        self.asker.as_ref().map_or(Ok(()), |it| it.begin())
    }

    fn need_input(&self) -> Result<Option<NeedInput>> {
        self.before().map_or(Ok(None), |it| it.need_input())
    }

    fn is_resumed(&self) -> bool {
        self.asker.as_ref().is_some_and(|it| it.is_resumed())
    }

    fn is_waiting(&self) -> bool {
        self.live.is_waiting() || self.before().is_some_and(|it| it.is_waiting())
    }
}

impl Channel for TaskRoute {
    fn release(&self, retry: Duration) {
        if let Some(channel) = self.channel() {
            channel.release(retry);
        }
    }

    fn progress(&self, report: Report) {
        self.live.report(&report);
        if let Some(channel) = self.channel() {
            channel.progress(report);
        }
    }

    fn log(&self, level: Level, logger: &str, data: &str) {
        if let Some(channel) = self.channel() {
            channel.log(level, logger, data);
        }
    }
}

impl TaskBegin for TaskRoute {
    fn begin_task(&self) -> Beginning {
        let live = self.live.clone();
        live.want();
        Box::pin(async move { live.until(|it| it.is_task().then_some(())).await })
    }

    fn has_begun(&self) -> bool {
        self.live.is_task()
    }
}
