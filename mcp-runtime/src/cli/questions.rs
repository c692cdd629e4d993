//! Calls whose questions are answered from the command line or by the person at the terminal. Progress and the status of a task are shown
//! on stderr. If a call runs as a task, the result of the task is the result of the command.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::IsTerminal as _,
    time::Duration,
};

use serde_json::{Map, Value, json};

use super::{
    exit::CommandError, lists::member, person::Person, screen::say, show, status::StatusLine,
};
use crate::{
    testing::{RpcError, TestClient, next_round},
    transport::stdio::StdioInput,
};

/// Protocol extension that a client declares if it supports tasks.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// Time between two polls. It is short, because polling a server in the same process costs little.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers to the questions of one call.
#[derive(Default)]
pub(super) struct QuestionAnswers {
    /// Answers by the keys of their questions. Each answer is used once, because a repeated question means that the server has rejected the
    /// answer.
    given: BTreeMap<String, String>,
    keys: Vec<String>,
    /// Keys of the pages that the user has agreed to visit. A server that asks for such a page again waits until the user has finished there.
    visited: BTreeSet<String>,
    person: Option<Person>,
    status: StatusLine,
}

impl QuestionAnswers {
    /// Reads the values of the option `--answer`.
    ///
    /// # Errors
    /// Fails if a value is not `KEY=JSON`.
    pub(super) fn read<'a>(values: impl Iterator<Item = &'a str>) -> Result<Self, CommandError> {
        let mut answers = Self::default();
        for value in values {
            let (key, json) = value
                .split_once('=')
                .ok_or_else(|| CommandError::usage("`--answer` takes KEY=JSON; see `help`"))?;
            answers.keys.push(key.to_owned());
            if answers.given.insert(key.to_owned(), json.to_owned()).is_some() {
                return Err(CommandError::usage(format!("`--answer {key}=…` is given twice")));
            }
        }
        Ok(answers)
    }

    /// Returns whether a person can be asked, which requires that stdin and stderr are terminals.
    pub(super) fn is_somebody_there() -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Sends questions without an `--answer` to the person at the terminal, and reads the answers from `input`.
    pub(super) fn ask(&mut self, input: StdioInput) {
        self.person = Some(Person::new(input));
    }

    /// Makes a call, answers questions until the server returns a result, and shows the progress of the call.
    ///
    /// # Errors
    /// Returns the error of the call, or the questions that have no answer.
    pub(super) async fn call(
        &mut self,
        client: &mut TestClient,
        method: &str,
        mut params: Value,
    ) -> Result<Value, CommandError> {
        self.status.ask_for_progress(&mut params);
        let result = self.rounds(client, method, params).await;
        self.status.clear();
        // The error for a question without an answer names the unused answers itself.
        if let (Ok(_), Some(unused)) = (&result, self.unused()) {
            say(format_args!("note: {unused}\n"));
        }
        result
    }

    async fn rounds(
        &mut self,
        client: &mut TestClient,
        method: &str,
        params: Value,
    ) -> Result<Value, CommandError> {
        let mut round = params.clone();
        loop {
            let ongoing = client.start(method, round.clone());
            let status = &self.status;
            let watch = |notification: &Value| status.show_progress(notification);
            let result = match client.wait_and_watch(ongoing, watch).await {
                Ok(result) => result,
                Err(error) if needs_task(&error) => {
                    client.declare_extension(TASKS);
                    continue;
                }
                Err(error) => return Err(failed(&error)),
            };
            if result["resultType"] == "task" {
                return follow_task(client, self, &result).await;
            }
            if result["resultType"] != "input_required" {
                return Ok(result);
            }
            let answers = self.answer(&result["inputRequests"]).await?;
            round = next_round(&params, &result, answers);
        }
    }

    pub(super) async fn answer(
        &mut self,
        questions: &Value,
    ) -> Result<Map<String, Value>, CommandError> {
        let mut answers = Map::new();
        let mut open = Vec::new();
        for (key, question) in questions.as_object().into_iter().flatten() {
            let params = &question["params"];
            let is_repeated = self.visited.contains(key);
            let answer = match (self.given.remove(key), &mut self.person) {
                (Some(text), _) => parse_answer(key, params, &text)?,
                (None, Some(person)) => {
                    self.status.clear();
                    person.answer(params, is_repeated).await
                }
                (None, None) => {
                    open.push(self.unanswered(key, params));
                    continue;
                }
            };
            if is_page(params) && answer["action"] == "accept" {
                self.visited.insert(key.clone());
            }
            answers.insert(key.clone(), answer);
        }
        if open.is_empty() { Ok(answers) } else { Err(CommandError::failure(open.join("\n"))) }
    }

    /// Returns the text about answers whose questions the server has not asked.
    fn unused(&self) -> Option<String> {
        let unused = self.given.keys().map(|key| format!("`--answer {key}=…`"));
        let unused: Vec<String> = unused.collect();
        let has = if unused.len() == 1 { "has" } else { "have" };
        (!unused.is_empty()).then(|| format!("{} {has} answered no question", unused.join(" and ")))
    }

    /// Returns the error message for a question without an answer. The message says how to answer the question.
    fn unanswered(&self, key: &str, params: &Value) -> String {
        let (message, url) = (member(params, "message"), member(params, "url"));
        let is_repeated = self.keys.iter().any(|given| given == key);
        if is_repeated && is_page(params) {
            return format!(
                "the server asks `{key}` again: {message}\n  {url}\nfinish the page in a browser, then run the same command again, or run it in a terminal, where it waits for you"
            );
        }
        if is_repeated {
            return format!("the server asks `{key}` again after its `--answer`: {message}");
        }
        let hint = self.unused().map(|unused| format!(" ({unused})")).unwrap_or_default();
        let advice = match is_page(params) {
            true => {
                format!("  {url}\nopen this page in a browser, then run the command again with")
            }
            false => "answer with".to_owned(),
        };
        let example = example(params);
        format!(
            "the server asks `{key}`: {message}\n{advice} --answer {key}='{example}', or run the command in a terminal{hint}"
        )
    }
}

