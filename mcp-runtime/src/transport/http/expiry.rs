//! Lifetime of a stream that was opened with an access token. The messages of the stream are meant only for a client with a valid token, so
//! the stream ends with the token.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, SystemTime},
};

use http::Extensions;
use tokio::time::{Instant, Sleep, sleep};

use crate::call::context::Authorization;

/// Lifetime of a stream, which may stay open until the latest expiry of the valid tokens that its client has presented. A client may
/// present new tokens while a stream is open.
#[derive(Default)]
pub(super) struct StreamLifetime(Mutex<Option<Box<ShownTokens>>>);

/// Tokens that a client has presented. The value is boxed to save memory on servers without authorization, where clients present no tokens.
#[derive(Default)]
struct ShownTokens {
    /// Latest expiry of the tokens that cannot be revoked, in seconds since 1970.
    last: u64,
    /// Expiry of each valid revocable token in seconds since 1970, and the flag that is set when the token is revoked.
    revocable: Vec<(u64, Arc<AtomicBool>)>,
}

/// Expiry of a stream without a valid token.
const NEVER_SHOWN: u64 = 0;
/// Expiry of a stream with a token that never expires.
const FOR_EVER: u64 = u64::MAX;

impl StreamLifetime {
    /// Returns the lifetime of a stream that belongs to one request.
    pub(super) fn of(extensions: &Extensions) -> Self {
        let lifetime = Self::default();
        lifetime.show(extensions);
        lifetime
    }

    /// Records the token of one more request.
    pub(super) fn show(&self, extensions: &Extensions) {
        let Some(authorization) = extensions.get::<Authorization>() else { return };
        let seconds = |time: SystemTime| {
            let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            // The time is rounded up to the end of the second.
            since.as_secs().saturating_add(1)
        };
        let until = authorization.expiry().map_or(FOR_EVER, seconds);
        let mut shown = self.shown();
        let ShownTokens { last, revocable } = &mut **shown.get_or_insert_default();
        let Some(revoked) = authorization.revoked() else {
            *last = until.max(*last);
            return;
        };
        if !revocable.iter().any(|token| Arc::ptr_eq(&token.1, revoked)) {
            let now = seconds(SystemTime::now());
            revocable.retain(|token| token.0 >= now && is_good(token));
            revocable.push((until, revoked.clone()));
        }
    }

    fn shown(&self) -> MutexGuard<'_, Option<Box<ShownTokens>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the client has presented tokens, and all of them have been revoked.
    fn is_revoked(&self) -> bool {
        self.shown().as_ref().is_some_and(|tokens| tokens.is_revoked())
    }

    /// Returns the time until the stream has to end. Returns `None` if a token never expires, or if no token was presented.
    fn left(&self) -> Option<Duration> {
        match self.shown().as_ref()?.until() {
            NEVER_SHOWN => Some(Duration::ZERO),
            FOR_EVER => None,
            seconds => {
                let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
                Some(at.duration_since(SystemTime::now()).unwrap_or_default())
            }
        }
    }
}

impl ShownTokens {
    fn until(&self) -> u64 {
        let kept = self.revocable.iter().filter(|token| is_good(token)).map(|token| token.0);
        kept.max().unwrap_or(NEVER_SHOWN).max(self.last)
    }

    fn is_revoked(&self) -> bool {
        self.last == NEVER_SHOWN && !self.revocable.iter().any(is_good)
    }
}

fn is_good((_, revoked): &(u64, Arc<AtomicBool>)) -> bool {
    !revoked.load(Ordering::Acquire)
}

/// Timer for the end of a stream.
pub(super) struct ExpiryTimer(Pin<Box<Sleep>>);

impl ExpiryTimer {
    /// Creates the timer. Returns `None` if the stream never has to end.
    pub(super) fn of(lifetime: &StreamLifetime) -> Option<Self> {
        lifetime.left().map(|left| Self(Box::pin(sleep(left))))
    }

    /// Waits until the stream has to end.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, lifetime: &StreamLifetime) -> Poll<()> {
        // A revocation does not wake the stream. The stream notices the revocation here before it sends more bytes, at the latest before
        // the next keep-alive comment.
        if lifetime.is_revoked() {
            return Poll::Ready(());
        }
        while self.0.as_mut().poll(cx).is_ready() {
            match lifetime.left() {
                // The timer has fired too early, because the client has presented a newer token, or because the system clock was changed.
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
    fn the_last_token_that_is_shown_determines_the_expiry() {
        let lifetime = StreamLifetime::of(&Extensions::new());
        assert_eq!(lifetime.left(), None);
        lifetime.show(&shown(Some(Duration::from_secs(60))));
        lifetime.show(&shown(Some(Duration::from_secs(10))));
        lifetime.show(&Extensions::new());
        let left = lifetime.left().unwrap();
        assert!(left > Duration::from_secs(30) && left <= Duration::from_secs(61), "{left:?}");
        lifetime.show(&shown(None));
        assert_eq!(lifetime.left(), None);
    }

    #[test]
    fn the_last_token_that_is_not_revoked_determines_the_expiry() {
        let lifetime = StreamLifetime::default();
        let show = |seconds: u64| {
            let revoked = Arc::new(AtomicBool::new(false));
            let ada = Authorization::new("ada").revocable(revoked.clone());
            let mut extensions = Extensions::new();
            extensions.insert(ada.expires(SystemTime::now() + Duration::from_secs(seconds)));
            lifetime.show(&extensions);
            lifetime.show(&extensions);
            revoked
        };
        let long = show(600);
        let short = show(60);
        let within = |seconds: u64| {
            let left = lifetime.left().unwrap();
            left > Duration::from_secs(seconds - 30) && left <= Duration::from_secs(seconds + 1)
        };
        let kept = || lifetime.shown().as_ref().unwrap().revocable.len();
        assert_eq!(kept(), 2);
        assert!(within(600));
        long.store(true, Ordering::Relaxed);
        assert!(within(60) && !lifetime.is_revoked());
        short.store(true, Ordering::Relaxed);
        assert!(lifetime.left().unwrap().is_zero() && lifetime.is_revoked());
        // Recording a new token drops the revoked ones.
        show(600);
        assert!(within(600) && kept() == 1);
    }
}
