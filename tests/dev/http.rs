//! Clients over HTTP.

use std::{cell::Cell, fs, future::Future, net::SocketAddr, process::Command};

use rustix::process::Signal;
use serde_json::{Value, json};
use support::{
    clock::Stopwatch,
    http::{
        connection::{Connection, Next},
        events::Item,
        head::Head,
    },
    server::target,
};
use tokio::time::timeout;

use crate::{
    client::{Client, PATIENCE, call, modern, text},
    stdio::names,
    workshop::{
        BROKEN, DOUBLE, EXACT, EXACT_MEMBERS, FOLDERS, GREET, Workshop, main_with_port, versioned,
    },
};

/// Server over HTTP under `dev`.
struct Served {
    dev: Client,
    address: SocketAddr,
    /// Revision of the last session that has begun.
    revision: Cell<&'static str>,
}

/// Lets a process end with its terminal, even if the tests were started to outlast theirs, as by `nohup`.
fn hearing_hangups(command: Command) -> Command {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    if ignored.is_none_or(|set| set & 1 == 0) {
        return command;
    }
    let mut hearing = Command::new("env");
    hearing.arg("--default-signal=HUP").arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        hearing.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => hearing.env(name, value),
            None => hearing.env_remove(name),
        };
    }
    hearing
}

impl Served {
    fn start(workshop: &Workshop, words: &[&str]) -> Self {
        let command = workshop.dev(&[&["--http", "127.0.0.1:0"], words].concat());
        let dev = Client::start(hearing_hangups(command));
        let url = dev.url();
        let address = url.split('/').nth(2).and_then(|address| address.parse().ok());
        let address = address.expect("an address");
        Self { dev, address, revision: Cell::new("2025-11-25") }
    }

    /// Sends a request with these headers.
    async fn open(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} /mcp HTTP/1.1\r\nHost: {}\r\n", self.address);
        let all = [
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        for (name, value) in all.iter().chain(headers) {
            request += &format!("{name}: {value}\r\n");
        }
        request += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        let mut connection = Connection::open(self.address).await.expect("`dev` listens");
        connection.send(request.as_bytes(), PATIENCE).await.expect("`dev` reads");
        let head = connection.head(false, PATIENCE).await.expect("an answer");
        Answer { head, connection }
    }

    /// Sends a message of the session with this id, or of revision 2026-07-28.
    async fn post(&self, session: &str, message: &Value) -> Answer {
        let mut headers =
            vec![("Mcp-Session-Id", session), ("MCP-Protocol-Version", self.revision.get())];
        let method = message["method"].as_str().unwrap_or_default();
        let name = message["params"]["name"].as_str().unwrap_or_default();
        if session.is_empty() {
            headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
            headers.extend((!name.is_empty()).then_some(("Mcp-Name", name)));
        }
        self.open("POST", &headers, &message.to_string()).await
    }

    async fn request(&self, session: &str, id: u64, method: &str, params: Value) -> Value {
        let params = if session.is_empty() { modern(params) } else { params };
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut answer = self.post(session, &message).await;
        assert_eq!(answer.head.status, 200, "{message}");
        answer.message(|message| message["id"] == id && message.get("method").is_none()).await
    }

    /// Begins a session of the newest legacy revision. Returns its id.
    async fn initialize(&self) -> String {
        self.initialize_as("2025-11-25").await
    }

    async fn initialize_as(&self, revision: &'static str) -> String {
        self.revision.set(revision);
        let params = json!({
            "protocolVersion": revision,
            "capabilities": { "elicitation": {}, "roots": {} },
            "clientInfo": { "name": "test", "version": "1" },
        });
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let mut answer = self.open("POST", &[], &message.to_string()).await;
        let session = answer.head.get("mcp-session-id").expect("a session");
        let begun = answer.message(|message| message["id"] == 0).await;
        assert_eq!(begun["result"]["capabilities"]["prompts"]["listChanged"], true, "{begun}");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&session, &initialized).await.head.status, 202);
        session
    }

    /// Opens the stream of a session.
    async fn listen(&self, session: &str) -> Answer {
        let headers = [("Mcp-Session-Id", session), ("MCP-Protocol-Version", self.revision.get())];
        self.open("GET", &headers, "").await
    }
}

/// Answer whose head has been read.
struct Answer {
    head: Head,
    connection: Connection,
}

