//! The entry of a server in the registry (`server.json`).

use std::fmt;

use serde::Serialize;

use crate::{
    registry_name::RegistryName,
    setting::{Setting, SettingKind, is_false},
};

/// Schema that the entry follows.
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Maximum number of characters of a title or of a description.
const MOST: usize = 100;

/// Entry of a server in the registry.
///
/// ```
/// use mcp_runtime_workbench::{RegistryEntry, RegistryName, RegistryTarget};
///
/// let name = RegistryName::new("io.github.ada/notes").unwrap();
/// let target = RegistryTarget::Remote { url: "https://example.com/mcp".to_owned() };
/// let entry = RegistryEntry::new(name, "1.0.0", "Finds notes", target);
/// assert!(entry.text().unwrap().contains(r#""url": "https://example.com/mcp""#));
/// ```
#[derive(Clone, Debug)]
pub struct RegistryEntry {
    /// Name of the server in the registry.
    pub name: RegistryName,
    /// Name for people.
    pub title: Option<String>,
    /// Description of the server, in at most 100 characters.
    pub description: String,
    /// Version of the server.
    pub version: String,
    /// URL of the website.
    pub website: Option<String>,
    /// Repository of the source.
    pub repository: Option<SourceRepository>,
    /// Icons of the server.
    pub icons: Vec<RegistryIcon>,
    /// Package or URL through which clients reach the server.
    pub target: RegistryTarget,
}

/// Package or URL through which clients reach a server.
#[derive(Clone, Debug)]
pub enum RegistryTarget {
    /// Users install the server with `cargo install`.
    CargoPackage {
        /// Name of the package.
        package: String,
        /// Version of the package.
        version: String,
        /// Values that the client asks its user for.
        settings: Vec<Setting>,
    },
    /// The server runs at a URL.
    Remote {
        /// URL of the endpoint.
        url: String,
    },
}

/// Repository at a service that the registry knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceRepository {
    url: String,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subfolder: Option<String>,
}

impl SourceRepository {
    /// Returns the repository at a URL. `None` if the registry knows no such service: it knows GitHub and GitLab.
    pub fn of_url(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
        let rest = rest.strip_prefix("www.").unwrap_or(rest);
        let (host, path) = rest.split_once('/')?;
        let source = match host {
            "github.com" => "github",
            "gitlab.com" => "gitlab",
            _ => return None,
        };
        // A URL of a folder has the name of the branch before the path.
        let mark = if source == "github" { "/tree/" } else { "/-/tree/" };
        let (path, folder) = match path.split_once(mark) {
            Some((path, folder)) => (path, folder.split_once('/').map(|(_, folder)| folder)),
            None => (path, None),
        };
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let parts: Vec<&str> = path.split('/').collect();
        let is_plain = |part: &&str| {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
            !part.is_empty() && part.chars().all(plain)
        };
        let is_known = parts.iter().all(is_plain)
            && if source == "github" { parts.len() == 2 } else { parts.len() > 1 };
        let subfolder = folder.map(|folder| folder.trim_end_matches('/').to_owned());
        is_known.then(|| Self {
            url: format!("https://{host}/{path}"),
            source,
            subfolder: subfolder.filter(|folder| !folder.is_empty()),
        })
    }

    /// Returns the name that the owner of the repository can give to a server, as `io.github.OWNER/NAME`. `None` if it is not at GitHub.
    pub fn name_of(&self, server: &str) -> Option<RegistryName> {
        let owner = self.url.strip_prefix("https://github.com/")?.split('/').next()?;
        RegistryName::new(&format!("io.github.{owner}/{server}")).ok()
    }
}

/// Icon at a URL.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryIcon {
    src: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sizes: Vec<String>,
}

