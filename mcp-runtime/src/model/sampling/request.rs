//! Requests to the client's model.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{SampledContent, SamplingContent, SamplingTool, ToolChoice, tool::object_text};
use crate::{
    error::shown,
    model::{Role, ToolResult, check_tool_name},
};

/// Request to the client's model: the conversation so far, and preferences that the client may ignore.
///
/// Send it with [`Context::sample`](crate::Context::sample), or with a parameter of type [`Sample`](crate::sampling::Sample).
///
/// Specification: Client features, Sampling.
///
/// ```
/// use mcp_runtime::sampling::Sampling;
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
/// A loop with tools sends the growing conversation again until the model uses no more tools:
///
/// ```
/// use mcp_runtime::{
///     prelude::*,
///     sampling::{Sampled, Sampling, SamplingTool},
/// };
///
/// /// Location of a weather report
/// #[data]
/// struct Place {
///     city: String,
/// }
///
/// /// Builds the first round.
/// fn start() -> Sampling {
///     let weather =
///         SamplingTool::new("weather").description("Tells the weather").schema::<Place>();
///     Sampling::ask("Do I need an umbrella in Lyon?", 500).tool(weather)
/// }
///
/// /// Builds the next round from the model's last answer.
/// fn next_round(mut conversation: Sampling, answer: &Sampled) -> Result<Sampling> {
///     conversation = conversation.assistant(answer);
///     for call in answer.tool_uses() {
///         let place: Place = call.input()?;
///         conversation =
///             conversation.tool_result(&call.id, format!("It rains in {}", place.city));
///     }
///     Ok(conversation)
/// }
///
/// assert!(start().needs_tools());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a question does nothing until it is asked"]
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

/// Message of a conversation. Tool results have a variant of their own, because the specification allows no other content in a message with
/// results (rule SAMP-03).
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

/// Context from MCP servers that a client may add to a sampling request. Pass it to [`Sampling::include_context`].
///
/// ```
/// use mcp_runtime::sampling::{IncludeContext, Sampling};
///
/// let question =
///     Sampling::ask("What did we decide?", 200).include_context(IncludeContext::ThisServer);
/// assert!(question.needs_context());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IncludeContext {
    /// No context, which is the default of clients.
    None,
    /// Context from this server.
    ThisServer,
    /// Context from all servers that the client knows.
    AllServers,
}

impl Sampling {
    /// Creates an empty conversation. `max_tokens` is the maximum length of the answer in tokens, which the protocol requires in every
    /// request.
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

    /// Creates a conversation with one message from the user. `max_tokens` is the maximum length of the answer in tokens.
    ///
    /// ```
    /// let question =
    ///     mcp_runtime::sampling::Sampling::ask("What is the capital of France?", 100);
    /// ```
    pub fn ask(content: impl SamplingContent, max_tokens: u32) -> Self {
        Self::new(max_tokens).user(content)
    }

    /// Sets the system prompt. The client may change it or leave it out.
    pub fn system(mut self, prompt: impl Into<String>) -> Self {
        self.system = Some(prompt.into());
        self
    }

    /// Adds a message from the user: text, images or audio. Pass several blocks as a tuple or list.
    ///
    /// A client of a revision before 2025-11-25 gets each block as a separate message. A client of 2024-11-05 gets a text in place of
    /// audio.
    ///
    /// ```
    /// use mcp_runtime::{content::Image, sampling::Sampling};
    ///
    /// let question =
    ///     Sampling::new(100).user(("What is this?", Image::png([0x89, b'P', b'N', b'G'])));
    /// ```
    pub fn user(self, content: impl SamplingContent) -> Self {
        self.says(Role::User, content)
    }

    /// Adds a message from the model: an example of an answer, or an earlier answer as `&`[`Sampled`](crate::sampling::Sampled).
    pub fn assistant(self, content: impl SamplingContent) -> Self {
        self.says(Role::Assistant, content)
    }

