use std::{
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use super::accept::Accepts;
use crate::{
    protocol::{Outbox, Peer, PendingCall},
    transport::stream::spawn,
};

/// The messages that answer one request, as they come.
pub(super) struct Source {
    outbox: Arc<Outbox>,
    /// Calls that end when nobody wants their answers any more, as long as there is no stream. Those of sessions are not here.
    calls: Vec<PendingCall>,
    /// A request that stands alone lives as long as its answer.
    peer: Option<Peer>,
}

impl Drop for Source {
    fn drop(&mut self) {
        if let Some(peer) = &self.peer {
            peer.cancel_all();
        }
    }
}

impl Source {
    /// Of a request that stands alone: dropping it cancels its calls (HM-07).
    pub(super) fn alone(peer: Peer, calls: Vec<PendingCall>) -> Self {
        Self { outbox: peer.outbox().clone(), calls, peer: Some(peer) }
    }

    /// Of calls that somebody else drives to their ends.
    pub(super) fn of(outbox: Arc<Outbox>) -> Self {
        Self { outbox, calls: Vec::new(), peer: None }
    }

    pub(super) fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// Waits for more messages, each with its newline, or for `false` when there will be none.
    pub(super) fn poll(&mut self, cx: &Context<'_>, lines: &mut Vec<u8>) -> Poll<bool> {
        self.outbox.poll_take(cx, lines)
    }

    /// Whether the answer refuses the client (META-04).
    pub(super) fn is_refused(&self) -> bool {
        self.outbox.is_refused()
    }

    /// Waits for what decides about the head of the response: until then every status is possible, and an answer that is
    /// one message needs no stream (C-03).
    pub(super) async fn begin(&mut self, accepts: Accepts, keep_alive: Duration) -> Begun {
        let mut lines = Vec::new();
        let mut silence = pin!(None);
        let is_over = std::future::poll_fn(|cx| {
            // Once for each time they are woken: what they say meanwhile must not keep them going.
            self.calls.retain_mut(|it| Pin::new(it).poll(cx).is_pending());
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
                        return silence.map_or(Poll::Pending, |it| it.poll(cx).map(|()| false));
                    }
                }
            }
        })
        .await;
        if !is_over {
            // From here on a client that does not read must not keep them from running, nor from timing out.
            spawn(std::mem::take(&mut self.calls));
            return Begun::Stream(lines);
        }
        Begun::whole(lines, accepts)
    }
}

/// What an answer has turned out to be.
pub(super) enum Begun {
    /// There is nothing to be said.
    Nothing,
    /// One message, without its newline.
    Whole(Vec<u8>),
    /// Messages, of which these are the first.
    Stream(Vec<u8>),
}

impl Begun {
    /// Of what is said already, when nobody will say more.
    pub(super) fn at_once(outbox: &Outbox, accepts: Accepts) -> Option<Self> {
        // In this order: who let go has written before.
        if outbox.is_held() {
            return None;
        }
        // What the outbox gets in return is the room for its next message.
        let mut lines = Vec::with_capacity(512);
        outbox.take_all(&mut lines);
        Some(Self::whole(lines, accepts))
    }

    /// Of all that there is to be said.
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
