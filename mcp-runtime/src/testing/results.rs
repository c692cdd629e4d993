//! Results and errors of a server, as its client sees them.

use std::fmt;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use crate::model::BinaryData;

/// A JSON-RPC error that the server sent, or an error of the test client itself.
///
/// ```
/// use mcp_runtime::{prelude::*, testing::TestClient};
/// use serde_json::json;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let mut client =
///         TestClient::connect(mcp_runtime::server!().items(items![add])).await?;
///     let error = client.call("ad", json!({})).await.unwrap_err();
///     assert_eq!(error.code, -32602);
///     assert_eq!(error.message, "unknown tool `ad`; did you mean `add`?");
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RpcError {
    /// Error code of the response; 0 for an error of the test client, such as a response that did not arrive.
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

/// Result of a tool call: see [`TestClient::call`](super::TestClient::call).
///
/// ```
/// use mcp_runtime::{prelude::*, testing::TestClient};
/// use serde_json::json;
///
/// /// Divides two numbers.
/// #[tool]
/// fn divide(a: i64, b: i64) -> Result<i64> {
///     a.checked_div(b).ok_or_else(|| Error::msg("division by zero"))
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let mut client =
///         TestClient::connect(mcp_runtime::server!().items(items![divide])).await?;
///     let quotient = client.call("divide", json!({ "a": 6, "b": 3 })).await?;
///     assert!(!quotient.is_error);
///     assert_eq!(quotient.text(), "2");
///     assert!(client.call("divide", json!({ "a": 6, "b": 0 })).await?.is_error);
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Called {
    /// Content blocks, as JSON objects.
    pub content: Vec<Value>,
    /// Structured content, or `None` if it is absent or JSON `null`. [`Called::raw`] distinguishes the two.
    #[serde(default)]
    pub structured_content: Option<Value>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
    /// Whole result, as the server sent it.
    #[serde(skip)]
    pub raw: Value,
}

impl Called {
    /// Returns the texts of all text blocks, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<_> =
            self.content.iter().filter_map(|content| content["text"].as_str()).collect();
        texts.join("\n")
    }
}

/// Part of a resource's contents, either text or bytes: see [`TestClient::read`](super::TestClient::read).
///
/// ```
/// use mcp_runtime::{prelude::*, testing::TestClient};
///
/// /// Notes of today.
/// #[resource("notes://today")]
/// fn today() -> &'static str {
///     "Buy milk"
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let mut client =
///         TestClient::connect(mcp_runtime::server!().items(items![today])).await?;
///     let contents = client.read("notes://today").await?;
///     assert_eq!(contents[0].text(), "Buy milk");
///     assert_eq!(contents[0].mime_type.as_deref(), Some("text/plain"));
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadContents {
    /// URI of this part.
    pub uri: String,
    /// MIME type, if the server sent one.
    #[serde(default)]
    pub mime_type: Option<String>,
    /// Text, or `None` if this part is binary.
    #[serde(default)]
    pub text: Option<String>,
    /// Bytes in Base64, or `None` if this part is text.
    #[serde(default)]
    pub blob: Option<String>,
}

impl ReadContents {
    /// Returns the text, or an empty text if this part is binary.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Returns the bytes of this part, decoded from Base64. Returns the UTF-8 bytes of a text, and no bytes if the Base64 is invalid.
    pub fn bytes(&self) -> Vec<u8> {
        match &self.blob {
            Some(blob) => BinaryData::decode(blob).unwrap_or_default(),
            None => self.text().into(),
        }
    }
}

/// Result of a prompt: see [`TestClient::prompt`](super::TestClient::prompt).
///
/// ```
/// use mcp_runtime::{prelude::*, testing::TestClient};
/// use serde_json::json;
///
/// /// Reviews code.
/// #[prompt]
/// fn review(code: &str) -> String {
///     format!("Review this code: {code}")
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let mut client =
///         TestClient::connect(mcp_runtime::server!().items(items![review])).await?;
///     let prompt = client.prompt("review", json!({ "code": "a + b" })).await?;
///     assert_eq!(prompt.messages[0]["role"], "user");
///     assert_eq!(prompt.text(), "Review this code: a + b");
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Prompted {
    /// Messages, as JSON objects with `role` and `content`.
    pub messages: Vec<Value>,
}

impl Prompted {
    /// Returns the texts of all messages, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<_> = self
            .messages
            .iter()
            .filter_map(|message| message["content"]["text"].as_str())
            .collect();
        texts.join("\n")
    }
}

/// Completions of an argument: see [`TestClient::complete`](super::TestClient::complete).
///
/// ```
/// use mcp_runtime::{prelude::*, testing::TestClient};
///
/// /// Reviews code.
/// #[prompt]
/// fn review(#[complete("Rust", "Python", "Go")] language: &str) -> String {
///     format!("Review this {language} code.")
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let mut client =
///         TestClient::connect(mcp_runtime::server!().items(items![review])).await?;
///     assert_eq!(client.complete("review", "language", "py").await?.values, ["Python"]);
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completed {
    /// Suggested values, at most 100.
    pub values: Vec<String>,
    /// Total number of matching values, if the server sent it.
    #[serde(default)]
    pub total: Option<usize>,
    /// Whether there are more matching values than the server sent.
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