    fn says(mut self, role: Role, content: impl SamplingContent) -> Self {
        let mut blocks = Vec::new();
        content.add_to(&mut blocks);
        self.turns.push(SamplingTurn::Says(role, blocks));
        self
    }

    /// Adds a tool result. Consecutive results share one message, because the specification requires the message after the tool uses to
    /// contain all of their results (rule SAMP-03).
    pub(crate) fn result(mut self, id: String, result: ToolResult) -> Self {
        match self.turns.last_mut() {
            Some(SamplingTurn::Results(results)) => results.push((id, result)),
            _ => self.turns.push(SamplingTurn::Results(vec![(id, result)])),
        }
        self
    }

    /// Sets the sampling temperature. Higher values make the answer vary more, and the range depends on the model.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Adds a text at which the model stops. Each call adds another text.
    pub fn stop(mut self, sequence: impl Into<String>) -> Self {
        self.stop.push(sequence.into());
        self
    }

    /// Adds the name of a model, or a part of the name such as `claude`. The client uses the first hint that it can map to one of its
    /// models, perhaps a model of another provider.
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

    /// Sets the context that the client should add from MCP servers. The specification has deprecated all values except
    /// [`IncludeContext::None`]. Under 2025-11-25 and later, the deprecated values need the capability `sampling.context`.
    pub fn include_context(mut self, context: IncludeContext) -> Self {
        self.context = Some(context);
        self
    }

    /// Sets metadata that the client passes through to the model's provider: any value that serializes to a JSON object.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use mcp_runtime::sampling::Sampling;
    ///
    /// let question = Sampling::ask("Hello", 50).metadata(BTreeMap::from([("user_id", "u-42")]));
    /// assert_eq!(question.check(), Ok(()));
    /// assert!(Sampling::ask("Hello", 50).metadata("u-42").check().is_err());
    /// ```
    pub fn metadata(mut self, metadata: impl Serialize) -> Self {
        self.metadata = Some(object_text(&metadata, "the metadata"));
        self
    }

    /// Adds a tool that the model may use (2025-11-25 and later, with the capability `sampling.tools`).
    ///
    /// The client does not run the tool. The answer contains [`tool_uses`](crate::sampling::Sampled::tool_uses), and the next request has
    /// to contain their results.
    pub fn tool(mut self, tool: SamplingTool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets whether the model may or must use a tool. Set [`ToolChoice::None`] in the last round of a loop, so that the loop ends.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Returns whether the request needs a client with the capability `sampling.tools`.
    ///
    /// ```
    /// use mcp_runtime::sampling::{Sampling, SamplingTool};
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
                    blocks.iter().any(|block| matches!(block, SampledContent::ToolUse(_)))
                }
            })
    }

    /// Returns whether the request asks for context from MCP servers. Under 2025-11-25 and later, such a request needs a client with the
    /// capability `sampling.context`.
    ///
    /// ```
    /// use mcp_runtime::sampling::{IncludeContext, Sampling};
    ///
    /// assert!(
    ///     !Sampling::ask("Hello", 50).include_context(IncludeContext::None).needs_context()
    /// );
    /// assert!(
    ///     Sampling::ask("Hello", 50)
    ///         .include_context(IncludeContext::ThisServer)
    ///         .needs_context()
    /// );
    /// ```
    pub fn needs_context(&self) -> bool {
        self.context.is_some_and(|context| context != IncludeContext::None)
    }
}

impl Sampling {
    /// Checks the request before it is sent to a client.
    ///
    /// The check covers the rules of the specification (client/sampling) that the types do not enforce, and values that could not be
    /// serialized. The methods that send a request run this check too, so call it only to find problems earlier.
    ///
    /// # Errors
    /// Fails at the first problem. The error tells the author of the server what is wrong.
    ///
    /// ```
    /// use mcp_runtime::sampling::{Sampling, ToolUse};
    ///
    /// let question =
    ///     Sampling::ask("Is it warm?", 100).assistant(ToolUse::new("1", "weather", [(); 0]));
    /// assert!(question.check().unwrap_err().contains("must be a JSON object"));
    /// ```
    pub fn check(&self) -> Result<(), String> {
        self.check_settings()?;
        self.check_tools()?;
        self.check_turns()
    }

