//! Client side of questions that the server asks.

use std::fmt;

use serde_json::{Map, Value, json};

use super::{Client, RpcError};
use crate::collect::collect_by_insert;

type Answer = dyn FnMut(&str, &Value) -> Value + Send;

/// Function that answers the server's questions, if one is set.
#[derive(Default)]
pub(super) struct Answers(Option<Box<Answer>>);

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answers").field(&self.0.is_some()).finish()
    }
}

impl Client {
    /// Answers all later questions of the server, in the way of the client's revision. `answer` gets the method and its parameters, and
    /// returns the result. [`request`](Client::request) and the methods based on it go through all rounds; [`start`](Client::start) shows
    /// each round.
    ///
    /// ```
    /// # use mcp_runtime::{prelude::*, testing::{Client, Revision}};
    /// # use serde_json::json;
    /// # #[form] struct Consent { go: bool }
    /// #[tool]
    /// async fn ask(ctx: &Context) -> Result<String> {
    ///     let consent: Consent = ctx.elicit("consent", "Go on?").await?;
    ///     Ok(consent.go.to_string())
    /// }
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let server = mcp_runtime::server!().items(items![ask]);
    /// let can = json!({ "elicitation": {} });
    /// let mut client = Client::connect_capable(server, Revision::V2026_07_28, can).await?;
    /// client.answer_with(|_method, params| {
    ///     assert_eq!(params["message"], "Go on?");
    ///     json!({ "action": "accept", "content": { "go": true } })
    /// });
    /// assert_eq!(client.call("ask", json!({})).await?.text(), "true");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn answer_with(&mut self, answer: impl FnMut(&str, &Value) -> Value + Send + 'static) {
        self.answers = Answers(Some(Box::new(answer)));
    }

    /// Answers a request of the server. Returns `false` for other messages, and for all messages if no answer function is set.
    pub(super) fn respond(&mut self, message: &Value) -> bool {
        let (Some(answer), Some(method)) = (&mut self.answers.0, message["method"].as_str()) else {
            return false;
        };
        if message.get("id").is_none() {
            return false;
        }
        let result = answer(method, &message["params"]);
        self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        true
    }

    /// Returns the answers to questions, by their keys. The map is empty if no answer function is set.
    pub(super) fn answers_to(&mut self, questions: &Value) -> Map<String, Value> {
        let (Some(answer), Some(questions)) = (&mut self.answers.0, questions.as_object()) else {
            return Map::new();
        };
        let answer = |(key, it): (&String, &Value)| {
            let method = it["method"].as_str().unwrap_or_default();
            (key.clone(), answer(method, &it["params"]))
        };
        collect_by_insert(questions.iter().map(answer))
    }

    /// Returns the result of a request, or an error if the result contains questions.
    pub(super) async fn answered(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<Value, RpcError> {
        let result = self.request(method, params).await?;
        Self::unanswered(&result).map_or(Ok(result), Err)
    }

    /// Returns an error if a result contains questions.
    pub(super) fn unanswered(result: &Value) -> Option<RpcError> {
        let questions = result["inputRequests"].as_object()?;
        let questions: Vec<String> = questions
            .iter()
            .map(|(key, it)| match it["params"]["message"].as_str() {
                Some(message) => format!("`{key}`: {message}"),
                None => format!("`{key}` ({})", it["method"].as_str().unwrap_or_default()),
            })
            .collect();
        let message =
            format!("the server asks, and `answer_with` was not called: {}", questions.join("; "));
        Some(RpcError { code: 0, message, data: None })
    }

    /// Returns the parameters of the next round if a result asks for one and an answer function is set.
    pub(super) fn next_round(&mut self, params: &Value, result: &Value) -> Option<Value> {
        if result["resultType"] != "input_required" || self.answers.0.is_none() {
            return None;
        }
        let answers = self.answers_to(&result["inputRequests"]);
        Some(next_round(params, result, answers))
    }
}

/// Returns the parameters of the round after `result`, with the answers to its questions.
pub(crate) fn next_round(params: &Value, result: &Value, answers: Map<String, Value>) -> Value {
    let mut next = params.clone();
    next["inputResponses"] = answers.into();
    match result.get("requestState") {
        Some(state) => next["requestState"] = state.clone(),
        None => next.as_object_mut().map(|it| it.remove("requestState")).map_or((), drop),
    }
    next
}
