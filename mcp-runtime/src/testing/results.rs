use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// A JSON-RPC error, as the server sent it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// What it says.
    pub message: String,
    /// Its data.
    #[serde(default)]
    pub data: Option<Value>,
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

/// What a tool answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Called {
    /// The blocks of content.
    pub content: Vec<Value>,
    /// The structured content, if any. JSON `null` and absence are told apart by [`Called::raw`].
    #[serde(default)]
    pub structured_content: Option<Value>,
    /// Whether the tool says that it failed.
    #[serde(default)]
    pub is_error: bool,
    /// The whole result.
    #[serde(skip)]
    pub raw: Value,
}

impl Called {
    /// All text blocks, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self.content.iter().filter_map(|it| it["text"].as_str()).collect();
        texts.join("\n")
    }
}

/// One item of what a resource holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadContents {
    /// Where it is.
    pub uri: String,
    /// Its media type.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// The text, when it is one.
    #[serde(default)]
    pub text: Option<String>,
    /// Base64, when it is bytes.
    #[serde(default)]
    pub blob: Option<String>,
}

/// What a prompt says.
#[derive(Clone, Debug, Deserialize)]
pub struct Prompted {
    /// Objects with `role` and `content`.
    pub messages: Vec<Value>,
}

impl Prompted {
    /// The texts of all messages, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<_> =
            self.messages.iter().filter_map(|it| it["content"]["text"].as_str()).collect();
        texts.join("\n")
    }
}

/// Completions of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Completed {
    /// At most 100.
    pub values: Vec<String>,
    /// How many there are.
    #[serde(default)]
    pub total: Option<usize>,
    /// Whether there are more than were sent.
    #[serde(default)]
    pub has_more: bool,
}
