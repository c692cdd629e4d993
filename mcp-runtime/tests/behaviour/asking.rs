//! Requests to the client during a call: elicitation, sampling and roots. Each handler runs in every protocol revision that supports its
//! kind of request.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use mcp_runtime::{
    elicitation::Unanswered,
    items,
    prelude::*,
    server,
    testing::{Revision, TestClient},
};
use serde_json::{Value, json};

use crate::support::{LIMIT, SEALED, keeping_state, pass};

/// The revisions that support elicitation with forms.
const WITH_FORMS: [Revision; 3] =
    [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28];

/// The revisions in which the capability `sampling` has the members `tools` and `context`.
const WITH_PARTS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

#[form]
struct Name {
    name: String,
}

#[form]
struct Age {
    #[arg(range(0..=150))]
    age: u8,
}

/// Number of times that each step was done, over all replays of a call.
#[derive(Default)]
struct Counters {
    runs: AtomicUsize,
    plans: AtomicUsize,
}

/// Takes a step that must happen only once, and asks two questions one after the other.
#[tool]
async fn interview(ctx: &Context, greeting: &str, counters: &Counters) -> Result<String> {
    counters.runs.fetch_add(1, Ordering::SeqCst);
    let plan = async || -> Result<usize> { Ok(counters.plans.fetch_add(1, Ordering::SeqCst) + 1) };
    let first = ctx.once("plan", plan).await?;
    let name: Name = ctx.elicit("name", "What is your name?").await?;
    let age: Age = ctx.elicit("age", format!("How old are you, {}?", name.name)).await?;
    Ok(format!("{greeting} {} ({}), plan {first}", name.name, age.age))
}

#[tool(asks(elicitation))]
async fn together(ctx: &Context) -> Result<String> {
    let name = ctx.elicit::<Name>("name", "Name?");
    let age = ctx.elicit::<Age>("age", "Age?");
    let (name, age) = ctx.ask_all((name, age)).await;
    Ok(format!("{} {}", name?.name, age?.age))
}

#[tool]
async fn loops(ctx: &Context, count: usize) -> Result<String> {
    let mut names = Vec::new();
    for at in 0..count {
        let key = if count > 2 { "name".to_owned() } else { format!("name-{at}") };
        names.push(ctx.elicit::<Name>(key, "Name?").await?.name);
    }
    Ok(names.join(","))
}

/// Continues without an answer.
#[tool]
async fn perhaps(ctx: &Context) -> Result<String> {
    Ok(match ctx.elicit::<Name>("name", "Name?").await {
        Ok(name) => name.name,
        Err(Unanswered::Declined) => "declined".to_owned(),
        Err(Unanswered::Cancelled) => "cancelled".to_owned(),
        Err(error) => return Err(error.into()),
    })
}

#[tool]
async fn samples(ctx: &Context) -> Result<String> {
    Ok(ctx.sample("capital", Sampling::ask("The capital of France?", 100)).await?.text())
}

#[tool]
async fn directories(ctx: &Context) -> Result<String> {
    let roots = ctx.roots().await?;
    // A second call does not ask the client again.
    assert_eq!(ctx.roots().await?, roots);
    Ok(roots.iter().map(|root| root.uri.as_str()).collect::<Vec<_>>().join(","))
}

#[prompt]
async fn asking_prompt(ctx: &Context) -> Result<String> {
    Ok(format!("Greet {}", ctx.elicit::<Name>("name", "Name?").await?.name))
}

#[resource("asked://{id}")]
async fn asking_resource(ctx: &Context, id: u8) -> Result<String> {
    Ok(format!("{id} {}", ctx.elicit::<Name>("name", "Name?").await?.name))
}

fn everything() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": { "listChanged": true } })
}

/// Returns a client that answers all requests of the server, and the list of the requests that it has received.
async fn client(revision: Revision, capabilities: Value) -> (TestClient, Arc<Mutex<Vec<Value>>>) {
    client_of(revision, capabilities, false).await
}

