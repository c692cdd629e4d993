//! `sampling/createMessage`: what a handler asks the client's model, and what comes back (client/sampling).

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

/// A question to the client's model (`sampling/createMessage`, client/sampling): the conversation so far, and wishes that
/// the client may follow or not.
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
/// A loop with tools sends the conversation again and again, until the model uses no more of them:
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
/// /// The next round, after what the model answered in the last one.
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
    pub(crate) turns: Vec<Turn>,
    pub(crate) system: Option<String>,
    pub(crate) preferences: Preferences,
    pub(crate) context: Option<IncludeContext>,
    pub(crate) temperature: Option<f64>,
    pub(crate) stop: Vec<String>,
    /// JSON text of an object, or why there is none.
    pub(crate) metadata: Option<Result<Box<str>, String>>,
    pub(crate) tools: Vec<SamplingTool>,
    pub(crate) tool_choice: Option<ToolChoice>,
}

/// One message. Results of tools are a kind of their own: a message that has some has nothing else (SAMP-03).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    Says(Role, Vec<SampledContent>),
    Results(Vec<(String, ToolResult)>),
}

/// Which model the client should choose.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Preferences {
    pub(crate) hints: Vec<String>,
    pub(crate) cost: Option<f64>,
    pub(crate) speed: Option<f64>,
    pub(crate) intelligence: Option<f64>,
}

/// What a client may add to a question from the servers it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeContext {
    /// Nothing, which is what a client does that is not told.
    None,
    /// What comes from this server.
    ThisServer,
    /// What comes from all of them.
    AllServers,
}

impl Sampling {
    /// An empty conversation, with the maximum number of tokens of the answer, which the protocol requires in every request.
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

    /// One question of the user, with the most tokens that the answer may have.
    ///
    /// ```
    /// let question = mcp_runtime::Sampling::ask("What is the capital of France?", 100);
    /// # let _ = question;
    /// ```
    pub fn ask(content: impl SamplingContent, max_tokens: u32) -> Self {
        Self::new(max_tokens).user(content)
    }

    /// What the model is told before the conversation; the client may change it or leave it out.
    pub fn system(mut self, prompt: impl Into<String>) -> Self {
        self.system = Some(prompt.into());
        self
    }

    /// Adds a message of the user: text, pictures and sounds, several as a tuple or list. Clients before 2025-11-25 get
    /// several blocks as several messages; those of 2024-11-05 get a text in place of a sound.
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

    /// Adds a message of the model: an example of an answer, or an answer that it gave, `&`[`Sampled`].
    pub fn assistant(self, content: impl SamplingContent) -> Self {
        self.says(Role::Assistant, content)
    }

    fn says(mut self, role: Role, content: impl SamplingContent) -> Self {
        let mut blocks = Vec::new();
        content.add_to(&mut blocks);
        self.turns.push(Turn::Says(role, blocks));
        self
    }

    /// Results that follow one another are one message, because the next one has to have them all (SAMP-03).
    pub(crate) fn result(mut self, id: String, result: ToolResult) -> Self {
        match self.turns.last_mut() {
            Some(Turn::Results(results)) => results.push((id, result)),
            _ => self.turns.push(Turn::Results(vec![(id, result)])),
        }
        self
    }

    /// How much the answer may vary. What the numbers mean is up to the model.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Adds a text at which the model stops.
    pub fn stop(mut self, sequence: impl Into<String>) -> Self {
        self.stop.push(sequence.into());
        self
    }

    /// Adds the name of a model, or a part of it such as `claude`. The client takes the first one it can map to a model
    /// it has, perhaps of another provider.
    pub fn hint(mut self, model: impl Into<String>) -> Self {
        self.preferences.hints.push(model.into());
        self
    }

    /// How much a low price matters, from 0 (not at all) to 1 (most).
    pub fn cost_priority(mut self, priority: f64) -> Self {
        self.preferences.cost = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// How much a fast answer matters, from 0 (not at all) to 1 (most).
    pub fn speed_priority(mut self, priority: f64) -> Self {
        self.preferences.speed = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// How much a capable model matters, from 0 (not at all) to 1 (most).
    pub fn intelligence_priority(mut self, priority: f64) -> Self {
        self.preferences.intelligence = Some(priority.clamp(0.0, 1.0));
        self
    }

    /// What the client should add from the servers it knows. The specification has deprecated all but
    /// [`IncludeContext::None`], and since 2025-11-25 they need the capability `sampling.context`.
    pub fn include_context(mut self, context: IncludeContext) -> Self {
        self.context = Some(context);
        self
    }

    /// What is passed through to the model's provider, in its own words: anything that serializes to a JSON object.
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

    /// Adds a tool that the model may use (2025-11-25 and later, with the capability `sampling.tools`). The client does
    /// not run it: the answer has [`tool_uses`](Sampled::tool_uses), and the next question their results.
    pub fn tool(mut self, tool: SamplingTool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Whether the model may or must use a tool. A loop needs an end: set [`ToolChoice::None`] in its last round.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Whether only a client with the capability `sampling.tools` can be asked this.
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
                Turn::Results(_) => true,
                Turn::Says(_, blocks) => {
                    blocks.iter().any(|it| matches!(it, SampledContent::ToolUse(_)))
                }
            })
    }

    /// Whether it asks for what others say: since 2025-11-25 only a client with the capability `sampling.context` should
    /// be asked for that.
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

/// What `value` serializes to, which has to be an object.
fn object_text(value: &impl Serialize, what: impl Display) -> Result<Box<str>, String> {
    match serde_json::to_string(value) {
        Ok(text) if text.starts_with('{') => Ok(text.into_boxed_str()),
        Ok(_) => Err(format!("{what} must be a JSON object")),
        Err(error) => Err(format!("{what} cannot be written as JSON: {error}")),
    }
}
