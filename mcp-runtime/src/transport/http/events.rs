use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::Extensions;
use tokio::time::{Instant, Sleep, sleep};

#[cfg(feature = "auth")]
use super::expiry::{Expiry, Until};
use super::{
    body::PIECE, open::HeldAnswer, pair::Pair, pulse::Work, resumable::Reader, source::Source, sse,
};
use crate::limits::{LARGE, Share};

/// Stream of events: the events of its feed, and a comment whenever the feed has been silent for a while (rule HM-06).
pub(super) struct Events {
    feed: Feed,
    /// Bytes that are sent before any event of the feed.
    first: Vec<u8>,
    /// Rest of frames that are too large to be written at once.
    rest: Bytes,
    held: Option<HeldAnswer>,
    silence: Pin<Box<Sleep>>,
    keep_alive: Duration,
    is_over: bool,
    /// End of a stream that stays open for messages to come: they are only for a client whose token is valid.
    #[cfg(feature = "auth")]
    expiry: Option<(Expiry, Until)>,
    /// Share of all open streams, if the stream counts.
    _share: Option<Share>,
    /// Share of the connections, if the server counts them.
    _connection: Option<Share>,
    work: Option<Work>,
}

/// Source of the events.
pub(super) enum Feed {
    /// Messages that cannot be sent again.
    Plain(Source),
    /// Messages that can be sent again.
    Resumable(Reader),
    /// All messages for a client of protocol revision 2024-11-05.
    Pair(Pair),
}

impl Events {
    pub(super) fn new(feed: Feed, first: Vec<u8>, keep_alive: Duration) -> Self {
        // Bytes must follow the head at once, because a proxy may hold the head back until they come.
        let first = if first.is_empty() { sse::KEEP_ALIVE.to_vec() } else { first };
        let silence = Box::pin(sleep(keep_alive));
        Self {
            feed,
            first,
            rest: Bytes::new(),
            held: None,
            silence,
            keep_alive,
            is_over: false,
            #[cfg(feature = "auth")]
            expiry: None,
            _share: None,
            _connection: None,
            work: None,
        }
    }

    /// Ends the stream with the token of the request that opened it, or with the last token that was shown in its session.
    #[cfg(feature = "auth")]
    pub(super) fn expiring(mut self, opened_by: &Extensions) -> Self {
        let until = Until::of(opened_by);
        self.expiry = Expiry::of(&until).map(|it| (it, until));
        self
    }

    #[cfg(not(feature = "auth"))]
    pub(super) fn expiring(self, _: &Extensions) -> Self {
        self
    }

    #[cfg(feature = "auth")]
    fn poll_expiry(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some((expiry, until)) = &mut self.expiry else { return Poll::Pending };
        expiry.poll(cx, self.feed.until().unwrap_or(until))
    }

    #[cfg(not(feature = "auth"))]
    fn poll_expiry(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    pub(super) fn counted(mut self, share: Share) -> Self {
        self._share = Some(share);
        self
    }

    pub(super) fn keep_at(&mut self, work: Work, connection: Option<Share>) {
        (self.work, self._connection) = (Some(work), connection);
    }

    /// Returns the next piece of the rest.
    fn piece(&mut self) -> Bytes {
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        if self.rest.is_empty() {
            // The last piece keeps the memory of all pieces until it is written. That is soon, because only pieces are buffered.
            self.held = None;
        }
        piece
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.poll_expiry(cx).is_ready() {
            return Poll::Ready(None);
        }
        if !self.rest.is_empty() {
            return Poll::Ready(Some(self.piece()));
        }
        let mut frames = std::mem::take(&mut self.first);
        if !self.is_over {
            self.is_over = self.feed.poll(cx, &mut frames) == Poll::Ready(false);
        }
        if !frames.is_empty() {
            self.silence.as_mut().reset(Instant::now() + self.keep_alive);
            if frames.len() <= LARGE {
                return Poll::Ready(Some(frames.into()));
            }
            frames.shrink_to_fit();
            self.held = self.work.as_ref().and_then(|it| HeldAnswer::take(it.desk(), frames.len()));
            if self.held.is_none() {
                tracing::debug!("a stream ends, because too many answers wait to be read");
                self.is_over = true;
                return Poll::Ready(None);
            }
            self.rest = frames.into();
            return Poll::Ready(Some(self.piece()));
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
    /// Returns the lifetime that the feed's session has, if there is one.
    #[cfg(feature = "auth")]
    fn until(&self) -> Option<&Until> {
        match self {
            Self::Plain(_) => None,
            Self::Resumable(reader) => Some(reader.until()),
            Self::Pair(pair) => Some(pair.until()),
        }
    }

    /// Waits for more frames, or for `false` if there will be none.
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
