//! Processes that end with the test, even if the test fails.

use std::{
    env, fs,
    hash::{BuildHasher as _, RandomState},
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use crate::{clock::LIMIT, harness::Output};

/// Returns an address of loopback with a port that no process uses at the moment; see [`free_ports`].
///
/// # Panics
///
/// When all ports are taken.
pub fn free_address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], free_ports(1)))
}

/// Returns the first of this number of ports in a row that no process uses at the moment, and that no earlier call has returned.
///
/// The ports are below those that systems give to connections, so a server that is restarted at its port finds it free.
///
/// # Panics
///
/// When all ports are taken.
pub fn free_ports(count: u16) -> u16 {
    const PORTS: std::ops::Range<u16> = 10_000..32_000;
    // Each process begins at another port.
    static NEXT: LazyLock<AtomicU64> =
        LazyLock::new(|| AtomicU64::new(RandomState::new().hash_one(0) >> 1));
    let next = || {
        let number = NEXT.fetch_add(count.into(), Ordering::Relaxed) % PORTS.len() as u64;
        PORTS.start + u16::try_from(number).expect("less than the number of ports")
    };
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let mut ports = std::iter::repeat_with(next).take(PORTS.len());
    ports.find(|port| (*port..port + count).all(is_free)).expect("free ports")
}

/// A process that is killed when the value is dropped.
#[derive(Debug)]
pub struct Running(Child);

impl Running {
    /// Starts the process.
    ///
    /// # Panics
    ///
    /// When the process does not start.
    pub fn start(command: &mut Command) -> Self {
        let child = command.spawn();
        Self(child.unwrap_or_else(|error| panic!("{command:?} does not start: {error}")))
    }

    /// Returns the id of the process.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Takes the stdin of the process. Returns `None` on a second call, and if stdin is not piped.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.0.stdin.take()
    }

    /// Takes the stdout of the process. Returns `None` on a second call, and if stdout is not piped.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.0.stdout.take()
    }

    /// Takes the stderr of the process. Returns `None` on a second call, and if stderr is not piped.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.0.stderr.take()
    }

    /// Waits until the process ends, for `most` at the longest. Returns `None` if the process is still running after that.
    pub fn wait(&mut self, most: Duration) -> Option<ExitStatus> {
        let end = Instant::now() + most;
        loop {
            match self.0.try_wait() {
                Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(20)),
                status => return status.ok().flatten(),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that listens on a port of the loopback address.
#[derive(Debug)]
pub struct HttpServer {
    /// URL that clients connect to, such as `http://127.0.0.1:49152/mcp`.
    pub url: String,
    process: Running,
}

impl HttpServer {
    /// Starts the program on a free port, and waits until it writes its URL to stderr. All of its stderr becomes output of the test.
    ///
    /// # Panics
    ///
    /// When the program ends, or writes no URL within [`LIMIT`].
    pub fn start<'a>(
        binary: &Path,
        options: &[&str],
        environment: impl IntoIterator<Item = &'a (&'a str, PathBuf)>,
    ) -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), binary, options, environment)
    }

    /// Starts the program at an address of the loopback interface, as [`start`](Self::start) does at a free port.
    ///
    /// # Panics
    ///
    /// When the program ends, or writes no URL within [`LIMIT`].
    pub fn start_at<'a>(
        address: SocketAddr,
        binary: &Path,
        options: &[&str],
        environment: impl IntoIterator<Item = &'a (&'a str, PathBuf)>,
    ) -> Self {
        let environment = environment.into_iter().map(|variable| (variable.0, &variable.1));
        let mut process = Running::start(
            Command::new(binary)
                // An argument that is not an option, such as a file, comes first.
                .args(options)
                .args(["--http", &address.to_string()])
                .envs(environment)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped()),
        );
        let stderr = BufReader::new(process.stderr().expect("stderr is piped"));
        let (found, urls) = mpsc::channel();
        let output = Output::of_this_thread();
        // This thread reads to the end, because the server must never block on a full pipe of its stderr.
        let reader = thread::spawn(move || {
            let mut said = String::new();
            for line in stderr.lines().map_while(Result::ok) {
                output.line(format_args!("{line}"));
                if let Some(url) = url_in(&line) {
                    let _ = found.send(url.to_owned());
                }
                said.push_str(&line);
                said.push('\n');
            }
            said
        });
        match urls.recv_timeout(LIMIT) {
            Ok(url) => Self { url, process },
            Err(_) => {
                drop(process);
                panic!("{} says no URL: {}", binary.display(), reader.join().unwrap_or_default());
            }
        }
    }
}