impl RegistryIcon {
    /// Returns the icon. `None` if the registry does not take its URL, its media type or its sizes.
    pub fn new(src: &str, mime_type: Option<&str>, sizes: &[&str]) -> Option<Self> {
        let types = ["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"];
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
        let is_size = |size: &&str| {
            *size == "any"
                || size.split_once('x').is_some_and(|(a, b)| is_number(a) && is_number(b))
        };
        let is_taken = src.starts_with("https://")
            && src.len() <= 255
            && mime_type.is_none_or(|mime_type| types.contains(&mime_type))
            && sizes.iter().all(is_size);
        is_taken.then(|| Self {
            src: src.to_owned(),
            mime_type: mime_type.map(str::to_owned),
            sizes: sizes.iter().map(|size| (*size).to_owned()).collect(),
        })
    }
}

/// Reason why the registry would reject an entry.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryProblem {
    /// The description is empty, or has this many characters.
    Description(usize),
    /// The title is blank, or has this many characters.
    Title(usize),
    /// The text is no version of a release, such as `1.2.0`.
    Version(String),
    /// The URL of the website does not begin with `https://`.
    Website(String),
    /// The URL of the server is not public.
    Url(String),
}

impl fmt::Display for EntryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Description(0) => f.write_str("the description is empty"),
            Self::Description(count) => {
                write!(f, "the description has {count} characters, and the registry takes {MOST}")
            }
            Self::Title(0) => f.write_str("the title is blank"),
            Self::Title(count) => {
                write!(f, "the title has {count} characters, and the registry takes {MOST}")
            }
            Self::Version(version) => write!(f, "`{version}` is no version of a single release"),
            Self::Website(url) => write!(f, "the website `{url}` does not begin with `https://`"),
            Self::Url(url) => {
                write!(
                    f,
                    "`{url}` is no public URL: it must begin with `https://` and a host and no user"
                )
            }
        }
    }
}

impl std::error::Error for EntryProblem {}

impl RegistryEntry {
    /// Returns an entry with the members that the registry requires.
    pub fn new(
        name: RegistryName,
        version: &str,
        description: &str,
        target: RegistryTarget,
    ) -> Self {
        Self {
            name,
            title: None,
            description: description.to_owned(),
            version: version.to_owned(),
            website: None,
            repository: None,
            icons: Vec::new(),
            target,
        }
    }

    /// Returns the text of `server.json`.
    ///
    /// # Errors
    /// Fails with all reasons for which the registry would reject the entry.
    ///
    /// # Panics
    /// Never: all members are texts and lists.
    pub fn text(&self) -> Result<String, Vec<EntryProblem>> {
        let problems = self.problems();
        if !problems.is_empty() {
            return Err(problems);
        }
        let text = serde_json::to_string_pretty(&ServerJson::of(self));
        Ok(text.expect("the entry has no keys other than texts") + "\n")
    }

    fn problems(&self) -> Vec<EntryProblem> {
        let mut found = Vec::new();
        let length = self.description.trim().chars().count();
        if length == 0 || length > MOST {
            found.push(EntryProblem::Description(length));
        }
        let title = self.title.as_ref().map(|title| title.trim().chars().count());
        found
            .extend(title.filter(|length| *length == 0 || *length > MOST).map(EntryProblem::Title));
        let website = self.website.iter().filter(|url| !url.starts_with("https://"));
        found.extend(website.cloned().map(EntryProblem::Website));
        let mut versions = vec![&self.version];
        match &self.target {
            RegistryTarget::CargoPackage { version, .. } if *version != self.version => {
                versions.push(version);
            }
            RegistryTarget::Remote { url } if !is_public(url) => {
                found.push(EntryProblem::Url(url.clone()));
            }
            _ => {}
        }
        let versions = versions.into_iter().filter(|version| !is_release(version));
        found.extend(versions.cloned().map(EntryProblem::Version));
        found
    }
}