/// Like `client`. The server seals the state between rounds if `sealed` is true, and otherwise keeps it in the process.
async fn client_of(
    revision: Revision,
    capabilities: Value,
    sealed: bool,
) -> (TestClient, Arc<Mutex<Vec<Value>>>) {
    let server = server!().state(Counters::default()).items(items![
        interview,
        together,
        loops,
        perhaps,
        samples,
        directories,
        asking_prompt,
        asking_resource
    ]);
    let server = keeping_state(server, sealed);
    let mut client = TestClient::connect_capable(server, revision, capabilities).await.unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    client.answer_with(move |method, params| {
        seen.lock().unwrap().push(json!({ "method": method, "params": params }));
        match method {
            "elicitation/create"
                if params["message"].as_str().unwrap_or_default().contains("old")
                    || params["message"] == "Age?" =>
            {
                json!({ "action": "accept", "content": { "age": 36 } })
            }
            "elicitation/create" => json!({ "action": "accept", "content": { "name": "Ada" } }),
            "sampling/createMessage" => json!({
                "role": "assistant", "model": "m", "stopReason": "endTurn",
                "content": { "type": "text", "text": "Paris" },
            }),
            _ => json!({ "roots": [{ "uri": "file:///a" }, { "uri": "file:///b" }] }),
        }
    });
    (client, asked)
}

