use std::sync::Arc;

use super::{ClientInfo, FormSchema, Sampled, Sampling, root::read_roots};
use crate::wire::{Kind, Raw};

/// What a handler asks of the client, in no revision's words.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// A person fills in a form, whose answer `reads` as its type or says why not.
    Form { message: String, schema: &'static FormSchema, reads: Reads },
    /// A person goes to a page. Who `must_visit` it has not been there until the handler no longer asks.
    Url { message: String, url: String, must_visit: bool },
    /// The client's model says something.
    Sample(Arc<Sampling>),
    /// Which directories a person works in.
    Roots,
}

/// Whether what a person filled in can be read.
type Reads = fn(Raw<'_>) -> Result<(), Vec<String>>;

/// What a person did with a question.
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

    /// The capabilities that a client needs for it and has not declared, as [`ClientInfo::can`] takes them. Not every revision
    /// divides `sampling` into parts.
    pub(crate) fn missing(&self, client: &ClientInfo, has_parts: bool) -> Vec<&'static str> {
        let needed: &[&str] = match self {
            Self::Form { .. } if client.can_elicit() => &[],
            // One that can only open pages declares it, and cannot show a form.
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

    /// The question as it is put again to a person who has filled in what cannot be read.
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

    /// All that it says, in letters of no protocol: an answer is one to these words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Form { message, schema, .. } => format!("form {message:?} {schema:?}"),
            Self::Url { message, url, .. } => format!("page {message:?} {url:?}"),
            Self::Sample(it) => format!("sample {it:?}"),
            Self::Roots => "roots".to_owned(),
        }
    }

    /// Whether a person does not want to answer, or not now.
    pub(crate) fn is_declined(&self, result: Raw<'_>) -> bool {
        matches!(self, Self::Form { .. } | Self::Url { .. })
            && matches!(action(result), Ok(Action::Decline | Action::Cancel))
    }

    /// Whether a result answers it.
    ///
    /// # Errors
    /// What is wrong with the result.
    pub(crate) fn check(&self, result: Raw<'_>) -> Result<(), String> {
        match self {
            Self::Form { reads, .. } => {
                if action(result)? == Action::Accept {
                    reads(content(result)).map_err(|problems| problems.join("; "))?;
                }
                Ok(())
            }
            Self::Url { must_visit, .. } => match action(result)? {
                // The word to go there, which says nothing of what happened.
                Action::Accept if *must_visit => Err("the page is still to be visited".to_owned()),
                _ => Ok(()),
            },
            Self::Sample(_) => Sampled::read(result).map(drop),
            Self::Roots => read_roots(result).map(drop),
        }
    }
}

/// What the person did.
pub(crate) fn action(result: Raw<'_>) -> Result<Action, String> {
    match result.get("action").and_then(Raw::string).as_deref() {
        Some("accept") => Ok(Action::Accept),
        Some("decline") => Ok(Action::Decline),
        Some("cancel") => Ok(Action::Cancel),
        _ => Err("`action` must be `accept`, `decline` or `cancel`".to_owned()),
    }
}

/// What the person filled in.
pub(crate) fn content(result: Raw<'_>) -> Raw<'_> {
    result.get("content").filter(|it| it.kind() == Kind::Object).unwrap_or(Raw::EMPTY_OBJECT)
}
