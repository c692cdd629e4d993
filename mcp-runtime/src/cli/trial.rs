//! The commands `list`, `call`, `read` and `get`, which try a server out.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    arguments,
    command::{ANSWER, ARGUMENTS, CommandWords, apart},
    exit::{CommandError, CommandOutput},
    lists::ServerLists,
    questions::QuestionAnswers,
    screen::Screen,
    show, unknown,
};
use crate::{
    builder::Builder,
    protocol::Revision,
    storage::MemoryStore,
    testing::{Called, Prompted, ReadContents, TestClient},
};

pub(super) fn list(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    apart(Box::new(move |_| Box::pin(listed(builder, given.json, given.screen))))
}

pub(super) fn call(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    try_out(builder, Trial::Call, given)
}

pub(super) fn read(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    try_out(builder, Trial::Read, given)
}

pub(super) fn get(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    try_out(builder, Trial::Get, given)
}

/// Use of an item by a command.
#[derive(Clone, Copy)]
enum Trial {
    Call,
    Read,
    Get,
}

/// Uses the item that the first word names, with the other words as arguments.
fn try_out(builder: Builder, trial: Trial, given: CommandWords) -> Result<(), CommandError> {
    let mut answers = QuestionAnswers::read(given.options.all(&ANSWER))?;
    let CommandWords { words, options, json, .. } = given;
    let whole = options.all(&ARGUMENTS).next();
    let whole = whole.map(|text| arguments::whole(text, &words[1..])).transpose()?;
    let is_somebody_there = QuestionAnswers::is_somebody_there();
    let tried = async move |input| {
        let can = json!({ "elicitation": { "form": {}, "url": {} } });
        // Keeps the tasks of a trial call out of the configured store. A running server may also have locked that store.
        let server = builder.store(MemoryStore::new());
        let client = TestClient::connect_capable(server, Revision::MODERN[0], can).await;
        let mut client = client.map_err(CommandError::failure)?;
        client.wait_without_end();
        if is_somebody_there {
            answers.ask(input);
        }
        let result = result_of(&mut client, trial, &words, whole, json, &mut answers).await;
        client.close().await;
        trial.output(result?, json)
    };
    apart(Box::new(|input| Box::pin(tried(input))))
}

/// Lists the items of the server. Creating the state may have side effects, so `setup` runs only if it may add items. If it fails, the other
/// items are listed, and stderr has the error: a list is useful before the server is configured.
async fn listed(
    builder: Builder,
    json: bool,
    screen: Screen,
) -> Result<CommandOutput, CommandError> {
    let identity = builder.identity.clone();
    let (mut client, problem) =
        TestClient::looking(builder).await.map_err(CommandError::failure)?;
    client.wait_without_end();
    let everything = ServerLists::ask(&mut client).await.map_err(CommandError::failure)?;
    let text = match json {
        true => as_json(&everything.json()),
        false => show::list(&identity, &everything, &client.snapshot(), &screen),
    };
    client.close().await;
    let aside = problem
        .map(|problem| format!("not every item is listed, because `setup` failed: {problem}\n"));
    Ok(CommandOutput { aside: aside.unwrap_or_default(), ..text.into() })
}

/// Returns the result of the server, as it was sent. `whole` are the arguments of a call, if an option has them.
///
/// # Errors
/// Fails if the server has no such item, or refuses the arguments of a call whose output is no JSON.
async fn result_of(
    client: &mut TestClient,
    trial: Trial,
    words: &[String],
    whole: Option<Value>,
    json: bool,
    answers: &mut QuestionAnswers,
) -> Result<Value, CommandError> {
    let (target, given) = words.split_first().expect("a command of this file has a target");
    let everything = ServerLists::ask(client).await.map_err(CommandError::failure)?;
    match trial {
        Trial::Call => {
            let prompts = (&*everything.prompts, "get");
            let tool = unknown::find(&everything.tools, target, "tool", prompts)?;
            let given = match whole {
                Some(whole) => whole,
                None => arguments::for_tool(tool, &client.snapshot(), given)?,
            };
            let params = json!({ "name": target, "arguments": given });
            let result = answers.call(client, "tools/call", params).await?;
            match arguments::refused(tool, &client.snapshot(), &result) {
                Some(refused) if !json => Err(refused),
                _ => Ok(result),
            }
        }
        Trial::Get => {
            let tools = (&*everything.tools, "call");
            let prompt = unknown::find(&everything.prompts, target, "prompt", tools)?;
            let given = arguments::for_prompt(prompt, given)?;
            answers.call(client, "prompts/get", json!({ "name": target, "arguments": given })).await
        }
        Trial::Read => {
            unknown::check_uri(target, &everything)?;
            let read = answers.call(client, "resources/read", json!({ "uri": target })).await;
            read.map_err(|error| unknown::explain_missing(error, target, &everything))
        }
    }
}

impl Trial {
    /// Returns the output for a result, in the form of the protocol or as text.
    ///
    /// # Errors
    /// Fails with the text of the result if the tool has failed. As JSON, such a result is the output of a failed command.
    fn output(self, result: Value, json: bool) -> Result<CommandOutput, CommandError> {
        let failed = result["isError"] == true;
        if json {
            let end = match failed {
                true => Err(CommandError::failure("the tool has failed")),
                false => Ok(()),
            };
            return Ok(CommandOutput { end, ..as_json(&result).into() });
        }
        match self {
            Self::Call => {
                let called: Called = typed(result)?;
                if failed {
                    return Err(CommandError::failure(called.text()));
                }
                Ok(show::content(&called.content).into())
            }
            Self::Get => Ok(show::messages(&typed::<Prompted>(result)?.messages).into()),
            Self::Read => Ok(show::contents(&typed::<ReadReply>(result)?.contents).into()),
        }
    }
}

fn typed<T: DeserializeOwned>(result: Value) -> Result<T, CommandError> {
    serde_json::from_value(result).map_err(CommandError::failure)
}

#[derive(serde::Deserialize)]
struct ReadReply {
    contents: Vec<ReadContents>,
}

/// Returns a value as JSON over several lines.
pub(super) fn as_json(value: &Value) -> String {
    format!("{value:#}\n")
}
