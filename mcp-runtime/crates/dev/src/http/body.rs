//! Bodies of the answers to clients.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::body::{Body, Frame};
use tokio::sync::mpsc::{self, Receiver, Sender};

/// Maximum number of pieces that wait for a client. Further pieces wait in the server.
const WAITING: usize = 16;

/// Error of a body: the connection to the server has failed.
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;

pub(crate) type AnswerBody = UnsyncBoxBody<Bytes, BodyError>;

pub(crate) fn whole(text: impl Into<Bytes>) -> AnswerBody {
    Full::new(text.into()).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// Returns a body, and the channel for its pieces.
pub(crate) fn channel() -> (Sender<Bytes>, AnswerBody) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (sender, ChannelBody(receiver).boxed_unsync())
}

struct ChannelBody(Receiver<Bytes>);

impl Body for ChannelBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let piece = ready!(self.0.poll_recv(cx));
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }
}
