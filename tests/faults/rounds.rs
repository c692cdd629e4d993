//! Call of protocol revision 2026-07-28 that takes several rounds, each with its own request.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::client::{Reply, Request, modern};

/// The call that a client repeats in each round, and the state from the last answer.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    tool: &'static str,
    arguments: Value,
    state: Value,
    /// Key of the elicitation request that the next round answers.
    key: String,
}

impl Rounds {
    pub(crate) fn of(tool: &'static str, arguments: Value) -> Self {
        Self { tool, arguments, state: Value::Null, key: String::new() }
    }

    fn request(&self, mut params: Value) -> Request {
        params["name"] = self.tool.into();
        params["arguments"] = self.arguments.clone();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "elicitation": {} });
        modern(self.key.as_str(), "tools/call", params)
    }

    /// Builds the request of the first round.
    pub(crate) fn beginning(&self) -> Request {
        self.request(json!({}))
    }

    /// Builds the request of the next round, which answers the open elicitation request with a word.
    pub(crate) fn saying(&self, word: &str) -> Request {
        let answer = json!({ "action": "accept", "content": { "word": word } });
        let mut answers = json!({});
        answers[&self.key] = answer;
        self.request(json!({ "requestState": self.state, "inputResponses": answers }))
    }

    /// Checks that the answer to a round contains exactly one elicitation request, and returns its message.
    #[track_caller]
    pub(crate) fn asked(&mut self, reply: &Reply) -> String {
        let result = &reply.json()["result"];
        assert_eq!(result["resultType"], "input_required", "{reply:?} {result:#}");
        let questions = result["inputRequests"].as_object().expect("questions");
        let (key, question) = questions.iter().next().expect("a question");
        assert_eq!(questions.len(), 1, "{result:#}");
        self.key.clone_from(key);
        self.state = result["requestState"].clone();
        question["params"]["message"].as_str().expect("a message").to_owned()
    }

    pub(crate) async fn begin(&mut self, address: SocketAddr) -> String {
        let reply = self.beginning().ask(address).await;
        self.asked(&reply)
    }

    /// Answers the open elicitation request, and returns the message of the next one.
    pub(crate) async fn say(&mut self, address: SocketAddr, word: &str) -> String {
        let reply = self.saying(word).ask(address).await;
        self.asked(&reply)
    }
}

/// Checks that the server rejects the state, and that the error does not reveal the reason.
#[track_caller]
pub(crate) fn check_refused(reply: &Reply) {
    let says = "`requestState` does not belong to this call, has expired or is no longer kept: call again without `requestState`";
    reply.check_error(200, -32602, says);
}
