//! The commands `list`, `call`, `read` and `get`, which try a server out.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    arguments,
    command::{CommandWords, apart},
    exit::{CommandError, CommandOutput},
    questions::QuestionAnswers,
    show,
};
use crate::{
    builder::Builder,
    protocol::Revision,
    storage::MemoryStore,
    testing::{Called, Prompted, ReadContents, TestClient},
};

pub(super) fn list(builder: Builder, _: CommandWords) -> Result<(), CommandError> {
    apart(Box::new(|_| Box::pin(listed(builder))))
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
    let CommandWords { words, mut answers } = given;
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
        let result = result_of(&mut client, trial, &words, &mut answers).await;
        client.close().await;
        result.map(CommandOutput::from)
    };
    apart(Box::new(|input| Box::pin(tried(input))))
}

/// Lists the items of the server. Creating the state may have side effects, so `setup` runs only if it may add items. If it fails, the other
/// items are listed, and stderr has the error: a list is useful before the server is configured.
async fn listed(builder: Builder) -> Result<CommandOutput, CommandError> {
    let identity = builder.identity.clone();
    let (mut client, problem) =
        TestClient::looking(builder).await.map_err(CommandError::failure)?;
    client.wait_without_end();
    let everything = show::ServerLists::ask(&mut client).await.map_err(CommandError::failure)?;
    let text = show::list(&identity, &everything, &client.snapshot());
    client.close().await;
    let aside = problem
        .map(|problem| format!("not every item is listed, because `setup` failed: {problem}\n"));
    Ok(CommandOutput { aside: aside.unwrap_or_default(), ..text.into() })
}

/// Returns the text that the command prints.
async fn result_of(
    client: &mut TestClient,
    trial: Trial,
    words: &[String],
    answers: &mut QuestionAnswers,
) -> Result<String, CommandError> {
    let (target, given) = words.split_first().expect("the command has been checked");
    let everything = show::ServerLists::ask(client).await.map_err(CommandError::failure)?;
    match trial {
        Trial::Call => {
            let tool = arguments::find(&everything.tools, "name", target, "tool")?;
            let given = arguments::for_tool(tool, &client.snapshot(), given)?;
            let params = json!({ "name": target, "arguments": given });
            let called: Called = typed(answers.call(client, "tools/call", params).await?)?;
            if called.is_error {
                return Err(CommandError::failure(called.text()));
            }
            Ok(show::content(&called.content))
        }
        Trial::Get => {
            let prompt = arguments::find(&everything.prompts, "name", target, "prompt")?;
            let given = arguments::for_prompt(prompt, given)?;
            let params = json!({ "name": target, "arguments": given });
            let prompted: Prompted = typed(answers.call(client, "prompts/get", params).await?)?;
            Ok(show::messages(&prompted.messages))
        }
        Trial::Read => {
            let params = json!({ "uri": target });
            let read: ReadReply = typed(answers.call(client, "resources/read", params).await?)?;
            Ok(show::contents(&read.contents))
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