impl Answer {
    /// Returns the first message that fits.
    async fn message(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if !self.head.is_stream() {
            let body = self.connection.body(PATIENCE).await.expect("a whole body");
            let message: Value = serde_json::from_slice(&body).expect("JSON");
            assert!(fits(&message), "{message}");
            return message;
        }
        loop {
            let event = match self.connection.next(PATIENCE).await.expect("the stream goes on") {
                Next::Item(Item::Event(event)) => event,
                Next::Item(_) => continue,
                end => panic!("the stream ends: {end:?}"),
            };
            let data = event.data.filter(|data| !data.is_empty());
            let message = data.map(|data| serde_json::from_str(&data).expect("JSON"));
            if let Some(message) = message.filter(&fits) {
                return message;
            }
        }
    }

    async fn notification(&mut self, method: &str) -> Value {
        self.message(|message| message["method"] == method).await
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async { timeout(5 * PATIENCE, test).await.expect("the test hangs") });
}

#[support::test]
fn a_session_over_http_outlasts_its_server() {
    run(async {
        let workshop = Workshop::new("http-session", "");
        let built = workshop.time_of_build("");
        let served = Served::start(&workshop, &[]);
        let session = served.initialize().await;
        let mut stream = served.listen(&session).await;
        assert_eq!(names(&served.request(&session, 1, "tools/list", json!({})).await), ["letters"]);
        // Requests that the server refuses change nothing of the session, neither here nor at the next server.
        let foreign = [("Mcp-Session-Id", &*session), ("Origin", "https://attacker.example")];
        let list = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/list" }).to_string();
        for (method, body) in [("DELETE", ""), ("POST", &*list)] {
            assert_eq!(served.open(method, &foreign, body).await.head.status, 403);
        }
        let watch = Stopwatch::start();
        workshop.save_program(DOUBLE);
        stream.notification("notifications/tools/list_changed").await;
        let double = call("double", json!({ "number": 21 }));
        let answer = served.request(&session, 2, "tools/call", double).await;
        support::note!(
            "HTTP: {:?} from saving to the answer, {built:?} for an incremental build",
            watch.elapsed()
        );
        assert_eq!(text(&answer), "42");
        // The stream goes on at each further server.
        workshop.save_program("");
        stream.notification("notifications/tools/list_changed").await;
        assert_eq!(names(&served.request(&session, 3, "tools/list", json!({})).await), ["letters"]);
        let headers = [("Mcp-Session-Id", &*session)];
        assert!(matches!(served.open("DELETE", &headers, "").await.head.status, 200..300));
        let list = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/list" });
        assert_eq!(served.post(&session, &list).await.head.status, 404);
    });
}

