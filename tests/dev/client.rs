//! Client over stdio that reads and writes messages as they are.

use std::{
    fmt::Display,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, channel},
    },
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{
    clock::{LIMIT, eventually_within},
    harness::Output,
};

/// Longest wait for a message or for the end of a process. Meanwhile cargo may build, beside other builds.
pub(crate) const PATIENCE: Duration = LIMIT.saturating_mul(5);

/// Process of `dev`, which is killed when dropped.
pub(crate) struct Client {
    process: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that were read while the test waited for another one.
    kept: Vec<Value>,
    stdout: Arc<Mutex<String>>,
    stderr: Arc<Mutex<String>>,
}

impl Client {
    pub(crate) fn start(command: Command) -> Self {
        let mut client = Self::start_unread(command);
        let errors = BufReader::new(client.process.stderr.take().expect("stderr is piped"));
        let said = client.stderr.clone();
        let output = Output::of_this_thread();
        thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                output.line(format_args!("{line}"));
                *said.lock().expect("no test panics here") += &format!("{line}\n");
            }
        });
        client
    }

    /// Like [`start`](Self::start), but no thread reads stderr.
    pub(crate) fn start_unread(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("cargo starts");
        let stdout = BufReader::new(process.stdout.take().expect("stdout is piped"));
        let (sender, messages) = channel();
        let (lines, written) = (stdout, Arc::<Mutex<String>>::default());
        let stdout = written.clone();
        thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                *written.lock().expect("no test panics here") += &format!("{line}\n");
                let message = serde_json::from_str(&line);
                let _ = sender.send(message.unwrap_or_else(|error| panic!("{error}: {line}")));
            }
        });
        let stderr = Arc::default();
        Self { stdin: process.stdin.take(), process, messages, kept: Vec::new(), stdout, stderr }
    }

    /// Returns all messages as the process has written them.
    pub(crate) fn stdout(&self) -> String {
        self.stdout.lock().expect("no test panics here").clone()
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.lock().expect("no test panics here").clone()
    }

    /// Waits until the first server listens, and returns the URL of the endpoint.
    pub(crate) fn url(&self) -> String {
        self.wait_for_words(", and changes with its sources");
        let said = self.stderr();
        let url = said.split(" is at ").nth(1).and_then(|rest| rest.split(',').next());
        url.expect("a URL").to_owned()
    }

    /// Waits until stderr contains these words.
    pub(crate) fn wait_for_words(&self, words: &str) {
        eventually_within(PATIENCE, words, || self.stderr().contains(words).then_some(()));
    }

    /// Waits until this number of builds have failed.
    pub(crate) fn wait_for_failures(&self, count: usize) {
        eventually_within(PATIENCE, "the builds fail", || {
            (self.stderr().matches("the build has failed").count() == count).then_some(())
        });
    }

    pub(crate) fn send(&mut self, message: &impl Display) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(format!("{message}\n").as_bytes()).expect("the process reads");
    }

    /// Returns the first message that fits. Others are kept.
    pub(crate) fn wait_for(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&fits) {
            return self.kept.remove(at);
        }
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap_or_else(|error| {
                panic!("{error}; instead there are {:?}\n{}", self.kept, self.stderr())
            });
            if fits(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    pub(crate) fn response(&mut self, id: u64) -> Value {
        self.wait_for(|message| message["id"] == id && message.get("method").is_none())
    }

    pub(crate) fn notification(&mut self, method: &str) -> Value {
        self.wait_for(|message| message["method"] == method)
    }

    pub(crate) fn request(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.response(id)
    }

    /// Calls a tool until the server has it.
    pub(crate) fn wait_for_answer(&mut self, tool: &str, arguments: Value) -> Value {
        let mut id = 1000;
        eventually_within(PATIENCE, tool, || {
            id += 1;
            let answer = self.request(id, "tools/call", call(tool, arguments.clone()));
            let has_failed = answer.get("error").is_some() || answer["result"]["isError"] == true;
            (!has_failed).then_some(answer)
        })
    }

    /// Begins a session of a legacy revision. Returns the capabilities of the server.
    pub(crate) fn initialize(&mut self, revision: &str) -> Value {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.request(0, "initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], revision);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer["result"]["capabilities"].clone()
    }

    /// Id of the process. `cargo run` becomes `dev`.
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Sends a signal, and waits until the process has ended.
    pub(crate) fn end_by(&mut self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).expect("a pid");
        kill_process(pid, signal).expect("the process is there");
        eventually_within(PATIENCE, "the process ends", || self.process.try_wait().ok().flatten());
    }

    /// Closes stdin, and checks that the process ends. Returns the messages that the test has not waited for.
    #[track_caller]
    pub(crate) fn check_end(mut self) -> Vec<Value> {
        self.stdin = None;
        let status = eventually_within(PATIENCE, "the process ends", || {
            self.process.try_wait().expect("the process is ours")
        });
        let mut rest = std::mem::take(&mut self.kept);
        rest.extend(self.messages.iter());
        assert!(status.success(), "{status}: {}", self.stderr());
        rest
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stdin = None;
        // A test that has failed does not wait, because the process may not end.
        let is_running = self.process.try_wait().is_ok_and(|status| status.is_none());
        let waits = is_running && !thread::panicking();
        let pid = Pid::from_raw(self.process.id().cast_signed()).filter(|_| waits);
        if pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok()) {
            eventually_within(PATIENCE, "the process ends", || {
                self.process.try_wait().ok().flatten()
            });
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Adds the members that each request of revision 2026-07-28 needs.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    params
}

/// Returns the parameters of a tool call.
pub(crate) fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// Returns the text of a tool's result, with `error: ` before the text of a failure.
pub(crate) fn text(answer: &Value) -> String {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    if result["isError"] == true { format!("error: {text}") } else { text.to_owned() }
}
