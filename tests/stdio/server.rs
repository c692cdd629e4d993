//! Runs the server under test (`fixture.rs`) as a process, and holds the client's end of its streams.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{
        OnceLock,
        mpsc::{Receiver, RecvTimeoutError, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::clock::{LIMIT, Stopwatch, eventually_blocking};

/// Process of the fixture, which is killed when dropped.
pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    lines: Option<Receiver<String>>,
    stderr: Option<JoinHandle<String>>,
    /// Responses that were read while the test waited for a different response.
    kept: Vec<Value>,
    /// Stopwatch that starts when the test first asks the server to end, with a signal or by closing its stdin.
    asked: OnceLock<Stopwatch>,
}

/// Exit status and remaining output of a server that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Time from just before the test first asked the server to end until its exit. The measured time is never too short, so lower bounds
    /// hold on every machine.
    pub(crate) took: Duration,
    /// Messages that the test had not read.
    pub(crate) rest: Vec<Value>,
    pub(crate) stderr: String,
}

/// Returns the command that starts the fixture.
pub(crate) fn fixture() -> Command {
    prepared(Command::new(env!("CARGO_BIN_EXE_stdio-fixture")))
}

/// Returns the command of a shell that starts the fixture with these redirections.
pub(crate) fn fixture_in_shell(redirections: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("exec \"$0\" {redirections}"))
        .arg(env!("CARGO_BIN_EXE_stdio-fixture"));
    prepared(command)
}

