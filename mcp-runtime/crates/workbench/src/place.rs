//! Places of configuration files.

use std::path::PathBuf;

use crate::client_app::ClientApp;

/// For which sessions of the client a server is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All sessions of the user.
    User,
    /// The sessions in the current folder.
    Project,
}

/// Folders of a user, on which the places of files depend.
#[derive(Clone, Debug)]
pub struct Home {
    /// Home folder.
    pub folder: PathBuf,
    /// Folder with the settings of applications: `~/.config` on Linux, `~/Library/Application Support` on macOS, and `%APPDATA%` on Windows.
    pub settings: PathBuf,
    /// Whether the system is Windows, where some clients use other folders.
    pub is_windows: bool,
}

impl Home {
    /// Returns the folders of the user of this process, from its environment. `None` if the environment has no home folder.
    pub fn of_environment(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let is_windows = cfg!(windows);
        let folder = variable(if is_windows { "USERPROFILE" } else { "HOME" })?;
        let settings = if is_windows {
            variable("APPDATA").unwrap_or_else(|| folder.join("AppData").join("Roaming"))
        } else if cfg!(target_os = "macos") {
            folder.join("Library").join("Application Support")
        } else {
            variable("XDG_CONFIG_HOME").unwrap_or_else(|| folder.join(".config"))
        };
        Some(Self { folder, settings, is_windows })
    }

    /// Returns the folder in which some clients keep their settings on Linux and macOS alike.
    fn dot_config(&self) -> PathBuf {
        if self.is_windows { self.settings.clone() } else { self.folder.join(".config") }
    }
}

impl ClientApp {
    /// Returns the configuration file of the client. A file for a project has a relative path. `None` if the client has no such file.
    pub fn file(self, scope: Scope, home: &Home) -> Option<PathBuf> {
        let (folder, settings) = (&home.folder, &home.settings);
        Some(match (scope, self) {
            (Scope::User, Self::ClaudeCode) => folder.join(".claude.json"),
            (Scope::User, Self::ClaudeDesktop) => {
                settings.join("Claude").join("claude_desktop_config.json")
            }
            (Scope::User, Self::VsCode) => settings.join("Code").join("User").join("mcp.json"),
            (Scope::User, Self::Cursor) => folder.join(".cursor").join("mcp.json"),
            (Scope::User, Self::GeminiCli) => folder.join(".gemini").join("settings.json"),
            (Scope::User, Self::CodexCli) => folder.join(".codex").join("config.toml"),
            (Scope::User, Self::Goose) if home.is_windows => {
                settings.join("Block").join("goose").join("config").join("config.yaml")
            }
            (Scope::User, Self::Goose) => home.dot_config().join("goose").join("config.yaml"),
            (Scope::User, Self::Zed) if home.is_windows => {
                settings.join("Zed").join("settings.json")
            }
            (Scope::User, Self::Zed) => home.dot_config().join("zed").join("settings.json"),
            (Scope::User, Self::Windsurf) => {
                folder.join(".codeium").join("windsurf").join("mcp_config.json")
            }
            (Scope::Project, Self::ClaudeCode) => ".mcp.json".into(),
            (Scope::Project, Self::VsCode) => ".vscode/mcp.json".into(),
            (Scope::Project, Self::Cursor) => ".cursor/mcp.json".into(),
            (Scope::Project, Self::GeminiCli) => ".gemini/settings.json".into(),
            (Scope::Project, Self::CodexCli) => ".codex/config.toml".into(),
            (Scope::Project, Self::Zed) => ".zed/settings.json".into(),
            (Scope::Project, Self::ClaudeDesktop | Self::Goose | Self::Windsurf)
            | (_, Self::Plain) => return None,
        })
    }
}