/// Whether the URL may be in the registry. The registry rejects addresses of the machine itself, variables that the entry does not describe,
/// and URLs without TLS. This function also rejects a user and a password, because everybody could read them.
fn is_public(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // An IPv6 address has colons of its own, within brackets.
    let host = match authority.starts_with('[') {
        true => authority.split_inclusive(']').next().unwrap_or_default(),
        false => authority.split(':').next().unwrap_or_default(),
    };
    !host.is_empty()
        && !authority.contains('@')
        && !url.contains(|letter: char| letter.is_whitespace() || "{}".contains(letter))
        && !["localhost", "127.0.0.1", "[::1]"].contains(&host)
        && host.starts_with('[') == host.ends_with(']')
        && !host.ends_with(".localhost")
}

/// Whether a text is the version of a single release, and not a range.
fn is_release(version: &str) -> bool {
    let is_known = |letter: char| letter.is_ascii_alphanumeric() || ".-+".contains(letter);
    version.starts_with(|first: char| first.is_ascii_digit())
        && version.len() <= 255
        && version.chars().all(is_known)
        && !version.split('.').any(|part| part.eq_ignore_ascii_case("x"))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerJson<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<&'a SourceRepository>,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    website_url: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    icons: &'a [RegistryIcon],
    #[serde(skip_serializing_if = "Option::is_none")]
    packages: Option<[RegistryPackage<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remotes: Option<[RegistryTransport<'a>; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RegistryPackage<'a> {
    registry_type: &'static str,
    identifier: &'a str,
    version: &'a str,
    transport: RegistryTransport<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    package_arguments: Vec<RegistryInput<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    environment_variables: Vec<RegistryInput<'a>>,
}

#[derive(Serialize)]
struct RegistryTransport<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

/// Argument or variable that the client asks its user for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RegistryInput<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    argument: Option<&'static str>,
    name: String,
    description: String,
    #[serde(skip_serializing_if = "is_false")]
    is_required: bool,
    format: &'static str,
    #[serde(skip_serializing_if = "is_false")]
    is_secret: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'a str>,
    /// All possible values.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    choices: &'a [String],
}

impl<'a> ServerJson<'a> {
    fn of(entry: &'a RegistryEntry) -> Self {
        let (mut packages, mut remotes) = (None, None);
        match &entry.target {
            RegistryTarget::CargoPackage { package, version, settings } => {
                let (arguments, variables): (Vec<_>, Vec<_>) =
                    settings.iter().partition(|setting| setting.is_argument());
                packages = Some([RegistryPackage {
                    registry_type: "cargo",
                    identifier: package,
                    version,
                    transport: RegistryTransport { r#type: "stdio", url: None },
                    package_arguments: arguments.into_iter().map(Setting::input).collect(),
                    environment_variables: variables.into_iter().map(Setting::input).collect(),
                }]);
            }
            RegistryTarget::Remote { url } => {
                remotes = Some([RegistryTransport { r#type: "streamable-http", url: Some(url) }]);
            }
        }
        Self {
            schema: SCHEMA,
            name: entry.name.as_str(),
            title: entry.title.as_deref().map(str::trim),
            description: entry.description.trim(),
            repository: entry.repository.as_ref(),
            version: &entry.version,
            website_url: entry.website.as_deref(),
            icons: &entry.icons,
            packages,
            remotes,
        }
    }
}

impl Setting {
    /// Whether the value is an argument. Other users of the machine may see arguments, and an argument cannot be left empty as a variable
    /// can.
    fn is_argument(&self) -> bool {
        self.is_required && !self.is_secret && !self.is_list && self.kind != SettingKind::Flag
    }

    fn input(&self) -> RegistryInput<'_> {
        let (argument, name) = match self.is_argument() {
            true => (Some("named"), format!("--{}", self.option)),
            false => (None, self.variable.clone()),
        };
        let format = match self.kind {
            _ if self.is_list => "string",
            SettingKind::Flag => "boolean",
            SettingKind::Number { .. } => "number",
            kind if kind.is_path() => "filepath",
            _ => "string",
        };
        RegistryInput {
            argument,
            name,
            description: match self.is_list {
                true => self.description_of_text(),
                false => self.description.clone(),
            },
            is_required: self.is_required,
            format,
            is_secret: self.is_secret,
            default: self.default(),
            // A text with several values is none of them.
            choices: if self.is_list { &[] } else { &self.choices },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::setting::example as setting;

    fn package(settings: Vec<Setting>) -> RegistryEntry {
        let (package, version) = ("notes".to_owned(), "1.0.0".to_owned());
        let target = RegistryTarget::CargoPackage { package, version, settings };
        let name = RegistryName::new("io.github.ada/notes").expect("a name");
        RegistryEntry::new(name, "1.0.0", "Finds notes", target)
    }

    fn json_of(entry: &RegistryEntry) -> Value {
        serde_json::from_str(&entry.text().expect("an entry")).expect("JSON")
    }

    /// Form of the schema 2025-12-11, and of cargo packages. Sources, read on 2026-11-27: `internal/validators/schemas/2025-12-11.json` and
    /// `docs/modelcontextprotocol-io/package-types.mdx` of `modelcontextprotocol/registry`.
    #[test]
    fn a_small_entry_has_only_the_required_members() {
        let expected = json!({
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
            "name": "io.github.ada/notes",
            "description": "Finds notes",
            "version": "1.0.0",
            "packages": [{
                "registryType": "cargo",
                "identifier": "notes",
                "version": "1.0.0",
                "transport": { "type": "stdio" }
            }]
        });
        assert_eq!(json_of(&package(Vec::new())), expected);
    }

    #[test]
    fn a_required_value_is_an_argument_and_every_other_value_a_variable() {
        let root = Setting { is_required: true, ..setting("root", SettingKind::Directory) };
        let secret = Setting {
            is_required: true,
            is_secret: true,
            default: Some("hunter2".to_owned()),
            ..setting("api-key", SettingKind::Text)
        };
        let flag =
            Setting { default: Some("false".to_owned()), ..setting("all", SettingKind::Flag) };
        let number = SettingKind::Number { least: Some(0), most: None };
        let retries = Setting { default: Some("5".to_owned()), ..setting("retries", number) };
        let folders = Setting { is_list: true, ..setting("folder", SettingKind::Directory) };
        let choices = ["en", "no"].map(str::to_owned).to_vec();
        let language =
            Setting { choices: choices.clone(), ..setting("language", SettingKind::Text) };
        let languages =
            Setting { choices, is_list: true, ..setting("languages", SettingKind::Text) };
        let entry = package(vec![root, secret, flag, retries, folders, language, languages]);
        assert!(!entry.text().expect("an entry").contains("hunter2"));
        let package = &json_of(&entry)["packages"][0];
        let arguments = json!([{
            "type": "named", "name": "--root", "description": "The root", "isRequired": true, "format": "filepath"
        }]);
        assert_eq!(package["packageArguments"], arguments);
        let variables = json!([
            { "name": "NOTES_API_KEY", "description": "The api-key", "isRequired": true, "format": "string", "isSecret": true },
            { "name": "NOTES_ALL", "description": "The all", "format": "boolean", "default": "false" },
            { "name": "NOTES_RETRIES", "description": "The retries", "format": "number", "default": "5" },
            {
                "name": "NOTES_FOLDER",
                "description": "The folder (several values have commas between them)",
                "format": "string"
            },
            {
                "name": "NOTES_LANGUAGE", "description": "The language", "format": "string", "choices": ["en", "no"]
            },
            {
                "name": "NOTES_LANGUAGES",
                "description": "The languages: en, no (several values have commas between them)",
                "format": "string"
            },
        ]);
        assert_eq!(package["environmentVariables"], variables);
    }

    #[test]
    fn all_reasons_for_which_the_registry_rejects_an_entry_are_found() {
        let mut entry = package(Vec::new());
        entry.description = "ä".repeat(101);
        entry.title = Some(" ".to_owned());
        entry.website = Some("http://example.com".to_owned());
        entry.version = "1.x".to_owned();
        let expected = [
            EntryProblem::Description(101),
            EntryProblem::Title(0),
            EntryProblem::Website("http://example.com".to_owned()),
            EntryProblem::Version("1.x".to_owned()),
        ];
        assert_eq!(entry.text().unwrap_err(), expected);
        entry.description = "ä".repeat(100);
        (entry.title, entry.website) = (Some(format!("{} ", "t".repeat(100))), None);
        entry.version = "2.0.0-beta.1+x".to_owned();
        assert_eq!(json_of(&entry)["title"], "t".repeat(100));
    }

    #[test]
    fn a_url_in_the_registry_is_public() {
        let of_url = |url: &str| {
            let target = RegistryTarget::Remote { url: url.to_owned() };
            RegistryEntry { target, ..package(Vec::new()) }
        };
        for url in [
            "https://example.com/mcp",
            "https://example.com:8443/mcp",
            "https://[2001:db8::1]:8443/mcp",
        ] {
            let remotes = json!([{ "type": "streamable-http", "url": url }]);
            let entry = json_of(&of_url(url));
            assert_eq!((&entry["remotes"], &entry["packages"]), (&remotes, &Value::Null));
        }
        for url in [
            "http://example.com/mcp",
            "https://",
            "https://localhost/mcp",
            "https://a.localhost:1/mcp",
            "https://127.0.0.1/mcp",
            "https://[::1]/mcp",
            "https://[::1]:8443/mcp",
            "https://[::1",
            "https://{tenant}.example.com/mcp",
            "https://user:password@example.com/mcp",
            "https://user@localhost/mcp",
        ] {
            let problems = of_url(url).text().unwrap_err();
            assert_eq!(problems, [EntryProblem::Url(url.to_owned())]);
        }
    }

    #[test]
    fn a_repository_is_one_of_a_service_that_the_registry_knows() {
        let found = |url: &str| {
            let found = SourceRepository::of_url(url)?;
            Some((found.url, found.source, found.subfolder.unwrap_or_default()))
        };
        let github = |folder: &str| {
            Some(("https://github.com/ada/notes".to_owned(), "github", folder.to_owned()))
        };
        assert_eq!(found("https://github.com/ada/notes"), github(""));
        assert_eq!(found("http://www.github.com/ada/notes.git"), github(""));
        assert_eq!(
            found("https://github.com/ada/notes/tree/main/crates/server/"),
            github("crates/server")
        );
        let gitlab = Some(("https://gitlab.com/a/b/c".to_owned(), "gitlab", "d".to_owned()));
        assert_eq!(found("https://gitlab.com/a/b/c/-/tree/main/d"), gitlab);
        for url in ["https://example.com/a/b", "https://github.com/ada", "git@github.com:ada/notes"]
        {
            assert_eq!(found(url), None);
        }
        let name = |url| SourceRepository::of_url(url)?.name_of("notes");
        let own = RegistryName::new("io.github.ada/notes").ok();
        assert_eq!(name("https://github.com/ada/notes"), own);
        assert_eq!(name("https://gitlab.com/ada/notes"), None);
    }

    #[test]
    fn an_icon_in_the_registry_has_a_secure_url_and_a_known_type() {
        let is_taken = |src, kind, sizes: &[&str]| RegistryIcon::new(src, kind, sizes).is_some();
        assert!(is_taken("https://a.b/c.png", Some("image/png"), &["48x48", "any"]));
        assert!(is_taken("https://a.b/c", None, &[]));
        assert!(!is_taken("data:image/png;base64,", Some("image/png"), &[]));
        assert!(!is_taken("https://a.b/c", Some("image/gif"), &[]));
        assert!(!is_taken("https://a.b/c", None, &["48"]));
    }
}