fn methods(asked: &Mutex<Vec<Value>>) -> Vec<String> {
    let asked = asked.lock().unwrap();
    asked.iter().map(|question| question["method"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn one_handler_asks_in_every_revision() {
    for sealed in SEALED {
        for revision in WITH_FORMS {
            let (mut client, asked) = client_of(revision, everything(), *sealed).await;
            let called = client.call("interview", json!({ "greeting": "Hello" })).await.unwrap();
            assert_eq!(called.text(), "Hello Ada (36), plan 1", "{revision}");
            assert_eq!(methods(&asked), ["elicitation/create"; 2], "{revision}");
            let asked = asked.lock().unwrap();
            let schema = &asked[1]["params"]["requestedSchema"];
            assert_eq!(asked[1]["params"]["message"], "How old are you, Ada?", "{revision}");
            assert_eq!(schema["properties"]["age"]["maximum"], 150, "{revision}: {schema}");
        }
    }
}

#[tokio::test]
async fn questions_that_are_open_together_go_out_together() {
    for revision in WITH_FORMS {
        let (mut client, _) = client(revision, everything()).await;
        let called = client.call("together", json!({})).await.unwrap();
        assert_eq!(called.text(), "Ada 36", "{revision}");
    }
    let (mut client, _) = client(Revision::V2026_07_28, everything()).await;
    let ongoing = client.start("tools/call", json!({ "name": "together", "arguments": {} }));
    let round = client.wait(ongoing).await.unwrap();
    assert_eq!(round["resultType"], "input_required", "{round}");
    assert_eq!(round["inputRequests"].as_object().unwrap().len(), 2, "{round}");
    assert!(round.get("content").is_none() && round.get("ttlMs").is_none(), "{round}");
    let question = &round["inputRequests"]["age"];
    assert_eq!(question["method"], "elicitation/create", "{round}");
    assert!(question.get("id").is_none() && question.get("jsonrpc").is_none(), "{round}");
}

#[tokio::test]
async fn prompts_and_resources_ask_too() {
    for revision in WITH_FORMS {
        let (mut client, _) = client(revision, everything()).await;
        let prompt = client.prompt("asking_prompt", json!({})).await.unwrap();
        assert!(prompt.messages[0].to_string().contains("Greet Ada"), "{revision}: {prompt:?}");
        let read = client.request("resources/read", json!({ "uri": "asked://7" })).await.unwrap();
        assert_eq!(read["contents"][0]["text"], "7 Ada", "{revision}");
        if revision == Revision::V2026_07_28 {
            assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(0), &json!("private")));
        }
    }
}

#[tokio::test]
async fn models_and_roots_are_asked_in_every_revision() {
    for revision in Revision::ALL {
        let (mut client, asked) = client(revision, everything()).await;
        assert_eq!(client.call("samples", json!({})).await.unwrap().text(), "Paris", "{revision}");
        let called = client.call("directories", json!({})).await.unwrap();
        assert_eq!(called.text(), "file:///a,file:///b", "{revision}");
        assert_eq!(methods(&asked), ["sampling/createMessage", "roots/list"], "{revision}");
        assert_eq!(asked.lock().unwrap()[0]["params"]["maxTokens"], 100, "{revision}");
    }
}

/// Uses features of sampling that not every client supports.
#[tool]
async fn samples_more(ctx: &Context, tools: bool, context: bool) -> Result<String> {
    let mut question = Sampling::ask("The weather?", 100);
    if tools {
        question = question.tool(mcp_runtime::sampling::SamplingTool::new("weather"));
    }
    if context {
        question = question.include_context(mcp_runtime::sampling::IncludeContext::ThisServer);
    }
    Ok(ctx.sample("weather", question).await?.text())
}

#[tokio::test]
async fn a_model_is_asked_for_what_the_client_declared() {
    let check = async |revision, can: &str, wanted: (bool, bool), lacks: &[&str]| {
        let declared: Vec<_> =
            can.split_whitespace().map(|capability| (capability, json!({}))).collect();
        let can = json!({ "sampling": declared.into_iter().collect::<std::collections::BTreeMap<_, _>>() });
        let server = server!().items(items![samples_more]);
        let mut client = TestClient::connect_capable(server, revision, can.clone()).await.unwrap();
        client.answer_with(|_, _| {
            let content = json!({ "type": "text", "text": "rain" });
            json!({ "role": "assistant", "model": "m", "content": content })
        });
        let (tools, context) = wanted;
        let called = client.call("samples_more", json!({ "tools": tools, "context": context }));
        let at = format!("{revision} {can} {wanted:?}");
        match called.await {
            Ok(called) if lacks.is_empty() => assert_eq!(called.text(), "rain", "{at}"),
            Ok(called) => {
                assert!(called.is_error, "{at}: {called:?}");
                for capability in lacks {
                    assert!(called.text().contains(&format!("`{capability}`")), "{at}: {called:?}");
                }
            }
            Err(error) => {
                let parts =
                    lacks.iter().map(|capability| (capability.replace("sampling.", ""), json!({})));
                let parts: serde_json::Map<_, _> = parts.collect();
                let required = json!({ "requiredCapabilities": { "sampling": parts } });
                assert_eq!((error.code, error.data), (-32021, Some(required)), "{at}");
            }
        }
    };
    for revision in WITH_PARTS {
        check(revision, "", (false, false), &[]).await;
        check(revision, "tools context", (true, true), &[]).await;
        check(revision, "tools", (true, false), &[]).await;
        check(revision, "context", (false, true), &[]).await;
        check(revision, "tools", (true, true), &["sampling.context"]).await;
        check(revision, "context", (true, true), &["sampling.tools"]).await;
        check(revision, "", (true, true), &["sampling.tools", "sampling.context"]).await;
    }
    // In revisions where the capability `sampling` has no members, it always allows a request to include context.
    check(Revision::V2025_06_18, "", (false, true), &[]).await;
}

#[tokio::test]
async fn a_person_may_decline_or_cancel() {
    for revision in WITH_FORMS {
        for (action, perhaps) in [("decline", "declined"), ("cancel", "cancelled")] {
            let (mut client, _) = client(revision, everything()).await;
            client.answer_with(move |_, _| json!({ "action": action }));
            let called = client.call("perhaps", json!({})).await.unwrap();
            assert_eq!((called.is_error, &*called.text()), (false, perhaps), "{revision}");
            let called = client.call("together", json!({})).await.unwrap();
            assert!(
                called.is_error && called.text().contains("the user"),
                "{revision}: {called:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_a_distinct_error() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let (mut client, _) = client(revision, everything()).await;
        let called = client.call("perhaps", json!({})).await.unwrap();
        assert!(called.is_error && called.text().contains("no forms"), "{revision}: {called:?}");
    }
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let (mut client, _) = client(revision, json!({})).await;
        let called = client.call("perhaps", json!({})).await.unwrap();
        assert!(
            called.is_error && called.text().contains("`elicitation`"),
            "{revision}: {called:?}"
        );
    }
    let (mut client, _) = client(Revision::V2026_07_28, json!({})).await;
    let error = client.call("perhaps", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32021, "{error}");
    assert_eq!(
        error.data.unwrap()["requiredCapabilities"],
        json!({ "elicitation": { "form": {} } })
    );
}

#[tokio::test]
async fn every_question_of_a_loop_has_a_key_of_its_own() {
    for revision in WITH_FORMS {
        let (mut client, _) = client(revision, everything()).await;
        let called = client.call("loops", json!({ "count": 2 })).await.unwrap();
        assert_eq!(called.text(), "Ada,Ada", "{revision}");
        let error = client.call("loops", json!({ "count": 3 })).await.unwrap_err();
        // The error contains no details. The author of the server finds the reason in the log.
        assert_eq!(error.code, -32603, "{revision}: {error}");
    }
}

#[tokio::test]
async fn an_invalid_answer_is_requested_again() {
    let (mut client, _) = client(Revision::V2026_07_28, everything()).await;
    let call = json!({ "name": "together", "arguments": {} });
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    for (answers, open) in [
        (json!({}), vec!["age", "name"]),
        (Value::Null, vec!["age", "name"]),
        (json!({ "other": accept(json!({ "name": "x" })) }), vec!["age", "name"]),
        (json!({ "name": accept(json!({ "name": "x" })) }), vec!["age"]),
        (
            json!({ "name": accept(json!({ "name": "x" })), "age": accept(json!({ "age": 151 })) }),
            vec!["age"],
        ),
        (json!({ "name": 12345, "age": accept(json!({ "age": "old" })) }), vec!["age", "name"]),
    ] {
        let mut round = call.clone();
        round["inputResponses"] = answers.clone();
        let ongoing = client.start("tools/call", round);
        let result = client.wait(ongoing).await.unwrap();
        let keys: Vec<_> = result["inputRequests"]
            .as_object()
            .into_iter()
            .flat_map(|requests| requests.keys())
            .collect();
        assert_eq!(keys, open, "{answers}: {result}");
    }
    let mut round = call;
    round["inputResponses"] = json!(7);
    let ongoing = client.start("tools/call", round);
    assert_eq!(client.wait(ongoing).await.unwrap_err().code, -32602);
}

/// Waits for an answer, and has a timeout of one second for everything else.
#[tool(timeout = "1s")]
async fn patient(user: Elicit) -> Result<String> {
    let name: Name = user.form("name", "Name?").await?;
    pass(std::time::Duration::from_millis(800)).await;
    Ok(name.name)
}

/// Returns the id of the `elicitation/create` request that the client has just received, in a revision where the call waits.
async fn question(client: &mut TestClient) -> Value {
    let asked = client.notification(std::time::Duration::from_secs(5)).await.expect("a question");
    assert_eq!(asked["method"], "elicitation/create");
    asked["id"].clone()
}

async fn waiting(limits: mcp_runtime::limits::Limits) -> TestClient {
    let server = server!().items(items![patient]).limits(limits);
    let can = json!({ "elicitation": {} });
    TestClient::connect_capable(server, Revision::V2025_11_25, can).await.unwrap()
}

fn call() -> Value {
    json!({ "name": "patient", "arguments": {} })
}

#[tokio::test(start_paused = true)]
async fn the_timeout_is_paused_while_a_person_answers() {
    let mut client = waiting(mcp_runtime::limits::Limits::new()).await;
    let ongoing = client.start("tools/call", call());
    let id = question(&mut client).await;
    pass(std::time::Duration::from_secs(300)).await;
    let result = json!({ "action": "accept", "content": { "name": "Ada" } });
    client.send_raw(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string().as_bytes());
    assert_eq!(client.wait(ongoing).await.unwrap()["content"][0]["text"], "Ada");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_withdrawn_after_its_time_and_when_its_call_is_cancelled() {
    let limits =
        mcp_runtime::limits::Limits::new().question_time(std::time::Duration::from_secs(5));
    let mut client = waiting(limits).await;
    let ongoing = client.start("tools/call", call());
    let id = question(&mut client).await;
    let result = client.wait(ongoing).await.unwrap();
    assert!(
        result["content"][0]["text"].as_str().unwrap().contains("not answered within 5s"),
        "{result}"
    );
    let cancelled = client.notification(std::time::Duration::from_secs(5)).await.unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], id);

    let ongoing = client.start("tools/call", call());
    let again = question(&mut client).await;
    assert_ne!(again, id);
    client.cancel(ongoing);
    let cancelled = client.notification(std::time::Duration::from_secs(5)).await.unwrap();
    assert_eq!(cancelled["params"]["requestId"], again);
    // An answer that comes too late is ignored.
    client.send_raw(json!({ "jsonrpc": "2.0", "id": again, "result": {} }).to_string().as_bytes());
    assert!(client.notification(std::time::Duration::from_millis(100)).await.is_none());
}

type Told = tokio::sync::mpsc::UnboundedSender<String>;

/// Asks a question that is still unanswered when the call ends.
#[tool]
async fn leaves_a_question(ctx: Context, told: &Told) -> &'static str {
    let asked = ctx.elicit::<Name>("name", "Name?");
    let told = told.clone();
    tokio::spawn(async move {
        let answer = asked.await.map(|answer| answer.name).map_err(Error::from);
        let _ = told.send(answer.unwrap_or_else(|error| error.to_string()));
    });
    "left"
}

