//! Messages that answer one request, and the form of the response: empty, one message, or a stream.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use super::head::Accepts;
use crate::{
    protocol::{Outbox, Peer, PendingCall, ResponseRefusal},
    transport::stream::spawn,
};

/// Messages that answer one request, in order.
pub(super) struct AnswerSource {
    outbox: Arc<Outbox>,
    /// Calls that the source itself polls until the response becomes a stream. Dropping the source drops these calls. The calls of a
    /// session are not here, because they run as tokio tasks.
    calls: Vec<PendingCall>,
    /// Peer of a stateless request, which is kept until the response is complete. `None` for a request in a session.
    peer: Option<Peer>,
}

impl Drop for AnswerSource {
    fn drop(&mut self) {
        if let Some(peer) = &self.peer {
            peer.cancel_all();
        }
    }
}

impl AnswerSource {
    /// Creates the source of a stateless request. Dropping the source cancels the calls (rule HM-07).
    pub(super) fn stateless(peer: Peer, calls: Vec<PendingCall>) -> Self {
        Self { outbox: peer.outbox().clone(), calls, peer: Some(peer) }
    }

    /// Creates the source of a request in a session, whose calls run as tokio tasks.
    pub(super) fn of_session(outbox: Arc<Outbox>) -> Self {
        Self { outbox, calls: Vec::new(), peer: None }
    }

    pub(super) fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// Waits for more messages, and appends them to `lines`, each with its newline. Returns `false` if there will be no more messages.
    pub(super) fn poll(&mut self, cx: &Context<'_>, lines: &mut Vec<u8>) -> Poll<bool> {
        self.outbox.poll_take(cx, lines)
    }

    /// Returns the refusal that gives the answer a status of its own, if the request was refused.
    pub(super) fn refusal(&self) -> Option<ResponseRefusal> {
        self.outbox.refusal()
    }

    /// Waits until the form of the response is known. The head is not sent before that, so the server can still choose the status, and can
    /// send a single message instead of a stream (rule C-03).
    pub(super) async fn decide(&mut self, accepts: Accepts, keep_alive: Duration) -> AnswerForm {
        let mut lines = Vec::new();
        let mut silence = pin!(None);
        let is_over = std::future::poll_fn(|cx| {
            // Polls each call once for each wakeup. The loop below repeats after each message, so if it polled the calls too, a call would
            // be polled again after each message that it sends.
            self.calls.retain_mut(|call| Pin::new(call).poll(cx).is_pending());
            let mut part = Vec::new();
            loop {
                match self.poll(cx, &mut part) {
                    Poll::Ready(true) if lines.is_empty() => lines = std::mem::take(&mut part),
                    Poll::Ready(true) => lines.append(&mut part),
                    Poll::Ready(false) => return Poll::Ready(true),
                    Poll::Pending if !accepts.events => return Poll::Pending,
                    Poll::Pending if !lines.is_empty() || self.outbox.is_released() => {
                        return Poll::Ready(false);
                    }
                    Poll::Pending => {
                        if silence.is_none() {
                            silence.set(Some(tokio::time::sleep(keep_alive)));
                        }
                        let silence = silence.as_mut().as_pin_mut();
                        return silence
                            .map_or(Poll::Pending, |silence| silence.poll(cx).map(|()| false));
                    }
                }
            }
        })
        .await;
        if !is_over {
            // From here on, the calls run as tokio tasks. Otherwise a slow client would delay the calls and their timeouts, because the
            // source is polled only while the client reads.
            spawn(std::mem::take(&mut self.calls));
            return AnswerForm::Stream(lines);
        }
        AnswerForm::whole(lines, accepts)
    }
}

/// Form of an answer.
pub(super) enum AnswerForm {
    /// The answer has no message.
    Nothing,
    /// A single message, without its newline.
    Whole(Vec<u8>),
    /// A stream, with its first messages.
    Stream(Vec<u8>),
}

impl AnswerForm {
    /// Returns the form of an answer that is already complete. Returns `None` if more messages may follow.
    pub(super) fn at_once(outbox: &Outbox, accepts: Accepts) -> Option<Self> {
        // The holds are checked before the messages are taken. A writer adds its messages before it drops its hold, so no message is
        // missed.
        if outbox.is_held() {
            return None;
        }
        // `take_all` swaps the two buffers, so the outbox uses this allocation for its next messages.
        let mut lines = Vec::with_capacity(512);
        outbox.take_all(&mut lines);
        Some(Self::whole(lines, accepts))
    }

    /// Returns the form of an answer that consists of these messages.
    fn whole(mut lines: Vec<u8>, accepts: Accepts) -> Self {
        let Some(end) = lines.len().checked_sub(1) else { return Self::Nothing };
        match memchr::memrchr(b'\n', &lines[..end]) {
            None if accepts.json => {
                lines.truncate(end);
                Self::Whole(lines)
            }
            Some(last) if !accepts.events => Self::Whole(lines[last + 1..end].to_vec()),
            _ => Self::Stream(lines),
        }
    }
}
