//! The opaque error type and its kinds. A table in `protocol::revision` maps the kinds to JSON-RPC codes.

use std::{fmt, io};

type ErrorSource = Box<dyn std::error::Error + Send + Sync>;

/// The error of a handler.
///
/// Every type that implements [`std::error::Error`] converts into it with `?`; [`Error::msg`] makes one from plain text. The model sees
/// such a failure as a tool result with `isError`. Prompts and resources answer with a JSON-RPC error. The other constructors choose a
/// JSON-RPC error instead: the client program sees it, the model usually does not.
///
/// Like `anyhow::Error`, this type does not implement [`std::error::Error`]. Otherwise `?` could not convert every error into it.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Reads a number.
/// #[tool]
/// fn parse(text: &str) -> Result<i64> {
///     if text.is_empty() {
///         return Err(Error::msg("there is nothing to parse"));
///     }
///     Ok(text.parse()?)
/// }
/// # fn main() {}
/// ```
pub struct Error(Box<ErrorParts>);

struct ErrorParts {
    kind: ErrorKind,
    message: String,
    /// JSON text for the `data` member of a JSON-RPC error.
    data: Option<String>,
    source: Option<ErrorSource>,
}

/// Kind of an error, independent of the protocol revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The handler failed. The model sees the message.
    Failed,
    Parse,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    /// A resource that does not exist; the code differs between revisions.
    ResourceNotFound,
    /// An internal fault, whose reason the caller must not see.
    Internal,
    /// The request names a protocol revision that the server does not serve.
    UnsupportedVersion,
    /// A header differs from the value in the body that the header repeats.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has headers"))]
    HeaderMismatch,
    /// The client lacks a capability that the item needs.
    MissingCapability,
    /// The user must go to a page before the call can go on.
    UrlRequired,
    /// A code that the author has chosen.
    Custom(i32),
}

impl Error {
    /// Creates a failure with this text, which the model sees.
    pub fn msg(message: impl fmt::Display) -> Self {
        Self::of(ErrorKind::Failed, message)
    }

    /// Creates an error for invalid parameters of a request: JSON-RPC error -32602.
    pub fn invalid_params(message: impl fmt::Display) -> Self {
        Self::of(ErrorKind::InvalidParams, message)
    }

    /// Creates an error for a resource that does not exist: JSON-RPC error -32602 with `data.uri` under protocol revision 2026-07-28,
    /// -32002 under earlier revisions.
    pub fn not_found(message: impl fmt::Display) -> Self {
        Self::of(ErrorKind::ResourceNotFound, message)
    }

    /// Creates an error that the caller must not see. The server logs its text and answers with a bare -32603.
    pub fn internal(error: impl fmt::Display) -> Self {
        Self::of(ErrorKind::Internal, error)
    }

    /// Creates a JSON-RPC error with a code of your own. The specification requires a code outside of -32768..=-32000.
    ///
    /// # Panics
    /// Panics if `code` is in the range that JSON-RPC reserves.
    pub fn code(code: i32, message: impl fmt::Display) -> Self {
        assert!(
            !(-32768..=-32000).contains(&code),
            "error code {code} is reserved by JSON-RPC: choose one outside -32768..=-32000"
        );
        Self::of(ErrorKind::Custom(code), message)
    }

    /// Adds the `data` member of a JSON-RPC error. A value that cannot be written as JSON is left out.
    #[must_use]
    pub fn with_data(mut self, data: impl serde::Serialize) -> Self {
        self.0.data = serde_json::to_string(&data).ok();
        self
    }

    /// Sets the `data` member from JSON text.
    #[must_use]
    pub(crate) fn with_json(mut self, data: String) -> Self {
        self.0.data = Some(data);
        self
    }

    pub(crate) fn of(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self(Box::new(ErrorParts { kind, message: message.to_string(), data: None, source: None }))
    }

    /// Returns the error for a URI that matches no resource (rule RES-04).
    pub(crate) fn no_resource(uri: &str) -> Self {
        let text = format_args!("there is no resource `{}`", shown(uri));
        Self::of(ErrorKind::ResourceNotFound, text).with_uri(uri)
    }

