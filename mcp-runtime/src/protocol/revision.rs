//! Protocol revisions, and the differences between them within an era. Other modules do not spell out the dates of revisions.

use std::fmt;

use crate::error::ErrorKind;

/// Revision of the Model Context Protocol.
///
/// [`TestClient`](crate::testing::TestClient) connects with a revision. A server supports all revisions, and each client selects one.
/// Revisions are ordered from the oldest to the newest.
///
/// Specification: Base protocol, Versioning.
///
/// ```
/// use mcp_runtime::testing::Revision;
///
/// assert_eq!(Revision::parse("2026-07-28"), Some(Revision::V2026_07_28));
/// assert_eq!(Revision::V2025_11_25.name(), "2025-11-25");
/// assert!(Revision::V2024_11_05 < Revision::V2025_03_26);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// Revision 2024-11-05, the first one.
    V2024_11_05,
    /// Revision 2025-03-26, which adds Streamable HTTP.
    V2025_03_26,
    /// Revision 2025-06-18, which adds elicitation and structured content.
    V2025_06_18,
    /// Revision 2025-11-25, which adds tasks, and is the last one with a handshake.
    V2025_11_25,
    /// Revision 2026-07-28, in which each request is self-contained.
    V2026_07_28,
}

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// Form in which a revision has tasks: calls that continue after their response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskDialect {
    /// The revision has no tasks.
    None,
    /// Part of the core protocol: the client decides whether a call becomes a task, and waits for the result.
    Core,
    /// Extension of the protocol: the server decides whether a call becomes a task, and the client polls.
    Extension,
}

/// Features by which revisions differ. Each revision has one row in `TABLE`.
#[derive(Debug)]
pub(crate) struct Features {
    /// Arrays of messages.
    pub(crate) batches: bool,
    /// `annotations` of tools, and audio content.
    pub(crate) hints_and_audio: bool,
    /// `message` of progress notifications.
    pub(crate) progress_message: bool,
    /// Capability `completions`. The method `completion/complete` exists in every revision.
    pub(crate) completions_capability: bool,
    /// `title`, `_meta` of items and content, `lastModified`, resource links, structured content, completion context.
    pub(crate) titles: bool,
    /// `icons`, and `description` and `websiteUrl` of `Implementation`.
    pub(crate) icons: bool,
    /// Elicitation in form mode.
    pub(crate) forms: bool,
    /// Elicitation in URL mode.
    pub(crate) url_mode: bool,
    /// Tools, and several blocks in one message, in sampling requests.
    pub(crate) sampling_tools: bool,
    /// Forms with titled choices, multiple choice, and defaults of every type. In earlier revisions, titles are written as `enumNames`, and
    /// only a `bool` can have a default.
    pub(crate) rich_forms: bool,
    /// Form in which the revision has tasks.
    pub(crate) tasks: TaskDialect,
    /// Structured content and output schemas of any JSON type, not only objects.
    pub(crate) any_structured: bool,
    /// The error response to a message whose id could not be read has no `id`. In earlier revisions its `id` is null.
    pub(crate) omits_unknown_id: bool,
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has streams"))]
    /// The stream of a response over HTTP begins with an event that has only an id. The stream may end before the response is sent
    /// (SEP-1699).
    pub(crate) resumes: bool,
    /// `resultType`, cache fields, `serverInfo` in `_meta`; no session.
    pub(crate) modern: bool,
}

const OLDEST: Features = Features {
    batches: false,
    hints_and_audio: false,
    progress_message: false,
    completions_capability: false,
    titles: false,
    icons: false,
    forms: false,
    url_mode: false,
    sampling_tools: false,
    rich_forms: false,
    tasks: TaskDialect::None,
    any_structured: false,
    omits_unknown_id: false,
    resumes: false,
    modern: false,
};
const MARCH: Features = Features {
    batches: true,
    hints_and_audio: true,
    progress_message: true,
    completions_capability: true,
    ..OLDEST
};
const JUNE: Features = Features { batches: false, titles: true, forms: true, ..MARCH };
const NOVEMBER: Features = Features {
    icons: true,
    url_mode: true,
    sampling_tools: true,
    rich_forms: true,
    tasks: TaskDialect::Core,
    omits_unknown_id: true,
    resumes: true,
    ..JUNE
};
const MODERN: Features = Features {
    tasks: TaskDialect::Extension,
    any_structured: true,
    resumes: false,
    modern: true,
    ..NOVEMBER
};

static TABLE: [Features; 5] = [OLDEST, MARCH, JUNE, NOVEMBER, MODERN];

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
    /// Revisions with a handshake, oldest first.
    pub const LEGACY: [Self; 4] = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];
    /// Revisions without a handshake, in which each request is self-contained.
    pub const MODERN: [Self; 1] = [V2026_07_28];

    /// Returns the name of the revision on the wire, which is its date.
    pub const fn name(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the revision of this name, or `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Newest revision with a handshake. The server offers it to a client that asks for an unknown revision.
    pub(crate) const NEWEST_LEGACY: Self = V2025_11_25;

    pub(crate) fn features(self) -> &'static Features {
        &TABLE[self as usize]
    }

    pub(crate) fn is_modern(self) -> bool {
        self.features().modern
    }

    #[cfg(feature = "http")]
    pub(crate) fn resumes(self) -> bool {
        self.features().resumes
    }

    /// Returns the code on the wire for a kind of error.
    pub(crate) fn code(self, kind: ErrorKind) -> i64 {
        match kind {
            ErrorKind::Parse => -32700,
            ErrorKind::InvalidRequest => -32600,
            ErrorKind::MethodNotFound => -32601,
            ErrorKind::InvalidParams => -32602,
            ErrorKind::ResourceNotFound if self.is_modern() => -32602,
            ErrorKind::ResourceNotFound => -32002,
            ErrorKind::UrlRequired if self.features().url_mode && !self.is_modern() => -32042,
            ErrorKind::Internal
            | ErrorKind::Failed
            | ErrorKind::UrlRequired
            | ErrorKind::Unavailable => -32603,
            ErrorKind::HeaderMismatch => -32020,
            ErrorKind::MissingCapability => -32021,
            ErrorKind::UnsupportedVersion => -32022,
            ErrorKind::Custom(code) => code.into(),
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_back_and_ascending() {
        for pair in Revision::ALL.windows(2) {
            assert!(pair[0] < pair[1] && pair[0].name() < pair[1].name());
        }
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.name()), Some(revision));
        }
        assert_eq!(Revision::parse("2030-01-01"), None);
    }

    #[test]
    fn the_code_of_a_missing_resource_depends_on_the_era() {
        assert_eq!(V2025_11_25.code(ErrorKind::ResourceNotFound), -32002);
        assert_eq!(V2026_07_28.code(ErrorKind::ResourceNotFound), -32602);
    }

    #[test]
    fn a_single_revision_has_an_error_code_for_a_required_url() {
        let with = Revision::ALL
            .into_iter()
            .filter(|revision| revision.code(ErrorKind::UrlRequired) == -32042);
        assert_eq!(with.collect::<Vec<_>>(), [V2025_11_25]);
    }
}
