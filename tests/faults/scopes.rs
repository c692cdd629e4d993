//! Scopes and policies over HTTP, in every protocol revision: which requests are rejected, with which errors and challenges.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering},
};

use mcp_runtime::{
    Builder,
    auth::{Access, Authorization, ProtectedResource, StaticTokens},
    prelude::*,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{
    authorization::{Served, challenge, with},
    client::{Reply, Request, Session, initialize, message, modern, run, tool_call},
};

/// Number of times that handlers have run.
#[derive(Default)]
struct Runs(AtomicUsize);

impl Runs {
    fn run(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Returns how often the other handlers have run.
#[tool]
fn runs(runs: &Runs) -> String {
    runs.0.load(Ordering::SeqCst).to_string()
}

/// Permits that let held calls of `write` end.
static LET_GO: Semaphore = Semaphore::const_new(0);

/// Reports a step, and then writes.
#[tool(scopes("notes:write"), rate = "1/h", task)]
async fn write(runs: &Runs, progress: Progress, is_held: Option<bool>) -> &'static str {
    runs.run();
    progress.step();
    tokio::task::yield_now().await;
    if is_held.unwrap_or_default() {
        LET_GO.acquire().await.expect("it is never closed").forget();
    }
    "written"
}

/// Deletes what the caller has written.
#[tool(scopes("notes:write", "notes:delete"), auth(own))]
fn delete(runs: &Runs, owner: &str) -> String {
    runs.run();
    format!("what {owner} wrote is gone")
}

fn own(caller: &Authorization, access: &Access<'_>) -> bool {
    let owner = access.argument::<String>("owner");
    access.is_listing() || owner.as_deref() == Some(caller.principal())
}

/// A summary.
#[prompt(scopes("notes:read"))]
fn summary(runs: &Runs, #[complete("short", "long")] length: &str) -> String {
    runs.run();
    length.to_owned()
}

/// All notes.
#[resource("notes://all", scopes("notes:read"), subscribe)]
fn all(runs: &Runs) -> &'static str {
    runs.run();
    "all"
}

/// A note.
#[resource("notes://{owner}/{number}", auth(own), subscribe)]
fn note(runs: &Runs, owner: &str, number: u32) -> String {
    runs.run();
    format!("{owner} {number}")
}

/// A note that everybody may read.
#[resource("notes://public", subscribe)]
fn public() -> &'static str {
    "public"
}

pub(crate) fn server() -> Builder {
    mcp_runtime::server!(name = "scopes")
        .items(items![runs, write, delete, summary, all, note, public])
        .state(Runs::default())
}

fn tokens() -> StaticTokens {
    let grant =
        |name: &str, scopes: &[&str]| Authorization::new(name).scopes(scopes.iter().copied());
    StaticTokens::new()
        .token("none", "ada")
        .token("read", grant("ada", &["notes:read", "profile", "offline_access"]))
        .token("write", grant("ada", &["notes:read", "notes:write"]))
        .token("admin", grant("ada", &["notes:admin"]))
        .token("grace", grant("grace", &["notes:admin"]))
}

const ISSUER: &str = "https://login.example.com";
const RESOURCE: &str = "https://api.example.com/mcp";
const METADATA: &str = "https://api.example.com/.well-known/oauth-protected-resource/mcp";

pub(crate) fn protected() -> ProtectedResource {
    ProtectedResource::new(tokens())
        .resource(RESOURCE)
        .authorization_server(ISSUER)
        .implies("notes:admin", ["notes:delete", "notes:write"])
        .implies("notes:write", ["notes:read"])
}

/// Builds requests, without a session (2026-07-28) or in a session.
pub(crate) enum Way {
    Alone,
    Session(Session),
}

impl Way {
    /// Returns one value for each revision in which a refusal has its own HTTP status.
    pub(crate) async fn all(address: SocketAddr, token: &str) -> Vec<Self> {
        let mut all = vec![Self::Alone];
        for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            all.push(Self::session(address, revision, token).await);
        }
        all
    }

    pub(crate) async fn session(address: SocketAddr, revision: &'static str, token: &str) -> Self {
        let begun = with(token, initialize(revision)).ask(address).await;
        let id = begun.head.get("mcp-session-id").expect("a session");
        Self::Session(Session { address, revision, id })
    }

    pub(crate) fn request(&self, method: &str, params: Value) -> Request {
        match self {
            Self::Alone => modern(7, method, params),
            Self::Session(session) => session.post(&message(7, method, params)),
        }
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Request {
        self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 1 } }),
        )
    }
}

