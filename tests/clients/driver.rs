//! Process that runs a client and carries out steps one by one.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use support::{browser::log_in, server::PASSWORDS};

/// Maximum time for a step. The import of the slowest clients takes several seconds.
const PATIENCE: Duration = Duration::from_secs(90);
/// Number of lines of the client's log that a failure message includes.
const LOG: usize = 12;

/// Client process under the control of a test. Dropping the driver kills the process.
pub(crate) struct Driver {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
    log: Arc<Mutex<Vec<String>>>,
    /// Whether the process still answers.
    pub(crate) is_there: bool,
}

impl Driver {
    /// Starts the program, and waits until it is ready for a step.
    pub(crate) fn start(mut command: Command) -> Result<Self, String> {
        let spawned =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| format!("{command:?}: {error}"))?;
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        // A full pipe would block the client, so this thread reads the whole log. The log may contain bytes that are not UTF-8.
        thread::spawn(move || {
            for line in stderr.split(b'\n').map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line).into_owned();
                lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        let mut driver = Self { child, stdin, answers, log, is_there: true };
        driver.answer("start").map(|_| driver)
    }

    /// Lets the client carry out a step, and returns the outcome.
    pub(crate) fn step(&mut self, step: &Value) -> Result<Value, String> {
        let shown = step.to_string();
        // The error is ignored. If the client has ended, `answer` reports that, with the end of the client's log.
        let _ = writeln!(self.stdin, "{step}");
        let answer = self.answer(&shown)?;
        match answer["failed"].as_str() {
            Some(failure) => Err(format!("{shown}: {failure}")),
            None => Ok(answer),
        }
    }

    fn answer(&mut self, step: &str) -> Result<Value, String> {
        self.is_there = false;
        loop {
            let line = self.answers.recv_timeout(PATIENCE).map_err(|error| match error {
                RecvTimeoutError::Timeout => self.failure(step, "no answer in time"),
                RecvTimeoutError::Disconnected => self.failure(step, "the client has ended"),
            })?;
            let message: Value = serde_json::from_str(&line)
                .map_err(|error| self.failure(step, &format!("{error}: {line}")))?;
            let Some(url) = message["browse"].as_str().map(str::to_owned) else {
                self.is_there = true;
                return Ok(message);
            };
            // The login runs on another thread, because the client waits for the redirect while this thread waits for the client.
            let (user, password) = PASSWORDS[0];
            thread::spawn(move || log_in(&url, user, password));
        }
    }

    fn failure(&self, step: &str, cause: &str) -> String {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let tail = log[log.len().saturating_sub(LOG)..].join("\n");
        format!("{step}: {cause}\n{tail}")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a step that opens a connection to a server.
pub(crate) fn open(at: Value, login: bool) -> Value {
    json!({"do": "open", "at": at, "login": login})
}

/// Returns a step that calls a tool.
pub(crate) fn call(name: &str, arguments: Value) -> Value {
    json!({"do": "call", "name": name, "arguments": arguments})
}
