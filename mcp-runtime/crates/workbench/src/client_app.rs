//! Known clients, and the form of their configuration files.

/// Client with a configuration file that lists MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientApp {
    /// Claude Code, the command-line program.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Visual Studio Code.
    VsCode,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    GeminiCli,
    /// Codex CLI.
    CodexCli,
    /// Goose.
    Goose,
    /// Zed.
    Zed,
    /// Windsurf, up to its renaming to Devin Desktop in June 2026, and the legacy agent Cascade of Devin Desktop.
    Windsurf,
    /// Devin Desktop and Devin CLI.
    Devin,
    /// Any other client whose file has the object `mcpServers`.
    Plain,
}

/// Names of the clients' commands and products that are not the beginning of a name.
const ALIASES: [(&str, ClientApp); 7] = [
    ("code", ClientApp::VsCode),
    ("visual-studio-code", ClientApp::VsCode),
    ("copilot", ClientApp::VsCode),
    ("github-copilot", ClientApp::VsCode),
    ("openai-codex", ClientApp::CodexCli),
    ("codeium", ClientApp::Windsurf),
    ("cascade", ClientApp::Windsurf),
];

/// Minimum length of the beginning of a name, in letters.
const SHORTEST_PREFIX: usize = 2;

/// Form of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileForm {
    /// JSON, with comments if the client allows them.
    Json,
    Toml,
    Yaml,
}

impl ClientApp {
    /// All clients, in the order in which a list of them is shown.
    pub const ALL: [Self; 11] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::VsCode,
        Self::Cursor,
        Self::GeminiCli,
        Self::CodexCli,
        Self::Goose,
        Self::Zed,
        Self::Windsurf,
        Self::Devin,
        Self::Plain,
    ];

    /// Returns the name of the client on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::VsCode => "vscode",
            Self::Cursor => "cursor",
            Self::GeminiCli => "gemini-cli",
            Self::CodexCli => "codex-cli",
            Self::Goose => "goose",
            Self::Zed => "zed",
            Self::Windsurf => "windsurf",
            Self::Devin => "devin",
            Self::Plain => "plain",
        }
    }

    /// Returns the name of the client as its documentation writes it, for sentences.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::VsCode => "VS Code",
            Self::Cursor => "Cursor",
            Self::GeminiCli => "Gemini CLI",
            Self::CodexCli => "Codex CLI",
            Self::Goose => "Goose",
            Self::Zed => "Zed",
            Self::Windsurf => "Windsurf",
            Self::Devin => "Devin",
            Self::Plain => "the client",
        }
    }

    /// Returns the text that describes the client in a list of clients.
    pub fn description(self) -> &'static str {
        match self {
            Self::Plain => "another client",
            _ => self.title(),
        }
    }

    /// Whether the file of the client can name values that the client asks its user for, instead of the values themselves.
    pub fn asks(self) -> bool {
        self == Self::VsCode
    }

    /// Returns the client with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Returns the clients that a user may mean with a name that no client has. The name may be another usual name such as `code`, the
    /// beginning of a client's name such as `codex`, or longer than it such as `cursor-editor`. `claude` fits two clients. If more than two
    /// fit, none is returned.
    pub fn meant_by(name: &str) -> Vec<Self> {
        let plain = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
        let given = plain(name);
        let alias = ALIASES.iter().find(|(alias, _)| plain(alias) == given);
        if let Some((_, client)) = alias {
            return vec![*client];
        }
        let fits = |client: &Self| {
            let name = plain(client.name());
            given.len() >= SHORTEST_PREFIX && (name.starts_with(&given) || given.starts_with(&name))
        };
        let clients: Vec<_> = Self::ALL.into_iter().filter(fits).collect();
        if clients.len() > 2 { Vec::new() } else { clients }
    }

    /// Returns the key of the object that lists the servers.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Zed => "context_servers",
            Self::CodexCli => "mcp_servers",
            Self::Goose => "extensions",
            _ => "mcpServers",
        }
    }

    /// Returns the key of a server with this name in the list. Goose writes the entry again under a key without spaces and without
    /// capital letters when its user switches the server on or off.
    pub(crate) fn key(self, name: &str) -> String {
        if self != Self::Goose {
            return name.to_owned();
        }
        let letters = name.chars().filter(|letter| !letter.is_whitespace());
        let is_kept = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let key = letters.map(|letter| if is_kept(letter) { letter } else { '_' });
        key.collect::<String>().to_lowercase()
    }

    pub(crate) fn form(self) -> FileForm {
        match self {
            Self::CodexCli => FileForm::Toml,
            Self::Goose => FileForm::Yaml,
            _ => FileForm::Json,
        }
    }
}
