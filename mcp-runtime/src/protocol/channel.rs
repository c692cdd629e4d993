use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{encode::related, outbox::Outbox, revision::Revision};
use crate::{
    call::context::{Channel, Report},
    model::Level,
    wire::{Object, notification},
};

/// Notification that carries log messages: of a session in the legacy era, of one request in the modern era.
const REQUEST_SCOPED_LOG: &str = "notifications/message";

/// Channel from a call to its client, for progress reports and log messages.
pub(super) struct CallChannel {
    outbox: Arc<Outbox>,
    slot: Arc<ProgressSlot>,
    resumes: bool,
    /// Whether the client wants progress reports. It may want log messages only.
    reports: bool,
}

/// Newest progress report of a call that has not been sent.
pub(crate) struct ProgressSlot {
    revision: Revision,
    /// Token as the client sent it: a number stays a number (rule C-16).
    token: Box<str>,
    /// Task that the reports belong to.
    task: Option<Arc<str>>,
    pending: Mutex<Option<Report>>,
}

impl CallChannel {
    pub(super) fn new(
        outbox: Arc<Outbox>,
        revision: Revision,
        token: Option<&str>,
        resumes: bool,
    ) -> Self {
        let slot = ProgressSlot {
            revision,
            token: token.unwrap_or("null").into(),
            task: None,
            pending: Mutex::new(None),
        };
        Self { outbox, slot: Arc::new(slot), resumes, reports: token.is_some() }
    }

    /// Turns this into the channel of a task, whose messages name the task.
    pub(super) fn of_task(self, task: Arc<str>) -> Self {
        let ProgressSlot { revision, token, .. } = &*self.slot;
        let (revision, token) = (*revision, token.clone());
        let slot = ProgressSlot { revision, token, task: Some(task), pending: Mutex::new(None) };
        Self { slot: Arc::new(slot), ..self }
    }

    pub(super) fn slot(&self) -> Arc<ProgressSlot> {
        self.slot.clone()
    }
}

impl Channel for CallChannel {
    fn release(&self, retry: Duration) {
        if self.resumes {
            self.outbox.release(retry);
        }
    }

    fn progress(&self, report: Report) {
        if !self.reports {
            return;
        }
        *self.slot.pending.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        self.outbox.push_report(&self.slot);
    }

    fn log(&self, level: Level, logger: &str, data: &str) {
        self.outbox.push_log(|out| {
            notification(out, REQUEST_SCOPED_LOG, |params| {
                params.str("level", level.name()).str("logger", logger).raw("data", data);
                self.slot.write_task(params);
            });
        });
    }
}

/// Channel of a call whose client wants neither reports nor log messages. The call can still end its stream early.
impl Channel for Outbox {
    fn release(&self, retry: Duration) {
        Outbox::release(self, retry);
    }

    fn progress(&self, _: Report) {}

    fn log(&self, _: Level, _: &str, _: &str) {}
}

impl ProgressSlot {
    /// Writes the newest report with its newline, if there is one.
    pub(super) fn write_pending(&self, out: &mut Vec<u8>) {
        let Some(report) = self.pending.lock().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return;
        };
        notification(out, "notifications/progress", |params| {
            params.raw("progressToken", &self.token).f64("progress", report.progress);
            if let Some(total) = report.total {
                params.f64("total", total);
            }
            if self.revision.features().progress_message {
                params.opt_str("message", report.message.as_deref());
            }
            self.write_task(params);
        });
        out.push(b'\n');
    }

    fn write_task(&self, params: &mut Object<'_>) {
        if let Some(task) = &self.task {
            related(&mut params.object("_meta"), task);
        }
    }
}