/// Asks the server how often the restricted handlers have run.
async fn runs_of(address: SocketAddr) -> String {
    with("none", Way::Alone.call("runs", json!({}))).ask(address).await.text()
}

/// Checks that the request was rejected with this status, as one JSON message with the id of the request.
#[track_caller]
pub(crate) fn check_refused(reply: &Reply, status: u16, says: &str) {
    assert_eq!(reply.head.get("content-type").as_deref(), Some("application/json"), "{reply:?}");
    let answer = reply.json();
    let text = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(reply.status() == status && text.contains(says), "{status} {says}: {reply:?} {answer}");
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)), "{answer}");
}

/// Like [`check_refused`], but also checks for a challenge that asks for these scopes.
#[track_caller]
pub(crate) fn check_step_up(reply: &Reply, says: &str, scopes: &str) {
    check_refused(reply, 403, says);
    let said = challenge(reply);
    let text = reply.json()["error"]["message"].as_str().unwrap_or_default().replace('"', "'");
    let expected = format!(
        "Bearer error=\"insufficient_scope\", error_description=\"{text}\", resource_metadata=\"{METADATA}\", scope=\"{scopes}\""
    );
    assert_eq!(said, expected);
}

#[support::test]
fn a_caller_with_too_few_scopes_is_told_which_scopes_to_ask_for() {
    run(async {
        let served = Served::start(server().auth(protected())).await;
        let address = served.address;
        for way in Way::all(address, "none").await {
            let call = way.call("write", json!({}));
            let refused = with("read", call.clone()).ask(address).await;
            let says = "the tool `write` needs a token that grants `notes:write` too";
            check_step_up(&refused, says, "notes:write notes:read profile");
            let refused = with("none", call).ask(address).await;
            let says = "the tool `write` needs a token that grants `notes:write`";
            check_step_up(&refused, says, "notes:write");
            assert_eq!(refused.json()["error"]["message"], says);
            let both =
                with("write", way.call("delete", json!({ "owner": "ada" }))).ask(address).await;
            check_step_up(&both, "`notes:delete` too", "notes:write notes:delete notes:read");
            for (method, params) in [
                ("prompts/get", json!({ "name": "summary", "arguments": { "length": "short" } })),
                ("resources/read", json!({ "uri": "notes://all" })),
                (
                    "completion/complete",
                    json!({
                        "ref": { "type": "ref/prompt", "name": "summary" },
                        "argument": { "name": "length", "value": "" },
                    }),
                ),
            ] {
                let refused = with("none", way.request(method, params.clone())).ask(address).await;
                check_step_up(&refused, "grants `notes:read`", "notes:read");
                // A token with more scopes than required is accepted.
                let let_in = with("write", way.request(method, params)).ask(address).await;
                assert_eq!(let_in.status(), 200, "{method}: {let_in:?}");
            }
        }
        // In each of four revisions, the handlers of the prompt and the resource have run once, which makes eight runs. A completion runs
        // no handler.
        assert_eq!(runs_of(address).await, "8");
        served.end().await;
    });
}

#[support::test]
fn a_policy_says_no_without_naming_a_scope() {
    run(async {
        let served = Served::start(server().auth(protected())).await;
        let address = served.address;
        for way in Way::all(address, "none").await {
            let call = way.call("delete", json!({ "owner": "grace" }));
            let refused = with("admin", call).ask(address).await;
            check_refused(&refused, 403, "may not use the tool `delete` with these arguments");
            assert_eq!(refused.head.get("www-authenticate"), None);
            let read = way.request("resources/read", json!({ "uri": "notes://grace/1" }));
            let refused = with("none", read).ask(address).await;
            check_refused(&refused, 403, "`notes://{owner}/{number}`");
        }
        assert_eq!(runs_of(address).await, "0");
        let own = Way::Alone.call("delete", json!({ "owner": "ada" }));
        assert_eq!(with("admin", own).ask(address).await.text(), "what ada wrote is gone");
        served.end().await;
    });
}

