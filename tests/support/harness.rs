//! Runs the tests of a suite, and lets a test become ignored while it runs.
//!
//! A suite has `harness = false` in its manifest, `#[support::test]` on its tests, and [`run`] in its `main`. The command line and the output
//! are those of rustc's own test runner, with these differences: there is at most one filter, a test writes with [`note!`](crate::note), and the
//! slowest tests are named at the end. Under `CI`, a filter that selects no test is an error.
//!
//! A test that needs a program calls [`needs`](crate::requirement::needs). If the program is missing, the test is ignored, with the reason in
//! its line. If `CI` is set, the test fails instead.

use std::{
    any::Any,
    backtrace::{Backtrace, BacktraceStatus},
    cell::RefCell,
    env, fmt,
    panic::{self, PanicHookInfo},
    process::ExitCode,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

pub use inventory;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::{clock::Stopwatch, requirement::Missing};

/// A registered test. The attribute `#[support::test]` submits it.
pub struct Test {
    /// Path of the module, which begins with the name of the suite.
    pub module: &'static str,
    /// Name of the function.
    pub name: &'static str,
    /// Why the test runs only with `--ignored` or `--include-ignored`.
    pub ignored: Option<&'static str>,
    /// Runs the test.
    pub run: fn(),
}

inventory::collect!(Test);

/// Maximum number of tests that are named as the slowest.
const SLOWEST: usize = 10;

/// Shortest time of a test that is named as slow.
const SLOW: Duration = Duration::from_secs(1);

/// Time after which a test is named that still runs.
const LONG: Duration = Duration::from_secs(60);

/// Runs the tests that the command line selects, as many at once as the machine has processors.
pub fn run() -> ExitCode {
    start(None)
}

/// Runs the tests that the command line selects, `threads` at once. For a suite whose tests mostly wait.
pub fn run_at_once(threads: usize) -> ExitCode {
    start(Some(threads))
}

fn start(threads: Option<usize>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let chosen = env::var("RUST_TEST_THREADS").ok().and_then(|text| text.parse().ok());
    arguments.test_threads = arguments.test_threads.or(chosen).or(threads);
    IS_SHOWN.store(arguments.nocapture, Ordering::Relaxed);
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !note_panic(panic) {
            default(panic);
        }
    }));
    let times = Arc::new(Mutex::new(Vec::new()));
    let runs_ignored = arguments.ignored || arguments.include_ignored;
    let mut trials: Vec<Trial> = inventory::iter::<Test>
        .into_iter()
        .map(|test| trial(test, runs_ignored, times.clone()))
        .collect();
    trials.sort_by(|one, other| one.name().cmp(other.name()));
    let selects_none = trials.iter().all(|trial| arguments.is_filtered_out(trial));
    if selects_none && arguments.filter.is_some() && !arguments.list && is_ci() {
        eprintln!("the filter selects no test");
        return ExitCode::FAILURE;
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
    times.retain(|(time, _)| *time >= SLOW);
    times.sort_by(|one, other| other.cmp(one));
    for (time, name) in times.iter().take(SLOWEST) {
        eprintln!("slow: {:6.1} s  {name}", time.as_secs_f64());
    }
    conclusion.exit_code()
}

fn is_ci() -> bool {
    env::var_os("CI").is_some()
}

fn trial(
    test: &'static Test,
    runs_ignored: bool,
    times: Arc<Mutex<Vec<(Duration, String)>>>,
) -> Trial {
    let module = test.module.split_once("::").map_or("", |(_, module)| module);
    let separator = if module.is_empty() { "" } else { "::" };
    let name = format!("{module}{separator}{}", test.name);
    let thread = name.clone();
    let trial = Trial::ignorable_test(&*name, move || {
        if let Some(reason) = test.ignored.filter(|_| !runs_ignored) {
            return Ok(Completion::ignored_with(reason));
        }
        let watch = Stopwatch::start();
        let completion = complete(test.run, thread.clone());
        let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
        times.push((watch.elapsed(), thread));
        completion
    });
    // With the flag, libtest-mimic would not show the reason.
    trial.with_ignored_flag(runs_ignored && test.ignored.is_some())
}

