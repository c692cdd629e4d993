//! Time in tests. Tests sleep or read a clock only through this module, or on the paused clock of tokio. The suite `invariants` reports every
//! other use, except in the files that `tests/invariants/clocks.rs` lists with a reason.
//!
//! A test that sleeps until something has "probably" happened fails on a busy machine. Use instead, in this order:
//!
//! 1. the paused clock of tokio (`start_paused`), if no real time has to pass,
//! 2. an event: a channel, a `Semaphore`, an answer that can only come after the awaited condition,
//! 3. [`eventually`], which polls a condition until it holds,
//! 4. [`jump`], [`Frozen`] and [`in_step`], if real sockets rule out the paused clock, and a deadline has to pass or must not pass,
//! 5. [`before_it_ends`], if tokens or records expire by the clock of the machine.
//!
//! [`linger`] is for tests of time itself, such as slow clients.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::pin,
    sync::mpsc::{Sender, channel},
    task::Poll,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Longest time that [`eventually`] waits for a condition. Even a slow machine needs less time, so a test that reaches this limit hangs.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Pause between two checks of a condition.
const PAUSE: Duration = Duration::from_millis(5);

/// Polls `look` until it returns a value, and returns that value.
///
/// A call of `look` is not interrupted, so everything that it waits for needs a timeout of its own.
///
/// # Panics
///
/// After [`LIMIT`], with the text `awaited`.
pub async fn eventually<T>(awaited: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let watch = Stopwatch::start();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(watch.elapsed() < LIMIT, "still waiting for this: {awaited}");
        pause().await;
    }
}

/// Pauses between two checks of a condition, in a loop that [`eventually`] cannot express. The test has to bound the loop.
pub async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

/// [`eventually`] for tests without a runtime.
///
/// # Panics
///
/// After [`LIMIT`], with the text `awaited`.
pub fn eventually_blocking<T>(awaited: &str, look: impl FnMut() -> Option<T>) -> T {
    eventually_within(LIMIT, awaited, look)
}

/// [`eventually_blocking`] with another limit, for work that takes long on a loaded machine, such as a build.
///
/// # Panics
///
/// After `limit`, with the text `awaited`.
pub fn eventually_within<T>(
    limit: Duration,
    awaited: &str,
    mut look: impl FnMut() -> Option<T>,
) -> T {
    let watch = Stopwatch::start();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(watch.elapsed() < limit, "still waiting for this: {awaited}");
        thread::sleep(PAUSE);
    }
}

/// Stopwatch that measures elapsed time.
///
/// Use it to assert lower bounds, and start it before the event that causes the wait, because load only makes times longer. As an upper
/// bound use [`LIMIT`], or better none.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the stopwatch.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// Current time of this test's runtime, whose clock may stand still or jump.
#[must_use]
pub fn moment() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// Lets the clock of this test's runtime jump, so that tokio's deadlines pass. The clock of the machine is not changed.
///
/// # Panics
///
/// On a runtime with several threads, and where the clock is paused already.
pub async fn jump(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// Stopped clock of this test's runtime. While it is stopped, no deadline of tokio can pass, even on a slow machine.
///
/// Use it to show that code does not wait for a deadline. If the code does wait, the clock runs on after [`LIMIT`] and [`Frozen::end`]
/// panics.
#[derive(Debug)]
pub struct Frozen {
    end: Sender<()>,
    // While this thread of `spawn_blocking` runs, tokio's paused clock does not jump to the next deadline.
    thread: tokio::task::JoinHandle<bool>,
}

impl Frozen {
    /// Stops the clock.
    ///
    /// # Panics
    ///
    /// On a runtime with several threads, and where the clock is paused already.
    #[must_use]
    pub fn start() -> Self {
        let (end, ended) = channel();
        let thread = tokio::task::spawn_blocking(move || ended.recv_timeout(LIMIT).is_ok());
        tokio::time::pause();
        Self { end, thread }
    }

    /// Lets the clock run again.
    ///
    /// # Panics
    ///
    /// When the clock was stopped for longer than [`LIMIT`], because the tested code has waited for a deadline.
    pub async fn end(self) {
        let _ = self.end.send(());
        let was_frozen = self.thread.await.expect("the thread only waits");
        assert!(was_frozen, "something has waited for a deadline");
        tokio::time::resume();
    }
}

/// Runs `test` on a clock that does not run ahead of the test.
///
/// The clock follows the clock of the machine in small steps, and all tokio tasks are polled between two steps. So a deadline of one second
/// does not pass merely because the machine was busy for a second. The clock counts as paused: let it jump with `tokio::time::advance`.
///
/// # Panics
///
/// When the runtime cannot be built.
pub fn in_step<T>(test: impl Future<Output = T>) -> T {
    const STEP: Duration = Duration::from_millis(5);
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        // The channel holds one step. If the previous step has not been received yet, a new step is dropped.
        let (step, mut steps) = tokio::sync::mpsc::channel(1);
        // While this thread of `spawn_blocking` runs, the paused clock does not jump by itself.
        let ticking = tokio::task::spawn_blocking(move || {
            while !step.is_closed() {
                let _ = step.try_send(());
                thread::sleep(STEP);
            }
        });
        let stepping = tokio::spawn(async move {
            while steps.recv().await.is_some() {
                tokio::time::advance(STEP).await;
            }
        });
        let done = test.await;
        stepping.abort();
        let _ = (stepping.await, ticking.await);
        done
    })
}

