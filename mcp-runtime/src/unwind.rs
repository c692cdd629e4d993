//! Containment of panics in the code of the server's author: a panic ends only the call in which it occurs.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
};

use futures_core::future::BoxFuture;

/// A panic that was caught. The panic hook has printed its message already.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Runs code of the author. The caller must not reuse values that a panic may have left incomplete.
///
/// # Errors
/// Fails if the code panicked.
#[inline]
pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        discard(payload);
        Panicked
    })
}

/// Runs code of the author that makes part of an item, such as a default or a schema. The item is rejected if the code panicked, so values
/// that the panic may have left incomplete are not used again.
///
/// # Errors
/// Fails if the code panicked. The text is `panicked`, with the message of the panic if the message is a text.
pub(crate) fn catch_message<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let problem = match text.or_else(|| payload.downcast_ref::<&str>().copied()) {
            Some(words) => format!("panicked: {words}"),
            None => "panicked".to_owned(),
        };
        discard(payload);
        problem
    })
}

/// Runs asynchronous code of the author to its end. `start` creates the future. A panic of `start` is caught too.
///
/// # Errors
/// Fails if the code panicked.
pub(crate) async fn catch_async<'a, T>(
    start: impl FnOnce() -> BoxFuture<'a, T>,
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

/// Drops a value of the author, such as a future or the payload of a panic. Catches a panic of the value's `Drop`.
pub fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(value))) {
        // Dropping this payload could panic as well, and so could the payload of that panic.
        std::mem::forget(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value whose `Drop` panics with another such value.
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
