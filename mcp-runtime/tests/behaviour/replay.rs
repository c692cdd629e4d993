//! A call that is replayed in each round ends with the same result as a call that waits for its answers. The behaviour of the client
//! between the rounds makes no difference.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

use mcp_runtime::{
    Builder,
    elicitation::Unanswered,
    items,
    prelude::*,
    server,
    testing::{Revision, RpcError, TestClient},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{SEALED, keeping_state};

#[form]
struct Name {
    #[arg(len(1..=20))]
    name: String,
}

#[form]
struct Age {
    #[arg(range(0..=150))]
    age: u8,
}

/// Number of times that each step was done, in all servers that share this value.
#[derive(Clone, Default)]
struct Done(Arc<Mutex<BTreeMap<String, usize>>>);

impl Done {
    /// Does a step that takes a while, so that the handler has to wait.
    async fn doing(&self, key: &str) -> Result<String> {
        tokio::task::yield_now().await;
        *self.0.lock().unwrap().entry(key.to_owned()).or_default() += 1;
        Ok(format!("<{key}>"))
    }

    fn counts(&self) -> BTreeMap<String, usize> {
        self.0.lock().unwrap().clone()
    }
}

fn said(answer: Result<String, Unanswered>) -> String {
    match answer {
        Ok(text) => text,
        Err(Unanswered::Declined) => "declined".to_owned(),
        Err(Unanswered::Cancelled) => "cancelled".to_owned(),
        Err(error) => format!("{error}"),
    }
}

/// Sends a request to the client and returns the future of the answer. The number determines whether it is a roots, sampling or elicitation
/// request.
fn put(ctx: &Context, number: u64) -> Pin<Box<dyn Future<Output = String> + Send>> {
    let (key, message) = (format!("q{number}"), format!("{number}?"));
    match number % 3 {
        // Only question 1 asks for roots, because the client sends its roots only once for each call.
        _ if number == 1 => {
            let asked = ctx.roots();
            Box::pin(async {
                asked.await.map_or_else(|error| error.to_string(), |roots| roots[0].uri.clone())
            })
        }
        0 => {
            let asked = ctx.sample(key, Sampling::ask(message, 10));
            Box::pin(async {
                asked.await.map_or_else(|error| error.to_string(), |sampled| sampled.text())
            })
        }
        2 => {
            let asked = ctx.elicit::<Age>(key, message);
            Box::pin(async { said(asked.await.map(|answer| answer.age.to_string())) })
        }
        _ => {
            let asked = ctx.elicit::<Name>(key, message);
            Box::pin(async { said(asked.await.map(|answer| answer.name)) })
        }
    }
}

/// Runs a script of words. The word `do` is a step that is done once, and a number asks that many questions together.
async fn perform(ctx: &Context, script: &str, done: &Done) -> Result<String> {
    let mut heard = Vec::new();
    let mut number = 0;
    for word in script.split_whitespace() {
        if word == "do" {
            let key = format!("do{}", heard.len());
            heard.push(ctx.once(key.as_str(), async || done.doing(&key).await).await?);
            continue;
        }
        let questions = number..number + word.parse::<u64>()?;
        number = questions.end;
        let open: Vec<_> = questions.map(|question| put(ctx, question)).collect();
        for answer in open {
            heard.push(answer.await);
        }
    }
    Ok(heard.join(" "))
}

#[tool]
async fn repeatable(ctx: &Context, script: &str, done: &Done) -> Result<String> {
    perform(ctx, script, done).await
}

#[tool(single_use)]
async fn unrepeatable(ctx: &Context, script: &str, done: &Done) -> Result<String> {
    perform(ctx, script, done).await
}

/// Returns the client's answer to a roots, sampling or elicitation request.
fn answer(method: &str, params: &Value) -> Value {
    // A question that is asked again has more text after its `?`.
    let number = |text: &Value| -> u64 {
        text.as_str().and_then(|text| text.split_once('?')).unwrap().0.parse().unwrap()
    };
    match method {
        "roots/list" => json!({ "roots": [{ "uri": "file:///a" }] }),
        "sampling/createMessage" => {
            let text = format!("model {}", number(&params["messages"][0]["content"]["text"]));
            let content = json!({ "type": "text", "text": text });
            json!({ "role": "assistant", "model": "m", "content": content })
        }
        _ => match number(&params["message"]) {
            number if number % 5 == 0 => json!({ "action": "decline" }),
            number if number % 7 == 0 => json!({ "action": "cancel" }),
            number => {
                let content = if number % 3 == 2 {
                    json!({ "age": number })
                } else {
                    json!({ "name": format!("n{number}") })
                };
                json!({ "action": "accept", "content": content })
            }
        },
    }
}

/// Returns a value that answers no question, or does not fit its question.
fn nonsense(kind: u8) -> Value {
    match kind % 6 {
        0 => Value::Null,
        1 => json!(7),
        2 => json!({ "action": "accept", "content": { "name": "", "age": 151 } }),
        3 => json!({ "action": "perhaps" }),
        4 => json!({ "roots": 7, "role": "nobody" }),
        _ => json!([]),
    }
}

/// Behaviour of the client after one round.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// A bit for each open request, set if the client answers the request.
    answers: u8,
    /// Kind of nonsense that the client sends for the other open requests, if any.
    nonsense: Option<u8>,
    /// Whether the client also sends other answers to earlier questions, and an answer to a question that was never asked.
    meddles: bool,
    /// Index of the server that receives the next round, modulo the number of servers.
    server: bool,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = (any::<u8>(), any::<Option<u8>>(), any::<bool>(), any::<bool>());
    let one = one.prop_map(|(answers, nonsense, meddles, server)| Move {
        answers,
        nonsense,
        meddles,
        server,
    });
    prop::collection::vec(one, 0..8)
}