/// The server checks the scopes of a caller before it counts the call towards the rate.
#[support::test]
fn a_refused_call_does_not_count_towards_the_rate() {
    run(async {
        let served = Served::start(server().auth(protected())).await;
        let address = served.address;
        for _ in 0..5 {
            let refused = with("read", Way::Alone.call("write", json!({}))).ask(address).await;
            assert_eq!(refused.status(), 403);
        }
        let mut done =
            with("write", Way::Alone.call("write", json!({}))).open(address).await.check_events();
        let last = done.rest().await.pop().unwrap();
        assert_eq!(last["result"]["content"][0]["text"], "written", "{last}");
        served.end().await;
    });
}

#[support::test]
fn a_caller_without_a_token_is_told_which_scopes_to_ask_for() {
    run(async {
        let served = Served::start(server().auth(protected().optional())).await;
        let address = served.address;
        let refused = Way::Alone.call("delete", json!({ "owner": "ada" })).ask(address).await;
        check_refused(
            &refused,
            401,
            "the tool `delete` requires an access token that grants `notes:write notes:delete`",
        );
        let expected =
            format!("Bearer resource_metadata=\"{METADATA}\", scope=\"notes:write notes:delete\"");
        assert_eq!(challenge(&refused), expected);
        // If an item has a policy and no scopes, the challenge has no `scope`.
        let read = Way::Alone.request("resources/read", json!({ "uri": "notes://ada/1" }));
        let refused = read.ask(address).await;
        check_refused(&refused, 401, "requires an access token");
        assert_eq!(challenge(&refused), format!("Bearer resource_metadata=\"{METADATA}\""));
        let open = Way::Alone.request("resources/read", json!({ "uri": "notes://public" }));
        assert_eq!(open.ask(address).await.status(), 200);
        let listed = Way::Alone.request("tools/list", json!({})).ask(address).await.json();
        assert_eq!(names(&listed["result"]["tools"]), "runs");
        assert_eq!(listed["result"]["cacheScope"], "private");
        served.end().await;
    });
}

pub(crate) fn names(list: &Value) -> String {
    let names = list.as_array().into_iter().flatten().filter_map(|item| item["name"].as_str());
    names.collect::<Vec<_>>().join(" ")
}

/// An answer inside a batch has no HTTP status of its own. Neither does an answer on an event stream of protocol revision 2024-11-05.
#[support::test]
fn without_an_http_status_the_json_rpc_error_reports_missing_scopes() {
    run(async {
        let served = Served::start(server().legacy_sse(true).auth(protected())).await;
        let address = served.address;
        let Way::Session(session) = Way::session(address, "2025-03-26", "none").await else {
            unreachable!()
        };
        let batch = json!([tool_call(1, "runs", json!({})), tool_call(2, "write", json!({}))]);
        let reply = with("none", session.post(&batch)).ask(address).await;
        assert_eq!(reply.status(), 200, "{reply:?}");
        let answers = reply.json();
        assert_eq!(answers[0]["result"]["content"][0]["text"], "0", "{answers}");
        assert_eq!(answers[1]["error"]["code"], -32600, "{answers}");
        assert_eq!(reply.head.get("www-authenticate"), None);

        let mut open = with("none", Request::get().to("/sse")).open(address).await.check_events();
        let path =
            format!("/{}", open.event().await.and_then(|event| event.data).expect("an address"));
        let post = async |message: Value| {
            let request = with("none", Request::post(message.to_string()).to(&path));
            assert_eq!(request.ask(address).await.status(), 202);
        };
        let hello = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } });
        post(message(1, "initialize", hello)).await;
        open.message().await.unwrap();
        post(tool_call(2, "write", json!({}))).await;
        let refused = open.message().await.unwrap();
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&json!(2), &json!(-32600)),
            "{refused}"
        );
        post(message(3, "tools/list", json!({}))).await;
        assert_eq!(names(&open.message().await.unwrap()["result"]["tools"]), "runs");
        drop(open);
        assert_eq!(runs_of(address).await, "0");
        served.end().await;
    });
}

