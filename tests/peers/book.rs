//! A booking from its first form to its payment: official clients fill in the forms, and a plain HTTP client pays on the payment page.

use std::{
    io::{BufRead, BufReader, Write},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use support::{
    clock::LIMIT,
    examples::example,
    http::{connection::Connection, head::Head},
    process::HttpServer,
    requirement::{Missing, needs},
};

use crate::{inspector, python, python::text, server::Server, typescript};

/// Returns a plan for a peer: its simulated user fills in every form with the values below, and the peer carries out `steps`.
fn plan(guests: u8, steps: &[Value]) -> Value {
    let knows = json!({
        "day": "2999-12-31", "time": "18:00", "guests": guests,
        "name": "Ada", "area": "garden", "email": "ada@example.com",
        "take": true,
    });
    json!({ "elicitation": { "knows": knows }, "steps": steps })
}

/// Checks that a table was booked, and that the wait for another table ended at once.
#[track_caller]
fn check(report: Result<Value, Missing>, revision: &str) {
    let report = needs(report);
    assert_eq!(report["protocol"], revision, "{report:#}");
    for (at, said) in
        ["Booked: Garden, 2999-12-31 at 18:00 for 2", "Booked: Hall"].iter().enumerate()
    {
        let text = text(&report["steps"][at]).unwrap_or_default();
        assert!(text.starts_with(said), "{revision}: {report:#}");
    }
    assert_eq!(report["asked"].as_array().map(Vec::len), Some(3), "{revision}: {report:#}");
}

#[support::test]
fn official_clients_book_and_wait() {
    let wait = json!({ "day": "2999-12-31", "time": "18:00", "guests": 4, "name": "Grace" });
    let steps = [
        json!({ "do": "call", "name": "book_table" }),
        json!({ "do": "call", "name": "wait_for_table", "arguments": wait }),
    ];
    let plan = || plan(2, &steps);
    for over_http in [false, true] {
        let server = || if over_http { Server::over_http("book") } else { Server::new("book") };
        check(python::carry_out(&server(), "auto", plan()), "2026-07-28");
        check(python::carry_out(&server(), "legacy", plan()), "2025-11-25");
        for revision in ["2026-07-28", "2025-11-25", "2025-06-18"] {
            check(typescript::carry_out(&server(), "client", revision, plan()), revision);
        }
        check(typescript::carry_out(&server(), "sdk", "auto", plan()), "2025-11-25");
    }
}

#[support::test]
fn the_inspector_accepts_the_schemas_calls_and_reads() {
    let server = Server::new("book");
    inspector::list(&server);
    let cancel = inspector::call("cancel_booking", r#"{"booking": "none"}"#);
    inspector::check(&server, &cancel, 5, |answer| answer.stderr.contains("tool_is_error"));
    let get = ["--method", "prompts/get", "--prompt-name", "plan_evening"];
    let given = ["--prompt-args", "occasion=business"];
    inspector::check(&server, &[&get[..], &given[..]].concat(), 0, |answer| {
        let text = answer.result["messages"][0]["content"]["text"].as_str();
        text.is_some_and(|text| text.starts_with("Plan business"))
    });
    let read = ["--method", "resources/read", "--uri", "booking://none"];
    inspector::check(&server, &read, 1, |answer| answer.stderr.contains("\"error\""));
}

/// Minimal client of protocol revision 2026-07-28, without an SDK.
enum Client {
    Http(SocketAddr),
    Stdio(Child),
}

impl Client {
    fn stdio() -> Self {
        let mut command = Command::new(example("book"));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self::Stdio(command.spawn().expect("the example starts"))
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {}, "url": {} } },
        });
        let name = params["name"].as_str().or(params["uri"].as_str()).expect("a name").to_owned();
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = match self {
            Self::Http(address) => {
                let headers = format!(
                    "Content-Type: application/json\r\nAccept: application/json\r\n\
                     MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n"
                );
                http(*address, "POST /mcp", &headers, &request.to_string()).1
            }
            Self::Stdio(process) => {
                let stdin = process.stdin.as_mut().expect("stdin is piped");
                writeln!(stdin, "{request}").expect("the server reads");
                let mut line = String::new();
                // The server sends one answer at a time, so the dropped buffer contains no unread bytes.
                let stdout = process.stdout.as_mut().expect("stdout is piped");
                BufReader::new(stdout).read_line(&mut line).expect("the server answers");
                line
            }
        };
        serde_json::from_str::<Value>(&answer).expect("the answer is JSON")["result"].take()
    }

    /// Calls `book_table` with these answers, and returns the next requests for input or the result.
    fn book(&mut self, answers: Value, state: &Value) -> Value {
        let mut params = json!({ "name": "book_table", "inputResponses": answers });
        if !state.is_null() {
            params["requestState"] = state.clone();
        }
        self.ask("tools/call", params)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Self::Stdio(process) = self {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Sends a request as a plain HTTP client, and returns the head and the body of the response.
fn http(address: SocketAddr, line: &str, headers: &str, body: &str) -> (Head, String) {
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let mut connection = Connection::open(address).await.expect("somebody listens there");
        connection.send(request.as_bytes(), LIMIT).await.expect("the request is read");
        let head = connection.head(false, LIMIT).await.expect("a response");
        let body = connection.body(LIMIT).await.expect("a whole body");
        (head, String::from_utf8(body).expect("UTF-8"))
    })
}

