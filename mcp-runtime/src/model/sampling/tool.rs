//! Tools for the client's model, and the model's requests to use them.

use std::fmt::Display;

use mcp_runtime_wire::{JsonKind, Raw};
use serde::{Serialize, de::DeserializeOwned};

use crate::error::shown;

/// Tool that the client's model may use while it answers a [`Sampling`](crate::sampling::Sampling) (2025-11-25 and later).
///
/// A sampling tool is independent of the tools of the server. The model requests the use of the tool with a [`ToolUse`], and the handler
/// runs the tool.
///
/// Specification: Client features, Sampling (tool use).
///
/// ```
/// use mcp_runtime::{
///     prelude::*,
///     sampling::{Sampling, SamplingTool},
/// };
///
/// #[data]
/// struct Place {
///     /// City and country
///     city: String,
/// }
///
/// let question = Sampling::ask("Is it warm in Lyon?", 300)
///     .tool(SamplingTool::new("weather").description("Tells the weather").schema::<Place>())
///     .tool(
///         SamplingTool::new("roll").input_schema(
///             r#"{"type":"object","properties":{"sides":{"type":"integer"}}}"#,
///         ),
///     )
///     .tool(SamplingTool::new("today").description("Tells the date"));
/// assert_eq!(question.check(), Ok(()));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SamplingTool {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// JSON text of an object schema, or the reason why there is none.
    pub(crate) schema: Result<Box<str>, String>,
}

impl SamplingTool {
    /// Creates a tool without arguments. The name has 1 to 128 letters, digits, `_`, `-` and `.`.
    pub fn new(name: impl Into<String>) -> Self {
        let schema = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
        Self { name: name.into(), description: None, schema: Ok(schema.into()) }
    }

    /// Sets the description, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// Whether the model may, must or must not use a tool in its answer. Pass it to
/// [`Sampling::tool_choice`](crate::sampling::Sampling::tool_choice).
///
/// ```
/// use mcp_runtime::sampling::{Sampling, SamplingTool, ToolChoice};
///
/// let question = Sampling::ask("Roll a die", 50)
///     .tool(SamplingTool::new("roll"))
///     .tool_choice(ToolChoice::Required);
/// assert_eq!(question.check(), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides, which is the default of clients.
    Auto,
    /// The model uses at least one tool.
    Required,
    /// The model uses no tool.
    None,
}

/// Request from the client's model to use a [`SamplingTool`].
///
/// The next sampling request has to contain the result. Add it with [`Sampling::tool_result`](crate::sampling::Sampling::tool_result) and
/// the `id`.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use mcp_runtime::{prelude::*, sampling::ToolUse};
///
/// #[data]
/// struct Place {
///     city: String,
/// }
///
/// let call = ToolUse::new("use-1", "weather", BTreeMap::from([("city", "Lyon")]));
/// let place: Place = call.input().unwrap();
/// assert_eq!(place.city, "Lyon");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolUse {
    /// Identifier of this use, which the result repeats.
    pub id: String,
    /// Name of the tool. A model can make up a name, so there may be no such tool.
    pub name: String,
    /// JSON text of an object, or the reason why there is none.
    pub(crate) input: Result<Box<str>, String>,
    /// JSON text of the `_meta` object that the client sent with this use. The server sends it back unchanged.
    pub(crate) meta: Option<Box<str>>,
}

