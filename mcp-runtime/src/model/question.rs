//! Questions of handlers to the client (elicitation, sampling and roots requests), and the client's answers.

use std::{borrow::Cow, sync::Arc};

use mcp_runtime_contract::percent;
use mcp_runtime_wire::{JsonKind, Raw};

use super::{ClientInfo, FormSchema, Sampled, Sampling, read_roots};

/// Question of a handler to the client, independent of the protocol revision.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// The user fills in a form. `reads` checks whether an answer can be read as the form's type.
    Form { message: String, schema: &'static FormSchema, reads: Reads },
    /// The user visits a URL. With `must_visit`, the question stays open after the user accepts, until the handler runs without asking it.
    Url { message: String, url: String, must_visit: bool },
    /// The client's model generates a message.
    Sample(Arc<Sampling>),
    /// The client lists the directories that the user works in.
    Roots,
    /// Question of a task that another node runs, as that node has written it.
    Written(Arc<WrittenQuestion>),
}

/// Question as another node has written it. Only the node of the handler can check whether an answer fits.
#[derive(Debug)]
pub(crate) struct WrittenQuestion {
    /// Name of the method on the wire.
    pub(crate) method: &'static str,
    /// Capabilities that the question needs, in the notation of [`ClientInfo::can`].
    pub(crate) needed: Vec<&'static str>,
    /// Parameters of the request as JSON text, in the form of the newest protocol revision.
    pub(crate) params: Box<str>,
}

impl WrittenQuestion {
    const METHODS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];
    /// Capabilities that questions need. `elicitation` stands for forms.
    pub(crate) const CAPABILITIES: [&str; 6] = [
        "elicitation",
        "elicitation.url",
        "sampling",
        "sampling.tools",
        "sampling.context",
        "roots",
    ];

    /// Creates a question from the texts that another node has written. Returns `None` if this server does not know the method or a
    /// capability.
    pub(crate) fn read<'a>(
        method: &str,
        mut needed: impl Iterator<Item = Cow<'a, str>>,
        params: &str,
    ) -> Option<Self> {
        let method = Self::METHODS.into_iter().find(|known| *known == method)?;
        let known =
            |name: Cow<'a, str>| Self::CAPABILITIES.into_iter().find(|known| *known == name);
        Some(Self {
            method,
            needed: needed.try_fold(Vec::new(), |mut all, name| {
                all.push(known(name)?);
                Some(all)
            })?,
            params: params.into(),
        })
    }
}

/// Checks whether the content of a filled-in form can be read. The error lists the problems.
type Reads = fn(Raw<'_>) -> Result<(), Vec<String>>;

/// Action with which the user answered a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Accept,
    Decline,
    Cancel,
}

