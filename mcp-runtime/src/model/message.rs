use super::{Content, Role};

/// One message of a prompt.
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
    /// Said by the person.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Said by the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}