    fn check_settings(&self) -> Result<(), String> {
        if self.max_tokens == 0 {
            return Err("a question needs room for an answer: `max_tokens` is 0".to_owned());
        }
        let wishes = &self.preferences;
        let numbers = [
            ("temperature", self.temperature),
            ("cost_priority", wishes.cost),
            ("speed_priority", wishes.speed),
            ("intelligence_priority", wishes.intelligence),
        ];
        for (name, number) in numbers {
            if let Some(number) = number.filter(|number| !number.is_finite()) {
                return Err(format!("`{name}` must be a finite number, not {number}"));
            }
        }
        self.metadata
            .as_ref()
            .map_or(Ok(()), |metadata| metadata.as_ref().map(drop).map_err(Clone::clone))
    }

    fn check_tools(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        for tool in &self.tools {
            check_tool_name(&tool.name)?;
            if let Err(reason) = &tool.schema {
                return Err(format!("the tool `{}`: {reason}", tool.name));
            }
            if !names.insert(tool.name.clone()) {
                return Err(format!("there are two tools `{}`", tool.name));
            }
        }
        if self.tools.is_empty() && self.tool_choice == Some(ToolChoice::Required) {
            return Err(
                "the model must use a tool, but has none: add one with `.tool(…)`".to_owned()
            );
        }
        Ok(())
    }

    /// Checks that the message after a tool use contains the result (rule SAMP-03).
    fn check_turns(&self) -> Result<(), String> {
        if self.turns.is_empty() {
            return Err("a question needs a message: add one with `.user(…)`".to_owned());
        }
        let mut open = BTreeSet::new();
        for turn in &self.turns {
            match turn {
                SamplingTurn::Results(results) => {
                    for (id, _) in results {
                        if !open.remove(id.as_str()) {
                            return Err(format!(
                                "the tool result `{}` does not answer a tool use of the previous message, or answers it twice",
                                shown(id)
                            ));
                        }
                    }
                    all_answered(&open)?;
                }
                SamplingTurn::Says(role, blocks) => {
                    all_answered(&open)?;
                    open = uses(*role, blocks)?;
                }
            }
        }
        all_answered(&open)
    }
}

fn all_answered(open: &BTreeSet<String>) -> Result<(), String> {
    match open.first() {
        None => Ok(()),
        Some(id) => Err(format!(
            "the tool use `{}` needs its result in the next message: add `.tool_result(id, …)`, or `.tool_error(id, …)`",
            shown(id)
        )),
    }
}

