use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{events::Events, open::HeldAnswer, pulse::Work};
use crate::limits::{LARGE, Share};

/// Body of a response: nothing, one message, or a stream of events.
///
/// Dropping a stream has the effect of a disconnect, which depends on the protocol revision: see [`HttpService`](super::HttpService).
pub struct Body(Inner);

enum Inner {
    Whole(Option<Bytes>),
    Large(Box<Large>),
    Events(Box<Events>),
}

/// Number of bytes of a message that are written at once. They are copied behind the head, into a buffer that the connection keeps.
pub(super) const PIECE: usize = 32 << 10;

/// Large message, of which all bytes stay in memory until the last piece is written.
struct Large {
    rest: Bytes,
    held: Option<HeldAnswer>,
}

impl Body {
    pub(super) fn empty() -> Self {
        Self(Inner::Whole(None))
    }

    pub(super) fn whole(bytes: Bytes) -> Self {
        if bytes.len() > LARGE {
            return Self(Inner::Large(Box::new(Large { rest: bytes, held: None })));
        }
        Self(Inner::Whole(Some(bytes).filter(|it| !it.is_empty())))
    }

    /// Registers an answer that is not written at once. A stream keeps its connection at work, so that the deadline for the next request
    /// does not run. A large message counts for the limit of all connections. Returns whether there is room for the answer.
    pub(super) fn keep_at(
        &mut self,
        work: &Work,
        connection: impl FnOnce() -> Option<Share>,
    ) -> bool {
        match &mut self.0 {
            Inner::Whole(_) => {}
            Inner::Large(large) => {
                large.held = HeldAnswer::take(work.desk(), large.rest.len());
                return large.held.is_some();
            }
            Inner::Events(events) => events.keep_at(work.clone(), connection()),
        }
        true
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
            Inner::Large(large) if large.rest.is_empty() => Poll::Ready(None),
            Inner::Large(large) => {
                let piece = large.rest.len().min(PIECE);
                Poll::Ready(Some(large.rest.split_to(piece)))
            }
            Inner::Events(events) => events.poll_next(cx),
        };
        next.map(|it| it.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Whole(bytes) => bytes.is_none(),
            Inner::Large(large) => large.rest.is_empty(),
            Inner::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            Inner::Large(large) => SizeHint::with_exact(large.rest.len() as u64),
            Inner::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Inner::Whole(None) => "Body(empty)",
            Inner::Whole(Some(_)) | Inner::Large(_) => "Body(message)",
            Inner::Events(_) => "Body(events)",
        })
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;

    use super::*;

    #[test]
    fn a_message_of_any_length_is_written_in_small_pieces() {
        for length in [1, PIECE, PIECE + 1, LARGE, LARGE + 1, 3 * LARGE] {
            let mut body = Body::whole(vec![b'x'; length].into());
            let mut left = length;
            while !body.is_end_stream() {
                assert_eq!(body.size_hint().exact(), Some(left as u64), "{length}");
                let mut cx = Context::from_waker(std::task::Waker::noop());
                let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut cx) else {
                    panic!("{length}: {left} bytes are missing");
                };
                let piece = frame.into_data().expect("a message is data").len();
                assert!(piece <= PIECE, "{length}: {piece}");
                left -= piece;
            }
            assert_eq!(left, 0, "{length}");
        }
    }
}
