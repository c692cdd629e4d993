//! Errors of handlers and of servers that cannot start. A table in `protocol::revision` maps the kinds of an [`Error`] to JSON-RPC codes.

use std::{fmt, io};

type ErrorSource = Box<dyn std::error::Error + Send + Sync>;

/// Error that a handler returns.
///
/// `?` converts every type that implements [`std::error::Error`] into an `Error`. [`Error::msg`] creates one from text, and from every
/// other type that can be displayed. A tool that fails with such an error returns a result with `isError`, which the model sees. Prompts
/// and resources return a JSON-RPC error instead.
///
/// The other constructors create errors that become JSON-RPC errors for tools too. The client program sees a JSON-RPC error, but the model
/// usually does not.
///
/// Like `anyhow::Error`, this type does not implement [`std::error::Error`]. Otherwise `?` could not convert every error into it.
///
/// Specification: Server features, Tools (error handling).
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
    /// JSON text of the `data` member of a JSON-RPC error.
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
    /// A resource that does not exist. The JSON-RPC code differs between revisions.
    ResourceNotFound,
    /// An internal error, whose cause the client must not see.
    Internal,
    /// The store is unavailable or full. Over HTTP, such a response has the status 503.
    Unavailable,
    /// The request names a protocol revision that the server does not serve.
    UnsupportedVersion,
    /// A header of the request differs from the value in the body that it repeats.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has headers"))]
    HeaderMismatch,
    /// The client lacks a capability that the item needs.
    MissingCapability,
    /// The user has to visit a URL before the client repeats the call.
    UrlRequired,
    /// A JSON-RPC error with a code that the author of the server has chosen.
    Custom(i32),
}

impl Error {
    /// Creates a failure with this text, which the model sees.
    ///
    /// The text of a value is its alternate form (`{:#}`), as in all constructors. For an `anyhow::Error` this form contains the causes.
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

    /// Creates an internal error: JSON-RPC error -32603 without a cause. The server logs the text, and the client never sees it.
    pub fn internal(error: impl fmt::Display) -> Self {
        Self::of(ErrorKind::Internal, error)
    }

    /// Creates a JSON-RPC error with a code of your own. The specification requires a code outside of -32768..=-32000.
    ///
    /// # Panics
    /// Panics if `code` is in the range that JSON-RPC reserves.
    ///
    /// ```
    /// use mcp_runtime::Error;
    ///
    /// let error = Error::code(1001, "the printer is busy").with_data(["tray 1", "tray 2"]);
    /// assert_eq!(error.to_string(), "the printer is busy");
    /// ```
    pub fn code(code: i32, message: impl fmt::Display) -> Self {
        assert!(
            !(-32768..=-32000).contains(&code),
            "error code {code} is reserved by JSON-RPC: choose one outside -32768..=-32000"
        );
        Self::of(ErrorKind::Custom(code), message)
    }

    /// Adds the `data` member of a JSON-RPC error. A value that cannot be serialized as JSON is left out.
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
        // `anyhow` and similar crates print the whole chain of causes in the alternate form.
        let message = format!("{message:#}");
        Self(Box::new(ErrorParts { kind, message, data: None, source: None }))
    }

    /// Returns the error for a URI that matches no resource (rule RES-04).
    pub(crate) fn no_resource(uri: &str) -> Self {
        let text = format!("there is no resource `{}`", shown(uri));
        Self::of(ErrorKind::ResourceNotFound, text).with_uri(uri)
    }

    /// Adds `data.uri`, unless the author has set data. A URI of more than 2 KiB is left out instead of truncated, because a truncated URI
    /// would identify a different resource.
    pub(crate) fn with_uri(mut self, uri: &str) -> Self {
        if self.0.data.is_none() && uri.len() <= 2048 {
            self = self.with_data(serde_json::json!({ "uri": uri }));
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
    ///
    /// ```
    /// use std::num::ParseIntError;
    ///
    /// use mcp_runtime::Error;
    ///
    /// let error = Error::from("ten".parse::<i64>().unwrap_err());
    /// assert!(error.downcast_ref::<ParseIntError>().is_some());
    /// ```
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.source.as_ref()?.downcast_ref()
    }
}