#[support::test]
fn a_listen_stream_over_http_outlasts_its_server() {
    run(async {
        let workshop = Workshop::new("http-listen", "");
        let served = Served::start(&workshop, &[]);
        let wanted = json!({ "toolsListChanged": true });
        let params = modern(json!({ "notifications": wanted }));
        let listen = json!({ "jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": params });
        let mut stream = served.post("", &listen).await;
        let begun = stream.message(|_| true).await;
        assert_eq!(begun["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(begun["params"]["notifications"], wanted);
        for (id, code) in [(1, DOUBLE), (2, "")] {
            workshop.save_program(code);
            let changed = stream.message(|_| true).await;
            assert_eq!(changed["method"], "notifications/tools/list_changed");
            assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "l");
            let tools = served.request("", id, "tools/list", json!({})).await;
            assert_eq!(names(&tools).len() as u64, 3 - id);
        }
        assert_eq!(
            served.request("", 3, "prompts/list", json!({})).await["result"]["prompts"],
            json!([])
        );
    });
}

#[support::test]
fn over_http_the_errors_of_the_compiler_answer_calls_of_this_machine() {
    run(async {
        let workshop = Workshop::new("http-broken", &versioned("one"));
        let served = Served::start(&workshop, &[]);
        let session = served.initialize().await;
        workshop.save_program(BROKEN);
        served.dev.wait_for_words("the build has failed");
        for session in [&*session, ""] {
            let answer = served.request(session, 1, "tools/call", call("version", json!({}))).await;
            assert!(text(&answer).contains("cannot multiply `i64` by `&str`"), "{answer}");
            assert_eq!(names(&served.request(session, 2, "tools/list", json!({})).await).len(), 2);
        }
        let message = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": modern(call("version", json!({}))) });
        let foreign = [("Origin", "https://attacker.example")];
        assert_eq!(served.open("POST", &foreign, &message.to_string()).await.head.status, 403);
        let program =
            workshop.read("src/main.rs").replace("\"2\"", "2").replace("\"one\"", "\"two\"");
        workshop.save("src/main.rs", &program);
        served.dev.wait_for_words("built after");
        for session in [&*session, ""] {
            let answer = served.request(session, 4, "tools/call", call("version", json!({}))).await;
            assert_eq!(text(&answer), "two");
        }
    });
}

#[support::test]
fn over_http_a_running_call_ends_at_the_server_that_has_begun_it() {
    run(async {
        let workshop = Workshop::new("http-running", GREET);
        let served = Served::start(&workshop, &[]);
        let session = served.initialize().await;
        let mut stream = served.listen(&session).await;
        let greet = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call("greet", json!({})) });
        let mut first = served.post(&session, &greet(1)).await;
        let asked = first.notification("elicitation/create").await;
        workshop.save("words/src/lib.rs", "pub const GREETING: &str = \"welcome\";\n");
        workshop.save_program(DOUBLE);
        // A notification that came before may belong to an earlier replacement. The new tool shows that both files have been built.
        loop {
            stream.notification("notifications/tools/list_changed").await;
            let tools = served.request(&session, 3, "tools/list", json!({})).await;
            if names(&tools).contains(&"double") {
                break;
            }
        }
        let mut second = served.post(&session, &greet(2)).await;
        let asked_again = second.notification("elicitation/create").await;
        for (question, name) in [(asked_again, "Bob"), (asked, "Ada")] {
            let result = json!({ "action": "accept", "content": { "name": name } });
            let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
            // The server refuses the answer of a page of another site, and goes on waiting for that of the user.
            let foreign = [("Mcp-Session-Id", &*session), ("Origin", "https://attacker.example")];
            let refused = json!({ "jsonrpc": "2.0", "id": question["id"], "result": {} });
            assert_eq!(served.open("POST", &foreign, &refused.to_string()).await.head.status, 403);
            assert_eq!(served.post(&session, &answer).await.head.status, 202);
        }
        assert_eq!(
            text(&second.message(|message| message["id"] == 2).await),
            "welcome Bob",
            "{}",
            served.dev.stderr()
        );
        assert_eq!(text(&first.message(|message| message["id"] == 1).await), "hello Ada");
    });
}

#[support::test]
fn over_http_messages_keep_the_order_of_members_and_the_digits_of_numbers() {
    run(async {
        let workshop = Workshop::new("http-exact", EXACT);
        let served = Served::start(&workshop, &[]);
        let session = served.initialize().await;
        let headers = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "2025-11-25")];
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"exact","arguments":{EXACT_MEMBERS}}}}}"#
        );
        let mut answer = served.open("POST", &headers, &body).await;
        let text = answer.connection.body(PATIENCE).await.expect("a whole body");
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(text.contains(&format!(r#""structuredContent":{EXACT_MEMBERS}"#)), "{text}");
    });
}

/// Returns a batch with calls of these tools. The first call has the id 1.
fn batch(tools: &[&str]) -> Value {
    let requests = tools.iter().zip(1..).map(|(tool, id)| {
        let arguments = if *tool == "letters" { json!({ "text": "four" }) } else { json!({}) };
        let params = call(tool, arguments);
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    });
    requests.collect()
}

/// Returns the texts of the answers to a batch, in the order of the ids.
fn texts(batch: &Value) -> Vec<String> {
    let mut answers = batch.as_array().unwrap_or_else(|| panic!("{batch}")).clone();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers.iter().map(text).collect()
}

#[support::test]
fn over_http_a_batch_ends_at_the_server_that_has_begun_it() {
    run(async {
        let workshop = Workshop::new("http-batch", &format!("{FOLDERS}{}", versioned("one")));
        let served = Served::start(&workshop, &[]);
        let session = served.initialize_as("2025-03-26").await;
        let mut stream = served.listen(&session).await;
        let mut begun = served.post(&session, &batch(&["folders", "version", "folders"])).await;
        let mut asked = Vec::new();
        for _ in 0..2 {
            asked.push(begun.notification("roots/list").await["id"].clone());
        }
        let program = workshop.read("src/main.rs").replace("\"one\"", "\"two\"");
        workshop.save("src/main.rs", &program);
        stream.notification("notifications/tools/list_changed").await;
        // A batch waits for nothing of an earlier batch, and reaches the new server.
        let mut other = served.post(&session, &batch(&["version", "letters"])).await;
        assert_eq!(texts(&other.message(Value::is_array).await), ["two", "4"]);
        // A batch has both answers, and a request for the new server. The old server is still there.
        let root = json!({ "uri": "file:///a" });
        let answer = |id: &Value, roots: &[&Value]| json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": roots } });
        let mixed = json!([
            answer(&asked[0], &[&root]),
            { "jsonrpc": "2.0", "id": 4, "method": "ping" },
            answer(&asked[1], &[&root, &root]),
        ]);
        let mut mixed = served.post(&session, &mixed).await;
        let pong = json!([{ "jsonrpc": "2.0", "id": 4, "result": {} }]);
        assert_eq!(mixed.message(|_| true).await, pong);
        let mut counts = texts(&begun.message(Value::is_array).await);
        assert_eq!(counts.remove(1), "one");
        counts.sort_unstable();
        assert_eq!(counts, ["1", "2"]);
    });
}

