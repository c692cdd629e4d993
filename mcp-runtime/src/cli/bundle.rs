//! The command `bundle`, which puts this program into an MCP bundle, a file that clients install with a click.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{self, Command as Process},
};

use mcp_runtime_workbench::{
    Bundle, BundleIcon, BundlePlatform, BundledPrompt, BundledTool, Setting, SettingKind,
};
use serde_json::{Map, Value, json};

use super::{
    command::{CommandWords, apart},
    exit::{CommandError, CommandOutput},
    option::CommandOption,
    published::{CargoPackage, notes_about_defaults, refuse_given_values, settings},
    trial::as_json,
};
use crate::{
    builder::Builder,
    call::extract::ItemParams,
    catalog::{Entry, Snapshot},
    model::{BinaryData, Icon, ListKind},
    registry,
    testing::{Prompted, TestClient},
};

pub(super) const OPTIONS: &[CommandOption] = &[OUT, ICON, AUTHOR, DESCRIPTION, VALIDATE];

const OUT: CommandOption = CommandOption::valued(
    "--out",
    "FILE",
    "file of the bundle, by default with the name of the server and the system",
);
const ICON: CommandOption =
    CommandOption::valued("--icon", "PNG", "icon of the server, best with 512×512 pixels");
const AUTHOR: CommandOption =
    CommandOption::valued("--author", "NAME", "author, by default the first of the package");
const DESCRIPTION: CommandOption = CommandOption::valued(
    "--description",
    "TEXT",
    "description for users, by default that of the server",
);
const VALIDATE: CommandOption = CommandOption::flag(
    "--validate",
    "checks the manifest with the official validator, which needs Node.js",
);

/// Package of npm with the official validator. A later version may reject what this program writes.
const VALIDATOR: &str = "@anthropic-ai/mcpb@2.1.2";

pub(super) fn run(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    refuse_given_values(&builder, "bundle")?;
    apart(Box::new(move |_| Box::pin(make(builder, given))))
}

async fn make(builder: Builder, given: CommandWords) -> Result<CommandOutput, CommandError> {
    let CommandWords { mut options, json, .. } = given;
    let server = builder.build().map_err(CommandError::failure)?;
    let (identity, snapshot) = (server.identity.clone(), server.catalog.snapshot());
    let package = CargoPackage::of(&identity);
    let author = options.take(&AUTHOR).or_else(|| package.authors.first().cloned());
    let description = options.take(&DESCRIPTION).or_else(|| identity.description.clone());
    let (Some(author), Some(description)) = (&author, &description) else {
        let mut missing = Vec::new();
        if author.is_none() {
            missing.push(format!(
                "an author: give one with `--author`, or {}",
                package.fix("authors")
            ));
        }
        if description.is_none() {
            let fix = package.fix("description");
            missing.push(format!("a description: give one with `--description`, or {fix}"));
        }
        return Err(CommandError::failure(format_args!(
            "a bundle needs {}",
            missing.join("\nand ")
        )));
    };
    let (author, email) = match author.split_once('<') {
        Some((name, email)) => (name.trim(), Some(email.trim_end_matches('>').to_owned())),
        None => (author.trim(), None),
    };
    let mut bundle = Bundle::new(&identity.name, &identity.version, description, author);
    bundle.email = email;
    bundle.display_name.clone_from(&identity.title);
    bundle.homepage = identity.website.clone().or(package.homepage);
    bundle.repository = package.repository;
    bundle.license = package.license;
    bundle.platform = BundlePlatform::of_system(env::consts::OS);
    bundle.is_dynamic = server.catalog.is_dynamic();
    bundle.settings = settings(&server.config);
    let about_defaults = notes_about_defaults(&server.config);
    bundle.tools = snapshot.list(ListKind::Tools).iter().map(|entry| tool(entry)).collect();
    let mut client = TestClient::without_setup(server);
    bundle.prompts = prompts(&mut client, &snapshot).await;
    client.close().await;
    bundle.has_other_prompts = bundle.prompts.len() < snapshot.list(ListKind::Prompts).len();
    bundle.icon = match options.take(&ICON) {
        Some(file) => Some(icon_of_file(Path::new(&file))?),
        None => identity.icons.iter().find_map(icon_of),
    };

    let program = env::current_exe().and_then(fs::read);
    let program = program
        .map_err(|why| CommandError::failure(format_args!("this program cannot be read: {why}")))?;
    let out = options.take(&OUT).map_or_else(|| usual_file(&bundle), PathBuf::from);
    let is_validated = options.has(&VALIDATE);
    if is_validated {
        validate(&bundle)?;
    }
    let archive = bundle.archive(&program).map_err(CommandError::failure)?;
    write(&out, &archive).map_err(|why| {
        CommandError::failure(format_args!("{} cannot be written: {why}", out.display()))
    })?;
    let text = match json {
        true => as_json(&json!({ "file": out.display().to_string(), "bytes": archive.len() })),
        false => format!("{} is written\n", out.display()),
    };
    let mut aside = notes(&bundle, &snapshot, identity.icons.len()) + &about_defaults;
    if !is_validated {
        aside += "note: the bundle is not validated: `--validate` runs the official validator, which needs Node.js\n";
    }
    Ok(CommandOutput { aside, ..text.into() })
}