/// Type that `?` converts into an [`Error`]: a type with [`std::error::Error`] that can be sent between threads.
///
/// The trait exists for its compile error. A text has no conversion, because an implementation of [`From`] for it would conflict with the
/// one for all errors.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    label = "not a type with `std::error::Error`: write `.map_err(Error::msg)?`, or `.ok_or_else(|| Error::msg(\"…\"))?` for an `Option`"
)]
pub trait StandardError: std::error::Error + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<E: std::error::Error + Send + Sync + 'static> StandardError for E {}

impl<E: StandardError> From<E> for Error {
    fn from(error: E) -> Self {
        let source: ErrorSource = Box::new(error);
        // `?` on `Unanswered::Failed` returns the inner `Error`, so that the kind and the data of the inner error are kept.
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

/// Reason why an elicitation has no answer.
///
/// `?` converts the reason into a failure that the model sees. To continue without an answer, match on the reason.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Whether to go on.
/// #[form]
/// struct Consent {
///     go: bool,
/// }
///
/// /// Cleans up, if the user agrees.
/// #[tool]
/// async fn clean(ctx: &Context) -> Result<String> {
///     let answer: Result<Consent, Unanswered> = ctx.elicit("consent", "Go on?").await;
///     match answer {
///         Ok(consent) if consent.go => Ok("cleaned".to_owned()),
///         Ok(_) | Err(Unanswered::Declined) => Ok("left as it was".to_owned()),
///         Err(other) => Err(other.into()),
///     }
/// }
/// # fn main() {}
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Unanswered {
    /// The user declined to answer.
    Declined,
    /// The user dismissed the elicitation without an answer.
    Cancelled,
    /// The elicitation could not be sent to the client, or the client did not answer it.
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

/// Joins the messages of an error and its causes in one line. A cause whose message is already in the text is left out, because many errors
/// repeat the message of their cause.
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
    /// Writes the message, because a `main` that returns an error prints it in this form. `{:#?}` writes the kind, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return fmt::Display::fmt(self, f);
        }
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

/// Result type of handlers.
///
/// `Result<T>` fails with [`Error`]. `Result<T, E>` fails with any type that implements [`Display`](fmt::Display).
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Problems that keep a server from starting, each with its location in your code.
///
/// [`Builder::build`](crate::Builder::build) returns all problems at once. To find them in a test, use
/// [`assert_builds!`](crate::testing::assert_builds).
///
/// ```
/// use std::time::Duration;
///
/// let error = mcp_runtime::server!().timeout(Duration::ZERO).build().unwrap_err();
/// assert!(error.problems().iter().any(|problem| problem.contains("timeout")));
/// ```
#[derive(Debug)]
pub struct BuildError {
    pub(crate) problems: Vec<String>,
}

impl BuildError {
    /// Returns one text for each problem.
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
///
/// Returned by the methods of [`Builder`](crate::Builder) that serve, such as [`Builder::serve`](crate::Builder::serve).
///
/// ```
/// use mcp_runtime::ServeError;
///
/// /// Returns the exit code for a supervisor that must not restart a misconfigured server.
/// fn exit_code(error: &ServeError) -> u8 {
///     match error {
///         ServeError::Build(_) | ServeError::Bind(_) => 78,
///         _ => 1,
///     }
/// }
/// ```
#[non_exhaustive]
pub enum ServeError {
    /// The settings or the items have problems.
    Build(BuildError),
    /// `setup` failed. The text is the message of its error.
    Setup(String),
    /// Values of a struct with `#[config]` are missing or wrong. The text lists all of them.
    Config(String),
    /// The store cannot be opened, or the tasks in it cannot be read. The text is the reason.
    Store(String),
    /// The configured authorization is not possible. The text is the reason.
    #[cfg(feature = "auth")]
    Auth(String),
    /// The playground may not be served at the address. The text names the fix.
    #[cfg(feature = "playground")]
    Playground(String),
    /// The server cannot listen on the address.
    Bind(io::Error),
    /// A handler still blocked its thread when the server had to stop, so the server stopped without waiting for it. The text names the
    /// handler and the fix.
    Unresponsive(String),
    /// The transport failed.
    Io(io::Error),
}

impl fmt::Debug for ServeError {
    /// Writes the message, because a `main` that returns an error prints it in this form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Setup(error) => write!(f, "setup failed: {error}"),
            Self::Config(why) | Self::Store(why) | Self::Unresponsive(why) => f.write_str(why),
            #[cfg(feature = "auth")]
            Self::Auth(why) => f.write_str(why),
            #[cfg(feature = "playground")]
            Self::Playground(why) => f.write_str(why),
            Self::Bind(error) => {
                write!(f, "cannot listen on this address: {error}")?;
                f.write_str(match error.kind() {
                    io::ErrorKind::AddrInUse => {
                        "; another program listens there: end it, or choose another port"
                    }
                    io::ErrorKind::AddrNotAvailable => {
                        "; use an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them"
                    }
                    io::ErrorKind::PermissionDenied => {
                        "; most systems reserve ports below 1024: choose a higher port"
                    }
                    // The error does not come from the operating system: the host name has no address, or the text is not an address.
                    _ if error.raw_os_error().is_none() => {
                        "; write HOST:PORT with a host of this machine, such as 127.0.0.1:8000"
                    }
                    _ => "",
                })
            }
            Self::Io(error) => write!(f, "the transport failed: {error}"),
        }
    }
}

impl std::error::Error for ServeError {
    /// Returns a cause of the inner error, because the text of this error already contains that of the inner error.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Bind(error) | Self::Io(error) => error.source(),
            Self::Build(_)
            | Self::Setup(_)
            | Self::Config(_)
            | Self::Store(_)
            | Self::Unresponsive(_) => None,
            #[cfg(feature = "auth")]
            Self::Auth(_) => None,
            #[cfg(feature = "playground")]
            Self::Playground(_) => None,
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
    fn an_address_that_cannot_be_used_has_a_fix_in_both_forms_of_the_error() {
        for (kind, fix) in [
            (io::ErrorKind::AddrInUse, "choose another port"),
            (io::ErrorKind::AddrNotAvailable, "use an address of this machine"),
            (io::ErrorKind::PermissionDenied, "choose a higher port"),
            (io::ErrorKind::InvalidInput, "such as 127.0.0.1:8000"),
        ] {
            let error = ServeError::Bind(kind.into());
            let text = error.to_string();
            assert!(text.starts_with("cannot listen on this address: "), "{text}");
            assert!(text.contains(fix), "{text}");
            // A `main` that returns the error prints it in this form.
            assert_eq!(format!("{error:?}"), text);
        }
    }

    #[test]
    fn the_causes_of_a_server_error_do_not_repeat_its_text() {
        use std::error::Error as _;

        let build = || BuildError { problems: vec!["there is nothing to serve".to_owned()] };
        for error in [ServeError::Build(build()), ServeError::Bind(io::ErrorKind::AddrInUse.into())]
        {
            let mut cause = error.source();
            while let Some(inner) = cause {
                assert!(!error.to_string().contains(&inner.to_string()), "{error}: {inner}");
                cause = inner.source();
            }
        }
    }

    #[test]
    fn a_repeated_cause_is_left_out() {
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
    fn a_main_that_returns_an_error_prints_its_message() {
        let error = Error::msg("the disk is full");
        assert_eq!(format!("{error:?}"), "the disk is full");
        assert!(format!("{error:#?}").contains("kind: Failed"), "{error:#?}");
    }

    #[test]
    #[should_panic(expected = "reserved by JSON-RPC")]
    fn reserved_codes_are_refused() {
        let _ = Error::code(-32001, "mine");
    }
}
