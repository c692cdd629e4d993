//! Information about the client: its name, its version and its capabilities. Also contains the levels of log messages.

use super::Meta;

/// Name, version and capabilities that a client declares about itself.
///
/// The server does not verify these values, so do not use them to decide what a caller may do. Handlers get them with
/// [`Client`](crate::extract::Client) or [`Context::client`](crate::Context::client).
///
/// Specification: Base protocol, Lifecycle.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Names the program that calls.
/// #[tool]
/// fn who(client: Client) -> String {
///     format!("{} {}", client.name, client.version)
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientInfo {
    /// Name of the program; empty if the client did not send one.
    pub name: String,
    /// Version of the program; empty if the client did not send one.
    pub version: String,
    /// Title that the client shows to users.
    pub title: Option<String>,
    pub(crate) capabilities: Meta,
}

impl ClientInfo {
    /// Returns whether the client has declared this capability, such as `sampling` or `elicitation.url`.
    ///
    /// ```
    /// assert!(!mcp_runtime::extract::ClientInfo::default().can("elicitation.url"));
    /// ```
    pub fn can(&self, capability: &str) -> bool {
        let mut names = capability.split('.');
        let mut found = names.next().and_then(|name| self.capabilities.0.get(name));
        for name in names {
            found = found.and_then(|found| found.get(name));
        }
        found.is_some_and(|found| !found.is_null())
    }

    /// Returns whether the client has declared this extension of the protocol, such as `io.modelcontextprotocol/tasks`.
    ///
    /// ```
    /// assert!(
    ///     !mcp_runtime::extract::ClientInfo::default()
    ///         .has_extension("io.modelcontextprotocol/tasks")
    /// );
    /// ```
    pub fn has_extension(&self, id: &str) -> bool {
        let extensions = self.capabilities.0.get("extensions");
        extensions
            .and_then(|extensions| extensions.get(id))
            .is_some_and(|extension| !extension.is_null())
    }

    /// Returns whether the client can show a form to its user (`elicitation`).
    ///
    /// A client declares support for forms with `elicitation.form`, or with a bare `elicitation: {}`. A client that declares only
    /// `elicitation: { "url": {} }` can open URLs, but not show forms.
    ///
    /// Specification: Client features, Elicitation.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Removes a file, after a question if the client can ask one.
    /// #[tool(destructive)]
    /// async fn remove(ctx: &Context, path: &str) -> String {
    ///     if ctx.client().can_elicit() {
    ///         format!("would ask about {path}")
    ///     } else {
    ///         format!("would leave {path} alone")
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    pub fn can_elicit(&self) -> bool {
        self.can("elicitation.form") || (self.can("elicitation") && !self.can("elicitation.url"))
    }

    /// Returns whether the client lets servers use its model (`sampling`).
    ///
    /// Specification: Client features, Sampling.
    ///
    /// ```
    /// assert!(!mcp_runtime::extract::ClientInfo::default().can_sample());
    /// ```
    pub fn can_sample(&self) -> bool {
        self.can("sampling")
    }

    /// Returns whether the client lists the directories that the user works in (`roots`).
    ///
    /// Specification: Client features, Roots.
    ///
    /// ```
    /// assert!(!mcp_runtime::extract::ClientInfo::default().can_list_roots());
    /// ```
    pub fn can_list_roots(&self) -> bool {
        self.can("roots")
    }
}

/// Capabilities of the client that an item may use. They are declared before the item runs, so the server can reject the call of a client
/// that lacks one of them before any message is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    elicitation: bool,
    sampling: bool,
    roots: bool,
}

#[allow(missing_docs, reason = "public only for generated code")]
impl Asks {
    pub const fn new() -> Self {
        Self { elicitation: false, sampling: false, roots: false }
    }

    /// Adds the capability to show forms. Opening URLs is a separate capability.
    #[must_use]
    pub const fn elicitation(mut self) -> Self {
        self.elicitation = true;
        self
    }

    #[must_use]
    pub const fn sampling(mut self) -> Self {
        self.sampling = true;
        self
    }

    #[must_use]
    pub const fn roots(mut self) -> Self {
        self.roots = true;
        self
    }
}

impl Asks {
    pub(crate) fn is_empty(self) -> bool {
        self == Self::new()
    }

    pub(crate) fn elicits(self) -> bool {
        self.elicitation
    }