/// Lets real time pass, for a test of time itself, such as a test with a slow client. Real time passes on the paused clock too.
///
/// Never use this function to wait for a condition. Use [`eventually`] instead.
///
/// # Panics
///
/// Outside of a runtime.
pub async fn linger(time: Duration) {
    tokio::task::spawn_blocking(move || thread::sleep(time)).await.expect("the thread only sleeps");
}

/// [`linger`] for tests without a runtime.
pub fn linger_blocking(time: Duration) {
    thread::sleep(time);
}

/// Time since 1970 by the clock of the machine, in seconds.
#[must_use]
pub fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Moment that lies `time` in the future, by the clock of the machine.
#[must_use]
pub fn moment_after(time: Duration) -> SystemTime {
    SystemTime::now() + time
}

/// Runs `test` with tokens and records that stay valid for `seconds` by the clock of the machine.
///
/// On a slow machine they may expire while the test still needs them, so a failure after `seconds` proves nothing. The test is then
/// repeated with 4 times that validity, and finally with 16 times. A failure before `seconds` have passed counts, and so does a failure in
/// the last run.
pub async fn before_it_ends(seconds: u64, test: impl AsyncFn(&Validity)) {
    for factor in [1, 4, 16] {
        let validity = Validity { seconds: seconds * factor, since: Stopwatch::start() };
        let mut running = pin!(test(&validity));
        let ended = std::future::poll_fn(|context| {
            match catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(context))) {
                Ok(Poll::Pending) => Poll::Pending,
                Ok(Poll::Ready(())) => Poll::Ready(Ok(())),
                Err(panic) => Poll::Ready(Err(panic)),
            }
        });
        match ended.await {
            Ok(()) => return,
            Err(_) if validity.is_over() && factor < 16 => {}
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Time for which the tokens and records of a test are valid, chosen by [`before_it_ends`].
#[derive(Debug)]
pub struct Validity {
    /// Seconds from the start of the test.
    pub seconds: u64,
    since: Stopwatch,
}

impl Validity {
    /// Whether this time has passed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.since.elapsed() >= Duration::from_secs(self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;
    use crate::http::fake::block_on;

    #[test]
    fn a_condition_is_polled_until_it_holds() {
        let mut looks = 0;
        let found = eventually_blocking("the third look", || {
            looks += 1;
            (looks == 3).then_some("found")
        });
        assert_eq!((found, looks), ("found", 3));
    }

    #[test]
    fn a_jump_takes_no_time_of_the_machine() {
        let watch = Stopwatch::start();
        block_on(async {
            let deadline = tokio::spawn(sleep(Duration::from_secs(3600)));
            tokio::task::yield_now().await;
            jump(Duration::from_secs(3601)).await;
            deadline.await.unwrap();
        });
        assert!(watch.elapsed() < LIMIT);
    }

    #[test]
    fn no_deadline_passes_while_the_clock_is_frozen() {
        block_on(async {
            let deadline = tokio::spawn(sleep(Duration::from_millis(1)));
            let frozen = Frozen::start();
            linger_blocking(Duration::from_millis(20));
            tokio::task::yield_now().await;
            assert!(!deadline.is_finished());
            frozen.end().await;
            deadline.await.unwrap();
        });
    }

    #[test]
    fn no_deadline_passes_while_the_runtime_has_no_time() {
        in_step(async {
            let deadline = tokio::spawn(sleep(Duration::from_millis(50)));
            tokio::task::yield_now().await;
            linger_blocking(Duration::from_millis(200));
            tokio::task::yield_now().await;
            assert!(!deadline.is_finished());
            deadline.await.unwrap();
        });
    }

    #[test]
    fn real_time_passes_on_the_paused_clock_too() {
        let watch = Stopwatch::start();
        block_on(async {
            tokio::time::pause();
            linger(Duration::from_millis(20)).await;
        });
        assert!(watch.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn only_a_failure_in_time_counts() {
        let runs = std::cell::Cell::new(0);
        block_on(before_it_ends(0, async |validity| {
            runs.set(runs.get() + 1);
            assert!(validity.is_over() && runs.get() == 2, "the first run fails late");
        }));
        assert_eq!(runs.get(), 2);
        let early = AssertUnwindSafe(|| {
            block_on(before_it_ends(1000, async |_| {
                runs.set(runs.get() + 1);
                panic!("early");
            }));
        });
        assert!(catch_unwind(early).is_err());
        assert_eq!(runs.get(), 3, "it is not repeated");
    }
}
