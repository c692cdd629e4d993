use std::{future::Future, sync::Arc, time::Duration};

use super::{DynHandler, Text, Variables, common, entry};
#[cfg(feature = "auth")]
use crate::auth::ItemGuard;
use crate::{
    call::context::Context,
    call::extract::{Call, Names, Running},
    call::reply::{PromptReply, prompt_reply},
    catalog::{
        EntryKind, PromptArgument, PromptEntry,
        handle::{EntryBox, Item},
    },
    limits::Wanted,
};

type PromptHandler = Box<dyn Fn(Variables, Call<'_>) -> Running + Send + Sync>;

/// A prompt made by value, for [`Handle::add`](crate::Handle::add).
///
/// ```
/// use mcp_runtime::{Variables, prelude::*};
///
/// let explain = Prompt::new("explain")
///     .argument("topic", "What to explain", true)
///     .handler(async |given: Variables, _: Context| format!("Explain {}.", given["topic"]));
/// # let _ = explain;
/// ```
pub struct Prompt {
    name: Text,
    title: Option<Text>,
    description: Option<Text>,
    order: i32,
    timeout: Option<Duration>,
    wanted: Wanted,
    #[cfg(feature = "auth")]
    guard: ItemGuard,
    arguments: Vec<PromptArgument>,
    handler: Option<PromptHandler>,
}
common!(Prompt);

impl Prompt {
    /// Creates a prompt with this name. It needs a [`handler`](Self::handler) before it can be added.
    pub fn new(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            order: 0,
            timeout: None,
            wanted: Wanted::default(),
            #[cfg(feature = "auth")]
            guard: ItemGuard::default(),
            arguments: Vec::new(),
            handler: None,
        }
    }

    /// Adds an argument. The handler finds it in its [`Variables`] if the client has sent it, and always if it is required.
    #[must_use]
    pub fn argument(
        mut self,
        name: impl Into<Text>,
        description: impl Into<Text>,
        required: bool,
    ) -> Self {
        self.arguments.push(PromptArgument {
            name: name.into(),
            title: None,
            description: Some(description.into()),
            required,
            completer: None,
            values: Vec::new,
        });
        self
    }

    /// Sets the handler, which returns the messages of the prompt. It gets the arguments that the client has sent, by name.
    #[must_use]
    pub fn handler<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Variables, Context) -> R + Send + Sync + 'static,
        R: Future<Output: PromptReply> + Send + 'static,
    {
        self.handler = Some(Box::new(move |given, call| {
            let work = handler(given, call.context.get().clone());
            call.future(move |_| async move { prompt_reply(work.await) })
        }));
        self
    }
}

impl Item for Prompt {
    fn into_entry(mut self) -> Result<EntryBox, String> {
        let arguments = std::mem::take(&mut self.arguments);
        let known: Vec<(Text, bool)> =
            arguments.iter().map(|it| (it.name.clone(), it.required)).collect();
        let own = known.iter().map(|it| it.0.clone()).collect();
        let handler = self.handler.take().map(|handler| -> DynHandler {
            Arc::new(move |mut call| {
                let mut given = Variables::new();
                for (name, required) in &known {
                    match call.text(name) {
                        Some(value) => drop(given.insert(name.to_string(), value.into_owned())),
                        None if *required => call.problem(format!("`{name}`: missing")),
                        None => {}
                    }
                }
                if call.accept() { handler(given, call) } else { call.refuse() }
            })
        });
        let kind = EntryKind::Prompt(PromptEntry { arguments });
        let mut entry = entry(self.name.clone(), kind, handler)?;
        entry.names = Names { own, spread: Vec::new() };
        self.finish(entry)
    }
}
