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
        /// Environment variables of the program.
        env: Vec<Variable>,
    },
    /// The client connects to a running server over HTTP.
    Http {
        /// URL of the endpoint.
        url: String,
    },
}

/// Environment variable that a client sets for the program.
#[derive(Clone)]
pub struct Variable {
    /// Name of the variable.
    pub name: String,
    /// Its value.
    pub value: VariableValue,
}

/// Value of an environment variable.
#[derive(Clone)]
pub enum VariableValue {
    /// A text that is written into the file.
    Text(String),
    /// A value that the client asks its user for, if it can. The file of another client gets the text of `otherwise`.
    Asked {
        /// Name of the question, which is unique in the file.
        id: String,
        /// Text of the question.
        description: String,
        /// Whether the client hides and protects the value.
        is_secret: bool,
        /// Value for clients that cannot ask.
        otherwise: String,
        /// Whether `otherwise` only marks the place of a value. It then never replaces a value in the file.
        is_placeholder: bool,
    },
}

impl fmt::Debug for Variable {
    /// Writes no value, because it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Debug for VariableValue {
    /// Writes no value, because it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) => "Text(…)",
            Self::Asked { .. } => "Asked { … }",
        })
    }
}

/// Question of a client to its user for the value of a variable.
pub(crate) struct Question<'a> {
    pub(crate) id: &'a str,
    pub(crate) description: &'a str,
    pub(crate) is_secret: bool,
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
    /// Variables by name. Other variables of an entry that is replaced stay.
    Variables(Vec<EntryVariable>),
}

/// Variable as a file has it.
#[derive(Clone)]
pub(crate) struct EntryVariable {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Whether the text only marks the place of a value, and so never replaces one.
    pub(crate) is_placeholder: bool,
}

impl fmt::Debug for EntryVariable {
    /// Writes no value, because it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryVariable").field("name", &self.name).finish_non_exhaustive()
    }
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
            ClaudeCode, ClaudeDesktop, CodexCli, Cursor, Devin, GeminiCli, Goose, Plain, VsCode,
            Windsurf, Zed,
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
            Launch::Process { command, args, env } => {
                let key = if client == Goose { "cmd" } else { "command" };
                members.extend([text(key, command), ("args", Member::Texts(args.clone()))]);
                if !env.is_empty() {
                    let key = if client == Goose { "envs" } else { "env" };
                    let env = env.iter().map(|variable| variable.written(client));
                    members.push((key, Member::Variables(env.collect())));
                }
            }
            Launch::Http { url } => {
                let key = match client {
                    GeminiCli => "httpUrl",
                    Windsurf => "serverUrl",
                    Goose => "uri",
                    ClaudeCode | ClaudeDesktop | CodexCli | Cursor | Devin | Plain | VsCode
                    | Zed => "url",
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

impl ServerEntry {
    /// Returns the questions that the file of a client needs.
    pub(crate) fn questions(&self, client: ClientApp) -> Vec<Question<'_>> {
        let Launch::Process { env, .. } = &self.launch else { return Vec::new() };
        let asked = env.iter().filter_map(|variable| match &variable.value {
            VariableValue::Asked { id, description, is_secret, .. } => {
                Some(Question { id, description, is_secret: *is_secret })
            }
            VariableValue::Text(_) => None,
        });
        if client.asks() { asked.collect() } else { Vec::new() }
    }
}

impl ServerEntry {
    /// Returns the names of the variables whose secret values the file of a client contains.
    pub fn secrets(&self, client: ClientApp) -> Vec<&str> {
        let Launch::Process { env, .. } = &self.launch else { return Vec::new() };
        let is_in_file = |variable: &&Variable| {
            let VariableValue::Asked { is_secret, is_placeholder, .. } = &variable.value else {
                return false;
            };
            *is_secret && !*is_placeholder && !client.asks()
        };
        env.iter().filter(is_in_file).map(|variable| &*variable.name).collect()
    }
}

impl Variable {
    fn written(&self, client: ClientApp) -> EntryVariable {
        let (text, is_placeholder) = match &self.value {
            VariableValue::Text(text) => (client.escaped(text), false),
            VariableValue::Asked { id, .. } if client.asks() => (format!("${{input:{id}}}"), false),
            VariableValue::Asked { otherwise, is_placeholder, .. } => {
                (client.escaped(otherwise), *is_placeholder)
            }
        };
        EntryVariable { name: self.name.clone(), text, is_placeholder }
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
