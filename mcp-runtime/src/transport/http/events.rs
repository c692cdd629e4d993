use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep};

use super::{
    connection::Work, endpoint::Permit, pair::Pair, resumable::Reader, source::Source, sse,
};

/// A stream of events: what its feed gives, and a comment now and then when it gives nothing (HM-06).
pub(super) struct Events {
    feed: Feed,
    /// What is sent before anything else.
    first: Vec<u8>,
    silence: Pin<Box<Sleep>>,
    keep_alive: Duration,
    is_over: bool,
    /// Held while the stream is open, where streams are counted.
    _permit: Option<Permit>,
    _work: Option<Work>,
}

/// Where the events come from.
pub(super) enum Feed {
    /// Messages that are gone once they are sent.
    Plain(Source),
    /// Messages that can be sent again.
    Resumable(Reader),
    /// Everything a 2024-11-05 client is told.
    Pair(Pair),
}

impl Events {
    pub(super) fn new(feed: Feed, first: Vec<u8>, keep_alive: Duration) -> Self {
        // Something must follow the head, or whoever stands between may keep it.
        let first = if first.is_empty() { sse::KEEP_ALIVE.to_vec() } else { first };
        let silence = Box::pin(sleep(keep_alive));
        Self { feed, first, silence, keep_alive, is_over: false, _permit: None, _work: None }
    }

    pub(super) fn counted(mut self, permit: Permit) -> Self {
        self._permit = Some(permit);
        self
    }

    pub(super) fn keep_at(&mut self, work: Work) {
        self._work = Some(work);
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut frames = std::mem::take(&mut self.first);
        if !self.is_over {
            self.is_over = self.feed.poll(cx, &mut frames) == Poll::Ready(false);
        }
        if !frames.is_empty() {
            self.silence.as_mut().reset(Instant::now() + self.keep_alive);
            return Poll::Ready(Some(frames.into()));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        if self.silence.as_mut().poll(cx).is_ready() {
            self.silence.as_mut().reset(Instant::now() + self.keep_alive);
            return Poll::Ready(Some(Bytes::from_static(sse::KEEP_ALIVE)));
        }
        Poll::Pending
    }
}

impl Feed {
    /// Waits for more, or for `false` when there will be no more.
    fn poll(&mut self, cx: &mut Context<'_>, frames: &mut Vec<u8>) -> Poll<bool> {
        let mut lines = Vec::new();
        match self {
            Self::Resumable(reader) => reader.poll(cx, frames),
            Self::Plain(source) => source.poll(cx, &mut lines).map(|more| {
                sse::messages(frames, &lines, None);
                more
            }),
            Self::Pair(pair) => pair.poll(cx, &mut lines).map(|more| {
                sse::messages(frames, &lines, Some("message"));
                more
            }),
        }
    }
}