#[support::test]
fn only_a_caller_that_may_call_a_tool_begins_and_reaches_its_tasks() {
    run(async {
        let served = Served::start(server().auth(protected())).await;
        let address = served.address;
        let extension = &json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let alone = Way::Alone.request(
            "tools/call",
            json!({
                "name": "write", "arguments": { "is_held": true },
                "_meta": { "io.modelcontextprotocol/clientCapabilities": extension },
            }),
        );
        check_step_up(
            &with("read", alone).ask(address).await,
            "notes:write",
            "notes:write notes:read profile",
        );
        let session = Way::session(address, "2025-11-25", "read").await;
        let call = session.request(
            "tools/call",
            json!({ "name": "write", "arguments": { "is_held": true }, "task": {} }),
        );
        check_step_up(
            &with("read", call.clone()).ask(address).await,
            "notes:write",
            "notes:write notes:read profile",
        );
        let tasks =
            with("read", session.request("tasks/list", json!({}))).ask(address).await.json();
        assert_eq!(tasks["result"]["tasks"], json!([]));
        let begun = with("write", call).ask(address).await.json();
        assert_eq!(begun["result"]["task"]["status"], "working", "{begun}");

        // With a weaker token, the same user cannot reach the task, either while it runs or after it has ended.
        let id = begun["result"]["task"]["taskId"].as_str().expect("an id");
        let asked = |method: &str| {
            let own = json!({ "taskId": id, "inputResponses": {} });
            let mut meant = own.clone();
            meant["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": extension });
            [session.request(method, own), Way::Alone.request(method, meant)]
        };
        let listed = async |token: &str| {
            let list = session.request("tasks/list", json!({}));
            let listed = with(token, list).ask(address).await.json();
            listed["result"]["tasks"].as_array().map(Vec::len)
        };
        for is_running in [true, false] {
            for request in ["tasks/get", "tasks/cancel"].into_iter().flat_map(asked) {
                let unknown = with("read", request).ask(address).await.json();
                let text = unknown["error"]["message"].as_str().unwrap_or_default();
                assert!(text.contains("there is no task of this id"), "{unknown}");
            }
            let [result, _] = asked("tasks/result");
            let unknown = with("read", result.clone()).ask(address).await.json();
            assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
            assert_eq!((listed("read").await, listed("write").await), (Some(0), Some(1)));
            for request in asked("tasks/get") {
                let seen = with("write", request).ask(address).await.json();
                assert!(seen["result"]["status"].is_string(), "{seen}");
            }
            if is_running {
                LET_GO.add_permits(1);
            }
            let ended = with("write", result).ask(address).await.json();
            assert!(ended["result"]["content"].is_array(), "{ended}");
        }
        served.end().await;
    });
}

#[support::test]
fn a_server_with_restricted_items_but_no_auth_does_not_start() {
    run(async {
        let refused = server().bind_http("127.0.0.1:0").await.unwrap_err().to_string();
        let says = [
            "the tool `delete` at",
            "the prompt `summary` at",
            "scopes.rs:",
            "are restricted to some callers",
            "add `.auth(…)`",
        ];
        assert!(says.iter().all(|part| refused.contains(part)), "{refused}");
        assert!(!refused.contains("`runs`") && !refused.contains("`public`"), "{refused}");
        let policy =
            mcp_runtime::server!(name = "policy").items(items![public]).policy(|_, _| true);
        let refused = policy.bind_http("127.0.0.1:0").await.unwrap_err().to_string();
        assert!(refused.contains("`.policy(…)` at") && refused.contains("scopes.rs:"), "{refused}");
        // An item that `setup` adds requires a token too.
        let build = mcp_runtime::server!(name = "later").items(items![public]);
        let build = build.setup(async |handle: Handle| {
            handle.add(Tool::new("late").scopes(["late"]).handler(async |_: Context| "late"))?;
            Ok::<_, Error>(Late)
        });
        let served = Served::start(build).await;
        let refused = Way::Alone.call("late", json!({})).ask(served.address).await;
        check_refused(&refused, 401, "grants `late`");
        assert_eq!(challenge(&refused), "Bearer scope=\"late\"");
        served.end().await;
    });
}

struct Late;

#[support::test]
fn a_scope_that_every_request_needs_is_named_with_the_items() {
    run(async {
        let protected = ProtectedResource::new(tokens()).require("notes:read");
        let served = Served::start(server().auth(protected)).await;
        let refused = with("read", Way::Alone.call("write", json!({}))).ask(served.address).await;
        check_refused(&refused, 403, "grants `notes:write` too");
        let said = challenge(&refused);
        assert!(said.ends_with("scope=\"notes:read notes:write profile\""), "{said}");
        let refused = with("none", Way::Alone.call("runs", json!({}))).ask(served.address).await;
        assert!(challenge(&refused).ends_with("scope=\"notes:read\""), "{refused:?}");
        served.end().await;
    });
}