/// Books for eight guests, pays the deposit on the payment page, and checks that the booking is paid.
fn check_payment(mut client: Client) {
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    let asked = client.book(json!({}), &Value::Null);
    assert!(asked["inputRequests"]["visit-1"].is_object(), "{asked:#}");
    let visit = accept(json!({ "day": "2999-12-31", "guests": 8 }));
    let asked = client.book(json!({ "visit-1": visit }), &asked["requestState"]);
    let group = accept(json!({ "name": "<b>Ada</b>", "email": "ada@example.com" }));
    let asked = client.book(json!({ "group": group }), &asked["requestState"]);
    let url = asked["inputRequests"]["deposit"]["params"]["url"].as_str().expect("a page");
    let (host, page) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
    let address: SocketAddr = host.parse().expect("an address of this machine");

    let look = |page: &str| http(address, &format!("GET /{page}"), "", "");
    let press = |token: &str| {
        let form = "Content-Type: application/x-www-form-urlencoded\r\n";
        http(address, &format!("POST /{page}"), form, &format!("token={token}")).0
    };
    let (head, shown) = look(page);
    assert!(
        head.status == 200 && shown.contains("A table on 2999-12-31 at 20:30 for 8"),
        "{shown}"
    );
    assert!(!shown.contains("Ada"), "it says who comes: {shown}");
    assert_eq!(head.get("cache-control").as_deref(), Some("no-store"));
    assert!(
        head.get("content-security-policy")
            .is_some_and(|policy| policy.contains("frame-ancestors 'none'"))
    );
    assert_eq!(look("pay/0").0.status, 404);
    for wrong in ["", "0", page] {
        assert_eq!(press(wrong).status, 403, "{wrong}");
    }
    assert!(look(page).1.contains("Pay 80 €"), "it is paid without the button");

    let token =
        shown.split_once("value=").and_then(|parts| parts.1.split_once('>')).expect("a button").0;
    let head = press(token);
    let there = page.strip_prefix("pay/").map(str::to_owned);
    assert_eq!((head.status, head.get("location")), (303, there));
    assert!(look(page).1.contains("it is paid"));
    assert_eq!(press(token).status, 303, "to press it again does no harm");

    let went = json!({ "deposit": { "action": "accept" } });
    let booked = client.book(went, &asked["requestState"]);
    let said = booked["content"][0]["text"].as_str().expect("a text");
    assert!(said.ends_with("The deposit of 80 € is paid."), "{said}");
    let id =
        said.split_once("booking://").and_then(|parts| parts.1.split_once('.')).expect("an id").0;
    let read = client.ask("resources/read", json!({ "uri": format!("booking://{id}") }));
    let booking: Value =
        serde_json::from_str(read["contents"][0]["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!((&booking["paid"], &booking["guest"]["name"]), (&json!(true), &json!("<b>Ada</b>")));
}

#[support::test]
fn over_http_a_deposit_is_paid_at_the_port_of_the_server() {
    let server = HttpServer::start(example("book"), &[], &[]);
    let address = server.url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
    check_payment(Client::Http(address.expect("the usual path").parse().expect("an address")));
}

#[support::test]
fn over_stdio_a_deposit_is_paid_at_a_separate_listener() {
    check_payment(Client::stdio());
}
