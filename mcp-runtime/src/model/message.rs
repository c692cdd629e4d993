use super::{Content, Role};

/// A message of a prompt.
///
/// ```
/// use mcp_runtime::Message;
///
/// let chat = [Message::user("What is 40 + 2?"), Message::assistant("42")];
/// # let _ = chat;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub(crate) role: Role,
    pub(crate) content: Content,
}

impl Message {
    /// Creates a message of the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Creates a message of the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}