/// Writes the archive beside the file, and then gives it the name of the file, so that no part of an archive takes the place of an older one.
fn write(out: &Path, archive: &[u8]) -> io::Result<()> {
    // Nothing takes the place of a device or of a pipe.
    if out.exists() && !out.is_file() {
        return fs::write(out, archive);
    }
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", process::id()));
    let part = out.with_file_name(name);
    // A process with the same id may have left the file, and another user may have planted a link there.
    let _ = fs::remove_file(&part);
    let mut new = fs::File::create_new(&part)?;
    let written = new.write_all(archive).and_then(|()| fs::rename(&part, out));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// Returns the default name of the file. It names the system and the processor, because a bundle contains a program for a single system.
fn usual_file(bundle: &Bundle) -> PathBuf {
    format!("{}-{}-{}.mcpb", bundle.file_stem(), env::consts::OS, env::consts::ARCH).into()
}

fn tool(entry: &Entry) -> BundledTool {
    BundledTool {
        name: entry.name.to_string(),
        description: entry.description.as_deref().map(str::to_owned),
    }
}

/// Returns the prompts whose text only inserts their arguments. Their texts have a placeholder for each argument.
async fn prompts(client: &mut TestClient, snapshot: &Snapshot) -> Vec<BundledPrompt> {
    let mut found = Vec::new();
    for entry in snapshot.list(ListKind::Prompts) {
        let arguments: Vec<String> =
            entry.arguments().iter().map(|argument| argument.name.to_string()).collect();
        if !depends_on_arguments_alone(entry) {
            continue;
        }
        if let Some(text) = text_with_placeholders(client, entry, &arguments).await {
            found.push(BundledPrompt {
                name: entry.name.to_string(),
                description: entry.description.as_deref().map(str::to_owned),
                arguments,
                text,
            });
        }
    }
    found
}

/// Whether the function of a prompt takes nothing but required arguments. State, for example, may contain data of the author. Without an
/// optional argument, a function usually makes another text.
fn depends_on_arguments_alone(entry: &Entry) -> bool {
    let is_of_entry = |def: &&registry::ItemDef| entry.identity == Some((def.identity)());
    let Some(def) = registry::all().find(is_of_entry) else { return false };
    let mut params = ItemParams::default();
    (def.params)(&mut params);
    let are_required = entry.arguments().iter().all(|argument| argument.required);
    let takes_more = !params.needs.states.is_empty() || params.needs.handle;
    are_required && !takes_more && !entry.needs_meta && !entry.can_ask
}

/// Returns the text of a prompt with a placeholder for each argument. `None` if the function changes an argument, leaves it out, or makes
/// another text for other arguments.
async fn text_with_placeholders(
    client: &mut TestClient,
    entry: &Entry,
    arguments: &[String],
) -> Option<String> {
    let placeholder = |name: &str| format!("${{arguments.{name}}}");
    let text = text_given(client, entry, arguments, placeholder).await?;
    // Another text shows whether the function looks at the values.
    let sample = |name: &str| format!("Sample of {name}!");
    let mut other = text_given(client, entry, arguments, sample).await?;
    for name in arguments {
        other = other.replace(&sample(name), &placeholder(name));
    }
    let has_all = arguments.iter().all(|name| text.contains(&placeholder(name)));
    (has_all && text == other).then_some(text)
}

/// Returns the text of a prompt with these values of its arguments.
async fn text_given(
    client: &mut TestClient,
    entry: &Entry,
    arguments: &[String],
    value: impl Fn(&str) -> String,
) -> Option<String> {
    let values = arguments.iter().map(|name| (name.clone(), Value::String(value(name))));
    let values: Map<String, Value> = values.collect();
    let asked = json!({ "name": entry.name, "arguments": values });
    text_of(client.request("prompts/get", asked).await.ok()?)
}

/// Returns the text of the messages of a prompt. `None` if a message is not from the user, or is not a text.
fn text_of(answer: Value) -> Option<String> {
    let prompted: Prompted = serde_json::from_value(answer).ok()?;
    let texts = prompted.messages.iter().map(|message| {
        let is_user = message["role"] == "user";
        message["content"]["text"].as_str().filter(|_| is_user)
    });
    let texts: Option<Vec<&str>> = texts.collect();
    texts.map(|texts| texts.join("\n\n"))
}

fn icon_of_file(file: &Path) -> Result<BundleIcon, CommandError> {
    let bytes = fs::read(file)
        .map_err(|why| CommandError::failure(format_args!("{}: {why}", file.display())))?;
    BundleIcon::png(bytes).ok_or_else(|| {
        CommandError::failure(format_args!(
            "{} is no PNG file: give a PNG file with `--icon`, best with 512×512 pixels",
            file.display()
        ))
    })
}

/// Returns the icon of the server, if it is a PNG file.
fn icon_of(icon: &Icon) -> Option<BundleIcon> {
    if let Some(data) = icon.src.strip_prefix("data:image/png;base64,") {
        return BundleIcon::png(BinaryData::decode(data)?);
    }
    let is_png = icon.mime_type.map_or(icon.src.ends_with(".png"), |kind| kind == "image/png");
    let is_url = icon.src.starts_with("https://") && is_png;
    is_url.then(|| BundleIcon::Url(icon.src.to_owned()))
}

/// Runs the official validator on the manifest.
fn validate(bundle: &Bundle) -> Result<(), CommandError> {
    let folder = env::temp_dir().join(format!("{}-{}.mcpb", bundle.file_stem(), process::id()));
    let written = fs::create_dir_all(&folder).and_then(|()| {
        if let Some(BundleIcon::Png(bytes)) = &bundle.icon {
            fs::write(folder.join("icon.png"), bytes)?;
        }
        fs::write(folder.join("manifest.json"), bundle.manifest())
    });
    if let Err(why) = written {
        let _ = fs::remove_dir_all(&folder);
        return Err(CommandError::failure(format_args!("{}: {why}", folder.display())));
    }
    let mut npx = Process::new(if cfg!(windows) { "npx.cmd" } else { "npx" });
    npx.args(["--yes", VALIDATOR, "validate"]).arg(folder.join("manifest.json"));
    let output = npx.output();
    let _ = fs::remove_dir_all(&folder);
    let output = output.map_err(|why| {
        CommandError::failure(format_args!(
            "the validator does not start: {why}: `--validate` needs `npx` of Node.js"
        ))
    })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(CommandError::failure(format_args!(
            "the validator of the format rejects the manifest:\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ))),
    }
}

/// Returns remarks about things that the author may want to change.
fn notes(bundle: &Bundle, snapshot: &Snapshot, icons: usize) -> String {
    let mut notes = String::new();
    if cfg!(debug_assertions) {
        notes += "warning: this is a debug build, which is large and slow: run `cargo run --release --features mcp-runtime/workbench -- bundle …`\n";
    }
    let is_listed = |name: &str| bundle.prompts.iter().any(|prompt| prompt.name == name);
    let prompts = snapshot.list(ListKind::Prompts);
    let others: Vec<_> =
        prompts.iter().map(|prompt| &*prompt.name).filter(|name| !is_listed(name)).collect();
    if !others.is_empty() {
        notes += &format!(
            "note: clients learn of these prompts when the server runs, because their texts do more than insert required texts: {}\n",
            others.join(", ")
        );
    }
    if !bundle.prompts.is_empty() {
        let names: Vec<_> = bundle.prompts.iter().map(|prompt| &*prompt.name).collect();
        notes += &format!(
            "note: the bundle contains the texts of these prompts as this machine makes them: {}\n",
            names.join(", ")
        );
    }
    let is_any_path = |setting: &&Setting| setting.kind == SettingKind::Path && !setting.is_secret;
    for Setting { option, .. } in bundle.settings.iter().filter(is_any_path) {
        notes += &format!(
            "note: `--{option}` is a path: with `#[config(file)]` or `#[config(directory)]` at its field, clients show a picker\n"
        );
    }
    match &bundle.icon {
        None if icons > 0 => {
            notes += "note: no icon of the server is PNG: give a file with `--icon`\n"
        }
        Some(BundleIcon::Url(_)) => {
            notes +=
                "note: not every client loads the icon from its URL: give a file with `--icon`\n";
        }
        _ => {}
    }
    notes
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_not_written_through_a_planted_link() {
        let folder = env::temp_dir().join(format!("mcp-bundle-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the folder for tests is writable");
        let (out, target) = (folder.join("a.mcpb"), folder.join("target"));
        fs::write(&target, "of the user").expect("a file");
        let part = folder.join(format!("a.mcpb.{}.new", process::id()));
        std::os::unix::fs::symlink(&target, &part).expect("a link");
        write(&out, b"archive").expect("it is written");
        let read = |path: &Path| fs::read_to_string(path).expect("a file");
        assert_eq!((&*read(&target), &*read(&out)), ("of the user", "archive"));
        assert!(!out.is_symlink() && !part.is_symlink());
        fs::remove_dir_all(&folder).expect("own folder");
    }
}
