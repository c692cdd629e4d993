//! Content of an MCP bundle, an archive that a client installs with a click.

use std::fmt;

use serde::Serialize;

use crate::setting::Setting;

/// First bytes of each PNG file.
const PNG: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];

/// Content of an MCP bundle (`.mcpb`).
///
/// ```
/// use mcp_runtime_workbench::{Bundle, BundlePlatform};
///
/// let mut bundle = Bundle::new("notes", "1.0.0", "Finds notes", "Ada");
/// bundle.platform = Some(BundlePlatform::Linux);
/// assert!(bundle.manifest().contains(r#""command": "${__dirname}/server/notes""#));
/// let archive = bundle.archive(b"\x7fELF").unwrap();
/// assert!(archive.starts_with(b"PK"));
/// ```
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Name of the bundle, and of its program.
    pub name: String,
    /// Name for people.
    pub display_name: Option<String>,
    /// Version of the server.
    pub version: String,
    /// Description of the server, in a line.
    pub description: String,
    /// Name of the author.
    pub author: String,
    /// E-mail address of the author.
    pub email: Option<String>,
    /// URL of the repository.
    pub repository: Option<String>,
    /// URL of the website.
    pub homepage: Option<String>,
    /// SPDX expression of the licence.
    pub license: Option<String>,
    /// Icon of the server.
    pub icon: Option<BundleIcon>,
    /// Tools that the server has in any case.
    pub tools: Vec<BundledTool>,
    /// Prompts whose text is known.
    pub prompts: Vec<BundledPrompt>,
    /// Whether the server has prompts whose text is not known.
    pub has_other_prompts: bool,
    /// Whether the server adds items while it runs.
    pub is_dynamic: bool,
    /// Values that the client asks its user for.
    pub settings: Vec<Setting>,
    /// System that the program runs on. `None` if the format has no name for it.
    pub platform: Option<BundlePlatform>,
}

/// Tool in the manifest of a bundle.
#[derive(Clone, Debug, Serialize)]
pub struct BundledTool {
    /// Name of the tool.
    pub name: String,
    /// Description of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Prompt in the manifest of a bundle.
#[derive(Clone, Debug, Serialize)]
pub struct BundledPrompt {
    /// Name of the prompt.
    pub name: String,
    /// Description of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Names of its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Text, in which `${arguments.NAME}` stands for an argument.
    pub text: String,
}

/// Icon of a bundle.
#[derive(Clone, PartialEq, Eq)]
pub enum BundleIcon {
    /// Bytes of a PNG file, which the bundle contains.
    Png(Vec<u8>),
    /// URL of a PNG file.
    Url(String),
}

impl fmt::Debug for BundleIcon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BundleIcon").field(&self.place()).finish()
    }
}

impl BundleIcon {
    pub(crate) const FILE: &'static str = "icon.png";

    /// Returns the icon with these bytes. `None` if they are no PNG file, which is the only format of icons in bundles.
    pub fn png(bytes: Vec<u8>) -> Option<Self> {
        bytes.starts_with(&PNG).then_some(Self::Png(bytes))
    }

    /// Returns the member `icon` of the manifest: the file in the bundle, or the URL.
    pub(crate) fn place(&self) -> &str {
        match self {
            Self::Png(_) => Self::FILE,
            Self::Url(url) => url,
        }
    }
}

/// System that the program of a bundle runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundlePlatform {
    /// macOS.
    Macos,
    /// Windows.
    Windows,
    /// Linux.
    Linux,
}

impl BundlePlatform {
    /// Returns the system with this name in [`std::env::consts::OS`]. `None` if the format of bundles does not know it.
    pub fn of_system(os: &str) -> Option<Self> {
        match os {
            "macos" => Some(Self::Macos),
            "windows" => Some(Self::Windows),
            "linux" => Some(Self::Linux),
            _ => None,
        }
    }

    /// Returns the name in the manifest.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Macos => "darwin",
            Self::Windows => "win32",
            Self::Linux => "linux",
        }
    }
}

impl Bundle {
    /// Returns a bundle with the members that the format requires.
    pub fn new(name: &str, version: &str, description: &str, author: &str) -> Self {
        Self {
            name: name.to_owned(),
            display_name: None,
            version: version.to_owned(),
            description: description.to_owned(),
            author: author.to_owned(),
            email: None,
            repository: None,
            homepage: None,
            license: None,
            icon: None,
            tools: Vec::new(),
            prompts: Vec::new(),
            has_other_prompts: false,
            is_dynamic: false,
            settings: Vec::new(),
            platform: None,
        }
    }

    /// Returns the path of the program in the bundle.
    pub(crate) fn entry_point(&self) -> String {
        let ending = if self.platform == Some(BundlePlatform::Windows) { ".exe" } else { "" };
        format!("server/{}{ending}", self.file_stem())
    }

    /// Returns the name of the server as part of the name of a file, which never leads out of a folder. Characters other than ASCII letters, digits,
    /// `.`, `_` and `-` become `-`.
    pub fn file_stem(&self) -> String {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let name = self.name.chars().map(|letter| if plain(letter) { letter } else { '-' });
        name.collect::<String>().trim_start_matches('.').to_owned()
    }
}
