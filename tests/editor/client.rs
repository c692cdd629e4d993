//! Client of a language server over stdio: requests, and the state of open files.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use serde_json::{Value, json};
use support::{clock::LIMIT, process::Running};

/// Codes of the errors with which the server cancels a request, because a file has changed meanwhile.
const CANCELLED: [i64; 3] = [-32800, -32801, -32802];

/// A language server, and the texts that are open in it.
pub(crate) struct Editor {
    _process: Running,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    last_id: i64,
    versions: HashMap<PathBuf, i64>,
    is_quiescent: bool,
}

impl Editor {
    /// Starts the server on a folder.
    pub(crate) fn start(command: &mut Command, folder: &Path, options: &Value) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Running::start(command);
        let stdin = process.stdin().expect("stdin is piped");
        let stdout = process.stdout().expect("stdout is piped");
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut editor = Self {
            _process: process,
            stdin,
            messages,
            last_id: 0,
            versions: HashMap::new(),
            is_quiescent: false,
        };
        editor.request(
            "initialize",
            &json!({
                "processId": std::process::id(),
                "rootUri": uri(folder),
                "capabilities": {
                    "textDocument": {
                        "definition": {"linkSupport": true},
                        "diagnostic": {},
                        "hover": {"contentFormat": ["plaintext"]},
                    },
                    "experimental": {"serverStatusNotification": true},
                },
                "initializationOptions": options,
            }),
        );
        editor.notify("initialized", &json!({}));
        editor
    }

    /// Waits until the server has loaded the workspace.
    pub(crate) fn wait_until_quiescent(&mut self) {
        while !self.is_quiescent {
            let message = self.next();
            self.handle(&message);
        }
    }

    /// Sends a request, again if the server cancels it, and returns the result.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        loop {
            self.last_id += 1;
            let id = self.last_id;
            self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
            let mut answer = loop {
                let message = self.next();
                if message["id"] == id && message.get("method").is_none() {
                    break message;
                }
                self.handle(&message);
            };
            let code = answer["error"]["code"].as_i64();
            if !code.is_some_and(|code| CANCELLED.contains(&code)) {
                assert!(code.is_none(), "{method} {params}: {answer}");
                return answer["result"].take();
            }
        }
    }

    /// Opens a file with this text, or replaces its text.
    pub(crate) fn set_text(&mut self, file: &Path, text: &str) {
        let version = self.versions.entry(file.to_owned()).or_default();
        *version += 1;
        let (version, uri) = (*version, uri(file));
        if version == 1 {
            let document =
                json!({"uri": uri, "languageId": "rust", "version": version, "text": text});
            self.notify("textDocument/didOpen", &json!({"textDocument": document}));
        } else {
            let document = json!({"uri": uri, "version": version});
            let changes = json!([{"text": text}]);
            let params = json!({"textDocument": document, "contentChanges": changes});
            self.notify("textDocument/didChange", &params);
        }
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&mut self, message: &Value) {
        let message = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{message}", message.len())
            .and_then(|()| self.stdin.flush())
            .expect("the server reads its stdin");
    }

    fn next(&self) -> Value {
        self.messages.recv_timeout(LIMIT).expect("the server goes on")
    }

    /// Notes the state of the server, and answers its requests.
    fn handle(&mut self, message: &Value) {
        if message["method"] == "experimental/serverStatus" {
            self.is_quiescent = message["params"]["quiescent"] == true;
        }
        if let (Some(id), Some(_)) = (message.get("id"), message.get("method")) {
            self.send(&json!({"jsonrpc": "2.0", "id": id, "result": null}));
        }
    }
}

/// Reads a message: headers, and JSON of the length in `Content-Length`. Returns `None` at the end.
fn read(stdout: &mut BufReader<ChildStdout>) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().ok()?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut message = vec![0; length];
    stdout.read_exact(&mut message).ok()?;
    serde_json::from_slice(&message).ok()
}

/// Returns the URI of a file. The paths of tests have no characters that a URI escapes.
pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
