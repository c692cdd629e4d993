//! Entry of a server in the configuration file of a client, and the errors if the file cannot take it.

use std::fmt;

use crate::client_app::ClientApp;

/// Server in the configuration of a client.
#[derive(Clone, Debug)]
pub struct ServerEntry {
    /// Name of the server, which is its key in the file.
    pub name: String,
    /// Process or URL of the server.
    pub launch: Launch,
}

/// Process that a client starts, or URL to which it connects.
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
        /// Names and values of the headers that the client sends.
        headers: Vec<(String, String)>,
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
    pub(crate) variable: &'a str,
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

/// Entry in the form of a client.
pub(crate) struct EntryForm {
    pub(crate) members: Members,
    /// Keys of the other kind of server.
    other_kind: &'static [&'static str],
}

impl EntryForm {
    /// Returns the keys that an older entry of this name loses. All its other members stay, because the user has added them.
    pub(crate) fn outdated(&self, old_has: impl Fn(&str) -> bool) -> Vec<&'static str> {
        let is_old = |key: &&str| self.members.iter().all(|(new, _)| new != key);
        // With a URL, Goose inserts the values of `envs` into headers. Beside `cmd`, they are those of the process.
        let is_of_user = |key: &&str| *key == "envs" && !old_has("cmd");
        let other_kind = self.other_kind.iter().copied().filter(|key| !is_of_user(key));
        TARGET_KEYS.into_iter().filter(is_old).chain(other_kind).collect()
    }

    /// Returns the members to write into an older entry of this name.
    pub(crate) fn into_changes(self, old_has: impl Fn(&str) -> bool) -> Members {
        let is_kept = |(key, _): &(&str, Member)| OF_THE_USER.contains(key) && old_has(key);
        self.members.into_iter().filter(|member| !is_kept(member)).collect()
    }
}

/// Keys of an entry for Goose whose values its user may have changed.
const OF_THE_USER: [&str; 2] = ["enabled", "timeout"];

/// Keys that name the process or the URL. An entry has only those that its client reads.
const TARGET_KEYS: [&str; 8] =
    ["type", "command", "cmd", "args", "url", "httpUrl", "serverUrl", "uri"];

/// Other keys that only a process has. Codex rejects its whole file if one that it knows stands beside a URL.
const PROCESS_KEYS: [&str; 5] = ["env", "envs", "env_vars", "envFile", "cwd"];

/// Other keys that only a URL has. Codex rejects its whole file if one that it knows stands beside a command.
const URL_KEYS: [&str; 9] = [
    "headers",
    "headersHelper",
    "http_headers",
    "env_http_headers",
    "bearer_token",
    "bearer_token_env_var",
    "auth",
    "oauth",
    "oauth_resource",
];

/// Seconds after which Goose gives up a call, as in its documentation.
const GOOSE_SECONDS: u32 = 300;

impl ServerEntry {
    /// Returns the entry as the file of the client has it. `None` if the client cannot reach a server in this way.
    pub(crate) fn form(&self, client: ClientApp) -> Option<EntryForm> {
        let other_kind = match self.launch {
            Launch::Process { .. } => &URL_KEYS[..],
            Launch::Http { .. } => &PROCESS_KEYS,
        };
        Some(EntryForm { members: self.members(client)?, other_kind })
    }

    /// Returns the members of the entry, in the order in which the documentation of the client shows them. `None` if the client cannot
    /// reach a server in this way.
    fn members(&self, client: ClientApp) -> Option<Members> {
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
            Launch::Http { url, headers } => {
                let key = match client {
                    GeminiCli => "httpUrl",
                    Windsurf => "serverUrl",
                    Goose => "uri",
                    ClaudeCode | ClaudeDesktop | CodexCli | Cursor | Devin | Plain | VsCode
                    | Zed => "url",
                };
                members.push(text(key, url));
                if !headers.is_empty() {
                    let key = if client == CodexCli { "http_headers" } else { "headers" };
                    let written = headers.iter().map(|(name, text)| {
                        let (name, text) = (name.clone(), client.escaped(text));
                        EntryVariable { name, text, is_placeholder: false }
                    });
                    members.push((key, Member::Variables(written.collect())));
                }
            }
        }
        if client == Goose {
            members.push(("timeout", Member::Number(GOOSE_SECONDS)));
        }
        Some(members)
    }
}

impl ServerEntry {
    /// Returns the questions that the entry in the text of a file refers to.
    pub(crate) fn questions(&self, client: ClientApp, text: &str) -> Vec<Question<'_>> {
        let asked = self.variables().iter().filter_map(|Variable { name, value }| match value {
            VariableValue::Asked { id, description, is_secret, .. } => {
                Some(Question { variable: name, id, description, is_secret: *is_secret })
            }
            VariableValue::Text(_) => None,
        });
        let is_used = |question: &Question<'_>| {
            client.value(&self.name, question.variable, text) == Some(reference(question.id))
        };
        if client.asks() { asked.filter(is_used).collect() } else { Vec::new() }
    }

    /// Returns the names of the variables for whose values the client asks its user. `text` is that of the file with the entry.
    pub fn asked(&self, client: ClientApp, text: &str) -> Vec<&str> {
        self.questions(client, text).into_iter().map(|question| question.variable).collect()
    }

    /// Returns the names of the variables that have a placeholder in place of a value. `text` is that of the file with the entry.
    pub fn unset(&self, client: ClientApp, text: &str) -> Vec<&str> {
        let is_unset = |variable: &&Variable| match &variable.value {
            VariableValue::Asked { otherwise, is_placeholder: true, .. } => {
                client.value(&self.name, &variable.name, text).as_ref() == Some(otherwise)
            }
            _ => false,
        };
        self.variables().iter().filter(is_unset).map(|variable| &*variable.name).collect()
    }

    fn variables(&self) -> &[Variable] {
        match &self.launch {
            Launch::Process { env, .. } => env,
            Launch::Http { .. } => &[],
        }
    }
}

impl ServerEntry {
    /// Returns the names of the variables whose secret values the file of a client contains, and of all headers.
    pub fn secrets(&self, client: ClientApp) -> Vec<&str> {
        if let Launch::Http { headers, .. } = &self.launch {
            return headers.iter().map(|(name, _)| &**name).collect();
        }
        let is_in_file = |variable: &&Variable| {
            let VariableValue::Asked { is_secret, is_placeholder, .. } = &variable.value else {
                return false;
            };
            *is_secret && !*is_placeholder && !client.asks()
        };
        self.variables().iter().filter(is_in_file).map(|variable| &*variable.name).collect()
    }
}

impl Variable {
    fn written(&self, client: ClientApp) -> EntryVariable {
        let (text, is_placeholder) = match &self.value {
            VariableValue::Text(text) => (client.escaped(text), false),
            VariableValue::Asked { id, is_placeholder, .. } if client.asks() => {
                (reference(id), *is_placeholder)
            }
            VariableValue::Asked { otherwise, is_placeholder, .. } => {
                (client.escaped(otherwise), *is_placeholder)
            }
        };
        EntryVariable { name: self.name.clone(), text, is_placeholder }
    }
}

/// Returns the text that stands for the answer to a question.
pub(crate) fn reference(question: &str) -> String {
    format!("${{input:{question}}}")
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

#[cfg(test)]
mod tests;
