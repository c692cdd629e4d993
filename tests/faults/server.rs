//! Server processes under test.

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

/// Time after which a test counts as hanging.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// Server process, usually the fixture. It is killed on drop.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    stderr: Receiver<String>,
    /// Stopwatch that starts just before the first SIGTERM or, if there was none, in `wait`.
    asked: OnceLock<Stopwatch>,
}

/// Exit status and output of a server that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Time from just before the first SIGTERM to the end of the process. Tests may assert only lower bounds of this time.
    pub(crate) took: Duration,
    /// Lines that the server wrote to stderr after it had started to listen.
    pub(crate) stderr: String,
}

pub(crate) fn fixture() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_http-fixture"))
}

impl Server {
    /// Starts the fixture with these limits, as `name=value,name=value`. All other limits have their defaults.
    pub(crate) fn start(limits: &str) -> Self {
        Self::start_program(fixture(), &[("FIXTURE_LIMITS", limits)])
    }

    /// Starts a program with further options of the command line, and with these variables of its environment.
    pub(crate) fn start_with(program: &Path, options: &[&str], settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new(program);
        command.args(options);
        Self::start_command(command, settings)
    }

    /// Starts the fixture with keys for the state between the rounds of a call. `1,2` stands for two keys.
    pub(crate) fn start_keyed(keys: &str) -> Self {
        Self::start_program(fixture(), &[("FIXTURE_STATE_KEYS", keys)])
    }

    /// Starts the fixture with a file for its tasks.
    pub(crate) fn start_keeping(tasks: &Path) -> Self {
        let tasks = tasks.to_str().expect("a path in UTF-8");
        Self::start_program(fixture(), &[("FIXTURE_TASKS", tasks)])
    }

    /// Starts the fixture as a node. All nodes that share this Redis are one server.
    pub(crate) fn start_node(redis: &str) -> Self {
        Self::start_program(fixture(), &[("FIXTURE_REDIS", redis)])
    }

    /// Starts a different program from the fixture, with the default limits.
    pub(crate) fn start_other(program: &Path) -> Self {
        Self::start_program(program, &[])
    }

    /// Starts the fixture with these limits and at most `count` file descriptors.
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
            // On a busy machine any handler may block its thread for a long time. The server is not at fault, so this setting turns off its
            // warning about this.
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
        // A node logs its id before it listens.
        let address = loop {
            let line = stderr.recv_timeout(DEADLINE).expect("the fixture says where it listens");
            let url = line.split_once("an MCP server at http://").map(|parts| parts.1);
            if let Some(url) = url {
                let address = url.trim_end_matches("/mcp").parse();
                break address.unwrap_or_else(|_| panic!("{line}"));
            }
        };
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

    /// Waits for this line on stderr. [`Ended::stderr`] then contains only the lines after it.
    pub(crate) fn wait_for_line(&self, expected: &str) {
        while self.stderr.recv_timeout(DEADLINE).expect("the fixture says so") != expected {}
    }

    /// Kills the process with SIGKILL, so that none of its code for shutdown runs.
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

    /// Returns the memory of the process, now and at its peak.
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

/// Resident memory of a process, in bytes.
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
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
        };
        Self { now: bytes("VmRSS:"), peak: bytes("VmHWM:") }
    }

    /// Returns zeros, because only Linux reports the memory of a process in `/proc`. On other systems the tests check only the answers.
    #[cfg(not(target_os = "linux"))]
    fn of(_: u32) -> Self {
        Self { now: 0, peak: 0 }
    }

    /// Returns by how many bytes the peak exceeds the memory in use `before`.
    pub(crate) fn above(self, before: Self) -> usize {
        self.peak.saturating_sub(before.now)
    }
}

pub(crate) const MIB: usize = 1 << 20;
