//! Places of configuration files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::client_app::ClientApp;

/// For which sessions of the client a server is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All sessions of the user.
    User,
    /// The sessions in the current folder.
    Project,
}

/// Operating system, on which the places of files depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Linux, and other systems with its folders.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl System {
    /// Returns the system of this process.
    pub fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// Folders of a user, on which the places of files depend.
#[derive(Clone, Debug)]
pub struct Home {
    system: System,
    /// Home folder.
    folder: PathBuf,
    /// Folder with the settings of applications: `~/.config` on Linux, `~/Library/Application Support` on macOS, and `%APPDATA%` on Windows.
    settings: PathBuf,
    /// Folder of the variable `XDG_CONFIG_HOME`.
    xdg_config: Option<PathBuf>,
    /// Folder of Claude Desktop.
    claude_desktop: PathBuf,
    /// Folder of the variable `CLAUDE_CONFIG_DIR`.
    claude_code: Option<PathBuf>,
    /// Folder of the variable `CODEX_HOME`.
    codex: Option<PathBuf>,
    /// Folder of the variable `GEMINI_CLI_HOME`, which replaces the home folder.
    gemini: Option<PathBuf>,
    /// Folder of the variable `GOOSE_PATH_ROOT`.
    goose: Option<PathBuf>,
}

impl Home {
    /// Returns the folders of the user of this process, from its environment. `None` if the environment has no home folder.
    pub fn of_environment(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        Self::of_system(System::current(), variable)
    }

    /// Returns the folders of a user of this system. On Windows, it also looks for the folder of an installed Claude Desktop. `None` if the
    /// environment has no home folder.
    pub fn of_system(system: System, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        let is_windows = system == System::Windows;
        let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
        let folder = variable(if is_windows { "USERPROFILE" } else { "HOME" })?;
        // The specification of this variable says that programs ignore relative paths.
        let xdg_config = absolute("XDG_CONFIG_HOME").filter(|_| !is_windows);
        let settings = match system {
            System::Windows => {
                variable("APPDATA").unwrap_or_else(|| folder.join("AppData").join("Roaming"))
            }
            System::MacOs => folder.join("Library").join("Application Support"),
            System::Linux => xdg_config.clone().unwrap_or_else(|| folder.join(".config")),
        };
        let package = is_windows.then(|| {
            let local = variable("LOCALAPPDATA");
            claude_package(&local.unwrap_or_else(|| folder.join("AppData").join("Local")))
        });
        Some(Self {
            system,
            claude_desktop: package.flatten().unwrap_or_else(|| settings.join("Claude")),
            claude_code: variable("CLAUDE_CONFIG_DIR"),
            codex: variable("CODEX_HOME"),
            gemini: variable("GEMINI_CLI_HOME"),
            goose: absolute("GOOSE_PATH_ROOT"),
            folder,
            settings,
            xdg_config,
        })
    }

    /// Returns the folder in which some clients keep their settings on Linux and macOS alike.
    fn dot_config(&self) -> PathBuf {
        match self.system {
            System::Windows => self.settings.clone(),
            System::MacOs | System::Linux => self.folder.join(".config"),
        }
    }

    /// Returns the folder with the configuration of Goose.
    fn goose(&self) -> PathBuf {
        match (&self.goose, self.system) {
            (Some(root), _) => root.join("config"),
            (None, System::Windows) => self.settings.join("Block").join("goose").join("config"),
            (None, _) => self.xdg_config.clone().unwrap_or_else(|| self.dot_config()).join("goose"),
        }
    }

    /// Returns the folder with the settings of Zed.
    fn zed(&self) -> PathBuf {
        match self.system {
            System::Windows => self.settings.join("Zed"),
            System::Linux => self.settings.join("zed"),
            System::MacOs => self.dot_config().join("zed"),
        }
    }
}

/// Name of the configuration file of Claude Desktop.
const CLAUDE_DESKTOP_FILE: &str = "claude_desktop_config.json";

/// Returns the folder that Claude Desktop reads in place of `%APPDATA%\Claude` if it is installed as a package (MSIX). This is the usual way
/// since February 2026. When such a package opens `%APPDATA%\Claude`, Windows gives it this folder.
fn claude_package(local: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(local.join("Packages")).ok()?.filter_map(Result::ok);
    let claude =
        packages.filter(|package| package.file_name().to_string_lossy().starts_with("Claude_"));
    let folders =
        claude.map(|package| package.path().join("LocalCache").join("Roaming").join("Claude"));
    let mut folders: Vec<_> = folders.filter(|folder| folder.is_dir()).collect();
    // An old package may have left its folder, so a folder with the file comes first.
    folders.sort_by_key(|folder| (!folder.join(CLAUDE_DESKTOP_FILE).is_file(), folder.clone()));
    folders.into_iter().next()
}

impl ClientApp {
    /// Returns the configuration file of the client. A file for a project has a relative path. `None` if the client has no such file.
    pub fn file(self, scope: Scope, home: &Home) -> Option<PathBuf> {
        let folder = &home.folder;
        Some(match (scope, self) {
            (Scope::User, Self::ClaudeCode) => {
                home.claude_code.as_ref().unwrap_or(folder).join(".claude.json")
            }
            (Scope::User, Self::ClaudeDesktop) => home.claude_desktop.join(CLAUDE_DESKTOP_FILE),
            (Scope::User, Self::VsCode) => home.settings.join("Code").join("User").join("mcp.json"),
            (Scope::User, Self::Cursor) => folder.join(".cursor").join("mcp.json"),
            (Scope::User, Self::GeminiCli) => {
                home.gemini.as_ref().unwrap_or(folder).join(".gemini").join("settings.json")
            }
            (Scope::User, Self::CodexCli) => {
                home.codex.clone().unwrap_or_else(|| folder.join(".codex")).join("config.toml")
            }
            (Scope::User, Self::Goose) => home.goose().join("config.yaml"),
            (Scope::User, Self::Zed) => home.zed().join("settings.json"),
            (Scope::User, Self::Windsurf) => {
                folder.join(".codeium").join("windsurf").join("mcp_config.json")
            }
            (Scope::User, Self::Devin) => home.dot_config().join("devin").join("mcp_config.json"),
            (Scope::Project, Self::ClaudeCode) => ".mcp.json".into(),
            (Scope::Project, Self::VsCode) => ".vscode/mcp.json".into(),
            (Scope::Project, Self::Cursor) => ".cursor/mcp.json".into(),
            (Scope::Project, Self::GeminiCli) => ".gemini/settings.json".into(),
            (Scope::Project, Self::CodexCli) => ".codex/config.toml".into(),
            (Scope::Project, Self::Zed) => ".zed/settings.json".into(),
            (Scope::Project, Self::Devin) => ".devin/mcp_config.json".into(),
            (Scope::Project, Self::ClaudeDesktop | Self::Goose | Self::Windsurf)
            | (_, Self::Plain) => return None,
        })
    }
}

#[cfg(test)]
mod tests;
