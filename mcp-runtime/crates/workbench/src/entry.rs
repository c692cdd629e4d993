//! What a client is told about a server, and why a file cannot have it.

use std::fmt;

use crate::client_app::ClientApp;

/// Server in the configuration of a client.
#[derive(Clone, Debug)]
pub struct ServerEntry {
    /// Name of the server, which is its key in the file.
    pub name: String,
    /// How the client reaches the server.
    pub launch: Launch,
}

/// How a client reaches a server.
#[derive(Clone, Debug)]
pub enum Launch {
    /// The client starts a process, and speaks with it over stdio.
    Process {
        /// Absolute path of the program.
        command: String,
        /// Arguments of the program.
        args: Vec<String>,
    },
    /// The client connects to a running server over HTTP.
    Http {
        /// URL of the endpoint.
        url: String,
    },
}

/// Members of an entry, in the order in which they are written.
pub(crate) type Members = Vec<(&'static str, Member)>;

/// Value of a member of an entry.
#[derive(Clone, Debug)]
pub(crate) enum Member {
    Text(String),
    Texts(Vec<String>),
    Number(u32),
    Flag(bool),
}

/// Keys that say how a client reaches a server. An entry that is replaced loses those of them that its successor lacks, and keeps all other
/// members, which the user has added.
const LAUNCH_KEYS: [&str; 8] =
    ["type", "command", "cmd", "args", "url", "httpUrl", "serverUrl", "uri"];

/// Returns the keys that an entry with these members must not have any more.
pub(crate) fn outdated(members: &Members) -> impl Iterator<Item = &'static str> {
    let is_new = |key: &str| members.iter().any(|(new, _)| *new == key);
    LAUNCH_KEYS.into_iter().filter(move |key| !is_new(key))
}

/// Seconds after which Goose gives up a call, as in its documentation.
const GOOSE_SECONDS: u32 = 300;

impl ServerEntry {
    /// Returns the members of the entry, in the order in which the documentation of the client shows them. `None` if the client cannot
    /// reach a server in this way.
    pub(crate) fn members(&self, client: ClientApp) -> Option<Members> {
        use ClientApp::{
            ClaudeCode, ClaudeDesktop, CodexCli, Cursor, GeminiCli, Goose, Plain, VsCode, Windsurf,
            Zed,
        };

        let text = |key, text: &str| (key, Member::Text(text.to_owned()));
        let mut members = match (client, &self.launch) {
            (ClaudeDesktop, Launch::Http { .. }) => return None,
            (ClaudeCode | VsCode, Launch::Process { .. }) => vec![text("type", "stdio")],
            (ClaudeCode | VsCode | Plain, Launch::Http { .. }) => vec![text("type", "http")],
            (Goose, launch) => {
                let kind = match launch {
                    Launch::Process { .. } => "stdio",
                    Launch::Http { .. } => "streamable_http",
                };
                let enabled = ("enabled", Member::Flag(true));
                vec![text("type", kind), text("name", &self.name), enabled]
            }
            _ => Vec::new(),
        };
        match &self.launch {
            Launch::Process { command, args } => {
                let key = if client == Goose { "cmd" } else { "command" };
                members.extend([text(key, command), ("args", Member::Texts(args.clone()))]);
            }
            Launch::Http { url } => {
                let key = match client {
                    GeminiCli => "httpUrl",
                    Windsurf => "serverUrl",
                    Goose => "uri",
                    ClaudeCode | ClaudeDesktop | CodexCli | Cursor | Plain | VsCode | Zed => "url",
                };
                members.push(text(key, url));
            }
        }
        if client == Goose {
            members.push(("timeout", Member::Number(GOOSE_SECONDS)));
        }
        Some(members)
    }
}

/// Reason why a configuration file is not changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum EditError {
    /// The configuration of this client has no entries for servers that are reached over HTTP.
    NoHttp(ClientApp),
    /// The text cannot be parsed, for this reason.
    Invalid(String),
    /// The value of this key, or the whole file if the key is empty, is no list of servers.
    NoList(&'static str),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHttp(client) => write!(
                f,
                "the configuration file of {} has no entry for a URL: add the URL in the settings of the program",
                client.title()
            ),
            Self::Invalid(why) => write!(f, "the file is not valid: {why}"),
            Self::NoList("") => f.write_str("the file is not an object with keys"),
            Self::NoList(key) => write!(f, "`{key}` in the file is not an object with keys"),
        }
    }
}

impl std::error::Error for EditError {}