#[tokio::test]
async fn a_handler_stops_waiting_for_an_answer_when_the_session_ends() {
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel::<String>();
    let server = server!().state::<Told>(told).items(items![leaves_a_question]);
    let can = json!({ "elicitation": {} });
    let mut client = TestClient::connect_capable(server, Revision::V2025_11_25, can).await.unwrap();
    client.call("leaves_a_question", json!({})).await.unwrap();
    question(&mut client).await;
    assert!(heard.try_recv().is_err(), "nobody has answered yet");
    drop(client);
    let heard = tokio::time::timeout(LIMIT, heard.recv()).await;
    assert_eq!(heard.unwrap().unwrap(), "the client disconnected without an answer");
}

#[tokio::test]
async fn roots_are_asked_for_once_until_they_change() {
    for (capability, times) in [(json!({ "listChanged": true }), 2), (json!({}), 3)] {
        let (mut client, asked) =
            client(Revision::V2025_11_25, json!({ "roots": capability })).await;
        for _ in 0..2 {
            client.call("directories", json!({})).await.unwrap();
        }
        client.notify("notifications/roots/list_changed", json!({}));
        client.call("directories", json!({})).await.unwrap();
        assert_eq!(asked.lock().unwrap().len(), times, "{capability}");
    }
}

/// The server does not cache a long list of roots, because in many sessions such lists would take megabytes of memory.
#[tokio::test]
async fn long_lists_of_roots_are_requested_each_time() {
    let can = json!({ "roots": { "listChanged": true } });
    let (mut client, _) = client(Revision::V2025_11_25, can).await;
    let asked = Arc::new(Mutex::new(0));
    let seen = asked.clone();
    client.answer_with(move |_, _| {
        *seen.lock().unwrap() += 1;
        let name = "x".repeat(100 << 10);
        json!({ "roots": [{ "uri": "file:///a", "name": name }] })
    });
    for _ in 0..3 {
        assert_eq!(client.call("directories", json!({})).await.unwrap().text(), "file:///a");
    }
    assert_eq!(*asked.lock().unwrap(), 3);
}

