//! One opaque error and its kinds. The codes of the kinds are a table of `protocol::revision`.

use std::{fmt, io};

type Source = Box<dyn std::error::Error + Send + Sync>;

/// What a handler returns when it fails.
///
/// Anything that implements [`std::error::Error`] becomes one with `?`, and a plain text with [`Error::msg`].
/// Such a failure is shown to the model as a tool result with `isError` (prompts and resources answer it as a
/// JSON-RPC error). The other constructors choose a JSON-RPC error instead: the client program sees it, the
/// model usually does not.
///
/// Like `anyhow::Error` it does not itself implement [`std::error::Error`], so that `?` works from every error.
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
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    message: String,
    /// JSON text for the `data` member of a JSON-RPC error.
    data: Option<String>,
    source: Option<Source>,
}

/// What went wrong, in no revision's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The handler failed: the model is told.
    Failed,
    Parse,
    InvalidRequest,
    MethodNotFound,
    InvalidParams,
    /// A resource that does not exist; the code differs between revisions.
    ResourceNotFound,
    /// Something the caller must not see the reason of.
    Internal,
    /// The request's envelope names a revision that is not served.
    UnsupportedVersion,
    /// A header says something else than the body it stands for.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has headers"))]
    HeaderMismatch,
    /// The client lacks a capability that the item needs.
    MissingCapability,
    /// The user must go to a page before the call can go on.
    UrlRequired,
    /// A code of the author's own.
    Custom(i32),
}

impl Error {
    /// A failure with this text, shown to the model.
    pub fn msg(message: impl fmt::Display) -> Self {
        Self::of(Kind::Failed, message)
    }

    /// The request itself was wrong: JSON-RPC error -32602.
    pub fn invalid_params(message: impl fmt::Display) -> Self {
        Self::of(Kind::InvalidParams, message)
    }

    /// The resource does not exist: JSON-RPC error -32002 in the legacy revisions, -32602 with `data.uri` in
    /// 2026-07-28.
    pub fn not_found(message: impl fmt::Display) -> Self {
        Self::of(Kind::ResourceNotFound, message)
    }

    /// A fault the caller must not see: logged, and answered as a bare -32603.
    pub fn internal(error: impl fmt::Display) -> Self {
        Self::of(Kind::Internal, error)
    }

    /// A JSON-RPC error with a code of your own, which the specification wants outside -32768..=-32000.
    ///
    /// # Panics
    /// When `code` lies in the range JSON-RPC keeps for itself.
    pub fn code(code: i32, message: impl fmt::Display) -> Self {
        assert!(
            !(-32768..=-32000).contains(&code),
            "error code {code} is reserved by JSON-RPC: choose one outside -32768..=-32000"
        );
        Self::of(Kind::Custom(code), message)
    }

    /// Adds the `data` member of a JSON-RPC error. A value that cannot be written as JSON is left out.
    #[must_use]
    pub fn with_data(mut self, data: impl serde::Serialize) -> Self {
        self.0.data = serde_json::to_string(&data).ok();
        self
    }

    /// The `data` member as JSON text.
    #[must_use]
    pub(crate) fn with_json(mut self, data: String) -> Self {
        self.0.data = Some(data);
        self
    }

    pub(crate) fn of(kind: Kind, message: impl fmt::Display) -> Self {
        Self(Box::new(Inner { kind, message: message.to_string(), data: None, source: None }))
    }

    /// The answer to a URI that nothing is found at (RES-04).
    pub(crate) fn no_resource(uri: &str) -> Self {
        let text = format_args!("there is no resource `{}`", shown(uri));
        Self::of(Kind::ResourceNotFound, text).with_uri(uri)
    }

    /// Adds `data.uri`, unless the author has given data already. A URI of more than 2 KiB is left out: a part of it would be the URI of
    /// another resource.
    pub(crate) fn with_uri(mut self, uri: &str) -> Self {
        if self.0.data.is_none() && uri.len() <= 2048 {
            self = self.with_data(std::collections::BTreeMap::from([("uri", uri)]));
        }
        self
    }

    pub(crate) fn kind(&self) -> Kind {
        self.0.kind
    }

    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn data(&self) -> Option<&str> {
        self.0.data.as_deref()
    }

    /// The error this one was made from, when it was made with `?`.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.source.as_ref()?.downcast_ref()
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let source: Source = Box::new(error);
        // An error that went through one of our own types stays what it was.
        let source = match source.downcast() {
            Ok(unanswered) => match *unanswered {
                Unanswered::Failed(error) => return error,
                other => Box::new(other) as Source,
            },
            Err(source) => source,
        };
        let message = chain(&*source);
        Self(Box::new(Inner { kind: Kind::Failed, message, data: None, source: Some(source) }))
    }
}

/// Why there is no answer.
///
/// `?` turns it into what the model is told; match on it to go on without an answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unanswered {
    /// The person said no.
    Declined,
    /// The person closed the question without an answer.
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

/// The error and its causes in one line. Many errors repeat their cause in their own text; that is not said twice.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(it) = cause {
        let more = it.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = it.source();
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

/// A client's own words as far as they help in a message: an answer must not grow with what was wrong.
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

/// What handlers return: `Result<T>` fails with [`Error`], `Result<T, E>` with anything that implements
/// [`Display`](fmt::Display).
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a server could not start: every problem at once, each with the place in your code.
#[derive(Debug)]
pub struct BuildError {
    pub(crate) problems: Vec<String>,
}

impl BuildError {
    /// One text for each problem.
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
                many.iter().try_for_each(|it| write!(f, "\n- {}", it.replace('\n', "\n  ")))
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Why a server stopped.
#[derive(Debug)]
pub enum ServeError {
    /// It did not start.
    Build(BuildError),
    /// `setup` failed, with its words.
    Setup(String),
    /// Tasks cannot be kept where they should be, or what was kept of them cannot be read.
    TaskStore(String),
    /// Callers could not be told apart there as they should be: why.
    #[cfg(feature = "auth")]
    Auth(String),
    /// The address cannot be listened at.
    Bind(io::Error),
    /// A handler computed without a pause, kept the server from ending in time, and was cut off. The text names the handler and the fix.
    Unresponsive(String),
    /// The transport broke.
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
            Self::Bind(error) => write!(f, "cannot listen there: {error}"),
            Self::Io(error) => write!(f, "the transport broke: {error}"),
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
