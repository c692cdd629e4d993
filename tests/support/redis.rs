//! A real `redis-server`, started and ended by the test.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{self, Command, Stdio},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use crate::{
    clock::LIMIT,
    process::{Running, free_address, send_signal},
    requirement::{Missing, output_of},
};
use rustix::process::Signal;

/// Value of an option that stands for a free port.
pub const FREE_PORT: &str = "a free port";

/// Running `redis-server`, which loses its data when it ends, unless its options say otherwise.
pub struct RedisServer {
    program: PathBuf,
    process: Option<Running>,
    folder: PathBuf,
    port: u16,
    options: Vec<String>,
}

impl RedisServer {
    /// Starts a server with these further options, on a free port of loopback. [`FREE_PORT`] in the options is replaced by another free port.
    ///
    /// # Errors
    /// Fails if `redis-server` or `redis-cli` is not installed.
    pub fn start(options: &[&str]) -> Result<Self, Missing> {
        Self::start_program(Path::new("redis-server"), options)
    }

    /// Starts another program that has the options of `redis-server`, such as `valkey-server`.
    ///
    /// # Errors
    /// Fails if the program or `redis-cli` is not installed.
    pub fn start_program(program: &Path, options: &[&str]) -> Result<Self, Missing> {
        for program in [program, Path::new("redis-cli")] {
            output_of(Command::new(program).arg("--version"))?;
        }
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("mcp-redis-{}-{number}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let mut problem = String::new();
        // The ports are free when they are chosen, and another process may take them before the server does.
        for _ in 0..10 {
            let port = free_address().port();
            let chosen = |option: &&str| match *option {
                FREE_PORT => free_address().port().to_string(),
                other => other.to_owned(),
            };
            let options: Vec<String> = options.iter().map(chosen).collect();
            match start(program, port, &folder, &options) {
                Ok(process) => {
                    let (program, process) = (program.to_owned(), Some(process));
                    return Ok(Self { program, process, folder, port, options });
                }
                Err(printed) => problem = printed,
            }
        }
        panic!("{} does not start:\n{problem}", program.display());
    }

    /// Returns the port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the value of an option with which the server was started.
    pub fn option(&self, name: &str) -> Option<&str> {
        let mut options = self.options.iter().skip_while(|option| *option != name);
        options.nth(1).map(String::as_str)
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills the server. Only data that it has written to a file remains.
    pub fn stop(&mut self) {
        self.process = None;
    }

    /// Starts the server again, on the same port. It has its data again if its options let it write a file.
    pub fn restart(&mut self) {
        let started = start(&self.program, self.port, &self.folder, &self.options);
        self.process = Some(started.unwrap_or_else(|printed| panic!("no restart:\n{printed}")));
    }

    /// Stops the server from answering.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets the server answer again.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        send_signal(self.process.as_ref().expect("the server runs").pid(), signal);
    }

    /// Runs `redis-cli`, and returns what it prints.
    pub fn cli(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("redis-cli");
        let output = output_of(command.args(["-p", &self.port.to_string()]).args(arguments));
        output.unwrap_or_else(|why| panic!("{why}"))
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Starts a server, and waits until it accepts connections. If it ends before, or needs longer than [`LIMIT`], returns what it has printed.
fn start(program: &Path, port: u16, folder: &Path, options: &[String]) -> Result<Running, String> {
    let mut command = Command::new(program);
    command
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
        .arg(folder)
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut process = Running::start(&mut command);
    let lines = BufReader::new(process.stdout().expect("stdout is piped")).lines();
    let (print, printed) = mpsc::channel();
    // This thread reads to the end, because the server must never block on a full pipe.
    thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = print.send(line);
        }
    });
    let mut before = String::new();
    while let Ok(line) = printed.recv_timeout(LIMIT) {
        if line.contains("Ready to accept connections") {
            return Ok(process);
        }
        before += &line;
        before.push('\n');
    }
    Err(before)
}