mod rounds {
    use super::*;

    /// Returns the result of the first round of a call.
    async fn first(client: &mut TestClient, greeting: &str) -> Value {
        let call = json!({ "name": "interview", "arguments": { "greeting": greeting } });
        let ongoing = client.start("tools/call", call);
        client.wait(ongoing).await.unwrap()
    }

    fn second(state: &Value, greeting: &str) -> Value {
        json!({
            "name": "interview", "arguments": { "greeting": greeting }, "requestState": state,
            "inputResponses": { "name": { "action": "accept", "content": { "name": "Ada" } } },
        })
    }

    #[tokio::test]
    async fn state_belongs_to_its_call() {
        for sealed in SEALED {
            let (mut client, _) = client_of(Revision::V2026_07_28, everything(), *sealed).await;
            let round = first(&mut client, "Hello").await;
            let state = &round["requestState"];
            assert!(state.as_str().is_some_and(|text| !text.contains("plan")), "{round}");
            let ongoing = client.start("tools/call", second(state, "Hello"));
            let next = client.wait(ongoing).await.unwrap();
            assert_eq!(next["inputRequests"]["age"]["params"]["message"], "How old are you, Ada?");
            assert_ne!(&next["requestState"], state);
            for (state, greeting) in [
                (json!(format!("{}-TAMPERED", state.as_str().unwrap())), "Hello"),
                (json!("nonsense"), "Hello"),
                (json!(7), "Hello"),
                (state.clone(), "Goodbye"),
            ] {
                let ongoing = client.start("tools/call", second(&state, greeting));
                let error = client.wait(ongoing).await.unwrap_err();
                assert_eq!(error.code, -32602, "{state} {greeting}: {error}");
            }
            let mut elsewhere = second(state, "Hello");
            elsewhere["name"] = json!("together");
            elsewhere["arguments"] = json!({});
            let ongoing = client.start("tools/call", elsewhere);
            assert_eq!(client.wait(ongoing).await.unwrap_err().code, -32602);
        }
    }

