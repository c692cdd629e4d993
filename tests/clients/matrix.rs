//! The cells of the matrix. Each cell lets a client use the examples, and checks the outcome.

use serde_json::{Value, json};
use std::{fs, process::Command};
use support::{examples::example, server::Server};

use crate::{
    client::{Again, Client, Transport},
    driver::{Driver, call, open},
    schema::{is_described, paths},
};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell {
    /// Every tool of every example reaches the model, with all fields of its arguments.
    List,
    /// Results and arguments arrive, including empty results and arguments without their optional fields.
    Call,
    /// The model reads why a tool has failed, and the connection stays usable.
    Error,
    /// Structured content arrives as a value.
    Structured,
    /// Each progress report of a running call arrives.
    Progress,
    /// The user is asked in the middle of a call.
    Elicit,
    /// A client recovers after a restart of its server.
    Reconnect,
    /// A user logs in to a server of which the client knows only the URL.
    Login,
}

impl Cell {
    pub(crate) const ALL: [Self; 8] = [
        Self::List,
        Self::Call,
        Self::Error,
        Self::Structured,
        Self::Progress,
        Self::Elicit,
        Self::Reconnect,
        Self::Login,
    ];
}

/// Examples that need no login.
const OPEN: [&str; 7] = ["quickstart", "everything", "book", "files", "issues", "memory", "time"];

/// Returns an error with the expectation and the outcome, unless the outcome is right.
fn expect(is_right: bool, expectation: &str, outcome: &Value) -> Result<(), String> {
    if is_right { Ok(()) } else { Err(format!("{expectation}: {outcome}")) }
}

