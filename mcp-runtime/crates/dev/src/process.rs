//! Processes of servers, and the signals that end `dev` itself.

use std::{
    ffi::OsString,
    future::pending,
    io::{self, Write as _},
    path::Path,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
#[cfg(unix)]
use std::{fs, io::IsTerminal as _};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::{Child, Command},
    time::timeout,
};

/// Number of bytes of stderr that a report shows: enough for a panic with its message and its place.
const LAST_WORDS: usize = 4 * 1024;

/// Number of bytes of stderr that are kept. They may contain a backtrace, which the report leaves out.
const KEPT: usize = 64 * 1024;

/// Time after which a process that was asked to end is killed. A server gives its calls five seconds.
const GRACE: Duration = Duration::from_secs(7);

/// Arguments and variables of each server.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Arguments.
    pub args: Vec<OsString>,
    /// Variables beside those of this process.
    pub env: Vec<(OsString, OsString)>,
}

/// Starts a server with pipes for stdin and stdout, or without both.
///
/// # Errors
/// Fails if the system cannot start the program.
pub(crate) fn start(program: &Path, launch: &Launch, has_pipes: bool) -> io::Result<Child> {
    let stream = || if has_pipes { Stdio::piped() } else { Stdio::null() };
    Command::new(program)
        .args(&launch.args)
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .stdin(stream())
        .stdout(stream())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// Waits until the process ends. Kills the process, and returns `None`, if it runs longer than [`GRACE`] after `stopping` has completed.
pub(crate) async fn ended(
    process: &mut Child,
    stopping: impl Future<Output = ()>,
) -> Option<ExitStatus> {
    tokio::select! {
        status = process.wait() => return status.ok(),
        () = stopping => {}
    }
    match timeout(GRACE, process.wait()).await {
        Ok(status) => status.ok(),
        Err(_) => {
            let _ = process.kill().await;
            None
        }
    }
}

/// Waits until the user or the system asks this process to end, or closes its terminal.
pub(crate) async fn asked_to_end() {
    #[cfg(unix)]
    let outlasts_terminal = outlasts_terminal();
    #[cfg(not(unix))]
    let outlasts_terminal = false;
    asked_to_end_by(outlasts_terminal).await;
}

async fn asked_to_end_by(#[cfg_attr(not(unix), expect(unused))] outlasts_terminal: bool) {
    let interrupted = async {
        // Without a handler, the signal ends the process at once.
        if tokio::signal::ctrl_c().await.is_err() {
            pending().await
        }
    };
    #[cfg(unix)]
    let others = async {
        use tokio::signal::unix::{SignalKind, signal};
        let received = async |kind| match signal(kind) {
            Ok(mut signals) => drop(signals.recv().await),
            Err(_) => pending().await,
        };
        let closed = async {
            match outlasts_terminal {
                true => pending().await,
                false => received(SignalKind::hangup()).await,
            }
        };
        tokio::select! {
            () = received(SignalKind::terminate()) => {}
            () = closed => {}
        }
    };
    #[cfg(windows)]
    let others = async {
        match tokio::signal::windows::ctrl_close() {
            Ok(mut closed) => drop(closed.recv().await),
            Err(_) => pending().await,
        }
    };
    #[cfg(not(any(unix, windows)))]
    let others = pending();
    tokio::select! {
        () = interrupted => {}
        () = others => {}
    }
}

/// Whether the user wants `dev` to outlive its terminal, for example with `nohup`.
#[cfg(unix)]
fn outlasts_terminal() -> bool {
    match fs::read_to_string("/proc/self/status") {
        Ok(status) => ignores_hangups(&status),
        // `nohup` of GNU connects no stream to the terminal. That of macOS leaves stdin, and counts only if stdin is redirected too.
        Err(_) => !io::stdin().is_terminal() && !io::stderr().is_terminal(),
    }
}

/// Whether a process with this status ignores the first signal, which reports the end of the terminal.
#[cfg(unix)]
fn ignores_hangups(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    ignored.is_some_and(|set| set & 1 == 1)
}

/// Last lines that a server has written to stderr.
#[derive(Clone, Default)]
pub(crate) struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on what the server writes, until it closes the stream.
    pub(crate) async fn listen(self, stderr: Option<impl AsyncRead + Unpin>) {
        let Some(mut stderr) = stderr else { return };
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
            // If stderr is closed, the text has no reader, so an error does not matter.
            let _ = io::stderr().write_all(&chunk[..count]);
            let mut words = self.lock();
            words.extend_from_slice(&chunk[..count]);
            let surplus = words.len().saturating_sub(KEPT);
            words.drain(..surplus);
        }
    }

    /// Returns the text for a client about a server that has ended.
    pub(crate) fn report(&self, status: Option<ExitStatus>) -> String {
        let status = status.map_or("it was killed".to_owned(), |status| status.to_string());
        let words = without_backtrace(&String::from_utf8_lossy(&self.lock()));
        format!(
            "the server has ended ({status}); the next change that compiles starts it again\n\n{words}"
        )
    }
}

/// Returns the last lines of a text, without the lines of backtraces.
fn without_backtrace(text: &str) -> String {
    let mut is_backtrace = false;
    let lines = text.lines().filter(|line| {
        is_backtrace = *line == "stack backtrace:" || is_backtrace && line.starts_with(' ');
        !is_backtrace && !line.starts_with("note: Some details are omitted")
    });
    let mut kept: Vec<&str> = Vec::new();
    let mut room = LAST_WORDS;
    for line in lines.collect::<Vec<_>>().into_iter().rev() {
        if line.len() >= room {
            break;
        }
        room -= line.len() + 1;
        kept.push(line);
    }
    kept.reverse();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[tokio::test]
    async fn the_end_of_the_terminal_ends_this_process_in_order() {
        // The tests may run under `nohup`.
        let mut asked = std::pin::pin!(asked_to_end_by(false));
        tokio::select! {
            biased;
            () = &mut asked => panic!("no signal was sent"),
            () = std::future::ready(()) => {}
        }
        let own = std::process::id().to_string();
        assert!(
            std::process::Command::new("kill").args(["-HUP", &own]).status().unwrap().success()
        );
        asked.await;
    }

    #[cfg(unix)]
    #[test]
    fn nohup_is_recognized() {
        assert!(ignores_hangups("SigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n"));
        assert!(!ignores_hangups("SigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n"));
    }

    #[test]
    fn a_report_has_the_panic_and_not_its_backtrace() {
        let frames = "  12: tokio::runtime\n             at /tokio.rs:1\n".repeat(500);
        let text = format!(
            "thread 'main' panicked at src/main.rs:1:1:\nno\nstack backtrace:\n{frames}note: Some details are omitted\nbye\n"
        );
        assert_eq!(without_backtrace(&text), "thread 'main' panicked at src/main.rs:1:1:\nno\nbye");
        let text = "a line\n".repeat(10_000);
        assert!(without_backtrace(&text).len() <= LAST_WORDS);
    }
}
