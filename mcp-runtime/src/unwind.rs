//! Panics of the author's code, which must not reach further than the call that they belong to.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

/// A panic that was caught. The panic hook has printed its message already.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Runs code of the author's. Values that a panic leaves half done must not be used again.
///
/// # Errors
/// The code panicked.
#[inline]
pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        discard(payload);
        Panicked
    })
}

/// Runs asynchronous code of the author's to its end. `start` makes the future, and may panic too.
///
/// # Errors
/// The code panicked.
pub(crate) async fn catch_async<'a, T>(
    start: impl FnOnce() -> Pin<Box<dyn Future<Output = T> + Send + 'a>>,
) -> Result<T, Panicked> {
    let mut future = catch(start)?;
    let done = poll_fn(|cx| match catch(|| future.as_mut().poll(cx)) {
        Ok(polled) => polled.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    });
    let done = done.await;
    discard(future);
    done
}

/// Drops a value of the author's, such as a future or the payload of a panic. A panic in its `Drop` ends here.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(value))) {
        // The drop of this payload could panic as well, and so on without end.
        std::mem::forget(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value whose `Drop` panics with another one.
    struct Endless;

    impl Drop for Endless {
        fn drop(&mut self) {
            std::panic::panic_any(Endless)
        }
    }

    #[test]
    fn no_panic_gets_out_however_many_follow() {
        assert!(catch(|| std::panic::panic_any(Endless)).is_err());
        discard(Endless);
        discard(Box::new(Endless));
        assert_eq!(catch(|| 7).ok(), Some(7));
    }
}