    /// Asks, and then takes a step that must not happen twice.
    #[tool(single_use)]
    async fn pays(ctx: &Context, counters: &Counters) -> Result<String> {
        let name: Name = ctx.elicit("name", "Who pays?").await?;
        Ok(format!("{} paid {}", name.name, counters.runs.fetch_add(1, Ordering::SeqCst) + 1))
    }

    /// Like `pays`, with a step that may happen twice.
    #[tool]
    async fn counts(ctx: &Context, counters: &Counters) -> Result<String> {
        let name: Name = ctx.elicit("name", "Who counts?").await?;
        Ok(format!("{} counted {}", name.name, counters.runs.fetch_add(1, Ordering::SeqCst) + 1))
    }

    #[tokio::test]
    async fn a_round_is_repeated_unless_it_is_for_single_use() {
        for sealed in SEALED {
            let server = server!().state(Counters::default()).items(items![pays, counts]);
            let server = keeping_state(server, *sealed);
            let can = json!({ "elicitation": {} });
            let mut client =
                TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
            for (tool, repeats) in [("pays", false), ("counts", true)] {
                let call = json!({ "name": tool, "arguments": {} });
                let ongoing = client.start("tools/call", call.clone());
                let round = client.wait(ongoing).await.unwrap();
                let mut last = call;
                last["requestState"] = round["requestState"].clone();
                last["inputResponses"] =
                    json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
                for again in [false, true] {
                    let ongoing = client.start("tools/call", last.clone());
                    let result = client.wait(ongoing).await;
                    assert_eq!(result.is_ok(), !again || repeats, "{tool} {again}: {result:?}");
                }
            }
        }
    }

