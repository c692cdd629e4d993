//! The body of a request, within its limits.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, atomic::Ordering},
};

use bytes::{Buf, Bytes, BytesMut};
use http::{Response, StatusCode};
use http_body::Body as HttpBody;

use super::{body::Body, endpoint::Endpoint, reply};
use crate::limits::Limits;

/// Why there is no body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
    TooLong,
    TooSlow,
    /// Too many others are being read.
    Busy,
    /// The client left, or spoke no HTTP.
    Broken,
}

impl Unread {
    pub(super) fn reply(&self, limits: &Limits) -> Response<Body> {
        match self {
            Self::TooLong => reply::refuse(
                StatusCode::PAYLOAD_TOO_LARGE,
                format_args!("the body is longer than {} bytes", limits.message),
            ),
            Self::TooSlow => reply::refuse(
                StatusCode::REQUEST_TIMEOUT,
                format_args!("the body took longer than {:?}", limits.body_time),
            ),
            Self::Busy => reply::busy("too many large bodies are being read: try again later"),
            Self::Broken => reply::refuse(StatusCode::BAD_REQUEST, "the body broke off"),
        }
    }
}

/// A body, which counts among all that are being worked on.
pub(super) struct Read {
    pub(super) bytes: Bytes,
    _counted: Counted,
}

/// Bytes of bodies, of all requests together.
struct Counted {
    endpoint: Arc<Endpoint>,
    bytes: usize,
}

impl Counted {
    /// Small bodies are not worth a look at what all requests share.
    const SMALL: usize = 64 << 10;

    fn grow(&mut self, to: usize) -> Result<(), Unread> {
        if to <= Self::SMALL {
            return Ok(());
        }
        let all =
            self.endpoint.bodies.fetch_add(to - self.bytes, Ordering::AcqRel) + to - self.bytes;
        self.bytes = to;
        if all > self.endpoint.limits().all_bodies { Err(Unread::Busy) } else { Ok(()) }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.endpoint.bodies.fetch_sub(self.bytes, Ordering::AcqRel);
        }
    }
}

/// Reads all of a body.
///
/// # Errors
/// When it is longer or slower than the limits allow, or breaks off.
pub(super) async fn read<B: HttpBody>(body: B, endpoint: &Arc<Endpoint>) -> Result<Read, Unread> {
    let limits = endpoint.limits();
    if body.size_hint().lower() > limits.message as u64 {
        return Err(Unread::TooLong);
    }
    let counted = Counted { endpoint: endpoint.clone(), bytes: 0 };
    let whole = tokio::time::timeout(limits.body_time, whole(body, limits.message, counted));
    whole.await.unwrap_or(Err(Unread::TooSlow))
}

async fn whole<B: HttpBody>(body: B, limit: usize, mut counted: Counted) -> Result<Read, Unread> {
    let mut body = pin!(body);
    // Most bodies come in one piece, which is not copied.
    let Some(first) = next(body.as_mut(), limit).await? else {
        return Ok(Read { bytes: Bytes::new(), _counted: counted });
    };
    counted.grow(first.len())?;
    let Some(second) = next(body.as_mut(), limit - first.len()).await? else {
        return Ok(Read { bytes: first, _counted: counted });
    };
    let mut all = BytesMut::with_capacity(first.len() + second.len());
    all.extend_from_slice(&first);
    all.extend_from_slice(&second);
    counted.grow(all.len())?;
    while let Some(more) = next(body.as_mut(), limit - all.len()).await? {
        all.extend_from_slice(&more);
        counted.grow(all.len())?;
    }
    Ok(Read { bytes: all.freeze(), _counted: counted })
}

async fn next<B: HttpBody>(mut body: Pin<&mut B>, limit: usize) -> Result<Option<Bytes>, Unread> {
    loop {
        match poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            None => return Ok(None),
            Some(Err(_)) => return Err(Unread::Broken),
            // What is not data are trailers, which say nothing here.
            Some(Ok(frame)) => {
                if let Ok(mut data) = frame.into_data() {
                    let length = data.remaining();
                    if length > limit {
                        return Err(Unread::TooLong);
                    }
                    return Ok(Some(data.copy_to_bytes(length)));
                }
            }
        }
    }
}
