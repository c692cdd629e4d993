//! Clients of all protocol revisions at the same time, against a single process of the example `everything`.

use std::{collections::BTreeMap, net::SocketAddr};

use serde_json::{Value, json};
use support::examples::example;

use crate::{
    client::{MODERN, Request, Session, message, modern, run},
    pair::Pair,
    server::Server,
};

const CALLS: usize = 30;

/// Request of one client, and the text that its answer must contain.
struct Question {
    id: Value,
    method: &'static str,
    params: Value,
    answer: String,
    /// Number of progress reports before the answer.
    reports: usize,
}

/// Returns the questions of one client. All clients use the same ids.
fn questions(client: &str) -> impl Iterator<Item = Question> {
    (0..CALLS).map(move |n| {
        let id = if n % 2 == 0 { json!(n) } else { json!(n.to_string()) };
        let mine = format!("{client}-{n}");
        let question = |method, params, answer, reports| Question {
            id: id.clone(),
            method,
            params,
            answer,
            reports,
        };
        match n % 5 {
            0 => {
                let params = json!({
                    "name": "test_tool_with_progress",
                    "arguments": {},
                    "_meta": { "progressToken": mine },
                });
                question("tools/call", params, "The work is done.".into(), 3)
            }
            1 | 2 => {
                let arguments = json!({ "arg1": mine, "arg2": "x" });
                let params =
                    json!({ "name": "test_prompt_with_arguments", "arguments": arguments });
                question("prompts/get", params, format!("arg1='{mine}', arg2='x'"), 0)
            }
            3 => {
                let params = json!({ "uri": format!("test://template/{mine}/data") });
                question("resources/read", params, format!("Data for ID: {mine}"), 0)
            }
            _ => question("tools/list", json!({}), "test_simple_text".into(), 0),
        }
    })
}

impl Question {
    fn message(&self) -> Value {
        message(self.id.clone(), self.method, self.params.clone())
    }

    /// Checks that the messages are the reports and the answer to this question, and not to a question of another client.
    #[track_caller]
    fn check(&self, client: &str, messages: &[Value]) {
        let (answer, reports) = messages.split_last().expect("an answer");
        assert_eq!(answer["id"], self.id, "{client}: {messages:?}");
        assert!(answer["result"].to_string().contains(&self.answer), "{client}: {messages:?}");
        assert_eq!(reports.len(), self.reports, "{client}: {messages:?}");
        for report in reports {
            let token = &report["params"]["progressToken"];
            assert_eq!(*token, self.params["_meta"]["progressToken"], "{client}: {report}");
        }
        assert_eq!(answer["result"]["resultType"] == "complete", client.starts_with(MODERN));
    }
}

/// Returns all messages of the answer, from a stream or a JSON body.
async fn answers(request: Request, address: SocketAddr) -> Vec<Value> {
    let mut stream = request.open(address).await;
    if stream.head.is_stream() {
        return stream.rest().await;
    }
    assert_eq!(stream.head.status, 200, "{:?}", stream.head);
    let body = stream.connection.body(crate::client::SOON).await.unwrap();
    vec![serde_json::from_slice(&body).unwrap()]
}

/// Asks three questions at a time, in a new session if the revision has sessions.
async fn over_http(address: SocketAddr, client: String, revision: &'static str) {
    let session = match revision {
        MODERN => None,
        _ => Some(Session::begin(address, revision).await),
    };
    let mut running = Vec::new();
    for question in questions(&client) {
        let request = match &session {
            Some(session) => session.post(&question.message()),
            None => modern(question.id.clone(), question.method, question.params.clone()),
        };
        running.push((question, tokio::spawn(answers(request, address))));
        if running.len() == 3 {
            let (question, answer) = running.remove(0);
            question.check(&client, &answer.await.unwrap());
        }
    }
    for (question, answer) in running {
        question.check(&client, &answer.await.unwrap());
    }
    if let Some(session) = session {
        assert_eq!(session.delete().ask(address).await.status(), 204);
    }
}

/// Posts all questions at once, and assigns the messages of the stream to them.
async fn over_pair(address: SocketAddr, client: String) {
    let mut pair = Pair::begin(address).await;
    let all: Vec<_> = questions(&client).collect();
    for question in &all {
        pair.post(&question.message()).await;
    }
    let mut messages = BTreeMap::<String, Vec<Value>>::new();
    for _ in 0..all.iter().map(|question| question.reports + 1).sum() {
        let message = pair.stream.message().await.unwrap();
        let of = match message["params"]["progressToken"].as_str() {
            Some(token) => {
                all.iter().find(|question| question.params["_meta"]["progressToken"] == token)
            }
            None => all.iter().find(|question| question.id == message["id"]),
        };
        let of = of.unwrap_or_else(|| panic!("{client} has not asked for {message}"));
        messages.entry(of.id.to_string()).or_default().push(message);
    }
    for question in &all {
        question.check(&client, &messages[&question.id.to_string()]);
    }
}

#[support::test]
fn one_process_serves_clients_of_all_revisions_at_once() {
    // Builds the example if necessary, before the deadline of the test begins.
    let program = example("everything");
    run(async {
        let server = Server::start_other(program);
        let address = server.address();
        let mut clients = Vec::new();
        for n in 0..4 {
            clients.push(tokio::spawn(over_pair(address, format!("2024-11-05-{n}"))));
            for revision in ["2025-03-26", "2025-06-18", "2025-11-25", MODERN] {
                let name = format!("{revision}-{n}");
                clients.push(tokio::spawn(over_http(address, name, revision)));
            }
        }
        let count = clients.len();
        for client in clients {
            client.await.unwrap();
        }
        support::note!("{count} clients have been answered {CALLS} times each");
    });
}