    /// Asks from a spawned tokio task instead of the one that runs the handler.
    #[tool]
    async fn elsewhere(ctx: Context) -> Result<String> {
        let asking = tokio::spawn(async move {
            tokio::task::yield_now().await;
            ctx.elicit::<Name>("name", "Name?").await
        });
        Ok(asking.await??.name)
    }

    /// Stores a value that JSON cannot represent, or uses one key of `once` twice, and then asks.
    #[tool]
    async fn forgets(ctx: &Context, twice: bool) -> Result<String> {
        if twice {
            for number in 0..2 {
                ctx.once("same", async || -> Result<i32> { Ok(number) }).await?;
            }
        } else {
            ctx.once("number", async || -> Result<f64> { Ok(f64::NAN) }).await?;
        }
        Ok(ctx.elicit::<Name>("name", "Name?").await?.name)
    }

    #[tokio::test]
    async fn another_task_may_ask() {
        for revision in WITH_FORMS {
            let server = server!().items(items![elsewhere]);
            let can = json!({ "elicitation": {} });
            let mut client = TestClient::connect_capable(server, revision, can).await.unwrap();
            client.answer_with(|_, _| json!({ "action": "accept", "content": { "name": "Ada" } }));
            assert_eq!(
                client.call("elsewhere", json!({})).await.unwrap().text(),
                "Ada",
                "{revision}"
            );
        }
    }

    #[tokio::test]
    async fn an_unstorable_once_result_or_a_reused_key_fails_the_call() {
        let server = server!().items(items![forgets]);
        let can = json!({ "elicitation": {} });
        let mut client =
            TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
        for twice in [false, true] {
            let error = client.call("forgets", json!({ "twice": twice })).await.unwrap_err();
            assert_eq!(error.code, -32603, "{twice}: {error}");
        }
    }

    #[tokio::test]
    async fn an_accepted_answer_cannot_be_replaced() {
        for sealed in SEALED {
            let (mut client, _) = client_of(Revision::V2026_07_28, everything(), *sealed).await;
            let round = first(&mut client, "Hello").await;
            let ongoing = client.start("tools/call", second(&round["requestState"], "Hello"));
            let round = client.wait(ongoing).await.unwrap();
            let mut last = second(&round["requestState"], "Hello");
            let answer = |content: Value| json!({ "action": "accept", "content": content });
            last["inputResponses"] = json!({ "name": answer(json!({ "name": "Eve" })), "age": answer(json!({ "age": 36 })) });
            let ongoing = client.start("tools/call", last);
            let result = client.wait(ongoing).await.unwrap();
            assert_eq!(result["content"][0]["text"], "Hello Ada (36), plan 1");
        }
    }

    #[tokio::test]
    async fn answers_for_single_use_come_with_their_state() {
        for sealed in SEALED {
            let server = server!().state(Counters::default()).items(items![pays]);
            let server = keeping_state(server, *sealed);
            let can = json!({ "elicitation": {} });
            let mut client =
                TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
            let answers = json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
            let call = json!({ "name": "pays", "arguments": {}, "inputResponses": answers });
            let ongoing = client.start("tools/call", call);
            assert_eq!(client.wait(ongoing).await.unwrap()["resultType"], "input_required");
        }
    }

    #[cfg(feature = "state-key")]
    #[tokio::test]
    async fn two_processes_with_one_key_take_turns() {
        let connect = async |key: u8| {
            let server =
                server!().state(Counters::default()).items(items![interview]).state_key([key; 32]);
            let can = json!({ "elicitation": {} });
            TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap()
        };
        let (mut one, mut other, mut foreign) =
            (connect(1).await, connect(1).await, connect(2).await);
        let round = first(&mut one, "Hello").await;
        let next = second(&round["requestState"], "Hello");
        let ongoing = foreign.start("tools/call", next.clone());
        assert_eq!(foreign.wait(ongoing).await.unwrap_err().code, -32602);
        let ongoing = other.start("tools/call", next);
        let round = other.wait(ongoing).await.unwrap();
        let last = json!({
            "name": "interview", "arguments": { "greeting": "Hello" }, "requestState": round["requestState"],
            "inputResponses": { "age": { "action": "accept", "content": { "age": 36 } } },
        });
        let ongoing = one.start("tools/call", last);
        let result = one.wait(ongoing).await.unwrap();
        assert_eq!(result["content"][0]["text"], "Hello Ada (36), plan 1");
    }
}