/// Runs a test on a thread with its name.
fn complete(run: fn(), name: String) -> Result<Completion, Failed> {
    let output = Output(Some(Arc::default()));
    let own = output.clone();
    let (running, ended) = channel::<()>();
    let test = thread::Builder::new().name(name.clone()).spawn(move || {
        let _running = running;
        OUTPUT.set(own);
        run();
    });
    if ended.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
        eprintln!("test {name} has been running for over 60 seconds");
    }
    let Err(payload) = test.expect("a thread").join() else { return Ok(Completion::Completed) };
    judge(payload, is_ci(), &output)
}

/// Returns the result of a test that ended with a panic.
fn judge(payload: Box<dyn Any>, is_ci: bool, output: &Output) -> Result<Completion, Failed> {
    match payload.downcast::<Missing>() {
        Ok(missing) if is_ci => Err(format!("required under CI: {missing}").into()),
        Ok(missing) => {
            let lines = missing.to_string();
            Ok(Completion::ignored_with(lines.lines().collect::<Vec<_>>().join(" ")))
        }
        Err(_) => Err(output.text().into()),
    }
}

/// Runs an asynchronous test on a runtime with `threads` worker threads, or, if that is 0, on the current thread.
pub fn block_on(threads: usize, test: impl Future<Output = ()>) {
    let mut runtime = match threads {
        0 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if threads > 0 {
        runtime.worker_threads(threads);
    }
    let output = Output::of_this_thread();
    runtime.on_thread_start(move || OUTPUT.set(output.clone()));
    runtime.enable_all().build().expect("a runtime").block_on(test);
}

/// Whether the output of tests is printed at once (`--nocapture`).
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

thread_local! {
    static OUTPUT: RefCell<Output> = const { RefCell::new(Output(None)) };
}

/// Output of a test and its threads, which is shown if the test fails. Without a test, it is stderr.
#[derive(Clone, Debug)]
pub struct Output(Option<Arc<Mutex<String>>>);

impl Output {
    /// Returns the output of the test that runs on this thread. For a thread of a test's own, take the value before the thread starts.
    pub fn of_this_thread() -> Self {
        OUTPUT.with_borrow(Clone::clone)
    }

    /// Adds a line.
    pub fn line(&self, line: fmt::Arguments<'_>) {
        let line = format!("{line}\n");
        if self.0.is_none() || IS_SHOWN.load(Ordering::Relaxed) {
            eprint!("{line}");
        }
        if let Some(text) = &self.0 {
            text.lock().unwrap_or_else(PoisonError::into_inner).push_str(&line);
        }
    }

    fn text(&self) -> String {
        let text = self.0.as_ref().map(|text| text.lock().unwrap_or_else(PoisonError::into_inner));
        text.map_or(String::new(), |text| text.clone())
    }
}

/// Writes a line to the output of the test on this thread, or to stderr on a thread without a test. The form is that of [`format!`].
#[macro_export]
macro_rules! note {
    ($($text:tt)*) => {
        $crate::harness::Output::of_this_thread().line(format_args!($($text)*))
    };
}

/// Notes a panic in the output of its test. Returns `false` on a thread without a test.
fn note_panic(panic: &PanicHookInfo<'_>) -> bool {
    let output = Output::of_this_thread();
    if output.0.is_none() {
        return false;
    }
    output.line(format_args!("{panic}"));
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        output.line(format_args!("{trace}"));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_without_its_program_is_ignored_and_fails_under_ci() {
        let missing = || Box::new(Missing::new("nginx: not found\nin PATH")) as Box<dyn Any>;
        let output = Output(Some(Arc::default()));
        let Ok(Completion::Ignored { reason }) = judge(missing(), false, &output) else {
            panic!("the test is not ignored");
        };
        assert_eq!(reason.as_deref(), Some("nginx: not found in PATH"));
        let failed = judge(missing(), true, &output).err().expect("the test fails");
        assert_eq!(failed.message(), Some("required under CI: nginx: not found\nin PATH"));
    }

    #[test]
    fn a_failed_test_shows_its_output() {
        let output = Output(Some(Arc::default()));
        output.line(format_args!("the server says {}", 1));
        let failed = judge(Box::new("the answer is wrong"), false, &output).err();
        assert_eq!(failed.expect("the test fails").message(), Some("the server says 1\n"));
    }
}
