use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{encode::REQUEST_SCOPED_LOG, outbox::Outbox, revision::Revision};
use crate::{
    context::{Channel, Report},
    model::Level,
    wire::notification,
};

/// The way back of one call: its reports and log messages.
pub(super) struct CallChannel {
    outbox: Arc<Outbox>,
    slot: Arc<ProgressSlot>,
    resumes: bool,
}

/// The newest report of a call that has not gone out.
pub(crate) struct ProgressSlot {
    revision: Revision,
    /// As it came: a number stays a number (C-16).
    token: Box<str>,
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
            pending: Mutex::new(None),
        };
        Self { outbox, slot: Arc::new(slot), resumes }
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
        *self.slot.pending.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        self.outbox.push_report(&self.slot);
    }

    fn log(&self, level: Level, logger: &str, data: &str) {
        self.outbox.push_log(|out| {
            notification(out, REQUEST_SCOPED_LOG, |params| {
                params.str("level", level.name()).str("logger", logger).raw("data", data);
            });
        });
    }
}

impl ProgressSlot {
    /// Writes the newest report with its newline, when there is one.
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
        });
        out.push(b'\n');
    }
}
