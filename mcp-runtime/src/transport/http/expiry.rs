//! How long a stream may go on that was opened with an access token: what comes on it is for somebody who has shown who it is.

use std::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll},
    time::{Duration, SystemTime},
};

use http::Extensions;
use tokio::time::{Instant, Sleep, sleep};

use crate::context::Authorization;

/// When the last of the tokens ends that somebody has shown, who may get a new one while a stream is open: in seconds since 1970.
#[derive(Default)]
pub(super) struct Until(AtomicU64);

/// Nobody has shown one.
const NEVER_SHOWN: u64 = 0;
/// One of them has no end.
const FOR_EVER: u64 = u64::MAX;

impl Until {
    /// Of a stream that belongs to one request.
    pub(super) fn of(extensions: &Extensions) -> Self {
        let until = Self::default();
        until.show(extensions);
        until
    }

    /// Takes note of what one more request has shown.
    pub(super) fn show(&self, extensions: &Extensions) {
        let Some(authorization) = extensions.get::<Authorization>() else { return };
        let seconds = |it: SystemTime| {
            let since = it.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            // The end of the second it is in.
            since.as_secs().saturating_add(1)
        };
        self.0.fetch_max(authorization.expiry().map_or(FOR_EVER, seconds), Ordering::Relaxed);
    }

    /// How long it is until then, where it ends.
    fn left(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            NEVER_SHOWN | FOR_EVER => None,
            seconds => {
                let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
                Some(at.duration_since(SystemTime::now()).unwrap_or_default())
            }
        }
    }
}

/// Waits for the end of a stream.
pub(super) struct Expiry(Pin<Box<Sleep>>);

impl Expiry {
    /// `None` where there is no end.
    pub(super) fn of(until: &Until) -> Option<Self> {
        until.left().map(|it| Self(Box::pin(sleep(it))))
    }

    /// Whether nothing more may come on the stream.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, until: &Until) -> Poll<()> {
        while self.0.as_mut().poll(cx).is_ready() {
            match until.left() {
                // A newer token was shown, or the clock of the timer is not the one on the wall.
                Some(left) if !left.is_zero() => self.0.as_mut().reset(Instant::now() + left),
                Some(_) => return Poll::Ready(()),
                None => return Poll::Pending,
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(expires: Option<Duration>) -> Extensions {
        let authorization = Authorization::new("ada");
        let mut extensions = Extensions::new();
        extensions.insert(match expires {
            Some(after) => authorization.expires(SystemTime::now() + after),
            None => authorization,
        });
        extensions
    }

    #[test]
    fn the_last_token_counts() {
        let until = Until::of(&Extensions::new());
        assert_eq!(until.left(), None);
        until.show(&shown(Some(Duration::from_secs(60))));
        until.show(&shown(Some(Duration::from_secs(10))));
        until.show(&Extensions::new());
        let left = until.left().unwrap();
        assert!(left > Duration::from_secs(30) && left <= Duration::from_secs(61), "{left:?}");
        until.show(&shown(None));
        assert_eq!(until.left(), None);
    }
}
