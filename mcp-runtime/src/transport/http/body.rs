use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{connection::Work, events::Events};

/// The body of an answer: nothing, one message, or a stream of events.
///
/// Dropping a stream ends what it stands for, as far as the revision says so: see [`HttpService`](super::HttpService).
pub struct Body(Inner);

enum Inner {
    Whole(Option<Bytes>),
    Events(Box<Events>),
}

/// What is written at once of a large message: it is copied beside its head, and the room for that stays with the connection.
const PIECE: usize = 32 << 10;

impl Body {
    pub(super) fn empty() -> Self {
        Self(Inner::Whole(None))
    }

    pub(super) fn whole(bytes: Bytes) -> Self {
        Self(Inner::Whole(Some(bytes).filter(|it| !it.is_empty())))
    }

    /// A connection whose answer goes on does not wait for a request.
    pub(super) fn keep_at(&mut self, work: &Work) {
        if let Inner::Events(events) = &mut self.0 {
            events.keep_at(work.clone());
        }
    }

    pub(super) fn events(events: Events) -> Self {
        Self(Inner::Events(Box::new(events)))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.0 {
            Inner::Whole(Some(bytes)) if bytes.len() > PIECE => {
                Poll::Ready(Some(bytes.split_to(PIECE)))
            }
            Inner::Whole(bytes) => Poll::Ready(bytes.take()),
            Inner::Events(events) => events.poll_next(cx),
        };
        next.map(|it| it.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Inner::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            Inner::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Inner::Whole(None) => "Body(empty)",
            Inner::Whole(Some(_)) => "Body(message)",
            Inner::Events(_) => "Body(events)",
        })
    }
}