fn script() -> impl Strategy<Value = String> {
    let word = prop_oneof![Just("do"), Just("1"), Just("2"), Just("3")];
    prop::collection::vec(word, 1..6).prop_map(|words| words.join(" "))
}

fn everything() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

fn server(done: &Done) -> Builder {
    server!().state(done.clone()).items(items![repeatable, unrepeatable])
}

/// Connects to the servers that the rounds of one call may go to: two servers that share a key, or one without a key.
async fn connected(done: &Done, sealed: bool) -> Vec<TestClient> {
    let mut clients = Vec::new();
    for _ in 0..=usize::from(sealed) {
        let server = keeping_state(server(done), sealed);
        let client = TestClient::connect_capable(server, Revision::V2026_07_28, everything());
        clients.push(client.await.unwrap());
    }
    clients
}

/// Returns the text of a call in a revision where the call waits, and the number of times that each step was done.
async fn waited(revision: Revision, script: &str) -> (String, BTreeMap<String, usize>) {
    let done = Done::default();
    let client = TestClient::connect_capable(server(&done), revision, everything());
    let mut client = client.await.unwrap();
    client.answer_with(answer);
    let called = client.call("repeatable", json!({ "script": script })).await.unwrap();
    (called.text(), done.counts())
}

async fn sent(client: &mut TestClient, params: &Value) -> Result<Value, RpcError> {
    let ongoing = client.start("tools/call", params.clone());
    client.wait(ongoing).await
}

