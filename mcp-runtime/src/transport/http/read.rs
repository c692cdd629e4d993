//! The body of a request, within its limits.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
};

use bytes::{Buf, Bytes, BytesMut};
use http::{Response, StatusCode};
use http_body::Body as HttpBody;

use super::{body::Body, reply};
use crate::limits::Limits;

/// Why there is no body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
    TooLong,
    TooSlow,
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
            Self::Broken => reply::refuse(StatusCode::BAD_REQUEST, "the body broke off"),
        }
    }
}

/// Reads all of a body.
///
/// # Errors
/// When it is longer or slower than the limits allow, or breaks off.
pub(super) async fn read<B: HttpBody>(body: B, limits: &Limits) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > limits.message as u64 {
        return Err(Unread::TooLong);
    }
    let whole = tokio::time::timeout(limits.body_time, whole(body, limits.message));
    whole.await.unwrap_or(Err(Unread::TooSlow))
}

async fn whole<B: HttpBody>(body: B, limit: usize) -> Result<Bytes, Unread> {
    let mut body = pin!(body);
    // Most bodies come in one piece, which is not copied.
    let Some(first) = next(body.as_mut(), limit).await? else { return Ok(Bytes::new()) };
    let Some(second) = next(body.as_mut(), limit - first.len()).await? else { return Ok(first) };
    let mut all = BytesMut::with_capacity(first.len() + second.len());
    all.extend_from_slice(&first);
    all.extend_from_slice(&second);
    while let Some(more) = next(body.as_mut(), limit - all.len()).await? {
        all.extend_from_slice(&more);
    }
    Ok(all.freeze())
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