impl Question {
    /// Returns the name of the method on the wire.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Form { .. } | Self::Url { .. } => "elicitation/create",
            Self::Sample(_) => "sampling/createMessage",
            Self::Roots => "roots/list",
            Self::Written(written) => written.method,
        }
    }

    pub(crate) fn is_roots(&self) -> bool {
        self.method() == "roots/list"
    }

    /// Returns the URL of a URL-mode elicitation.
    pub(crate) fn page_url(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Url { url, .. } => Some(url.into()),
            Self::Written(written) => {
                let params = Raw::trusted(&written.params);
                let is_page = params.get("mode").and_then(Raw::string).as_deref() == Some("url");
                params.get("url").filter(|_| is_page).and_then(Raw::string)
            }
            _ => None,
        }
    }

    /// Returns the capabilities that the question needs and that the client has not declared, in the notation of [`ClientInfo::can`].
    /// `has_parts` is true in revisions with sub-capabilities of `sampling`, such as `sampling.tools`.
    pub(crate) fn missing(&self, client: &ClientInfo, has_parts: bool) -> Vec<&'static str> {
        // A client that can only open URLs also declares `elicitation`, but it cannot show forms.
        let can = |capability: &str| match capability {
            "elicitation" => client.can_elicit(),
            _ => client.can(capability),
        };
        self.needed(has_parts).iter().copied().filter(|capability| !can(capability)).collect()
    }

    /// Returns the capabilities that the question needs. `elicitation` stands for forms.
    pub(crate) fn needed(&self, has_parts: bool) -> &[&'static str] {
        match self {
            Self::Form { .. } => &["elicitation"],
            Self::Url { .. } => &["elicitation.url"],
            Self::Sample(sampling) if has_parts => {
                match (sampling.needs_tools(), sampling.needs_context()) {
                    (true, true) => &["sampling.tools", "sampling.context"],
                    (true, false) => &["sampling.tools"],
                    (false, true) => &["sampling.context"],
                    (false, false) => &["sampling"],
                }
            }
            Self::Sample(_) => &["sampling"],
            Self::Roots => &["roots"],
            Self::Written(written) => &written.needed,
        }
    }

    /// Returns the question for another attempt after the answer `misfit`. If the answer cannot be read, the message of the new question
    /// explains why.
    #[must_use]
    pub(crate) fn after(mut self, misfit: Raw<'_>) -> Self {
        let problem = match self {
            Self::Form { .. } => self.check(misfit).err(),
            // An answer that accepts a page is valid, even if the user has not finished there.
            Self::Url { .. } => read_action(misfit).err(),
            Self::Sample(_) | Self::Roots | Self::Written(_) => None,
        };
        if let (Some(problem), Self::Form { message, .. } | Self::Url { message, .. }) =
            (problem, &mut self)
        {
            message.push_str(&format!(" (The last answer cannot be used: {problem})"));
        }
        self
    }

    /// Returns the whole question as text, independent of the protocol revision. An answer is valid only for a question with the same text.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Form { message, schema, .. } => format!("form {message:?} {schema:?}"),
            Self::Url { message, url, .. } => format!("page {message:?} {url:?}"),
            Self::Sample(sampling) => format!("sample {sampling:?}"),
            Self::Roots => "roots".to_owned(),
            Self::Written(written) => format!("{} {}", written.method, written.params),
        }
    }

    /// Whether the user has declined or cancelled the question.
    pub(crate) fn is_declined(&self, result: Raw<'_>) -> bool {
        matches!(self, Self::Form { .. } | Self::Url { .. })
            && matches!(read_action(result), Ok(Action::Decline | Action::Cancel))
    }

    /// Checks whether `result` answers the question.
    ///
    /// # Errors
    /// Fails if `result` is not a valid answer. The error describes the problem.
    pub(crate) fn check(&self, result: Raw<'_>) -> Result<(), String> {
        match self {
            Self::Form { reads, .. } => {
                if read_action(result)? == Action::Accept {
                    reads(read_content(result)).map_err(|problems| problems.join("; "))?;
                }
                Ok(())
            }
            Self::Url { must_visit, .. } => match read_action(result)? {
                // The user has agreed to open the URL, but may not have finished there.
                Action::Accept if *must_visit => {
                    Err("the page has not been visited yet".to_owned())
                }
                _ => Ok(()),
            },
            Self::Sample(_) => Sampled::read(result).map(drop),
            Self::Roots => read_roots(result).map(drop),
            Self::Written(written) => match written.method {
                "elicitation/create" => read_action(result).map(drop),
                "roots/list" => read_roots(result).map(drop),
                _ => Sampled::read(result).map(drop),
            },
        }
    }
}

/// Reads the action with which the user answered.
pub(crate) fn read_action(result: Raw<'_>) -> Result<Action, String> {
    match result.get("action").and_then(Raw::string).as_deref() {
        Some("accept") => Ok(Action::Accept),
        Some("decline") => Ok(Action::Decline),
        Some("cancel") => Ok(Action::Cancel),
        _ => Err("`action` must be `accept`, `decline` or `cancel`".to_owned()),
    }
}

