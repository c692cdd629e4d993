//! `sampling/createMessage`: questions to the client's model, and its answers (client/sampling).

mod check;
mod content;
mod sampled;
mod tool;

use std::fmt::Display;

use serde::Serialize;

use super::{Role, ToolResult};

pub(crate) use content::read_extras;
pub use content::{OtherContent, SampledContent, SamplingContent};
pub use sampled::Sampled;
pub use tool::{SamplingTool, ToolChoice, ToolUse};

/// A question to the client's model (`sampling/createMessage`, client/sampling): the conversation so far, and preferences that the client
/// may ignore.
///
/// ```
/// use mcp_runtime::Sampling;
///
/// let question = Sampling::new(200)
///     .system("You translate into French.")
///     .user("sea")
///     .assistant("mer")
///     .user("moon")
///     .temperature(0.2)
///     .hint("claude");
/// assert_eq!(question.check(), Ok(()));
/// ```
///
/// A loop with tools sends the growing conversation again, until the model uses no more tools:
///
/// ```
/// use mcp_runtime::{Sampled, Sampling, SamplingTool, prelude::*};
///
/// /// Where to look
/// #[data]
/// struct Place {
///     city: String,
/// }
///
/// fn start() -> Sampling {
///     let weather = SamplingTool::new("weather").description("Tells the weather").schema::<Place>();
///     Sampling::ask("Do I need an umbrella in Lyon?", 500).tool(weather)
/// }
///
/// /// Builds the next round from the model's last answer.
/// fn go_on(mut conversation: Sampling, answer: &Sampled) -> Result<Sampling> {
///     conversation = conversation.assistant(answer);
///     for call in answer.tool_uses() {
///         let place: Place = call.input()?;
///         conversation = conversation.tool_result(&call.id, format!("It rains in {}", place.city));
///     }
///     Ok(conversation)
/// }
/// assert!(start().needs_tools());
/// # let _ = go_on;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a question that nobody asks is never answered"]
pub struct Sampling {
    pub(crate) max_tokens: u32,
    pub(crate) turns: Vec<SamplingTurn>,
    pub(crate) system: Option<String>,
    pub(crate) preferences: Preferences,
    pub(crate) context: Option<IncludeContext>,
    pub(crate) temperature: Option<f64>,
    pub(crate) stop: Vec<String>,
    /// JSON text of an object, or the reason why there is none.
    pub(crate) metadata: Option<Result<Box<str>, String>>,
    pub(crate) tools: Vec<SamplingTool>,
    pub(crate) tool_choice: Option<ToolChoice>,
}

/// Message of a conversation. Tool results are a variant of their own, because a message with results has no other content (rule SAMP-03).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SamplingTurn {
    Says(Role, Vec<SampledContent>),
    Results(Vec<(String, ToolResult)>),
}

/// Preferences for the choice of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Preferences {
    pub(crate) hints: Vec<String>,
    pub(crate) cost: Option<f64>,
    pub(crate) speed: Option<f64>,
    pub(crate) intelligence: Option<f64>,
}

/// Context from MCP servers that a client may add to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeContext {
    /// No context, which is the default of clients.
    None,
    /// Context from this server.
    ThisServer,
    /// Context from all servers that the client knows.
    AllServers,
}

impl Sampling {
    /// Creates an empty conversation. `max_tokens` limits the answer, and the protocol requires it in every request.
    pub fn new(max_tokens: u32) -> Self {
        Self {
            max_tokens,
            turns: Vec::new(),
            system: None,
            preferences: Preferences::default(),
            context: None,
            temperature: None,
            stop: Vec::new(),
            metadata: None,
            tools: Vec::new(),
            tool_choice: None,
        }
    }

    /// Creates a conversation with one question of the user. `max_tokens` limits the answer.
    ///
    /// ```
    /// let question = mcp_runtime::Sampling::ask("What is the capital of France?", 100);
    /// # let _ = question;
    /// ```
    pub fn ask(content: impl SamplingContent, max_tokens: u32) -> Self {
        Self::new(max_tokens).user(content)
    }

    /// Sets the system prompt. The client may change it or leave it out.
    pub fn system(mut self, prompt: impl Into<String>) -> Self {
        self.system = Some(prompt.into());
        self
    }

    /// Adds a message of the user: text, pictures and sounds, several as a tuple or list. Clients before 2025-11-25 get several blocks as
    /// several messages. Clients of 2024-11-05 get a text in place of a sound.
    ///
    /// ```
    /// use mcp_runtime::{Image, Sampling};
    ///
    /// let question = Sampling::new(100).user(("What is this?", Image::png([0x89, b'P', b'N', b'G'])));
    /// # let _ = question;
    /// ```
    pub fn user(self, content: impl SamplingContent) -> Self {
        self.says(Role::User, content)
    }

