//! Parts that the commands `bundle` and `server-json` share: the author's package, and the settings of the server.

use std::{
    env,
    path::{Path, PathBuf},
};

use mcp_runtime_workbench::{Setting, SettingKind};

use super::exit::CommandError;
use crate::{
    builder::Builder,
    config::{ConfigFieldView, ConfigPath, DeclaredConfig},
    server::Identity,
};

/// Fails if a value was given to this process, because clients ask the users of a published server for the values.
pub(super) fn refuse_given_values(builder: &Builder, command: &str) -> Result<(), CommandError> {
    match builder.given.iter().flatten().next() {
        None => Ok(()),
        Some((option, _)) => Err(CommandError::usage(format!(
            "`{command}` is for the users of the server, and they choose their own values: leave `--{option}` out"
        ))),
    }
}

/// Package of the author, as `cargo run` describes it in variables.
#[derive(Default)]
pub(super) struct CargoPackage {
    /// Whether cargo has started the program, and has described the package of the server.
    pub(super) is_known: bool,
    pub(super) version: Option<String>,
    /// Authors, each as `NAME` or `NAME <EMAIL>`.
    pub(super) authors: Vec<String>,
    pub(super) license: Option<String>,
    pub(super) repository: Option<String>,
    pub(super) homepage: Option<String>,
    pub(super) readme: Option<PathBuf>,
}

impl CargoPackage {
    /// Reads the variables, unless they describe another package than that of the server.
    pub(super) fn of(identity: &Identity) -> Self {
        let variable = |name: &str| {
            env::var(format!("CARGO_PKG_{name}")).ok().filter(|text| !text.trim().is_empty())
        };
        if variable("NAME").as_deref() != Some(identity.package) {
            return Self::default();
        }
        let authors = variable("AUTHORS").unwrap_or_default();
        let authors = authors.split(':').map(str::trim).filter(|author| !author.is_empty());
        let folder = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        Self {
            is_known: true,
            version: variable("VERSION"),
            authors: authors.map(str::to_owned).collect(),
            license: variable("LICENSE"),
            repository: variable("REPOSITORY"),
            homepage: variable("HOMEPAGE"),
            readme: folder.zip(variable("README")).map(|(folder, readme)| folder.join(readme)),
        }
    }

    /// Returns the advice to add a member to `Cargo.toml`.
    pub(super) fn fix(&self, member: &str) -> String {
        let start = if self.is_known { "" } else { ", and start the program with `cargo run`" };
        format!("add `{member} = …` to Cargo.toml{start}")
    }
}

/// Returns the values that clients ask the users of the server for.
pub(super) fn settings(plan: &DeclaredConfig) -> Vec<Setting> {
    taken(plan).map(|view| view.setting()).collect()
}

fn taken(plan: &DeclaredConfig) -> impl Iterator<Item = ConfigFieldView> {
    plan.fields().into_iter().filter(ConfigFieldView::is_taken)
}

/// Returns a note for each default that is a relative path. Clients ask for such a path instead.
pub(super) fn notes_about_defaults(plan: &DeclaredConfig) -> String {
    let relative = taken(plan).filter(ConfigFieldView::has_relative_default);
    let notes = relative.map(|view| {
        format!(
            "note: the default of `--{}` is a relative path, which means another file in each client, so clients ask for this path\n",
            view.field.option
        )
    });
    notes.collect()
}

impl ConfigFieldView {
    /// Whether the default is a relative path. A client starts the server in a folder of its own, which may not be writable.
    fn has_relative_default(&self) -> bool {
        self.field.is_path && self.field.default.is_some_and(|path| Path::new(path).is_relative())
    }

    fn setting(&self) -> Setting {
        let field = &self.field;
        let is_relative = self.has_relative_default();
        let about = field.about.trim_end_matches('.');
        let kind = match field.path {
            ConfigPath::File => SettingKind::File,
            ConfigPath::Directory => SettingKind::Directory,
            ConfigPath::Unknown if field.is_path => SettingKind::Path,
            ConfigPath::Unknown if self.element() == "bool" => SettingKind::Flag,
            ConfigPath::Unknown => {
                SettingKind::of_number(self.element()).unwrap_or(SettingKind::Text)
            }
        };
        Setting {
            option: field.option.to_owned(),
            variable: self.variable.clone(),
            description: if about.is_empty() { field.option } else { about }.to_owned(),
            kind,
            choices: field.choices.iter().map(|&name| name.to_owned()).collect(),
            is_list: self.is_list(),
            is_required: self.is_needed() || is_relative,
            is_secret: field.is_secret,
            default: match self.readable_default() {
                None if self.is_flag() && !field.has_default => Some("false".to_owned()),
                default => default.filter(|_| !is_relative).map(str::to_owned),
            },
        }
    }
}
