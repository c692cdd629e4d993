//! The command `server-json`, which prints the entry of this server in the registry.

use std::{fs, io, path::PathBuf};

use mcp_runtime_workbench::{
    EntryProblem, ReadmeProblem, RegistryEntry, RegistryIcon, RegistryName, RegistryTarget,
    SourceRepository,
};

use super::{
    command::{CommandWords, apart},
    exit::{CommandError, CommandOutput},
    option::{CommandOption, OptionValues},
    published::{CargoPackage, notes_about_defaults, refuse_given_values, settings},
};
use crate::{builder::Builder, server::Identity};

pub(super) const OPTIONS: &[CommandOption] = &[NAME, URL, README, DESCRIPTION];

const NAME: CommandOption = CommandOption::valued(
    "--name",
    "NAME",
    "name in the registry, by default that in the README or of the repository",
);
const URL: CommandOption =
    CommandOption::valued("--url", "URL", "URL of a running server, in place of the cargo package");
const README: CommandOption =
    CommandOption::valued("--readme", "FILE", "README of the package, which shows the name");
const DESCRIPTION: CommandOption =
    CommandOption::valued("--description", "TEXT", "description of the server, by default its own");

pub(super) fn run(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    refuse_given_values(&builder, "server-json")?;
    apart(Box::new(|_| Box::pin(async move { entry(builder, given.options) })))
}

fn entry(builder: Builder, mut options: OptionValues) -> Result<CommandOutput, CommandError> {
    let server = builder.build().map_err(CommandError::failure)?;
    let identity = &server.identity;
    let package = CargoPackage::of(identity);
    let mut notes = String::new();
    let repository = package.repository.as_deref().map(|url| (url, SourceRepository::of_url(url)));
    let repository = match repository {
        Some((url, None)) => {
            notes += &format!(
                "note: the registry takes repositories at GitHub and GitLab only, so the entry leaves `{url}` out\n"
            );
            None
        }
        None => {
            notes += &format!("note: the entry has no repository: {}\n", package.fix("repository"));
            None
        }
        Some((_, known)) => known,
    };
    let given = options.take(&NAME).map(|name| RegistryName::new(&name)).transpose();
    let given =
        given.map_err(|why| CommandError::usage(format!("{why}; give it with `--name`")))?;
    let of_repository = || repository.as_ref()?.name_of(identity.package);
    let url = options.take(&URL);
    let readme = match url {
        // The registry looks for the name in the README of a package only.
        Some(_) => None,
        None => {
            let name = given.clone().or_else(of_repository);
            Some(PackageReadme::read(options.take(&README), &package, name.as_ref())?)
        }
    };
    let name = match given {
        Some(name) => name,
        None => {
            let shown = readme.as_ref().and_then(|readme| RegistryName::of_readme(&readme.text));
            match (shown, of_repository()) {
                (Some(Ok(name)), _) | (_, Some(name)) => name,
                (Some(Err(why)), None) => {
                    return Err(CommandError::failure(format_args!(
                        "the README has a name that the registry rejects: {why}"
                    )));
                }
                (None, None) => {
                    return Err(CommandError::usage(
                        "the server has no name in the registry: give it with `--name`, as in `--name io.github.USER/NAME`, where `USER` owns \
                         the repository",
                    ));
                }
            }
        }
    };
    if let Some(readme) = &readme {
        readme.check(&name)?;
    }
    let target = match url {
        Some(url) => RegistryTarget::Remote { url },
        None => {
            notes += &notes_about_defaults(&server.config);
            RegistryTarget::CargoPackage {
                package: identity.package.to_owned(),
                version: package.version.clone().unwrap_or_else(|| identity.version.clone()),
                settings: settings(&server.config),
            }
        }
    };
    let description = options.take(&DESCRIPTION).or_else(|| identity.description.clone());
    let mut entry =
        RegistryEntry::new(name, &identity.version, &description.unwrap_or_default(), target);
    entry.title.clone_from(&identity.title);
    entry.website = identity.website.clone().or(package.homepage);
    entry.repository = repository;
    entry.icons = icons(identity);
    let dropped = identity.icons.len() - entry.icons.len();
    if dropped > 0 {
        notes += &format!(
            "note: the entry leaves out {dropped} of the icons: the registry takes PNG, JPEG, SVG and WebP at `https://` URLs, with sizes such as `48x48`\n"
        );
    }
    let text = entry.text().map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(described).collect();
        CommandError::failure(problems.join("\n"))
    })?;
    Ok(CommandOutput { aside: notes, ..text.into() })
}

fn icons(identity: &Identity) -> Vec<RegistryIcon> {
    let icons = identity.icons.iter();
    icons.filter_map(|icon| RegistryIcon::new(icon.src, icon.mime_type, icon.sizes)).collect()
}

/// Returns a problem with its fix.
fn described(problem: &EntryProblem) -> String {
    let fix = match problem {
        EntryProblem::Description(_) => {
            "set it with `--description`, or in `description` of Cargo.toml"
        }
        EntryProblem::Title(_) => "give another one with `.title(\"…\")`",
        EntryProblem::Version(_) => "give one such as `1.2.0`",
        EntryProblem::Website(_) => {
            "give its `https://` URL with `.website(\"…\")`, or in `homepage` of Cargo.toml"
        }
        _ => "give the URL of the running server with `--url`",
    };
    format!("{problem}: {fix}")
}

/// README of the author's package.
struct PackageReadme {
    path: PathBuf,
    text: String,
}

impl PackageReadme {
    /// Reads the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read. If there is none, the error has the line that shows `name`.
    fn read(
        given: Option<String>,
        package: &CargoPackage,
        name: Option<&RegistryName>,
    ) -> Result<Self, CommandError> {
        let path = given.map(PathBuf::from).or_else(|| package.readme.clone());
        let path = path.unwrap_or_else(|| "README.md".into());
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self { path, text }),
            Err(why) => {
                let (create, line) = match (why.kind(), name) {
                    (io::ErrorKind::NotFound, Some(name)) => {
                        ("create the file with this line, name another file", name.readme_line())
                    }
                    (io::ErrorKind::NotFound, None) => (
                        "create the file with a line such as this one, name another file",
                        RegistryName::example_line(),
                    ),
                    _ => ("name the file", String::new()),
                };
                let line = if line.is_empty() { line } else { format!("\n\n{line}\n") };
                Err(CommandError::failure(format_args!(
                    "{}: {why}: the registry looks for the name of the server in the README of the package: {create} with `--readme`, or \
                     give the URL of a running server with `--url`{line}",
                    path.display()
                )))
            }
        }
    }

    /// Fails if the README does not show the name of the server. The error has the line to add.
    fn check(&self, name: &RegistryName) -> Result<(), CommandError> {
        let Err(problem) = name.check_readme(&self.text) else { return Ok(()) };
        let or = match &problem {
            ReadmeProblem::Other(other) => format!(", or use that name: `--name {other}`"),
            _ => String::new(),
        };
        Err(CommandError::failure(format_args!(
            "{} {problem}. The registry takes the entry of a package only if the README of the published version shows the name: add this \
             line{or}\n\n{}\n",
            self.path.display(),
            name.readme_line()
        )))
    }
}
