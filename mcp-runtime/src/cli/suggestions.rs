//! Suggestions that depend on the items of the server: names of tools, prompts and resources, their arguments, and values of arguments.

use std::{
    future::pending,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use mcp_runtime_workbench::Suggestion;
use serde_json::{Map, Value, json};

use super::{
    lists::{ServerLists, arguments_of, elements, member},
    show,
};
use crate::{
    builder::Builder,
    storage::MemoryStore,
    testing::{RpcError, TestClient},
    transport::stdio::restore,
};

/// Maximum time to wait for the server. After it, the person gets no suggestion.
const PATIENCE: Duration = Duration::from_secs(3);

/// Deadline of the suggestions. It ends the process even if a `setup` or a handler blocks its thread.
pub(super) struct SuggestionDeadline(Arc<AtomicBool>);

impl SuggestionDeadline {
    /// Starts the deadline on a thread of its own.
    pub(super) fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let deadline = Self(is_over.clone());
        // If the thread cannot be started, the suggestions take as long as the server does.
        let _ = thread::Builder::new().spawn(move || {
            thread::sleep(PATIENCE);
            if !is_over.swap(true, Ordering::AcqRel) {
                restore();
                process::exit(0);
            }
        });
        deadline
    }

    /// Ends the deadline before the suggestions are printed. If the deadline has passed already, this never returns, because the process ends.
    pub(super) async fn meet(self) {
        if self.0.swap(true, Ordering::AcqRel) {
            pending::<()>().await;
        }
    }
}

/// Word of a command that needs the items of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemWord {
    Tool,
    Resource,
    Prompt,
    /// Prompt or resource template.
    Completable,
    /// Name of an argument of a prompt or a template.
    Argument,
    /// Text to complete, or an argument of a prompt or a template with its value.
    Text,
    /// Argument of a tool, with its value.
    ToolArgument,
    /// Argument of a prompt or a template, with its value.
    TextArgument,
}

/// Place in a command where an item of the server is suggested.
pub(super) struct ItemPlace<'a> {
    pub(super) kind: ItemWord,
    /// Words of the command before the place, without options.
    pub(super) before: Vec<&'a str>,
    /// Word at the cursor.
    pub(super) word: &'a str,
}