    /// Adds `data.uri`, unless the author has set data already. A URI of more than 2 KiB is left out instead of truncated, because a
    /// truncated URI would name another resource.
    pub(crate) fn with_uri(mut self, uri: &str) -> Self {
        if self.0.data.is_none() && uri.len() <= 2048 {
            self = self.with_data(std::collections::BTreeMap::from([("uri", uri)]));
        }
        self
    }

    pub(crate) fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn data(&self) -> Option<&str> {
        self.0.data.as_deref()
    }

    /// Returns the original error that `?` converted into this error, if its type is `E`.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.source.as_ref()?.downcast_ref()
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let source: ErrorSource = Box::new(error);
        // `?` on `Unanswered::Failed` returns the `Error` inside of it, so that its kind and data are kept.
        let source = match source.downcast() {
            Ok(unanswered) => match *unanswered {
                Unanswered::Failed(error) => return error,
                other => Box::new(other) as ErrorSource,
            },
            Err(source) => source,
        };
        let message = chain(&*source);
        Self(Box::new(ErrorParts {
            kind: ErrorKind::Failed,
            message,
            data: None,
            source: Some(source),
        }))
    }
}

/// Reason why a question to the client has no answer.
///
/// `?` converts the reason into a failure that the model sees. To continue without an answer, match on the reason.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unanswered {
    /// The user declined to answer.
    Declined,
    /// The user closed the question without an answer.
    Cancelled,
    /// The client could not be asked, or did not answer.
    Failed(Error),
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declined => f.write_str("the user declined to answer"),
            Self::Cancelled => f.write_str("the user closed the question without an answer"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unanswered {}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Returns the error and its causes in one line. Many errors repeat the text of their cause, so a cause that is already in the text is left
/// out.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .finish()
    }
}

/// Truncates text from a client for use in an error message, so that a long value does not make the response long.
pub(crate) fn shown(text: &str) -> &str {
    truncated(text, 100)
}

/// Returns at most `most` characters from the start of a text.
pub(crate) fn truncated(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// Result type of handlers. `Result<T>` fails with [`Error`], `Result<T, E>` with any type that implements [`Display`](fmt::Display).
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of a server that cannot start. It lists all problems at once, each with its place in your code.
#[derive(Debug)]
pub struct BuildError {
    pub(crate) problems: Vec<String>,
}

impl BuildError {
    /// Returns the problems, one text each.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [one] => f.write_str(one),
            many => {
                write!(f, "the server cannot start, for {} reasons:", many.len())?;
                many.iter()
                    .try_for_each(|problem| write!(f, "\n- {}", problem.replace('\n', "\n  ")))
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Error with which a server stops or fails to start.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The server cannot be built.
    Build(BuildError),
    /// `setup` failed. The text is the message of its error.
    Setup(String),
    /// The task store cannot be opened, or its tasks cannot be read.
    TaskStore(String),
    /// Authorization is not possible as configured. The text is the reason.
    #[cfg(feature = "auth")]
    Auth(String),
    /// The server cannot listen on the address.
    Bind(io::Error),
    /// A handler blocked its thread and was cut off when the server had to stop. The text names the handler and the fix.
    Unresponsive(String),
    /// The transport failed.
    Io(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Setup(error) => write!(f, "setup failed: {error}"),
            Self::TaskStore(why) | Self::Unresponsive(why) => f.write_str(why),
            #[cfg(feature = "auth")]
            Self::Auth(why) => f.write_str(why),
            Self::Bind(error) => write!(f, "cannot listen on this address: {error}"),
            Self::Io(error) => write!(f, "the transport failed: {error}"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Build(error) => Some(error),
            Self::Setup(_) | Self::TaskStore(_) | Self::Unresponsive(_) => None,
            #[cfg(feature = "auth")]
            Self::Auth(_) => None,
            Self::Bind(error) | Self::Io(error) => Some(error),
        }
    }
}

impl From<BuildError> for ServeError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_said_once() {
        #[derive(Debug)]
        struct Outer(io::Error);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("cannot open the book")
            }
        }
        impl std::error::Error for Outer {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                Some(&self.0)
            }
        }
        let error: Error = Outer(io::Error::other("no such shelf")).into();
        assert_eq!(error.to_string(), "cannot open the book: no such shelf");
        assert!(error.downcast_ref::<Outer>().is_some());
    }

    #[test]
    #[should_panic(expected = "reserved by JSON-RPC")]
    fn reserved_codes_are_refused() {
        let _ = Error::code(-32001, "mine");
    }
}