    /// Returns the union of the two sets of capabilities.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            elicitation: self.elicitation || other.elicitation,
            sampling: self.sampling || other.sampling,
            roots: self.roots || other.roots,
        }
    }

    /// Returns the capabilities that this client has not declared. The result is empty if the client has declared all of them.
    #[must_use]
    pub(crate) fn missing(self, client: &ClientInfo) -> Self {
        Self {
            elicitation: self.elicitation && !client.can_elicit(),
            sampling: self.sampling && !client.can_sample(),
            roots: self.roots && !client.can_list_roots(),
        }
    }

    /// Returns the names of the capabilities, as in the specification.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        self.capabilities().map(|(name, _)| name)
    }

    /// Returns the JSON text of `data.requiredCapabilities` (rule C-04).
    pub(crate) fn required_json(self) -> String {
        let members: Vec<_> =
            self.capabilities().map(|(name, json)| format!("\"{name}\":{json}")).collect();
        format!("{{{}}}", members.join(","))
    }

    fn capabilities(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = [
            (self.elicitation, "elicitation", r#"{"form":{}}"#),
            (self.sampling, "sampling", "{}"),
            (self.roots, "roots", "{}"),
        ];
        all.into_iter().filter(|(is_asked, ..)| *is_asked).map(|(_, name, json)| (name, json))
    }
}

/// Severity of a log message, as in RFC 5424. The levels are ordered from least to most severe.
///
/// A client sets the lowest level that it wants to receive.
///
/// Specification: Server features, Logging.
///
/// ```
/// use mcp_runtime::logging::Level;
///
/// assert!(Level::Warning < Level::Error);
/// assert_eq!(Level::Warning.name(), "warning");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// Details for debugging.
    Debug,
    /// General information.
    Info,
    /// A normal but significant event.
    Notice,
    /// A sign of a possible problem.
    Warning,
    /// A failed operation.
    Error,
    /// A failed component.
    Critical,
    /// A condition that requires immediate action.
    Alert,
    /// An unusable system.
    Emergency,
}

impl Level {
    pub(crate) const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// Returns the name of the level on the wire, such as `warning`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALL: Asks = Asks::new().elicitation().sampling().roots();

    fn client(capabilities: serde_json::Value) -> ClientInfo {
        let serde_json::Value::Object(capabilities) = capabilities else { panic!("an object") };
        ClientInfo { capabilities: Meta(capabilities), ..ClientInfo::default() }
    }

    #[test]
    fn the_missing_capabilities_are_those_that_the_client_did_not_declare() {
        let check = |capabilities: serde_json::Value, expected: &[&str]| {
            let missing = ALL.missing(&client(capabilities.clone()));
            assert_eq!(missing.names().collect::<Vec<_>>(), expected, "{capabilities}");
        };
        check(json!({}), &["elicitation", "sampling", "roots"]);
        check(json!({ "elicitation": {}, "sampling": {}, "roots": {} }), &[]);
        check(json!({ "sampling": { "tools": {} } }), &["elicitation", "roots"]);
        check(
            json!({ "elicitation": null, "roots": { "listChanged": true } }),
            &["elicitation", "sampling"],
        );
        check(json!({ "elicitation": { "form": {} } }), &["sampling", "roots"]);
        check(json!({ "elicitation": { "url": {} } }), &["elicitation", "sampling", "roots"]);
        check(json!({ "elicitation": { "form": {}, "url": {} } }), &["sampling", "roots"]);
        // A client that declares only an unknown mode of elicitation counts as able to show forms.
        check(json!({ "elicitation": { "voice": {} } }), &["sampling", "roots"]);
        assert!(Asks::new().missing(&client(json!({}))).is_empty());
        assert!(!Asks::new().roots().missing(&client(json!({}))).is_empty());
    }

    #[test]
    fn required_capabilities_are_an_object() {
        assert_eq!(Asks::new().required_json(), "{}");
        assert_eq!(Asks::new().elicitation().required_json(), r#"{"elicitation":{"form":{}}}"#);
        assert_eq!(ALL.required_json(), r#"{"elicitation":{"form":{}},"sampling":{},"roots":{}}"#);
    }

    #[test]
    fn capabilities_of_two_sources_are_joined() {
        let joined = Asks::new().elicitation().and(Asks::new().roots());
        assert_eq!(joined, Asks::new().elicitation().roots());
        assert_eq!(joined.and(Asks::new()), joined);
    }
}
