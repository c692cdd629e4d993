//! A running fixture.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        OnceLock,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use support::clock::{Stopwatch, eventually_blocking};

/// When a test counts as hanging.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// One process of the fixture. It is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    stderr: Receiver<String>,
    /// Started just before it is first asked to end.
    asked: OnceLock<Stopwatch>,
}

/// What is left of a server that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Time since just before it was first asked to end. Lower bounds of it hold on every machine.
    pub(crate) took: Duration,
    /// What it said since it listened.
    pub(crate) stderr: String,
}

pub(crate) fn fixture() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_http-fixture"))
}

impl Server {
    /// With the usual limits but for these: `name=value,name=value`.
    pub(crate) fn start(limits: &str) -> Self {
        Self::start_program(fixture(), &[("FIXTURE_LIMITS", limits)])
    }

    /// With keys for what a call keeps between its rounds, each of one byte: `1,2`.
    pub(crate) fn start_keyed(keys: &str) -> Self {
        Self::start_program(fixture(), &[("FIXTURE_STATE_KEYS", keys)])
    }

    /// With a file that it keeps its tasks in.
    pub(crate) fn start_keeping(tasks: &Path) -> Self {
        let tasks = tasks.to_str().expect("a path in UTF-8");
        Self::start_program(fixture(), &[("FIXTURE_TASKS", tasks)])
    }

    /// Another server than the fixture, which has the usual limits.
    pub(crate) fn start_other(program: &Path) -> Self {
        Self::start_program(program, &[])
    }

    /// Starts the fixture with so many descriptors, and these limits.
    pub(crate) fn start_with_descriptors(count: u32, limits: &str) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n \"$0\" && exec \"$@\"", &count.to_string()]).arg(fixture());
        Self::start_command(command, &[("FIXTURE_LIMITS", limits)])
    }

    pub(crate) fn start_program(program: &Path, settings: &[(&str, &str)]) -> Self {
        Self::start_command(Command::new(program), settings)
    }

    fn start_command(mut command: Command, settings: &[(&str, &str)]) -> Self {
        command
            .args(["--http", "127.0.0.1:0", "--legacy-sse"])
            // On a machine that is busy any handler may hold the reactor for long: the machine's fault, not the server's.
            .env("RUST_LOG", "info,mcp_runtime::dispatch::pending=error")
            .envs(settings.iter().copied())
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the fixture starts");
        let lines = BufReader::new(child.stderr.take().expect("stderr is ours"));
        let (sender, stderr) = channel();
        thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let hint = stderr.recv_timeout(DEADLINE).expect("the fixture says where it listens");
        let url = hint.split_once("http://").map(|it| it.1.trim_end_matches("/mcp"));
        let address = url.and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("{hint}"));
        Self { child, address, stderr, asked: OnceLock::new() }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn terminate(&self) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a pid");
        self.asked.get_or_init(Stopwatch::start);
        kill_process(pid, Signal::TERM).expect("the process is there");
    }

    /// Waits for this line on stderr. It and the lines before it will not be in [`Ended::stderr`].
    pub(crate) fn wait_for_line(&self, expected: &str) {
        while self.stderr.recv_timeout(DEADLINE).expect("the fixture says so") != expected {}
    }

    /// Ends it as `kill -9` does: nothing in it hears of that.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("the process is there");
        self.child.wait().expect("the child is ours");
    }

    /// Waits for the process to end.
    pub(crate) fn wait(mut self) -> Ended {
        let asked = *self.asked.get_or_init(Stopwatch::start);
        let status = eventually_blocking("the server ends", || {
            self.child.try_wait().expect("the child is ours")
        });
        let took = asked.elapsed();
        let mut stderr = String::new();
        loop {
            match self.stderr.recv_timeout(DEADLINE) {
                Ok(line) => stderr.extend([&*line, "\n"]),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("somebody holds stderr: {stderr}"),
            }
        }
        Ended { status, took, stderr }
    }

    /// Bytes in memory: now, and at most so far.
    pub(crate) fn memory(&self) -> Memory {
        Memory::of(self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a process has in memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) now: usize,
    pub(crate) peak: usize,
}

impl Memory {
    #[cfg(target_os = "linux")]
    fn of(pid: u32) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let bytes = |name: &str| {
            let line = status.lines().find_map(|it| it.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
        };
        Self { now: bytes("VmRSS:"), peak: bytes("VmHWM:") }
    }

    /// This system does not tell the memory of a process, so tests check the answers alone.
    #[cfg(not(target_os = "linux"))]
    fn of(_: u32) -> Self {
        Self { now: 0, peak: 0 }
    }

    /// By how much the peak has risen above what was there `before`.
    pub(crate) fn above(self, before: Self) -> usize {
        self.peak.saturating_sub(before.now)
    }
}

pub(crate) const MIB: usize = 1 << 20;
