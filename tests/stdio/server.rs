//! A running fixture, and the client's end of its streams.

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

/// One process of the fixture. It is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    lines: Option<Receiver<String>>,
    stderr: Option<JoinHandle<String>>,
    /// Responses that were read while waiting for another one.
    kept: Vec<Value>,
    /// When its end began: it was asked to end, or its stdin was closed.
    asked: OnceLock<Stopwatch>,
}

/// What is left of a server that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Time since just before it was first asked to end. Lower bounds of it hold on every machine.
    pub(crate) took: Duration,
    /// Messages nobody had read.
    pub(crate) rest: Vec<Value>,
    pub(crate) stderr: String,
}

/// The fixture's binary.
pub(crate) fn fixture() -> Command {
    prepared(Command::new(env!("CARGO_BIN_EXE_stdio-fixture")))
}

/// The fixture as a shell starts it with these redirections.
pub(crate) fn fixture_in_shell(redirections: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("exec \"$0\" {redirections}"))
        .arg(env!("CARGO_BIN_EXE_stdio-fixture"));
    prepared(command)
}

fn prepared(mut command: Command) -> Command {
    // On a machine that is busy any handler may hold the reactor for long, and the warning would be the machine's fault.
    command
        .env("RUST_LOG", "info,mcp_runtime::dispatch::pending=error")
        // So long that a server which ends has not waited for it. Some tests remove this setting.
        .env("FIXTURE_GRACE", "600000")
        .env_remove("RUST_BACKTRACE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A request of the modern era.
pub(crate) fn request(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

/// A call of a tool in the modern era.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": tool });
    params["arguments"] = arguments;
    request(id, "tools/call", params)
}

/// A call of `echo`, and the text that must come back.
pub(crate) fn echo(id: &str) -> Value {
    call(id, "echo", json!({ "text": id }))
}

pub(crate) fn cancelled(id: impl Into<Value>) -> Value {
    let params = json!({ "requestId": id.into() });
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
}

/// The text of a tool's result, with `error: ` before that of a failure.
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
        let mut child = command.spawn().expect("the fixture starts");
        let stderr = child.stderr.take().map(|it| thread::spawn(move || read_text(it)));
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

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("stdin is open").write_all(bytes).expect("the server reads");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes());
    }

    /// The same where the server may have ended.
    pub(crate) fn try_send(&mut self, message: &Value) -> std::io::Result<()> {
        self.stdin.as_mut().expect("stdin is open").write_all(format!("{message}\n").as_bytes())
    }

    /// Waits until the server has read all that was written, where the system can tell.
    pub(crate) fn wait_until_read(&self) {
        let stdin = self.stdin.as_ref().expect("stdin is open");
        eventually_blocking("the server has read its stdin", || {
            (rustix::io::ioctl_fionread(stdin).unwrap_or(0) == 0).then_some(())
        });
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("the child is ours").is_some()
    }

    /// The writing end, for a test that writes more than the server reads.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("stdin is open")
    }

    pub(crate) fn close_stdin(&mut self) {
        self.asked.get_or_init(Stopwatch::start);
        self.stdin = None;
    }

    /// The reading end, for a test that reads slowly or not at all. Nothing is read from it before the first message is asked for.
    pub(crate) fn take_stdout(&mut self) -> ChildStdout {
        self.stdout.take().expect("nobody has read from stdout")
    }

    pub(crate) fn terminate(&self) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a pid");
        self.asked.get_or_init(Stopwatch::start);
        kill_process(pid, Signal::TERM).expect("the process is there");
    }

    /// The next line, or `None` at the end of the stream.
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

    /// The next message, or `None` at the end of the stream. Whatever is on the wire must be one (STDIO-02).
    pub(crate) fn message(&mut self) -> Option<Value> {
        self.line().map(|line| message(&line))
    }

    /// The response to a request; others are kept, notifications dropped.
    pub(crate) fn response(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        if let Some(at) = self.kept.iter().position(|it| it["id"] == id) {
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

    /// The server still answers.
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
        // What it still writes must not hold it; `line` reads on a thread of its own once it has been called.
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
        let stderr = self.stderr.take().map(|it| it.join().expect("the thread only reads"));
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
    /// The process ended by itself, in success and without giving anything up, which it does when its grace is over.
    #[track_caller]
    pub(crate) fn check_soon(&self) {
        assert!(self.status.success(), "{self:?}");
        for given_up in ["have been given up", "did not read its last answers"] {
            assert!(!self.stderr.contains(given_up), "{self:?}");
        }
    }
}

/// A line of the wire.
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