#[support::test]
fn over_http_a_batch_is_answered_while_no_server_can() {
    run(async {
        let workshop = Workshop::new("http-batches", "");
        let served = Served::start(&workshop, &[]);
        let session = served.initialize_as("2025-03-26").await;
        workshop.save_program(BROKEN);
        served.dev.wait_for_words("the build has failed");
        let mut failed = served.post(&session, &batch(&["letters", "double"])).await;
        for text in texts(&failed.message(Value::is_array).await) {
            assert!(text.contains("cannot multiply `i64` by `&str`"), "{text}");
        }
        let quit = "#[tool]\nfn quit() { std::process::exit(3) }\n";
        workshop.save_program(&format!("{quit}{FOLDERS}"));
        served.dev.wait_for_words("built after");
        let mut lost = served.post(&session, &batch(&["quit", "folders"])).await;
        for text in texts(&lost.message(Value::is_array).await) {
            assert!(text.contains("the server has ended (exit status: 3)"), "{text}");
        }
    });
}

#[support::test]
fn options_of_the_server_reach_it_and_the_playground_is_served() {
    run(async {
        let workshop = Workshop::new("http-options", "");
        let served = Served::start(&workshop, &["--playground"]);
        served.dev.wait_for_words("dev: the playground is at http://127.0.0.1:");
        let request = format!(
            "GET /playground HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            served.address
        );
        let mut connection = Connection::open(served.address).await.expect("`dev` listens");
        connection.send(request.as_bytes(), PATIENCE).await.expect("`dev` reads");
        assert_eq!(connection.head(false, PATIENCE).await.expect("an answer").status, 200);
        let page = connection.body(PATIENCE).await.expect("a whole page");
        assert!(String::from_utf8_lossy(&page).contains("</html>"));
    });
}

/// The file with the logins is in the folder of the process.
#[support::test]
fn logins_are_removed_when_the_process_is_asked_to_end() {
    let workshop = Workshop::new("http-end", "");
    for signal in [Signal::TERM, Signal::HUP] {
        let mut served = Served::start(&workshop, &[]);
        let folder = target().join("debug/mcp-runtime-dev").join(served.dev.pid().to_string());
        fs::write(folder.join("kept.jsonl"), "a login").expect("the folder of the process");
        served.dev.end_by(signal);
        assert!(!folder.exists(), "{signal:?}");
    }
}

#[support::test]
fn only_this_machine_reaches_the_command() {
    let workshop = Workshop::new("http-address", "");
    let output = workshop.dev(&["--http", "0.0.0.0:0"]).output().expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("it listens only on this machine"), "{said}");
}

#[support::test]
fn over_http_a_server_that_cannot_start_beside_the_last_one_starts_alone() {
    run(async {
        let mut workshop = Workshop::new("http-port", "");
        workshop.set_main(&main_with_port());
        let served = Served::start(&workshop, &[]);
        let session = served.initialize().await;
        let mut stream = served.listen(&session).await;
        workshop.save_program(DOUBLE);
        served.dev.wait_for_words("built after");
        // Requests go on while no server listens.
        while names(&served.request(&session, 4, "tools/list", json!({})).await) == ["letters"] {}
        stream.notification("notifications/tools/list_changed").await;
        let double = || call("double", json!({ "number": 4 }));
        let answer = served.request(&session, 1, "tools/call", double()).await;
        assert_eq!(text(&answer), "8");
        // A program that cannot start at all leaves the last program in charge of everything but calls.
        workshop
            .save_main("server!().setup(async || Err::<u8, _>(Error::msg(\"no database\"))).run()");
        served.dev.wait_for_words("no database");
        let answer = served.request(&session, 2, "tools/call", double()).await;
        assert!(text(&answer).contains("no database"), "{answer}");
        let tools = served.request(&session, 3, "tools/list", json!({})).await;
        assert_eq!(names(&tools), ["double", "letters"]);
    });
}