/// Returns the ids of the tool uses in one message.
///
/// # Errors
/// Fails if the message is empty or has a tool use that is not valid.
fn uses(role: Role, blocks: &[SampledContent]) -> Result<BTreeSet<String>, String> {
    if blocks.is_empty() {
        return Err(format!("a message of the {} is empty", role.name()));
    }
    let mut ids = BTreeSet::new();
    for block in blocks {
        let SampledContent::ToolUse(tool_use) = block else { continue };
        if role == Role::User {
            return Err(format!(
                "the tool use `{}` is in a message of the user: only the model uses tools",
                shown(&tool_use.id)
            ));
        }
        tool_use.input.as_ref().map_err(Clone::clone)?;
        if !ids.insert(tool_use.id.clone()) {
            return Err(format!(
                "two tool uses of one message have the id `{}`",
                shown(&tool_use.id)
            ));
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Image, ToolUse};

    fn ask() -> Sampling {
        Sampling::ask("Hello", 10)
    }

    fn used(ids: &[&str]) -> Vec<ToolUse> {
        ids.iter().map(|id| ToolUse::new(*id, "look", serde_json::json!({}))).collect()
    }

    #[test]
    fn valid_sampling_requests_pass_the_check() {
        fn check(request: &Sampling) {
            assert_eq!(request.check(), Ok(()));
        }
        check(&ask());
        check(&ask().assistant("So").user(("x", Image::png([]))).user(vec!["a", "b"]));
        check(&ask().temperature(0.0).cost_priority(7.0).speed_priority(-1.0).stop("\n"));
        check(&ask().assistant(used(&["1"])).tool_result("1", "x"));
        check(
            &ask()
                .assistant(("Let me see", used(&["1", "2"])))
                .tool_result("2", ())
                .tool_error("1", "x")
                .assistant(used(&["1"]))
                .tool_result("1", 3)
                .user("Thanks"),
        );
        check(&ask().tool(SamplingTool::new("a")).tool_choice(ToolChoice::Required));
        check(&ask().tool_choice(ToolChoice::None));
    }

    #[test]
    fn invalid_sampling_requests_fail_the_check_with_the_reason() {
        fn check(request: &Sampling, expected: &str) {
            let reason = request.check().unwrap_err();
            assert!(reason.contains(expected), "{reason}");
        }
        check(&Sampling::ask("Hello", 0), "`max_tokens` is 0");
        check(&Sampling::new(1), "needs a message");
        check(&ask().user(Vec::<String>::new()), "a message of the user is empty");
        check(&ask().temperature(f64::NAN), "`temperature` must be a finite number, not NaN");
        check(&ask().cost_priority(f64::NAN), "`cost_priority`");
        check(&ask().metadata([1]), "the metadata must be a JSON object");
        check(&ask().tool(SamplingTool::new("a b")), "`a b` is not a valid tool name");
        check(&ask().tool(SamplingTool::new("a")).tool(SamplingTool::new("a")), "two tools `a`");
        check(&ask().tool(SamplingTool::new("a").input_schema("[]")), "the tool `a`: ");
        check(&ask().tool(SamplingTool::new("a").schema::<i64>()), "the tool `a`: ");
        check(&ask().tool_choice(ToolChoice::Required), "must use a tool, but has none");
        check(&ask().assistant(used(&["1"])), "the tool use `1` needs its result");
        check(&ask().assistant(used(&["1"])).user("x"), "the tool use `1` needs its result");
        check(
            &ask().assistant(used(&["1", "2"])).tool_result("1", "x").user("x"),
            "the tool use `2` needs its result",
        );
        check(&ask().tool_result("1", "x"), "the tool result `1` does not answer a tool use");
        check(
            &ask().assistant(used(&["1"])).tool_result("1", "x").tool_result("1", "y"),
            "or answers it twice",
        );
        check(&ask().assistant(used(&["1", "1"])), "two tool uses of one message have the id `1`");
        check(&ask().user(used(&["1"])), "only the model uses tools");
        check(
            &ask().assistant(ToolUse::new("1", "look", 3)).tool_result("1", "x"),
            "the input of the tool use `1` must be a JSON object",
        );
    }

    #[test]
    fn needs() {
        fn check(request: &Sampling, tools: bool, context: bool) {
            assert_eq!((request.needs_tools(), request.needs_context()), (tools, context));
        }
        check(&ask(), false, false);
        check(&ask().tool(SamplingTool::new("a")), true, false);
        check(&ask().tool_choice(ToolChoice::None), true, false);
        check(&ask().assistant(used(&["1"])), true, false);
        check(&ask().tool_result("1", "x"), true, false);
        check(&ask().include_context(IncludeContext::None), false, false);
        check(&ask().include_context(IncludeContext::ThisServer), false, true);
        check(&ask().include_context(IncludeContext::AllServers), false, true);
    }
}