/// Returns the content that the user filled in, or an empty object.
pub(crate) fn read_content(result: Raw<'_>) -> Raw<'_> {
    result
        .get("content")
        .filter(|content| content.kind() == JsonKind::Object)
        .unwrap_or(Raw::EMPTY_OBJECT)
}

/// Maximum length of the URL of a URL-mode elicitation, in bytes. Browsers accept URLs of this length, and servers can store them.
const LONGEST_PAGE_URL: usize = 8 << 10;

/// Description of a valid URL for URL-mode elicitation, used in error messages.
pub(crate) const PAGE_URL: &str =
    "an absolute http or https URL with a host, without a user name and without spaces";

/// Checks that `url` is a URL to which a user can be sent (rule ELIC-07). Does not check whether the website is safe.
///
/// # Errors
/// Fails if the URL is not valid. The error describes the problem without the URL, which may be confidential.
pub(crate) fn check_page_url(url: &str) -> Result<(), &'static str> {
    if url.len() > LONGEST_PAGE_URL {
        return Err("it is longer than 8192 bytes");
    }
    // Rejects characters that browsers drop, or interpret differently from what the user sees.
    let is_foreign = |byte: u8| !byte.is_ascii_graphic() || br#""<>\^`{|}"#.contains(&byte);
    if url.bytes().any(is_foreign) {
        return Err("it has characters that a URL cannot contain: write them as %XX");
    }
    if percent::decode_bytes(url).is_none() {
        return Err("it has a % without two hexadecimal digits");
    }
    let (scheme, rest) = url.split_once("://").ok_or("it does not begin with https://")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err("it does not begin with https://");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("it has a user name");
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, after) = rest.split_once(']').ok_or("its host is not an IPv6 address")?;
            address
                .parse::<core::net::Ipv6Addr>()
                .map_err(|_| "its host is not an IPv6 address")?;
            (address, after)
        }
        None => authority.find(':').map_or((authority, ""), |at| authority.split_at(at)),
    };
    if host.is_empty() {
        return Err("it has no host");
    }
    let port_fits = match port.strip_prefix(':') {
        Some(digits) => {
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && (digits.is_empty() || digits.parse::<u16>().is_ok())
        }
        None => port.is_empty(),
    };
    if port_fits { Ok(()) } else { Err("its port is not a number up to 65535") }
}

#[cfg(test)]
mod tests {
    use super::check_page_url;

    #[test]
    fn users_are_sent_only_to_absolute_web_urls() {
        for good in [
            "https://pay.example.com/x?y=z#part",
            "HTTPS://pay.example.com",
            "http://localhost:8080/login",
            "http://127.0.0.1:0",
            "https://[::1]:443/",
            "https://pay.example.com:/a%20b",
            "https://pay.example.com/to@home?a=b:c",
        ] {
            assert_eq!(check_page_url(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "pay",
            "/pay",
            "//pay.example.com",
            "pay.example.com",
            "ftp://pay.example.com",
            "javascript://pay.example.com/%0aalert(1)",
            "javascript:alert(1)",
            "https:pay.example.com",
            "https://",
            "https:///pay",
            "https://:443/",
            "https://?x",
            "https://user@pay.example.com",
            "https://user:secret@pay.example.com/",
            "https://pay.example.com\\@evil.example.com",
            " https://pay.example.com",
            "https://pay.example.com/a b",
            "https://pay.example.com/\n",
            "https://pay.example.com/\u{a0}",
            "https://pay.example.com/ü",
            "https://pay.example.com/%4",
            "https://pay.example.com:99999/",
            "https://pay.example.com:port/",
            "https://[::1/",
            "https://[pay]/",
            "https://[::1]x/",
        ] {
            assert!(check_page_url(bad).is_err(), "{bad}");
        }
        assert!(
            check_page_url(&format!("https://pay.example.com/{}", "x".repeat(8 << 10))).is_err()
        );
    }
}
