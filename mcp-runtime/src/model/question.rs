use std::sync::Arc;

use mcp_runtime_wire::{JsonKind, Raw};

use super::{ClientInfo, FormSchema, Sampled, Sampling, root::read_roots};

/// Question of a handler to the client, independent of the protocol revision.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// The user fills in a form. `reads` tells why an answer cannot be read as the form's type.
    Form { message: String, schema: &'static FormSchema, reads: Reads },
    /// The user visits a page. With `must_visit` the question stays open until the handler stops asking it.
    Url { message: String, url: String, must_visit: bool },
    /// The client's model generates a message.
    Sample(Arc<Sampling>),
    /// The client lists the directories that the user works in.
    Roots,
}

/// Checks whether the content of a filled-in form can be read, and returns the problems if not.
type Reads = fn(Raw<'_>) -> Result<(), Vec<String>>;

/// Action with which the user answered a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Accept,
    Decline,
    Cancel,
}

impl Question {
    /// The method's name on the wire.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Form { .. } | Self::Url { .. } => "elicitation/create",
            Self::Sample(_) => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// Returns the capabilities that the question needs and the client has not declared, as [`ClientInfo::can`] takes them. Not every
    /// revision divides `sampling` into parts, which `has_parts` tells.
    pub(crate) fn missing(&self, client: &ClientInfo, has_parts: bool) -> Vec<&'static str> {
        let needed: &[&str] = match self {
            Self::Form { .. } if client.can_elicit() => &[],
            // A client that can only open pages declares `elicitation` too, and cannot show a form.
            Self::Form { .. } => return vec!["elicitation"],
            Self::Url { .. } => &["elicitation.url"],
            Self::Sample(it) if has_parts => match (it.needs_tools(), it.needs_context()) {
                (true, true) => &["sampling.tools", "sampling.context"],
                (true, false) => &["sampling.tools"],
                (false, true) => &["sampling.context"],
                (false, false) => &["sampling"],
            },
            Self::Sample(_) => &["sampling"],
            Self::Roots => &["roots"],
        };
        needed.iter().copied().filter(|it| !client.can(it)).collect()
    }

    /// Returns the question for another attempt. If the user filled in content that cannot be read, the message says why.
    #[must_use]
    pub(crate) fn after(mut self, misfit: Raw<'_>) -> Self {
        if let Self::Form { message, reads, .. } = &mut self
            && action(misfit) == Ok(Action::Accept)
            && let Err(problems) = reads(content(misfit))
        {
            message
                .push_str(&format!(" (The last answer cannot be used: {})", problems.join("; ")));
        }
        self
    }

    /// Returns the whole question as text, independent of the protocol revision. An answer counts only for a question with the same text.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Form { message, schema, .. } => format!("form {message:?} {schema:?}"),
            Self::Url { message, url, .. } => format!("page {message:?} {url:?}"),
            Self::Sample(it) => format!("sample {it:?}"),
            Self::Roots => "roots".to_owned(),
        }
    }

    /// Whether the user declined to answer, or cancelled.
    pub(crate) fn is_declined(&self, result: Raw<'_>) -> bool {
        matches!(self, Self::Form { .. } | Self::Url { .. })
            && matches!(action(result), Ok(Action::Decline | Action::Cancel))
    }

    /// Checks whether `result` answers the question.
    ///
    /// # Errors
    /// Returns what is wrong with the result.
    pub(crate) fn check(&self, result: Raw<'_>) -> Result<(), String> {
        match self {
            Self::Form { reads, .. } => {
                if action(result)? == Action::Accept {
                    reads(content(result)).map_err(|problems| problems.join("; "))?;
                }
                Ok(())
            }
            Self::Url { must_visit, .. } => match action(result)? {
                // The user agreed to open the page, which says nothing of what happened there.
                Action::Accept if *must_visit => Err("the page is still to be visited".to_owned()),
                _ => Ok(()),
            },
            Self::Sample(_) => Sampled::read(result).map(drop),
            Self::Roots => read_roots(result).map(drop),
        }
    }
}

/// Reads the action of the user.
pub(crate) fn action(result: Raw<'_>) -> Result<Action, String> {
    match result.get("action").and_then(Raw::string).as_deref() {
        Some("accept") => Ok(Action::Accept),
        Some("decline") => Ok(Action::Decline),
        Some("cancel") => Ok(Action::Cancel),
        _ => Err("`action` must be `accept`, `decline` or `cancel`".to_owned()),
    }
}

/// Returns what the user filled in, or an empty object.
pub(crate) fn content(result: Raw<'_>) -> Raw<'_> {
    result.get("content").filter(|it| it.kind() == JsonKind::Object).unwrap_or(Raw::EMPTY_OBJECT)
}