/// Plays a call to its end. Returns the parameters of each round and the final text.
async fn played(
    clients: &mut [TestClient],
    tool: &str,
    script: &str,
    moves: &[Move],
) -> (Vec<Value>, String) {
    let mut params = json!({ "name": tool, "arguments": { "script": script } });
    let mut rounds = Vec::new();
    let mut answered = BTreeSet::new();
    let mut moves = moves.iter();
    let patient = Move { answers: u8::MAX, nonsense: None, meddles: false, server: false };
    let mut next = *moves.next().unwrap_or(&patient);
    loop {
        rounds.push(params.clone());
        let at = usize::from(next.server) % clients.len();
        let result = sent(&mut clients[at], &params).await.unwrap();
        if result["resultType"] == "complete" {
            return (rounds, result["content"][0]["text"].as_str().unwrap().to_owned());
        }
        next = *moves.next().unwrap_or(&patient);
        let mut responses = Map::new();
        if next.meddles {
            let other =
                answered.iter().map(|key: &String| (key.clone(), json!({ "action": "decline" })));
            responses.extend(other);
            responses.insert("nobody".to_owned(), json!({ "action": "cancel" }));
        }
        for (at, (key, question)) in result["inputRequests"].as_object().unwrap().iter().enumerate()
        {
            assert!(!answered.contains(key), "{key} is asked again: {script}");
            if next.answers >> (at % 8) & 1 == 1 {
                let method = question["method"].as_str().unwrap();
                responses.insert(key.clone(), answer(method, &question["params"]));
                answered.insert(key.clone());
            } else if let Some(kind) = next.nonsense {
                responses.insert(key.clone(), nonsense(kind));
            }
        }
        params["inputResponses"] = responses.into();
        params["requestState"] = result["requestState"].clone();
    }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

/// Returns the number of steps after the last question of a script, which are done again if the last round is repeated.
fn done_last(script: &str) -> usize {
    script.split_whitespace().rev().take_while(|word| *word == "do").count()
}

proptest! {
    // A case takes many rounds. `.ci/full` runs these tests with each feature, so that it tries hundreds of cases.
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    #[test]
    fn answers_in_any_order_and_subset_give_the_result_of_a_waiting_call(script in script(), moves in moves()) {
        run(async {
            let (expected, once) = waited(Revision::V2025_11_25, &script).await;
            assert!(once.values().all(|count| *count == 1), "{once:?}");
            for sealed in SEALED {
                let done = Done::default();
                let mut clients = connected(&done, *sealed).await;
                let (_, text) = played(&mut clients, "repeatable", &script, &moves).await;
                assert_eq!(text, expected);
                assert_eq!(done.counts(), once);
            }
        });
    }

    #[test]
    fn the_last_round_again_repeats_what_follows_it(script in script(), moves in moves()) {
        run(async {
            for sealed in SEALED {
                let done = Done::default();
                let mut clients = connected(&done, *sealed).await;
                let (rounds, text) = played(&mut clients, "repeatable", &script, &moves).await;
                let again = sent(&mut clients[0], rounds.last().unwrap()).await.unwrap();
                assert_eq!(again["content"][0]["text"], text);
                let twice = done.counts().values().filter(|count| **count == 2).count();
                assert_eq!(twice, done_last(&script));
            }
        });
    }

    #[test]
    fn a_repeated_round_is_rejected_for_single_use(script in script(), moves in moves()) {
        run(async {
            let (expected, once) = waited(Revision::V2025_11_25, &script).await;
            for sealed in SEALED {
                let done = Done::default();
                let mut clients = connected(&done, *sealed).await;
                // Each process recognizes only the rounds that it has received itself.
                clients.truncate(1);
                let (rounds, text) = played(&mut clients, "unrepeatable", &script, &moves).await;
                assert_eq!(text, expected);
                // The first round carries no state, so repeating it makes another call.
                for round in &rounds[1..] {
                    let error = sent(&mut clients[0], round).await.unwrap_err();
                    assert!(error.code == -32602 && error.message.contains("already"), "{error}");
                }
                assert_eq!(done.counts(), once);
            }
        });
    }
}

/// The result is the same in revisions in which a call waits for the client's answers instead of being replayed.
#[tokio::test]
async fn every_revision_that_waits_has_the_same_result() {
    let script = "do 3 do 2 2 do 1";
    let (expected, once) = waited(Revision::V2025_11_25, script).await;
    assert_eq!(
        expected,
        "<do0> model 0 file:///a 2 <do4> model 3 n4 declined model 6 <do9> cancelled"
    );
    assert_eq!(waited(Revision::V2025_06_18, script).await, (expected, once));
}

/// A client may answer a question in the first round, before it is asked. The question is then never asked.
#[tokio::test]
async fn an_answer_before_its_question_is_kept() {
    let done = Done::default();
    let mut client = connected(&done, false).await.remove(0);
    let call = json!({ "name": "repeatable", "arguments": { "script": "1 do 1 1" } });
    let sample = json!({ "messages": [{ "content": { "text": "0?" } }] });
    let mut params = call.clone();
    params["inputResponses"] = json!({ "q0": answer("sampling/createMessage", &sample) });
    for (open, said) in [
        ("client_roots", answer("roots/list", &json!({}))),
        ("q2", answer("", &json!({ "message": "2?" }))),
    ] {
        let round = sent(&mut client, &params).await.unwrap();
        let keys: Vec<_> = round["inputRequests"].as_object().unwrap().keys().collect();
        assert_eq!(keys, [open], "{round}");
        params = call.clone();
        params["requestState"] = round["requestState"].clone();
        params["inputResponses"] = json!({ open: said });
    }
    let result = sent(&mut client, &params).await.unwrap();
    assert_eq!(result["content"][0]["text"], "model 0 <do1> file:///a 2");
}
