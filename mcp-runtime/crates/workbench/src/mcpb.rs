//! The file of an MCP bundle (`.mcpb`): an archive with the program and a manifest, which tells a client how to start the program and what to
//! ask its user for.

use std::{
    fmt,
    io::{Cursor, Write as _},
};

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use zip::{CompressionMethod, DateTime, ZipWriter, result::ZipError, write::SimpleFileOptions};

use crate::{
    bundle::{Bundle, BundleIcon, BundledPrompt, BundledTool},
    setting::{Setting, SettingKind, is_false},
};

/// Version of the specification that the manifest follows.
const MANIFEST_VERSION: &str = "0.3";

/// Reason why there is no archive.
#[derive(Debug)]
pub struct ArchiveError(ZipError);

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the archive cannot be written: {}", self.0)
    }
}

impl std::error::Error for ArchiveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl From<ZipError> for ArchiveError {
    fn from(why: ZipError) -> Self {
        Self(why)
    }
}

impl Bundle {
    /// Returns the text of `manifest.json`.
    ///
    /// # Panics
    /// Never: all members are texts, numbers and lists.
    pub fn manifest(&self) -> String {
        let text = serde_json::to_string_pretty(&Manifest::of(self));
        text.expect("the manifest has no keys other than texts") + "\n"
    }

    /// Returns the bytes of the bundle with this program. The same content has the same bytes, because no time is in the archive.
    ///
    /// # Errors
    /// Fails if the program is too large for the archive.
    pub fn archive(&self, program: &[u8]) -> Result<Vec<u8>, ArchiveError> {
        // The oldest time that the format can express.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::DEFAULT);
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let mut add = |name: &str, bytes: &[u8], mode: u32| {
            archive.start_file(name, options.unix_permissions(mode))?;
            archive.write_all(bytes).map_err(ZipError::Io)
        };
        add("manifest.json", self.manifest().as_bytes(), 0o644)?;
        if let Some(BundleIcon::Png(bytes)) = &self.icon {
            add(BundleIcon::FILE, bytes, 0o644)?;
        }
        add(&self.entry_point(), program, 0o755)?;
        Ok(archive.finish()?.into_inner())
    }
}

#[derive(Serialize)]
struct Manifest<'a> {
    manifest_version: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<&'a str>,
    version: &'a str,
    description: &'a str,
    author: ManifestAuthor<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<ManifestRepository<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    homepage: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<&'a str>,
    server: ManifestServer,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tools: &'a [BundledTool],
    #[serde(skip_serializing_if = "is_false")]
    tools_generated: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    prompts: &'a [BundledPrompt],
    #[serde(skip_serializing_if = "is_false")]
    prompts_generated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility: Option<Compatibility>,
    #[serde(serialize_with = "in_order", skip_serializing_if = "Vec::is_empty")]
    user_config: Vec<(String, AskedValue)>,
}

#[derive(Serialize)]
struct ManifestAuthor<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
}

#[derive(Serialize)]
struct ManifestRepository<'a> {
    r#type: &'static str,
    url: &'a str,
}

#[derive(Serialize)]
struct ManifestServer {
    r#type: &'static str,
    entry_point: String,
    mcp_config: BundledLaunch,
}

#[derive(Serialize)]
struct BundledLaunch {
    command: String,
    args: Vec<String>,
    #[serde(serialize_with = "in_order")]
    env: Vec<(String, String)>,
}

