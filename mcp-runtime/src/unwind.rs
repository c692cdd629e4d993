//! Panics of the author's code, which must not reach further than the call that they belong to.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A panic that was caught. Its message has gone to stderr already.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Runs code of the author's. Whatever a panic leaves half done must not be used again.
///
/// # Errors
/// When the code panicked.
#[inline]
pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        discard(payload);
        Panicked
    })
}

/// Drops a value of the author's, such as a future or what a panic was made with. A panic in its `Drop` ends here.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(value))) {
        // Dropping this one could panic as well, and so on without end.
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