impl ItemPlace<'_> {
    /// Returns the suggestions. The list is empty if the server does not start.
    ///
    /// `setup` runs if it may add items, as for `list`. For values of an argument of a prompt or a template it always runs, because completion
    /// functions may need the state.
    pub(super) async fn suggestions(&self, builder: Builder) -> Vec<Suggestion> {
        self.ask(builder).await.unwrap_or_default()
    }

    async fn ask(&self, builder: Builder) -> Option<Vec<Suggestion>> {
        // A running server may have locked the configured store.
        let server = builder.store(MemoryStore::new());
        let value = self.word.split_once('=');
        // Argument to complete, its text, and the beginning of the suggested words.
        let completed = match (self.kind, value) {
            (ItemWord::Text | ItemWord::TextArgument, Some((name, typed))) => {
                Some((name, typed, format!("{name}=")))
            }
            (ItemWord::Text, None) => {
                self.before.get(1).map(|argument| (*argument, self.word, String::new()))
            }
            _ => None,
        };
        let mut client = match completed {
            Some(_) => TestClient::connect(server).await,
            None => TestClient::looking(server).await.map(|(client, _)| client),
        }
        .ok()?;
        let mut found = Vec::new();
        // `complete` works without the text, so the name of another argument may stand in the place of the text.
        let is_value = completed.is_some() && value.is_some();
        if let Some((argument, typed, start)) = completed {
            let values = self.values(&mut client, argument, typed).await.unwrap_or_default();
            found.extend(values.iter().map(|value| Suggestion::new(format!("{start}{value}"), "")));
        }
        if !is_value {
            found.extend(self.of_lists(&mut client, value).await.unwrap_or_default());
        }
        client.close().await;
        Some(found)
    }

    async fn of_lists(
        &self,
        client: &mut TestClient,
        value: Option<(&str, &str)>,
    ) -> Result<Vec<Suggestion>, RpcError> {
        let lists = ServerLists::ask(client).await?;
        let item = self.before.first().copied().unwrap_or_default();
        let arguments = || {
            let target = lists.target(item);
            target.map(|target| arguments_of(target, &client.snapshot())).unwrap_or_default()
        };
        Ok(match (self.kind, value) {
            (ItemWord::Tool, _) => named(&lists.tools, "name"),
            (ItemWord::Prompt, _) => named(&lists.prompts, "name"),
            (ItemWord::Resource, _) => {
                let mut all = named(&lists.resources, "uri");
                all.extend(lists.templates.iter().map(start_of));
                all
            }
            (ItemWord::Completable, _) => {
                let mut all = named(&lists.prompts, "name");
                all.extend(named(&lists.templates, "name"));
                all
            }
            (ItemWord::Argument, _) => {
                let arguments = arguments().into_iter();
                arguments.map(|(name, about)| Suggestion::new(name, &about)).collect()
            }
            (ItemWord::Text | ItemWord::TextArgument, _) => {
                let mut arguments = arguments();
                // `complete ITEM ARGUMENT` already names the argument, so it is not suggested again.
                arguments.retain(|(name, _)| !self.is_given(name));
                let open =
                    |(name, about): (String, String)| Suggestion::open(format!("{name}="), &about);
                arguments.into_iter().map(open).collect()
            }
            (ItemWord::ToolArgument, value) => {
                let tool = lists.tools.iter().find(|tool| member(tool, "name") == item);
                let schema = tool.map_or(&Value::Null, |tool| &tool["inputSchema"]);
                match value {
                    None => self.names_of(schema),
                    Some((name, _)) => values_of(name, &schema["properties"][name]),
                }
            }
        })
    }

    /// Returns the arguments of a tool that have no value yet. Required arguments come first.
    fn names_of(&self, schema: &Value) -> Vec<Suggestion> {
        let required = elements(&schema["required"]);
        let properties = schema["properties"].as_object().into_iter().flatten();
        let mut properties: Vec<_> = properties.filter(|(name, _)| !self.is_given(name)).collect();
        properties.sort_by_key(|(name, _)| !required.iter().any(|other| other == *name));
        let open = |(name, schema): (&String, &Value)| {
            let about = match member(schema, "description") {
                "" => show::kind_of(schema),
                about => about.to_owned(),
            };
            Suggestion::open(format!("{name}="), &about)
        };
        properties.into_iter().map(open).collect()
    }

    /// Whether a word before the cursor names this argument.
    fn is_given(&self, name: &str) -> bool {
        self.before.iter().skip(1).any(|word| word.split('=').next() == Some(name))
    }

    /// Asks the server to complete the value of an argument.
    async fn values(
        &self,
        client: &mut TestClient,
        argument: &str,
        typed: &str,
    ) -> Result<Vec<String>, RpcError> {
        let Some((target, given)) = self.before.split_first() else { return Ok(Vec::new()) };
        let given = given.iter().filter_map(|word| word.split_once('='));
        let given: Map<String, Value> =
            given.map(|(name, value)| (name.to_owned(), json!(value))).collect();
        let lists = ServerLists::ask(client).await?;
        let Some(target) = lists.target(target) else { return Ok(Vec::new()) };
        Ok(client.complete_target(target, argument, typed, Value::Object(given)).await?.values)
    }
}

fn named(items: &[Value], key: &str) -> Vec<Suggestion> {
    let suggestion = |item: &Value| Suggestion::new(member(item, key), member(item, "description"));
    items.iter().map(suggestion).collect()
}

/// Returns the URI of a template up to its first variable.
fn start_of(template: &Value) -> Suggestion {
    let text = member(template, "uriTemplate");
    let start = text.split('{').next().unwrap_or(text);
    Suggestion::open(start, member(template, "description"))
}

/// Returns the values that the schema of an argument lists.
fn values_of(name: &str, schema: &Value) -> Vec<Suggestion> {
    let choices = match member(schema, "type") {
        "boolean" => ["true", "false"].map(|value| (value.to_owned(), String::new())).to_vec(),
        // The value of a list is JSON, which has no fixed choices.
        "array" => Vec::new(),
        _ => show::choices(schema),
    };
    let suggestion = |(value, title): (String, String)| {
        let about = if title == value { "" } else { &title };
        Suggestion::new(format!("{name}={value}"), about)
    };
    choices.into_iter().map(suggestion).collect()
}
