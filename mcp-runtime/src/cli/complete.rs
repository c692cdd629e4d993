//! The command `complete`, which tries the completion of an argument out.

use mcp_runtime_contract::suggest::nearest;
use serde_json::{Map, Value, json};

use super::{
    command::{CommandWords, apart},
    exit::{CommandError, CommandOutput},
    lists::{ServerLists, arguments_of, member},
    trial::as_json,
    unknown::all_names,
};
use crate::{
    builder::Builder,
    storage::MemoryStore,
    testing::{Completed, CompletionTarget, TestClient},
};

pub(super) fn run(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    apart(Box::new(move |_| Box::pin(suggestions(builder, given))))
}

async fn suggestions(builder: Builder, given: CommandWords) -> Result<CommandOutput, CommandError> {
    let CommandWords { words, json, .. } = given;
    let server = builder.store(MemoryStore::new());
    let mut client = TestClient::connect(server).await.map_err(CommandError::failure)?;
    client.wait_without_end();
    let result = complete(&mut client, &words).await;
    client.close().await;
    let completed = result?;
    if json {
        let Completed { values, total, has_more, .. } = completed;
        return Ok(
            as_json(&json!({ "values": values, "total": total, "hasMore": has_more })).into()
        );
    }
    let mut text = completed.values.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    Ok(CommandOutput { aside: remark(&completed), ..text.into() })
}

/// Returns the line for stderr about values that are not shown.
fn remark(completed: &Completed) -> String {
    match (completed.values.len(), completed.total) {
        (0, _) => "no values\n".to_owned(),
        (shown, Some(total)) if total > shown => {
            format!("{shown} of {total} values; a longer text gives fewer\n")
        }
        _ if completed.has_more => "there are more values; a longer text gives fewer\n".to_owned(),
        _ => String::new(),
    }
}

/// Completes an argument. `words` are the item, the argument, and what follows them.
async fn complete(client: &mut TestClient, words: &[String]) -> Result<Completed, CommandError> {
    let [item, argument, rest @ ..] = words else {
        unreachable!("the declaration of the command requires both words");
    };
    let everything = ServerLists::ask(client).await.map_err(CommandError::failure)?;
    let target = find(&everything, item)?;
    let arguments = arguments_of(target, &client.snapshot());
    let names = || arguments.iter().map(|(name, _)| name.as_str());
    let assigned = |word: &String| {
        let (name, value) = word.split_once('=')?;
        names().any(|known| known == name).then(|| (name.to_owned(), Value::from(value)))
    };
    if names().all(|known| known != argument) {
        return Err(no_argument(item, argument, names()));
    }
    // The first word after the argument is the typed text, unless it gives a value to another argument.
    let (typed, others) = match rest {
        [first, others @ ..] if assigned(first).is_none() => (first.as_str(), others),
        others => ("", others),
    };
    let mut given = Map::new();
    for word in others {
        let (name, value) = assigned(word).ok_or_else(|| unassigned(item, word, names()))?;
        given.insert(name, value);
    }
    let completed = client.complete_target(target, argument, typed, Value::Object(given)).await;
    completed.map_err(|error| CommandError::failure(error.message))
}

/// Returns the problem with a word that gives no value to an argument of the item.
fn unassigned<'a>(item: &str, word: &str, names: impl Iterator<Item = &'a str>) -> CommandError {
    match word.split_once('=') {
        None => CommandError::usage(format!("`{word}` is not NAME=VALUE; see `help`")),
        Some((name, _)) => no_argument(item, name, names),
    }
}

/// Returns the error for an argument that the item does not have. The error names the item as the user has typed it.
fn no_argument<'a>(item: &str, name: &str, names: impl Iterator<Item = &'a str>) -> CommandError {
    let names: Vec<_> = names.collect();
    let all = || all_names("argument", names.iter().copied(), None);
    CommandError::usage(match (&*names, nearest(name, names.iter().copied())) {
        ([], _) => format!("`{item}` has no arguments"),
        ([near], Some(_)) => format!("`{item}` has no argument `{name}`; did you mean `{near}`?"),
        (_, Some(near)) => {
            format!("`{item}` has no argument `{name}`; did you mean `{near}`?\n{}", all())
        }
        (_, None) => format!("`{item}` has no argument `{name}`; {}", all()),
    })
}

/// Returns the prompt or the template that a person has named.
///
/// # Errors
/// Fails if there is no such item. The error names the item with the nearest name.
fn find<'a>(
    everything: &'a ServerLists,
    target: &str,
) -> Result<CompletionTarget<'a>, CommandError> {
    if let Some(target) = everything.target(target) {
        return Ok(target);
    }
    Err(CommandError::usage(match nearest(target, everything.targets().map(|(name, _)| name)) {
        _ if everything.tools.iter().any(|tool| member(tool, "name") == target) => format!(
            "`{target}` is a tool, and the protocol completes only arguments of prompts and variables of templates"
        ),
        Some(near) => format!("unknown prompt or template `{target}`; did you mean `{near}`?"),
        None => format!("unknown prompt or template `{target}`; see `list`"),
    }))
}
