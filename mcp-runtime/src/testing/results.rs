//! Results and errors of a server, as its client sees them.

use std::fmt;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// A JSON-RPC error, as the server sent it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RpcError {
    /// Error code.
    pub code: i64,
    /// Error message.
    pub message: String,
    /// Additional data, if any.
    #[serde(default)]
    pub data: Option<Value>,
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

/// Result of a tool call.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Called {
    /// The blocks of content.
    pub content: Vec<Value>,
    /// The structured content, if any. [`Called::raw`] tells JSON `null` and absence apart.
    #[serde(default)]
    pub structured_content: Option<Value>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
    /// The whole result, as the server sent it.
    #[serde(skip)]
    pub raw: Value,
}

impl Called {
    /// All text blocks, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<_> =
            self.content.iter().filter_map(|content| content["text"].as_str()).collect();
        texts.join("\n")
    }
}

/// Item of a resource's contents.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadContents {
    /// URI of the item.
    pub uri: String,
    /// Media type, if any.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// Text, if the item is text.
    #[serde(default)]
    pub text: Option<String>,
    /// Base64, if the item is bytes.
    #[serde(default)]
    pub blob: Option<String>,
}

/// Result of a prompt.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Prompted {
    /// Messages: objects with `role` and `content`.
    pub messages: Vec<Value>,
}

impl Prompted {
    /// The texts of all messages, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self
            .messages
            .iter()
            .filter_map(|message| message["content"]["text"].as_str())
            .collect();
        texts.join("\n")
    }
}

/// Completions of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completed {
    /// Suggested values, at most 100.
    pub values: Vec<String>,
    /// Number of all values, if the server sent it.
    #[serde(default)]
    pub total: Option<usize>,
    /// Whether there are more values than the server sent.
    #[serde(default)]
    pub has_more: bool,
}

/// Deserializes a result of the server.
pub(super) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, RpcError> {
    serde_json::from_value(value).map_err(|error| RpcError {
        code: 0,
        message: format!("the response has an unexpected shape: {error}"),
        data: None,
    })
}

/// Parses the result of a tool, and keeps its raw form.
pub(super) fn called(raw: Value) -> Result<Called, RpcError> {
    let mut called: Called = typed(raw.clone())?;
    called.raw = raw;
    Ok(called)
}