impl ToolUse {
    /// Creates a tool use for an example in a conversation. To return a tool use that the model made, pass the model's whole answer to
    /// [`Sampling::assistant`](crate::sampling::Sampling::assistant).
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use mcp_runtime::sampling::{Sampling, ToolUse};
    ///
    /// let example = Sampling::ask("Is it warm in Lyon?", 300)
    ///     .assistant(ToolUse::new("use-1", "weather", BTreeMap::from([("city", "Lyon")])))
    ///     .tool_result("use-1", "24 °C")
    ///     .assistant("Yes, it is.")
    ///     .user("And in Oslo?");
    /// assert_eq!(example.check(), Ok(()));
    /// ```
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: impl Serialize) -> Self {
        let (id, name) = (id.into(), name.into());
        let input = object_text(&input, format_args!("the input of the tool use `{}`", shown(&id)));
        Self { id, name, input, meta: None }
    }

    /// Deserializes the arguments. They have not been checked against the schema of the tool, and models make mistakes.
    ///
    /// # Errors
    /// Fails if the arguments do not fit the type. The error names the tool and the argument, and can be passed on to the model.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let wrong = |reason: &str, path: &str| {
            let at = if matches!(path, "." | "") { String::new() } else { format!(" at `{path}`") };
            serde::de::Error::custom(format_args!(
                "the input of `{}` is wrong{at}: {reason}",
                shown(&self.name)
            ))
        };
        let text = self.input.as_deref().map_err(|reason| wrong(reason, ""))?;
        let mut reader = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let (reason, path) = (error.inner().to_string(), error.path().to_string());
            // The position in the JSON text is left out, because the model never saw the text.
            wrong(reason.split(" at line ").next().unwrap_or(&reason), &path)
        })
    }

    /// Returns the arguments as the JSON text of an object, for example to pass them on.
    pub fn input_json(&self) -> &str {
        self.input.as_deref().unwrap_or("{}")
    }

    pub(crate) fn read(raw: Raw<'_>) -> Result<Self, String> {
        let [id, name, input, meta] = raw.pick(["id", "name", "input", "_meta"]);
        let text = |member: Option<Raw<'_>>, what: &str| {
            let text = member.and_then(Raw::string).map(Into::into);
            text.ok_or_else(|| format!("`{what}` of a tool use must be a string"))
        };
        let input = match input.filter(|input| !input.is_null()) {
            None => "{}",
            Some(input) if input.kind() == JsonKind::Object => input.as_str(),
            Some(_) => return Err("`input` of a tool use must be an object".to_owned()),
        };
        let meta =
            meta.filter(|meta| meta.kind() == JsonKind::Object).map(|meta| meta.as_str().into());
        Ok(Self { id: text(id, "id")?, name: text(name, "name")?, input: Ok(input.into()), meta })
    }
}

/// Serializes `value`, which must become a JSON object. `what` names the value in the error.
pub(super) fn object_text(value: &impl Serialize, what: impl Display) -> Result<Box<str>, String> {
    match serde_json::to_string(value) {
        Ok(text) if text.starts_with('{') => Ok(text.into_boxed_str()),
        Ok(_) => Err(format!("{what} must be a JSON object")),
        Err(error) => Err(format!("{what} cannot be written as JSON: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Place {
        city: String,
        at: Option<[f64; 2]>,
    }

    #[test]
    fn input_is_read_or_the_model_is_told() {
        fn check(input: &str, expected: Result<Place, &str>) {
            let raw = format!(r#"{{"type":"tool_use","id":"1","name":"weather","input":{input}}}"#);
            let read = ToolUse::read(Raw::trusted(&raw)).unwrap().input::<Place>();
            assert_eq!(read.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        }
        let lyon = |at| Place { city: "Lyon".into(), at };
        check(r#"{"city":"Lyon"}"#, Ok(lyon(None)));
        check(r#"{ "city": "Ly\u006fn", "at": [45.8, 4.8], "x": 1 }"#, Ok(lyon(Some([45.8, 4.8]))));
        check("null", Err("the input of `weather` is wrong: missing field `city`"));
        check(
            r#"{"city":"Lyon","at":[1,"x"]}"#,
            Err("the input of `weather` is wrong at `at[1]`: \
                 invalid type: string \"x\", expected f64"),
        );
        let own = ToolUse::new("1", "weather", "Lyon").input::<Place>();
        assert!(own.unwrap_err().to_string().contains("must be a JSON object"));
    }

    #[test]
    fn json_that_is_no_tool_use_is_refused() {
        fn check(json: &str, expected: &str) {
            assert_eq!(ToolUse::read(Raw::trusted(json)), Err(expected.to_owned()), "{json}");
        }
        check(r#"{"name":"x"}"#, "`id` of a tool use must be a string");
        check(r#"{"id":1,"name":"x"}"#, "`id` of a tool use must be a string");
        check(r#"{"id":"1"}"#, "`name` of a tool use must be a string");
        check(r#"{"id":"1","name":"x","input":"{}"}"#, "`input` of a tool use must be an object");
    }

    #[test]
    fn the_input_and_the_meta_of_a_tool_use_are_kept() {
        let read = |json| ToolUse::read(Raw::trusted(json)).unwrap();
        let used = read(r#"{"id":"1","name":"x","input":{"a":1},"_meta":{"k":[1]}}"#);
        assert_eq!((used.input_json(), used.meta.as_deref()), (r#"{"a":1}"#, Some(r#"{"k":[1]}"#)));
        assert_eq!(read(r#"{"id":"1","name":"x","_meta":3}"#).meta, None);
    }
}