#[cfg(unix)]
impl HttpServer {
    /// Returns the id of the process.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Asks the server to stop, as a service manager does, and waits until it has ended.
    ///
    /// # Panics
    ///
    /// When the server does not end within [`LIMIT`].
    pub fn stop(mut self) -> ExitStatus {
        send_signal(self.pid(), rustix::process::Signal::TERM);
        self.process.wait(LIMIT).expect("the server ends")
    }

    /// Kills the server.
    pub fn kill(mut self) {
        send_signal(self.pid(), rustix::process::Signal::KILL);
        self.process.wait(LIMIT).expect("the server ends");
    }
}

/// Sends a signal to a process that the test has started.
///
/// # Panics
///
/// When there is no such process.
#[cfg(unix)]
pub fn send_signal(process: u32, signal: rustix::process::Signal) {
    let pid = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(pid.expect("an id of a process"), signal).expect("a process");
}

fn url_in(line: &str) -> Option<&str> {
    let from = line.find("http://127.0.0.1:")?;
    line[from..].split(|c: char| c.is_whitespace() || "`'\",;)".contains(c)).next()
}

/// Variables that give the build of another package the debug settings of the workspace, so that both share the builds of most crates from the
/// registry in one target folder.
pub const SHARED_BUILD: [(&str, &str); 2] = [
    ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only"),
    ("CARGO_PROFILE_DEV_BUILD_OVERRIDE_DEBUG", "false"),
];

/// Removes the files that builds of these packages have left in a target folder. The crates of all tests together would take gigabytes.
pub fn remove_builds(target: &Path, packages: &[String]) {
    let names: Vec<_> =
        packages.iter().flat_map(|name| [name.replace('-', "_"), name.clone()]).collect();
    // The file of a program has the name of its package. Other files have a hash behind the name, and perhaps an extension.
    let is_own = |file: &str| {
        let file = file.strip_prefix("lib").unwrap_or(file);
        let (stem, _) = file.split_once('.').unwrap_or((file, ""));
        names.iter().any(|name| {
            let rest = stem.strip_prefix(&**name);
            let hash = rest.and_then(|rest| rest.strip_prefix('-')).unwrap_or_default();
            let is_hash = hash.len() >= 12 && hash.chars().all(|char| char.is_ascii_alphanumeric());
            rest == Some("") || is_hash
        })
    };
    for folder in ["", "deps", "incremental", ".fingerprint"] {
        let folder = target.join("debug").join(folder);
        for file in fs::read_dir(folder).into_iter().flatten().flatten() {
            if file.file_name().to_str().is_some_and(is_own) {
                let _ = fs::remove_dir_all(file.path()).or_else(|_| fs::remove_file(file.path()));
            }
        }
    }
}

/// Returns the command `cargo`, for another package than that of the test.
pub fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    // cargo sets these variables for the package of this test. If they stayed set, crates that read them would be compiled again now, and
    // once more by the next run of cargo.
    for (name, _) in env::vars_os() {
        let is_of_package = |variable: &str| {
            variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
        };
        if name.to_str().is_some_and(is_of_package) {
            cargo.env_remove(name);
        }
    }
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_found() {
        let url = Some("http://127.0.0.1:49152/mcp");
        assert_eq!(url_in("listening on http://127.0.0.1:49152/mcp"), url);
        assert_eq!(url_in("`http://127.0.0.1:49152/mcp`, and nowhere else"), url);
        assert_eq!(url_in("listening"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_runs_too_long_is_not_waited_for() {
        let mut process = Running::start(Command::new("sleep").arg("60"));
        assert!(process.wait(Duration::from_millis(50)).is_none());
        drop(process);
        let mut process = Running::start(&mut Command::new("true"));
        assert!(process.wait(Duration::from_secs(10)).is_some_and(|status| status.success()));
    }
}