/// A client, its transport, and the process that the client runs in.
pub(crate) struct Bench<'a> {
    pub(crate) client: &'a Client,
    pub(crate) transport: Transport,
    driver: Option<Driver>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(client: &'a Client, transport: Transport) -> Self {
        Self { client, transport, driver: None }
    }

    /// Runs the check of a cell.
    pub(crate) fn fill(&mut self, cell: Cell) -> Result<(), String> {
        let filled = match cell {
            Cell::List => self.list(),
            Cell::Call => self.call(),
            Cell::Error => self.error(),
            Cell::Structured => self.structured(),
            Cell::Progress => self.progress(),
            Cell::Elicit => self.elicit(),
            Cell::Reconnect => self.reconnect(),
            Cell::Login => self.login(),
        };
        if filled.is_err() {
            self.give_up();
        }
        filled
    }

    /// Closes the connection after a failed cell. Drops a client that no longer answers, so that the next step starts another process.
    fn give_up(&mut self) {
        if self.driver.as_ref().is_some_and(|driver| driver.is_there) {
            let _ = self.close();
        }
        self.driver.take_if(|driver| !driver.is_there);
    }

    fn server(&self, name: &'static str) -> Server {
        let server = Server::new(name);
        // The root of `files` has to exist before the server starts.
        server.file("a.txt");
        match self.transport {
            Transport::Stdio => server,
            Transport::Http | Transport::Sse => server.served(),
        }
    }

    fn step(&mut self, step: &Value) -> Result<Value, String> {
        let driver = match &mut self.driver {
            Some(driver) => driver,
            none => none.insert(Driver::start(self.client.command()?)?),
        };
        driver.step(step)
    }

    fn open(&mut self, server: &Server) -> Result<(), String> {
        self.open_for(server, false)
    }

    fn open_for(&mut self, server: &Server, login: bool) -> Result<(), String> {
        let environment: serde_json::Map<_, _> = server
            .environment()
            .into_iter()
            .map(|(name, path)| (name.to_owned(), json!(path)))
            .collect();
        let transport = self.transport.name();
        let at = match self.transport {
            Transport::Stdio => json!({
                "transport": transport, "command": server.address().to_str(), "environment": environment,
            }),
            Transport::Http => json!({"transport": transport, "url": server.address().to_str()}),
            Transport::Sse => json!({"transport": transport, "url": server.sse()}),
        };
        self.step(&open(at, login)).map(drop)
    }

    fn close(&mut self) -> Result<(), String> {
        self.step(&json!({"do": "close"})).map(drop)
    }

    /// Calls a tool that must succeed, and returns the text that a model would read.
    fn text(&mut self, name: &str, arguments: Value) -> Result<String, String> {
        let outcome = self.step(&call(name, arguments))?;
        match outcome["text"].as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(format!("{name} has no text: {outcome}")),
        }
    }

    fn list(&mut self) -> Result<(), String> {
        let mut mistakes = Vec::new();
        let mut hidden = 0;
        for name in OPEN {
            let server = self.server(name);
            match self.open(&server).and_then(|()| self.compare(name, &mut mistakes)) {
                Ok(count) => {
                    hidden += count;
                    self.close()?;
                }
                Err(failure) => {
                    mistakes.push(format!("{name}: {failure}"));
                    self.give_up();
                }
            }
        }
        if self.client.hides.is_some() && hidden == 0 {
            mistakes.push("the client hides no fields of objects now".to_owned());
        }
        if mistakes.is_empty() { Ok(()) } else { Err(mistakes.join("\n")) }
    }

    /// Compares the tools that a client has converted with the tools that the server publishes. Returns the number of fields that
    /// only descriptions name.
    fn compare(&mut self, name: &'static str, mistakes: &mut Vec<String>) -> Result<usize, String> {
        let outcome = self.step(&json!({"do": "tools"}))?;
        let forms = outcome["tools"].as_object().filter(|forms| !forms.is_empty());
        let forms = forms.ok_or_else(|| format!("no tools: {outcome}"))?;
        let mut hidden = 0;
        for tool in published(name)? {
            let tool_name = tool["name"].as_str().unwrap_or_default();
            for (form, tools) in forms {
                let Some(schema) = tools.get(tool_name) else {
                    mistakes.push(format!("{name}: {tool_name} is dropped ({form})"));
                    continue;
                };
                let (expected, found) = (paths(&tool["inputSchema"]), paths(schema));
                let mut lost: Vec<_> = expected.difference(&found).cloned().collect();
                if self.client.hides.is_some() {
                    let count = lost.len();
                    lost.retain(|path| !is_described(schema, path));
                    hidden += count - lost.len();
                }
                let is_known = self.client.loses.iter().any(|loss| loss.0 == tool_name);
                if is_known && lost.is_empty() {
                    mistakes.push(format!("{name}: {tool_name} keeps its fields now ({form})"));
                } else if !lost.is_empty() && !is_known {
                    let lost = lost.join(", ");
                    mistakes.push(format!("{name}: {tool_name} loses {lost} ({form})"));
                }
            }
        }
        Ok(hidden)
    }

    fn call(&mut self) -> Result<(), String> {
        let mut mistakes = Vec::new();
        for part in [
            Self::call_plainly,
            Self::call_for_nothing,
            Self::call_by_names,
            Self::call_with_arrays,
        ] {
            if let Err(mistake) = part(self) {
                mistakes.push(mistake);
                self.give_up();
            }
        }
        if mistakes.is_empty() { Ok(()) } else { Err(mistakes.join("\n")) }
    }

    fn call_plainly(&mut self) -> Result<(), String> {
        let server = self.server("quickstart");
        self.open(&server)?;
        let sum = self.text("add", json!({"a": 2, "b": 3}))?;
        expect(sum.contains('5'), "2 + 3", &json!(sum))?;
        self.close()
    }

    /// Calls a tool without a result.
    fn call_for_nothing(&mut self) -> Result<(), String> {
        let server = self.server("files");
        let file = server.file("a.txt");
        fs::write(&file, "first\nsecond\n").map_err(|error| error.to_string())?;
        self.open(&server)?;
        let read = self.text("read_file", json!({"path": "tree/a.txt"}))?;
        expect(read.contains("second"), "a file that is read", &json!(read))?;
        let nothing = self.text("create_directory", json!({"path": "tree/made"}))?;
        expect(file.with_file_name("made").is_dir(), "a directory that is made", &json!(nothing))?;
        let is_told = !nothing.is_empty() && !nothing.contains("content") && nothing != "[]";
        expect(is_told, "a tool without an answer says so", &json!(nothing))?;
        self.close()
    }

    /// Calls a tool by the published names of its arguments. Clients turn the names into identifiers, and an argument whose name is a
    /// reserved word could get lost.
    fn call_by_names(&mut self) -> Result<(), String> {
        let tools = published("files")?;
        let tool = tools.iter().find(|tool| tool["name"] == "move_file");
        let names = tool.and_then(|tool| tool["inputSchema"]["required"].as_array());
        let names: Vec<_> = names.into_iter().flatten().filter_map(Value::as_str).collect();
        let [from, to] = names[..] else { return Err(format!("move_file takes {names:?}")) };
        let server = self.server("files");
        let file = server.file("a.txt");
        fs::write(&file, "first").map_err(|error| error.to_string())?;
        self.open(&server)?;
        let outcome =
            self.step(&call("move_file", json!({from: "tree/a.txt", to: "tree/b.txt"})))?;
        expect(file.with_file_name("b.txt").exists(), "a file that is moved", &outcome)?;
        self.close()
    }

    /// Calls tools with arrays of objects. One of the objects leaves out a field that has a default.
    fn call_with_arrays(&mut self) -> Result<(), String> {
        let server = self.server("memory");
        self.open(&server)?;
        let entities = json!([
            {"name": "Ada", "entityType": "person", "observations": ["wrote notes"]},
            {"name": "Engine", "entityType": "machine"},
        ]);
        self.text("create_entities", json!({"entities": entities}))?;
        let relation = json!({"source": "Ada", "relationType": "programs", "target": "Engine"});
        let made = self.text("create_relations", json!({"relations": [relation]}))?;
        expect(made.contains('1'), "a relation that is made", &json!(made))?;
        let graph = self.text("search_nodes", json!({"query": "Ada"}))?;
        let is_whole =
            ["wrote notes", "Engine", "programs"].iter().all(|part| graph.contains(part));
        expect(is_whole, "the graph", &json!(graph))?;
        self.close()
    }

    fn error(&mut self) -> Result<(), String> {
        let server = self.server("everything");
        self.open(&server)?;
        let outcome = self.step(&call("test_error_handling", json!({})))?;
        let told = outcome["error"].as_str().or(outcome["text"].as_str()).unwrap_or_default();
        let is_told = told.contains("This tool intentionally returns an error for testing");
        expect(is_told, "a tool that fails", &outcome)?;
        let outcome = self.step(&call("greet", json!({"name": 7})))?;
        let told = outcome["error"].as_str().or(outcome["text"].as_str()).unwrap_or_default();
        expect(told.contains("name") && !told.contains("Hello"), "a wrong argument", &outcome)?;
        let greeting = self.text("greet", json!({"name": "Ada"}))?;
        expect(greeting.contains("Hello, Ada!"), "a call after errors", &json!(greeting))?;
        self.close()
    }

    fn structured(&mut self) -> Result<(), String> {
        let server = self.server("time");
        self.open(&server)?;
        let mut step = call("get_current_time", json!({"timezone": "Europe/London"}));
        step["structured"] = true.into();
        let outcome = self.step(&step)?;
        let moment = &outcome["structured"];
        let is_right = moment["timezone"] == "Europe/London"
            && moment["isDst"].as_bool().or(moment["is_dst"].as_bool()).is_some();
        expect(is_right, "the time in London", &outcome)?;
        self.close()
    }

    fn progress(&mut self) -> Result<(), String> {
        let server = self.server("everything");
        self.open(&server)?;
        let outcome = self.step(&call("test_tool_with_progress", json!({})))?;
        let done = outcome["progress"].as_array().into_iter().flatten();
        let done: Vec<_> = done.filter_map(Value::as_f64).collect();
        expect(done == [0.0, 50.0, 100.0], "three reports", &outcome)?;
        self.close()
    }

    fn elicit(&mut self) -> Result<(), String> {
        let server = self.server("everything");
        self.open(&server)?;
        let outcome = self.step(&call("test_elicitation", json!({"message": "Who are you?"})))?;
        expect(outcome["asked"] == json!(["Who are you?"]), "a single question", &outcome)?;
        let text = outcome["text"].as_str().unwrap_or_default();
        expect(text.contains("ada <ada@example.com>"), "the answers of the user", &outcome)?;
        self.close()
    }

    fn reconnect(&mut self) -> Result<(), String> {
        let mut server = self.server("everything");
        let greet = || json!({"name": "Ada"});
        self.open(&server)?;
        self.text("greet", greet())?;
        if self.transport == Transport::Stdio {
            // Over stdio the server process ends with its connection, so a new connection is a restart.
            self.close()?;
            self.open(&server)?;
        } else {
            server.restart();
            match self.client.again(self.transport) {
                Again::Call => self.rest()?,
                Again::SecondCall(_) => {
                    self.rest()?;
                    let outcome = self.step(&call("greet", greet()))?;
                    let told = outcome["error"].as_str().unwrap_or_default().to_lowercase();
                    expect(told.contains("session"), "a call reports the session's end", &outcome)?;
                }
                Again::Open(_) => {
                    // The call may fail. The application then opens another connection.
                    let _ = self.step(&call("greet", greet()));
                    self.give_up();
                    self.open(&server)?;
                }
            }
        }
        let greeting = self.text("greet", greet())?;
        expect(greeting.contains("Hello, Ada!"), "a call to the new process", &json!(greeting))?;
        self.close()
    }

    /// Waits until the client has seen that its streams have ended. The response to a call before that moment would be lost, because it
    /// would come on one of these streams.
    fn rest(&mut self) -> Result<(), String> {
        self.step(&json!({"do": "rest"})).map(drop)
    }

    fn login(&mut self) -> Result<(), String> {
        let server = self.server("notes");
        self.open_for(&server, true)?;
        self.text("add_note", json!({"text": "milk"}))?;
        let listed = self.text("list_notes", json!({}))?;
        expect(listed.contains("milk"), "the notes of the user", &json!(listed))?;
        self.close()
    }
}

/// Returns the tools that an example publishes.
fn published(name: &str) -> Result<Vec<Value>, String> {
    let output = Command::new(example(name)).arg("schema").output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    let manifest: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("{name}: {error}"))?;
    let tools = manifest["tools"].as_array().filter(|tools| !tools.is_empty());
    tools.cloned().ok_or_else(|| format!("{name} publishes no tools"))
}