/// Uses one key of `once` for two steps.
#[tool(asks(elicitation))]
async fn once_in_a_loop(ctx: &Context) -> Result<String> {
    let mut got = Vec::new();
    for at in 0..2 {
        let step = async || Ok::<_, Error>(format!("step {at}"));
        got.push(ctx.once("step", step).await?);
        let _: Name = ctx.elicit(format!("name-{at}"), "Name?").await?;
    }
    Ok(got.join(", "))
}

#[tokio::test]
async fn reusing_a_key_of_once_is_an_error_in_every_revision() {
    for revision in WITH_FORMS {
        let server = server!().items(items![once_in_a_loop]);
        let mut client =
            TestClient::connect_capable(server, revision, json!({ "elicitation": {} }))
                .await
                .unwrap();
        client.answer_with(|_, _| json!({ "action": "accept", "content": { "name": "Al" } }));
        let error = client.call("once_in_a_loop", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32603, "{revision}: {error}");
    }
}

/// Words its question differently in each run.
#[tool(asks(elicitation))]
async fn restless(ctx: &Context, counters: &Counters) -> Result<String> {
    let run = counters.runs.fetch_add(1, Ordering::SeqCst);
    let name: Name = ctx.elicit("name", format!("Name, run {run}?")).await?;
    Ok(name.name)
}

#[tokio::test]
async fn a_users_refusal_holds_even_if_the_question_is_reworded() {
    for action in ["decline", "cancel"] {
        let server = server!().state(Counters::default()).items(items![restless]);
        let can = json!({ "elicitation": {} });
        let mut client =
            TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
        client.answer_with(move |_, _| json!({ "action": action }));
        let called = client.call("restless", json!({})).await.unwrap();
        assert!(called.is_error && called.text().contains("the user"), "{}", called.text());
    }
}

/// The answer to one question is not used for another question with the same key.
#[tokio::test]
async fn an_answer_to_run_0_is_refused_for_run_1() {
    for sealed in SEALED {
        let server = server!().state(Counters::default()).items(items![restless]);
        let server = keeping_state(server, *sealed);
        let can = json!({ "elicitation": {} });
        let mut client =
            TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
        let mut call = json!({ "name": "restless", "arguments": {} });
        for run in 0..3 {
            let ongoing = client.start("tools/call", call.clone());
            let round = client.wait(ongoing).await.unwrap();
            let message = &round["inputRequests"]["name"]["params"]["message"];
            assert_eq!(*message, format!("Name, run {run}?"), "{round}");
            call["requestState"] = round["requestState"].clone();
            call["inputResponses"] =
                json!({ "name": { "action": "accept", "content": { "name": "Al" } } });
        }
    }
}

#[tokio::test]
async fn a_test_client_gives_up_on_a_handler_that_asks_forever() {
    let server = server!().state(Counters::default()).items(items![restless]);
    let can = json!({ "elicitation": {} });
    let mut client = TestClient::connect_capable(server, Revision::V2026_07_28, can).await.unwrap();
    let error = client.call("restless", json!({})).await.unwrap_err();
    assert!(error.message.contains("`name`: Name, run 0?"), "{error}");
    client.answer_with(|_, _| json!({ "action": "accept", "content": { "name": "Al" } }));
    let error = client.call("restless", json!({})).await.unwrap_err();
    assert!(error.message.contains("100 rounds"), "{error}");
}
