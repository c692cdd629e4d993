//! The command `complete`, which tries the completion of an argument out.

use mcp_runtime_contract::suggest::nearest;
use serde_json::{Map, Value, json};

use super::{
    command::{CommandWords, apart},
    exit::{CommandError, CommandOutput},
    show::{ServerLists, member},
    trial::as_json,
};
use crate::{
    builder::Builder,
    storage::MemoryStore,
    testing::{Completed, TestClient},
};

pub(super) fn run(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    apart(Box::new(move |_| Box::pin(suggestions(builder, given))))
}

async fn suggestions(builder: Builder, given: CommandWords) -> Result<CommandOutput, CommandError> {
    let CommandWords { words, json, .. } = given;
    let [target, argument, rest @ ..] = &*words else {
        unreachable!("the declaration of the command requires both words");
    };
    // The first word after the argument is the typed text, unless it gives a value to another argument.
    let (typed, others) = match rest {
        [first, others @ ..] if !first.contains('=') => (first.as_str(), others),
        others => ("", others),
    };
    let server = builder.store(MemoryStore::new());
    let mut client = TestClient::connect(server).await.map_err(CommandError::failure)?;
    client.wait_without_end();
    let result = complete(&mut client, target, argument, typed, others).await;
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

async fn complete(
    client: &mut TestClient,
    target: &str,
    argument: &str,
    typed: &str,
    others: &[String],
) -> Result<Completed, CommandError> {
    let everything = ServerLists::ask(client).await.map_err(CommandError::failure)?;
    let key = find(&everything, target)?;
    let mut given = Map::new();
    for word in others {
        let Some((name, value)) = word.split_once('=') else {
            return Err(CommandError::usage(format!("`{word}` is not NAME=VALUE; see `help`")));
        };
        given.insert(name.to_owned(), value.into());
    }
    let completed = client.complete_given(key, argument, typed, Value::Object(given)).await;
    completed.map_err(|error| CommandError::failure(error.message))
}

/// Returns the names by which a person names prompts and templates, each with the key in the protocol. A template has two: its URI template and
/// its name.
fn keys(everything: &ServerLists) -> impl Iterator<Item = (&str, &str)> {
    let templates = everything.templates.iter();
    let templates = templates.flat_map(|template| {
        let key = member(template, "uriTemplate");
        [(member(template, "name"), key), (key, key)]
    });
    let prompts = everything.prompts.iter().map(|prompt| member(prompt, "name"));
    prompts.map(|name| (name, name)).chain(templates)
}

/// Returns the key of a prompt or a template in the protocol. Returns `None` if there is no such item.
pub(super) fn key_of<'a>(everything: &'a ServerLists, target: &str) -> Option<&'a str> {
    keys(everything).find(|(name, _)| *name == target).map(|(_, key)| key)
}

/// Returns the key of a prompt or a template in the protocol.
///
/// # Errors
/// Fails if there is no such item. The error names the item with the nearest name.
fn find<'a>(everything: &'a ServerLists, target: &str) -> Result<&'a str, CommandError> {
    if let Some(key) = key_of(everything, target) {
        return Ok(key);
    }
    Err(CommandError::usage(match nearest(target, keys(everything).map(|(name, _)| name)) {
        _ if everything.tools.iter().any(|tool| member(tool, "name") == target) => format!(
            "`{target}` is a tool, and the protocol completes only arguments of prompts and variables of templates"
        ),
        Some(near) => format!("unknown prompt or template `{target}`; did you mean `{near}`?"),
        None => format!("unknown prompt or template `{target}`; see `list`"),
    }))
}