/// Whether a question sends the user to a page.
fn is_page(params: &Value) -> bool {
    params["mode"] == "url"
}

/// Parses an answer from the command line: an object for a form, `true` or `false` for a URL, or `decline` or `cancel`.
fn parse_answer(key: &str, params: &Value, text: &str) -> Result<Value, CommandError> {
    if matches!(text, "decline" | "cancel") {
        return Ok(json!({ "action": text }));
    }
    let is_page = is_page(params);
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(content)) if !is_page => {
            Ok(json!({ "action": "accept", "content": content }))
        }
        Ok(Value::Bool(goes)) if is_page => {
            Ok(json!({ "action": if goes { "accept" } else { "decline" } }))
        }
        _ => Err(CommandError::usage(format!(
            "`--answer {key}={text}` is not a valid answer: it can be '{}', `decline` or `cancel`",
            example(params)
        ))),
    }
}

/// Returns an example of an answer, for error messages.
fn example(params: &Value) -> Value {
    if is_page(params) {
        return json!(true);
    }
    show::example_of(&params["requestedSchema"])
}

/// Returns the failure of a command whose request got an error, with advice for the person at the command line. If the request needs a client
/// with other capabilities, the failure says that the command line is this client. The code of the error is for programs, so the failure
/// does not show it.
fn failed(error: &RpcError) -> CommandError {
    let data = error.data.as_ref();
    let missing = data.and_then(|data| data["requiredCapabilities"].as_object());
    let missing: Vec<&str> = missing.into_iter().flatten().map(|(name, _)| &**name).collect();
    if missing.is_empty() {
        return CommandError::failure(&error.message);
    }
    CommandError::failure(format_args!(
        "{}: the command line is a client without `{}`\nuse a client that has it, or write a test with `TestClient::answer_with`",
        error.message,
        missing.join("` and `")
    ))
}

/// Returns whether the server rejected a call because the tool runs only as a task. The handler has not run in that case.
fn needs_task(error: &RpcError) -> bool {
    let data = error.data.as_ref();
    data.is_some_and(|data| !data["requiredCapabilities"]["extensions"][TASKS].is_null())
}

/// Polls a task until it has ended, and answers its questions.
///
/// # Errors
/// Returns the error of the task, or the questions that have no answer.
async fn follow_task(
    client: &mut TestClient,
    answers: &mut QuestionAnswers,
    created: &Value,
) -> Result<Value, CommandError> {
    let which = json!({ "taskId": created["taskId"] });
    loop {
        let mut task =
            client.request("tasks/get", which.clone()).await.map_err(CommandError::failure)?;
        let status = member(&task, "statusMessage").to_owned();
        match member(&task, "status") {
            "completed" => return Ok(task["result"].take()),
            "failed" => {
                let error: RpcError =
                    serde_json::from_value(task["error"].take()).map_err(CommandError::failure)?;
                return Err(failed(&error));
            }
            "cancelled" => {
                return Err(CommandError::failure(format!("the task was cancelled: {status}")));
            }
            "input_required" => {
                let answers = answers.answer(&task["inputRequests"]).await?;
                let update = json!({ "taskId": created["taskId"], "inputResponses": answers });
                client.request("tasks/update", update).await.map_err(CommandError::failure)?;
            }
            _ => {
                answers.status.show_task(&status);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}