#[derive(Serialize)]
struct Compatibility {
    platforms: [&'static str; 1],
}

/// Value that the client asks its user for.
#[derive(Serialize)]
struct AskedValue {
    r#type: &'static str,
    title: String,
    description: String,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    #[serde(skip_serializing_if = "is_false")]
    multiple: bool,
    #[serde(skip_serializing_if = "is_false")]
    sensitive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<i64>,
}

/// Writes pairs as an object, in their order.
fn in_order<S: Serializer>(
    pairs: &[(String, impl Serialize)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

impl<'a> Manifest<'a> {
    fn of(bundle: &'a Bundle) -> Self {
        let entry_point = bundle.entry_point();
        let (mut args, mut env) = (Vec::new(), Vec::new());
        for setting in &bundle.settings {
            let place = format!("${{user_config.{}}}", setting.key());
            match setting.is_multiple() {
                // A client inserts several values only if the placeholder is a whole argument.
                true => args.extend(["--all-of".to_owned(), setting.option.clone(), place]),
                false => env.push((setting.variable.clone(), place)),
            }
        }
        let asked = bundle.settings.iter().map(|setting| (setting.key(), setting.asked()));
        Self {
            manifest_version: MANIFEST_VERSION,
            name: &bundle.name,
            display_name: bundle.display_name.as_deref(),
            version: &bundle.version,
            description: &bundle.description,
            author: ManifestAuthor { name: &bundle.author, email: bundle.email.as_deref() },
            repository: bundle
                .repository
                .as_deref()
                .map(|url| ManifestRepository { r#type: "git", url }),
            homepage: bundle.homepage.as_deref(),
            icon: bundle.icon.as_ref().map(BundleIcon::place),
            server: ManifestServer {
                r#type: "binary",
                mcp_config: BundledLaunch {
                    command: format!("${{__dirname}}/{entry_point}"),
                    args,
                    env,
                },
                entry_point,
            },
            tools: &bundle.tools,
            tools_generated: bundle.is_dynamic,
            prompts: &bundle.prompts,
            prompts_generated: bundle.is_dynamic || bundle.has_other_prompts,
            license: bundle.license.as_deref(),
            compatibility: bundle
                .platform
                .map(|platform| Compatibility { platforms: [platform.name()] }),
            user_config: asked.collect(),
        }
    }
}

impl Setting {
    /// Returns the key of the setting in `user_config`. The specification writes keys with `_`.
    fn key(&self) -> String {
        self.option.replace('-', "_")
    }

    /// Whether the client asks for several values. It can do so for files and directories only.
    fn is_multiple(&self) -> bool {
        self.is_list
            && !self.is_secret
            && matches!(self.kind, SettingKind::File | SettingKind::Directory)
    }

    fn asked(&self) -> AskedValue {
        let is_text =
            self.is_secret || (self.is_list && !self.is_multiple()) || self.has_inexact_default();
        let kind = if is_text { SettingKind::Text } else { self.kind };
        let (r#type, min, max) = match kind {
            SettingKind::Text | SettingKind::Path => ("string", None, None),
            SettingKind::Flag => ("boolean", None, None),
            SettingKind::Number { least, most } => ("number", least, most),
            SettingKind::File => ("file", None, None),
            SettingKind::Directory => ("directory", None, None),
        };
        let default = self.default().and_then(|text| match kind {
            SettingKind::Flag => text.parse().ok().map(Value::Bool),
            SettingKind::Number { .. } => text.parse::<Number>().ok().map(Value::Number),
            _ => Some(Value::String(text.to_owned())),
        });
        let description = if self.is_multiple() {
            self.description_of_value()
        } else {
            self.description_of_text()
        };
        AskedValue {
            r#type,
            title: self.title(),
            description,
            required: self.is_required,
            default,
            multiple: self.is_multiple(),
            sensitive: self.is_secret,
            min,
            max,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use zip::ZipArchive;

    use super::*;
    use crate::{bundle::BundlePlatform, setting::example as setting};

    fn bundle(settings: Vec<Setting>) -> Bundle {
        Bundle {
            settings,
            platform: Some(BundlePlatform::Linux),
            ..Bundle::new("notes", "1.0.0", "Finds notes", "Ada")
        }
    }

    fn manifest(bundle: &Bundle) -> Value {
        serde_json::from_str(&bundle.manifest()).expect("JSON")
    }

    /// Form of version 0.3. Source, read on 2026-11-27: `MANIFEST.md` (last updated on 2025-12-02) of `modelcontextprotocol/mcpb`.
    #[test]
    fn a_small_bundle_has_only_the_required_members() {
        let mut plain = bundle(Vec::new());
        plain.platform = None;
        let expected = serde_json::json!({
            "manifest_version": "0.3",
            "name": "notes",
            "version": "1.0.0",
            "description": "Finds notes",
            "author": { "name": "Ada" },
            "server": {
                "type": "binary",
                "entry_point": "server/notes",
                "mcp_config": { "command": "${__dirname}/server/notes", "args": [], "env": {} }
            }
        });
        assert_eq!(manifest(&plain), expected);
    }

    #[test]
    fn each_kind_of_value_is_asked_in_its_own_way() {
        let number = SettingKind::Number { least: Some(0), most: Some(255) };
        for (kind, default, asked) in [
            (SettingKind::Text, Some("no"), r#"{"type": "string", "default": "no"}"#),
            (SettingKind::Path, None, r#"{"type": "string"}"#),
            (SettingKind::Flag, Some("true"), r#"{"type": "boolean", "default": true}"#),
            (number, Some("5"), r#"{"type": "number", "default": 5, "min": 0, "max": 255}"#),
            (SettingKind::File, None, r#"{"type": "file"}"#),
            (SettingKind::Directory, None, r#"{"type": "directory"}"#),
        ] {
            let mut value = setting("own-value", kind);
            value.default = default.map(str::to_owned);
            let manifest = manifest(&bundle(vec![value]));
            let mut expected: Value = serde_json::from_str(asked).expect("JSON");
            expected["title"] = "Own value".into();
            expected["description"] = "The own-value".into();
            expected["required"] = false.into();
            assert_eq!(manifest["user_config"]["own_value"], expected, "{kind:?}");
            let env = &manifest["server"]["mcp_config"]["env"];
            assert_eq!(env["NOTES_OWN_VALUE"], "${user_config.own_value}", "{kind:?}");
        }
    }

    #[test]
    fn a_secret_is_a_hidden_text_and_its_default_is_never_written() {
        let number = SettingKind::Number { least: None, most: None };
        let mut secret = setting("pin", number);
        (secret.is_secret, secret.is_required) = (true, true);
        secret.default = Some("1234".to_owned());
        let bundle = bundle(vec![secret]);
        assert!(!bundle.manifest().contains("1234"), "{}", bundle.manifest());
        let asked = &manifest(&bundle)["user_config"]["pin"];
        assert_eq!((&asked["type"], &asked["sensitive"]), (&"string".into(), &true.into()));
        assert_eq!(asked["required"], true);
    }

    #[test]
    fn a_client_picks_several_paths_and_writes_other_lists_as_one_text() {
        let list = |option, kind| Setting { is_list: true, ..setting(option, kind) };
        let number = SettingKind::Number { least: None, most: None };
        let settings = vec![list("folder", SettingKind::Directory), list("port", number)];
        let manifest = manifest(&bundle(settings));
        let (folder, port) = (&manifest["user_config"]["folder"], &manifest["user_config"]["port"]);
        assert_eq!((&folder["type"], &folder["multiple"]), (&"directory".into(), &true.into()));
        assert_eq!((&port["type"], &port["multiple"]), (&"string".into(), &Value::Null));
        let config = &manifest["server"]["mcp_config"];
        let args = serde_json::json!(["--all-of", "folder", "${user_config.folder}"]);
        assert_eq!(config["args"], args);
        assert_eq!(config["env"], serde_json::json!({ "NOTES_PORT": "${user_config.port}" }));
        assert_eq!(port["description"], "The port (several values have commas between them)");
    }

    #[test]
    fn the_archive_has_an_executable_program_and_always_the_same_bytes() {
        let mut bundle = bundle(Vec::new());
        bundle.icon = BundleIcon::png(b"\x89PNG\r\n\x1a\n".to_vec());
        let bytes = bundle.archive(b"\x7fELF").expect("an archive");
        assert_eq!(bundle.archive(b"\x7fELF").expect("an archive"), bytes);
        let mut archive = ZipArchive::new(Cursor::new(bytes)).expect("an archive");
        let names: Vec<_> = archive.file_names().map(str::to_owned).collect();
        assert_eq!(names, ["manifest.json", "icon.png", "server/notes"]);
        let mut program = archive.by_name("server/notes").expect("the program");
        assert_eq!(program.unix_mode().map(|mode| mode & 0o777), Some(0o755));
        let mut text = Vec::new();
        program.read_to_end(&mut text).expect("the program");
        assert_eq!(text, b"\x7fELF");
    }

    #[test]
    fn no_name_of_a_server_leads_out_of_the_folder() {
        for (name, platform, path) in [
            ("my notes", BundlePlatform::Linux, "server/my-notes"),
            ("../notes", BundlePlatform::Macos, "server/-notes"),
            ("notes", BundlePlatform::Windows, "server/notes.exe"),
        ] {
            let mut bundle = Bundle::new(name, "1.0.0", "Finds notes", "Ada");
            bundle.platform = Some(platform);
            assert_eq!(bundle.entry_point(), path);
        }
    }

    #[test]
    fn an_icon_is_a_png_file() {
        assert_eq!(BundleIcon::png(b"<svg/>".to_vec()), None);
        let mut bundle = bundle(Vec::new());
        bundle.icon = Some(BundleIcon::Url("https://example.com/a.png".to_owned()));
        assert_eq!(manifest(&bundle)["icon"], "https://example.com/a.png");
    }
}