    /// Adds a message of the model: an example of an answer, or an earlier answer as `&`[`Sampled`].
    pub fn assistant(self, content: impl SamplingContent) -> Self {
        self.says(Role::Assistant, content)
    }

    fn says(mut self, role: Role, content: impl SamplingContent) -> Self {
        let mut blocks = Vec::new();
        content.add_to(&mut blocks);
        self.turns.push(SamplingTurn::Says(role, blocks));
        self
    }

    /// Joins consecutive results in one message, because the next message must have all of them (rule SAMP-03).
    pub(crate) fn result(mut self, id: String, result: ToolResult) -> Self {
        match self.turns.last_mut() {
            Some(SamplingTurn::Results(results)) => results.push((id, result)),
            _ => self.turns.push(SamplingTurn::Results(vec![(id, result)])),
        }
        self
    }

    /// Sets how much the answer may vary. The scale depends on the model.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Adds a text at which the model stops.
    pub fn stop(mut self, sequence: impl Into<String>) -> Self {
        self.stop.push(sequence.into());
        self
    }

    /// Adds the name of a model, or a part of it such as `claude`. The client uses the first hint that it can map to one of its models,
    /// perhaps of another provider.
    pub fn hint(mut self, model: impl Into<String>) -> Self {
        self.preferences.hints.push(model.into());
        self
    }

    /// Sets how much a low price matters, from 0 (not at all) to 1 (most).
    pub fn cost_priority(mut self, priority: f64) -> Self {
        self.preferences.cost = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// Sets how much a fast answer matters, from 0 (not at all) to 1 (most).
    pub fn speed_priority(mut self, priority: f64) -> Self {
        self.preferences.speed = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// Sets how much a capable model matters, from 0 (not at all) to 1 (most).
    pub fn intelligence_priority(mut self, priority: f64) -> Self {
        self.preferences.intelligence = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// Sets which context the client should add from the servers it knows. The specification has deprecated all values but
    /// [`IncludeContext::None`]. Since 2025-11-25 the others need the capability `sampling.context`.
    pub fn include_context(mut self, context: IncludeContext) -> Self {
        self.context = Some(context);
        self
    }

    /// Sets metadata that the client passes through to the model's provider: any value that serializes to a JSON object.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use mcp_runtime::Sampling;
    ///
    /// let question = Sampling::ask("Hello", 50).metadata(BTreeMap::from([("user_id", "u-42")]));
    /// assert_eq!(question.check(), Ok(()));
    /// assert!(Sampling::ask("Hello", 50).metadata("u-42").check().is_err());
    /// ```
    pub fn metadata(mut self, metadata: impl Serialize) -> Self {
        self.metadata = Some(object_text(&metadata, "the metadata"));
        self
    }

    /// Adds a tool that the model may use (2025-11-25 and later, with the capability `sampling.tools`). The client does not run the tool.
    /// The answer has [`tool_uses`](Sampled::tool_uses), and the next question must have their results.
    pub fn tool(mut self, tool: SamplingTool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets whether the model may or must use a tool. Set [`ToolChoice::None`] in the last round of a loop, so that the loop ends.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Whether this question needs a client with the capability `sampling.tools`.
    ///
    /// ```
    /// use mcp_runtime::{Sampling, SamplingTool};
    ///
    /// assert!(!Sampling::ask("Hello", 50).needs_tools());
    /// assert!(Sampling::ask("Hello", 50).tool(SamplingTool::new("look")).needs_tools());
    /// ```
    pub fn needs_tools(&self) -> bool {
        !self.tools.is_empty()
            || self.tool_choice.is_some()
            || self.turns.iter().any(|turn| match turn {
                SamplingTurn::Results(_) => true,
                SamplingTurn::Says(_, blocks) => {
                    blocks.iter().any(|it| matches!(it, SampledContent::ToolUse(_)))
                }
            })
    }

    /// Whether the question asks for context from servers. Since 2025-11-25 only a client with the capability `sampling.context` should be
    /// asked for that.
    ///
    /// ```
    /// use mcp_runtime::{IncludeContext, Sampling};
    ///
    /// assert!(!Sampling::ask("Hello", 50).include_context(IncludeContext::None).needs_context());
    /// assert!(Sampling::ask("Hello", 50).include_context(IncludeContext::ThisServer).needs_context());
    /// ```
    pub fn needs_context(&self) -> bool {
        self.context.is_some_and(|it| it != IncludeContext::None)
    }
}

/// Serializes `value`, which must become a JSON object.
fn object_text(value: &impl Serialize, what: impl Display) -> Result<Box<str>, String> {
    match serde_json::to_string(value) {
        Ok(text) if text.starts_with('{') => Ok(text.into_boxed_str()),
        Ok(_) => Err(format!("{what} must be a JSON object")),
        Err(error) => Err(format!("{what} cannot be written as JSON: {error}")),
    }
}