/// Returns the command with piped streams, and the log level of the tests.
pub(crate) fn prepared(mut command: Command) -> Command {
    // On a busy machine any handler may block its thread for a long time. The server is not at fault, so this setting turns off its warning
    // about this.
    command
        .env("RUST_LOG", "info,mcp_runtime::dispatch::pending=error")
        // This grace period is longer than all deadlines of the tests, so a server that ends in time has not waited for the grace period to
        // expire. Some tests remove the setting.
        .env("FIXTURE_GRACE", "600000")
        .env_remove("RUST_BACKTRACE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns a request of protocol revision 2026-07-28.
pub(crate) fn request(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// Returns a tool call of protocol revision 2026-07-28.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    request(id, "tools/call", params)
}

/// Returns a call of `echo` with its id as the text.
pub(crate) fn echo(id: &str) -> Value {
    call(id, "echo", json!({ "text": id }))
}

pub(crate) fn cancelled(id: impl Into<Value>) -> Value {
    let params = json!({ "requestId": id.into() });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// Returns the text of a tool's result, with `error: ` before the text of a failure.
pub(crate) fn text_of(response: &Value) -> String {
    let result = &response["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}"));
    if result["isError"] == true { format!("error: {text}") } else { text.to_owned() }
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_as(fixture())
    }

    pub(crate) fn start_as(mut command: Command) -> Self {
        Self::of(command.spawn().expect("the fixture starts"))
    }

    fn of(mut child: Child) -> Self {
        let stderr = child.stderr.take().map(|stderr| thread::spawn(move || read_text(stderr)));
        Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            child,
            lines: None,
            stderr,
            kept: Vec::new(),
            asked: OnceLock::new(),
        }
    }

    /// Starts a server, and returns the reading end of its stderr, which no thread reads.
    pub(crate) fn start_unread(mut command: Command) -> (Self, ChildStderr) {
        let mut child = command.spawn().expect("the fixture starts");
        let stderr = child.stderr.take().expect("stderr is piped");
        (Self::of(child), stderr)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("stdin is open").write_all(bytes).expect("the server reads");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// Like `send`, for a server that may have ended.
    pub(crate) fn try_send(&mut self, message: &Value) -> std::io::Result<()> {
        self.stdin.as_mut().expect("stdin is open").write_all(format!("{message}\n").as_bytes())
    }

    /// Waits until the server has read all that was written. Returns at once if the system cannot tell.
    pub(crate) fn wait_until_read(&self) {
        let stdin = self.stdin.as_ref().expect("stdin is open");
        eventually_blocking("the server has read its stdin", || {
            (rustix::io::ioctl_fionread(stdin).unwrap_or(0) == 0).then_some(())
        });
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("the child is ours").is_some()
    }

    /// Takes the writing end of stdin, for a test that writes more than the server reads.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("stdin is open")
    }

    pub(crate) fn close_stdin(&mut self) {
        self.asked.get_or_init(Stopwatch::start);
        self.stdin = None;
    }

    /// Takes the reading end of stdout, for a test that reads slowly or not at all. `line` must not have been called before.
    pub(crate) fn take_stdout(&mut self) -> ChildStdout {
        self.stdout.take().expect("nobody has read from stdout")
    }

    pub(crate) fn terminate(&self) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a pid");
        self.asked.get_or_init(Stopwatch::start);
        kill_process(pid, Signal::TERM).expect("the process is there");
    }

    /// Returns the next line, or `None` at the end of the stream.
    pub(crate) fn line(&mut self) -> Option<String> {
        let lines = self.lines.get_or_insert_with(|| {
            let stdout = self.stdout.take().expect("stdout is ours");
            let (sender, receiver) = channel();
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
            receiver
        });
        match lines.recv_timeout(LIMIT) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
        }
    }

    /// Returns the next message, or `None` at the end of the stream. Panics if a line on stdout is not a message (rule STDIO-02).
    pub(crate) fn message(&mut self) -> Option<Value> {
        self.line().map(|line| message(&line))
    }

    /// Returns the response to a request. Other responses are kept for later; requests and notifications of the server are dropped.
    pub(crate) fn response(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        if let Some(at) = self.kept.iter().position(|response| response["id"] == id) {
            return self.kept.remove(at);
        }
        loop {
            let message = self.message().unwrap_or_else(|| panic!("no response to {id}"));
            if message["id"] == id {
                return message;
            }
            if message.get("method").is_none() {
                self.kept.push(message);
            }
        }
    }

    /// Calls a tool and waits for its text.
    pub(crate) fn ask(&mut self, id: &str, tool: &str, arguments: Value) -> String {
        self.send(&call(id, tool, arguments));
        text_of(&self.response(id))
    }

    /// Checks that the server still answers.
    #[track_caller]
    pub(crate) fn check_echo(&mut self, id: &str) {
        assert_eq!(self.ask(id, "echo", json!({ "text": id })), id);
    }

    /// Closes stdin and waits for the process to end.
    pub(crate) fn finish(mut self) -> Ended {
        self.close_stdin();
        self.wait()
    }

    /// Waits for the process to end.
    pub(crate) fn wait(mut self) -> Ended {
        let asked = *self.asked.get_or_init(Stopwatch::start);
        // If `line` has been called, its thread still reads stdout, so a full pipe does not delay the end of the server.
        let status = eventually_blocking("the server ends", || {
            self.child.try_wait().expect("the child is ours")
        });
        let took = asked.elapsed();
        let mut rest = std::mem::take(&mut self.kept);
        if self.stdout.is_some() || self.lines.is_some() {
            while let Some(message) = self.message() {
                rest.push(message);
            }
        }
        let stderr = self.stderr.take().map(|reader| reader.join().expect("the thread only reads"));
        Ended { status, took, rest, stderr: stderr.unwrap_or_default() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Checks that the process succeeded, and ended before its grace period ran out: it abandoned no calls or answers.
    #[track_caller]
    pub(crate) fn check_soon(&self) {
        assert!(self.status.success(), "{self:?}");
        for given_up in ["have been cancelled", "did not read its last answers"] {
            assert!(!self.stderr.contains(given_up), "{self:?}");
        }
    }
}

/// Parses a line of the server's stdout.
#[track_caller]
pub(crate) fn message(line: &str) -> Value {
    let message: Value =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    message
}

fn read_text(mut stream: ChildStderr) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
