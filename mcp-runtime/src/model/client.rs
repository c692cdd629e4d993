use crate::model::Meta;

/// Name, version and capabilities that the client sends about itself. Nothing here is verified, so do not use it to decide what a caller
/// may do.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Whether the client declared this capability, such as `sampling` or `elicitation.url`.
    pub fn can(&self, capability: &str) -> bool {
        let mut names = capability.split('.');
        let mut found = names.next().and_then(|it| self.capabilities.0.get(it));
        for name in names {
            found = found.and_then(|it| it.get(name));
        }
        found.is_some_and(|it| !it.is_null())
    }

    /// Whether the client declared this extension of the protocol, such as `io.modelcontextprotocol/tasks`.
    ///
    /// ```
    /// assert!(!mcp_runtime::ClientInfo::default().has_extension("io.modelcontextprotocol/tasks"));
    /// ```
    pub fn has_extension(&self, id: &str) -> bool {
        let extensions = self.capabilities.0.get("extensions");
        extensions.and_then(|it| it.get(id)).is_some_and(|it| !it.is_null())
    }

    /// Whether the client can show a form to its user (`elicitation`, client/elicitation). A bare `elicitation: {}` means this too. A
    /// client with `elicitation: { "url": {} }` can only open addresses.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// /// Removes a file, after a question where the client can ask one.
    /// #[tool(destructive)]
    /// async fn remove(ctx: &Context, path: &str) -> String {
    ///     match ctx.client().can_elicit() {
    ///         true => format!("would ask about {path}"),
    ///         false => format!("would leave {path} alone"),
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    pub fn can_elicit(&self) -> bool {
        self.can("elicitation.form") || (self.can("elicitation") && !self.can("elicitation.url"))
    }

    /// Whether the client lets servers use its model (`sampling`, client/sampling).
    ///
    /// ```
    /// assert!(!mcp_runtime::ClientInfo::default().can_sample());
    /// ```
    pub fn can_sample(&self) -> bool {
        self.can("sampling")
    }

    /// Whether the client lists the directories that the user works in (`roots`, client/roots).
    ///
    /// ```
    /// assert!(!mcp_runtime::ClientInfo::default().can_list_roots());
    /// ```
    pub fn can_list_roots(&self) -> bool {
        self.can("roots")
    }
}
