//! The commands `config`, `install` and `uninstall`, which set a client up for this server.

use std::{
    env,
    env::consts::EXE_SUFFIX,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use mcp_runtime_contract::suggest::nearest;
use mcp_runtime_workbench::{
    ClientApp, EditError, FolderLock, Home, Launch, Replaced, Replacement, Scope, ServerEntry,
    Variable, VariableValue, difference,
};
use serde_json::json;

use super::{
    command::{CommandWords, print},
    dev::{self, PackageFeatures},
    exit::CommandError,
    option::CommandOption,
    screen::{Screen, say},
    settings::{EntryOptions, EntryVariable, absolute, misplaced},
    trial::as_json,
    unknown::all_names,
};
use crate::builder::Builder;

/// Words of the commands. An option that a command lacks has no value.
struct ClientWords {
    command: &'static str,
    screen: Screen,
    /// Whether the output is JSON.
    is_json: bool,
    client: ClientApp,
    scope: Scope,
    /// File in place of that of the client.
    file: Option<PathBuf>,
    name: Option<String>,
    /// URL of a server that is reached over HTTP.
    url: Option<String>,
    /// Headers that the client sends to the URL.
    headers: Vec<(String, String)>,
    /// Whether the client starts the command `dev` with cargo.
    is_dev: bool,
    /// Features of the author's package, for `dev`.
    features: PackageFeatures,
    /// Whether the change is only shown.
    is_preview: bool,
    /// Arguments of the server.
    args: Vec<String>,
}

pub(super) const NAME: CommandOption =
    CommandOption::valued("--name", "NAME", "name of the entry, by default that of the server");
pub(super) const URL: CommandOption =
    CommandOption::valued("--url", "URL", "URL of a running server, in place of this program");
pub(super) const HEADER: CommandOption = CommandOption::valued(
    "--header",
    "NAME=VALUE",
    "header that the client sends to the URL, such as Authorization='Bearer …'",
)
.repeatable();
pub(super) const DEV: CommandOption = CommandOption::flag(
    "--dev",
    "lets the client start `dev` with cargo, in place of this program",
);
pub(super) const FILE: CommandOption =
    CommandOption::valued("--file", "FILE", "file in place of that of the client");
pub(super) const PROJECT: CommandOption =
    CommandOption::flag("--project", "changes the file of the project in this folder");
pub(super) const PRINT: CommandOption =
    CommandOption::flag("--print", "only shows the difference, which may contain secrets");

/// Prints the entry for a client.
pub(super) fn config(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    let words = ClientWords::read(given, "config")?;
    let entry = words.entry(&builder)?;
    let text = words.client.add(&entry, "").map_err(CommandError::failure)?;
    warn_of_debug_build(&words);
    note_peculiarities(&words, &entry, &text);
    note_token(&words, builder);
    let file = words.file().ok();
    if words.is_json {
        let file = file.map(|file| file.display().to_string());
        print(&as_json(&json!({
            "client": words.client.name(), "server": entry.name, "file": file, "text": text,
        })));
        return Ok(());
    }
    if let Some(file) = file {
        say(format_args!("note: the entry belongs in {}\n", file.display()));
    }
    print(&text);
    Ok(())
}

/// Adds the entry to the file of a client.
pub(super) fn install(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    let words = ClientWords::read(given, "install")?;
    let (entry, file) = (words.entry(&builder)?, words.file()?);
    let edit = |old: Option<&str>| {
        words.client.add(&entry, old.unwrap_or_default()).map_err(|why| {
            let client = words.client.name();
            let fix = match why {
                EditError::NoHttp(_) => String::new(),
                _ => format!(
                    "; the file is unchanged: correct it, or write what `config {client}` prints into it"
                ),
            };
            CommandError::failure(format_args!("{}: {why}{fix}", file.display()))
        })
    };
    let note = |new: &str| {
        warn_of_debug_build(&words);
        note_peculiarities(&words, &entry, new);
        note_token(&words, builder);
    };
    change(&words, &entry.name, &file, edit, note, &entry.secrets(words.client))
}

/// Removes the entry from the file of a client.
pub(super) fn uninstall(builder: Builder, given: CommandWords) -> Result<(), CommandError> {
    let words = ClientWords::read(given, "uninstall")?;
    let (name, file) = (words.name(&builder), words.file()?);
    let edit = |old: Option<&str>| {
        let new = words.client.remove(&name, old.unwrap_or_default()).map_err(|why| {
            let file = file.display();
            CommandError::failure(format_args!("{file}: {why}; the file is unchanged: correct it"))
        })?;
        new.ok_or_else(|| words.no_server(&name, &file, old))
    };
    change(&words, &name, &file, edit, |_| {}, &[])
}

impl ClientWords {
    fn read(given: CommandWords, command: &'static str) -> Result<Self, CommandError> {
        let CommandWords { words, mut options, rest, json, screen } = given;
        let client = words.into_iter().next().unwrap_or_default();
        let headers = options.all(&HEADER).map(header).collect::<Result<Vec<_>, _>>()?;
        let read = Self {
            command,
            screen,
            is_json: json,
            client: ClientApp::named(&client).ok_or_else(|| unknown_client(&client))?,
            scope: if options.has(&PROJECT) { Scope::Project } else { Scope::User },
            file: options.take(&FILE).map(PathBuf::from),
            name: options.take(&NAME),
            url: options.take(&URL),
            headers,
            is_dev: options.has(&DEV),
            features: PackageFeatures::of(&options),
            is_preview: options.has(&PRINT),
            args: rest,
        };
        if read.url.is_some() && !read.args.is_empty() {
            return Err(CommandError::usage(
                "a client passes no arguments to a server that it reaches by `--url`".to_owned(),
            ));
        }
        if read.url.is_none() && !read.headers.is_empty() {
            return Err(CommandError::usage(
                "`--header` goes with `--url`: a client sends no headers to a program".to_owned(),
            ));
        }
        if read.url.is_some() && read.is_dev {
            return Err(CommandError::usage("give either `--url` or `--dev`".to_owned()));
        }
        if let (Some(option), false) = (read.features.options().first(), read.is_dev) {
            return Err(CommandError::usage(format!(
                "`{option}` goes with `--dev`: the entry of a built program needs no features"
            )));
        }
        // Without cargo, `dev` would not find the package of the server.
        if read.args.first().is_some_and(|word| word == "dev") {
            let client = read.client.name();
            return Err(CommandError::usage(format!(
                "an entry with `dev` has to start cargo: run `{command} {client} --dev`"
            )));
        }
        Ok(read)
    }

    fn name(&self, builder: &Builder) -> String {
        self.name.clone().unwrap_or_else(|| builder.identity.name.to_string())
    }

    fn entry(&self, builder: &Builder) -> Result<ServerEntry, CommandError> {
        // As arguments, secrets would be in the list of processes, and paths would stay relative.
        let own = builder.declared_config().options();
        if let Some(problem) = misplaced(&*own, &self.args, self.command) {
            return Err(CommandError::usage(problem));
        }
        let launch = match &self.url {
            Some(url) if !url.starts_with("http://") && !url.starts_with("https://") => {
                return Err(CommandError::usage(format!(
                    "`{url}` is no URL of a server: give one such as `http://127.0.0.1:8000/mcp`"
                )));
            }
            Some(url) if builder.given.as_ref().is_some_and(|given| !given.is_empty()) => {
                return Err(CommandError::usage(format!(
                    "a client passes no options to a server that it reaches by `--url {url}`"
                )));
            }
            Some(url) => Launch::Http { url: url.clone(), headers: self.headers.clone() },
            None => {
                let EntryOptions { mut args, variables } = EntryOptions::of(builder)?;
                let name = self.name(builder);
                let variables = variables.into_iter().map(|mut variable| {
                    // Teams commit the files of a project.
                    if variable.is_secret && self.scope == Scope::Project {
                        variable.text = None;
                    }
                    variable
                });
                let env = variables.map(|variable| variable.of_server(&name)).collect();
                if self.is_dev {
                    self.dev(args, env)?
                } else {
                    args.extend(self.args_elsewhere());
                    Launch::Process { command: program()?, args, env }
                }
            }
        };
        Ok(ServerEntry { name: self.name(builder), launch })
    }

    /// Returns the arguments of the server for a client, which starts it in a folder of its own. So the file of a recording gets an
    /// absolute path. Paths among other arguments are unknown.
    fn args_elsewhere(&self) -> Vec<String> {
        let mut args = self.args.clone();
        if let [command, words @ ..] = &mut args[..]
            && command == "record"
            && let mut words = words.iter_mut().take_while(|word| *word != "--")
            && let Some(file) = words.find(|word| !word.starts_with('-'))
        {
            *file = absolute(file);
        }
        args
    }

    /// Returns the cargo command with which the client starts `dev`. `options` and `env` are those of the server.
    fn dev(&self, options: Vec<String>, mut env: Vec<Variable>) -> Result<Launch, CommandError> {
        let command = format!("{} {} --dev", self.command, self.client.name());
        let mut words = dev::project(self.features.clone(), &command)?.run_arguments();
        words.extend(options.into_iter().map(OsString::from));
        words.push("dev".into());
        words.extend(self.features.options().into_iter().map(OsString::from));
        if !self.args.is_empty() {
            words.push("--".into());
            words.extend(self.args_elsewhere().into_iter().map(OsString::from));
        }
        let args: Result<_, _> = words.into_iter().map(unicode).collect();
        env.extend(build_variables()?);
        Ok(Launch::Process { command: unicode(cargo().into())?, args: args?, env })
    }

    /// Returns the error for a server that the text of a file does not have. The text is `None` if there is no file.
    fn no_server(&self, name: &str, file: &Path, text: Option<&str>) -> CommandError {
        let file = file.display();
        let Some(text) = text else {
            return CommandError::failure(format_args!(
                "{file} does not exist, so there is no entry to remove"
            ));
        };
        let servers = self.client.servers(text);
        let names = || servers.iter().map(String::as_str);
        if servers.is_empty() {
            return CommandError::failure(format_args!("{file} has no servers"));
        }
        let hint = match nearest(name, names()) {
            Some(near) => format!("did you mean `--name {near}`?"),
            None if self.name.is_some() => all_names("server", names(), None),
            None => format!("{}; choose one with `--name`", all_names("server", names(), None)),
        };
        CommandError::failure(format_args!("{file} has no server `{name}`; {hint}"))
    }

    fn file(&self) -> Result<PathBuf, CommandError> {
        if let Some(file) = &self.file {
            return Ok(file.clone());
        }
        let home = Home::of_environment(variable).ok_or_else(|| {
            CommandError::failure("the environment has no home folder: name the file with `--file`")
        })?;
        self.client.file(self.scope, &home).ok_or_else(|| {
            let title = self.client.title();
            CommandError::usage(match (self.scope, self.client) {
                // Without `--project`, this client would need `--file` too.
                (Scope::User, _) | (_, ClientApp::Plain) => {
                    format!("name the configuration file of {title} with `--file FILE`")
                }
                (Scope::Project, _) => format!(
                    "{title} has no configuration file for a project: leave `--project` out, or name a file with `--file`"
                ),
            })
        })
    }
}

/// Returns the path in a variable, unless it is empty.
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn unknown_client(given: &str) -> CommandError {
    let names = || ClientApp::ALL.iter().map(|client| client.name());
    let meant: Vec<_> = ClientApp::meant_by(given).into_iter().map(ClientApp::name).collect();
    let meant = match meant.is_empty() {
        true => nearest(given, names()).map(str::to_owned),
        false => Some(meant.join("` or `")),
    };
    CommandError::usage(match meant {
        Some(meant) => format!("unknown client `{given}`; did you mean `{meant}`?"),
        None => {
            format!("unknown client `{given}`; {}", all_names("client", names(), None))
        }
    })
}

/// Returns the absolute path of this program.
fn program() -> Result<String, CommandError> {
    let path = env::current_exe().map_err(|why| {
        CommandError::failure(format_args!("the path of this program is unknown: {why}"))
    })?;
    unicode(path.into())
}

/// Returns the path of cargo. The one of rustup comes first, because it also finds the compiler where the client has another `PATH`.
fn cargo() -> PathBuf {
    let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let folder = variable("CARGO_HOME").or_else(|| Some(variable(home)?.join(".cargo")));
    let of_rustup = folder.map(|folder| folder.join("bin").join(format!("cargo{EXE_SUFFIX}")));
    let of_rustup = of_rustup.filter(|path| path.is_file());
    of_rustup.or_else(|| variable("CARGO")).unwrap_or_else(|| "cargo".into())
}

/// Returns the variables with which cargo builds the same program in the folder of a client. `cargo run` of rustup sets the toolchain, which
/// otherwise depends on the current folder. The target folder becomes absolute, because the client has another current folder.
fn build_variables() -> Result<Vec<Variable>, CommandError> {
    let target = variable("CARGO_TARGET_DIR").map(std::path::absolute).transpose();
    let target = target.map_err(CommandError::failure)?;
    let variables =
        [("RUSTUP_TOOLCHAIN", variable("RUSTUP_TOOLCHAIN")), ("CARGO_TARGET_DIR", target)];
    let found = variables.into_iter().filter_map(|(name, text)| Some((name, text?)));
    let found = found.map(|(name, text)| {
        let value = VariableValue::Text(unicode(text.into())?);
        Ok(Variable { name: name.to_owned(), value })
    });
    found.collect()
}

fn unicode(word: OsString) -> Result<String, CommandError> {
    word.into_string().map_err(|word| {
        CommandError::failure(format_args!(
            "no configuration file can contain {word:?}, because it is not Unicode"
        ))
    })
}

impl EntryVariable {
    fn of_server(self, server: &str) -> Variable {
        let value = match self.text {
            Some(text) if !self.is_secret => VariableValue::Text(text),
            text => VariableValue::Asked {
                id: format!("{server}-{}", self.option),
                description: self.about,
                is_secret: self.is_secret,
                is_placeholder: text.is_none(),
                otherwise: text.unwrap_or_else(|| placeholder(&self.name)),
            },
        };
        Variable { name: self.name, value }
    }
}

/// Returns the text that marks the place of a value.
fn placeholder(variable: &str) -> String {
    format!("<{variable}>")
}

/// Prints notes about how the client reads the entry, and about variables whose values are missing in `new`, the new text of a file.
fn note_peculiarities(words: &ClientWords, entry: &ServerEntry, new: &str) {
    let client = words.client;
    for note in entry.notes(client, new) {
        say(format_args!("note: {note}\n"));
    }
    for name in entry.asked(client, new) {
        say(format_args!("note: {} asks for `{name}` when it starts the server\n", client.title()));
    }
    for name in entry.unset(client, new) {
        say(format_args!(
            "note: `{name}` has no value yet: replace `{}` in the entry\n",
            placeholder(name)
        ));
    }
}

/// Says that the entry needs a token, if the server requires one and no client can get it by a login.
#[cfg(feature = "auth")]
fn note_token(words: &ClientWords, builder: Builder) {
    if words.url.is_some() && words.headers.is_empty() && builder.needs_given_token() {
        say(format_args!(
            "note: the server requires an access token: add `--header Authorization='Bearer …'`\n"
        ));
    }
}

#[cfg(not(feature = "auth"))]
fn note_token(_: &ClientWords, _: Builder) {}

/// Splits the words of `--header`.
///
/// # Errors
/// Fails if the words are not the name of a header and its value.
fn header(given: &str) -> Result<(String, String), CommandError> {
    let is_name = |name: &str| {
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !name.is_empty() && name.bytes().all(is_token)
    };
    match given.split_once('=') {
        Some((name, value)) if is_name(name) && !value.contains(['\r', '\n', '\0']) => {
            Ok((name.to_owned(), value.to_owned()))
        }
        // The value may be a secret.
        _ => Err(CommandError::usage(
            "`--header` needs the name of a header and its value: `--header Authorization='Bearer …'`",
        )),
    }
}

/// Warns if clients would start a build that the next `cargo build` changes, and that is slow.
fn warn_of_debug_build(words: &ClientWords) {
    if cfg!(debug_assertions) && words.url.is_none() && !words.is_dev {
        say(format_args!(
            "warning: this is a debug build, and `cargo clean` removes it: for daily use run `cargo run --release --features mcp-runtime/workbench -- …`\n"
        ));
    }
}

/// Reads a file. Returns `None` if there is none.
fn read(file: &Path) -> Result<Option<String>, CommandError> {
    // A pipe has no end, and the new file would take the place of a device.
    if fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return Err(CommandError::failure(format_args!(
            "{} is not a file: name the configuration file of the client",
            file.display()
        )));
    }
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(failed(file, &why)),
    }
}

/// Maximum number of times that the new text is made, if other programs change the file meanwhile.
const ATTEMPTS: u32 = 10;

/// Changes the text of a file with `edit`, and keeps the old text beside it. With `--print`, only shows the difference. `note` gets the new
/// text before it is written. `secrets` are the variables whose secret values are in the new text.
fn change(
    words: &ClientWords,
    server: &str,
    file: &Path,
    edit: impl Fn(Option<&str>) -> Result<String, CommandError>,
    note: impl FnOnce(&str),
    secrets: &[&str],
) -> Result<(), CommandError> {
    // An edit that fails leaves no folder behind, and neither does a preview.
    edit(read(file)?.as_deref())?;
    let lock = (!words.is_preview).then(|| {
        let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        // An error is that of the file, too, which is reported below.
        let _ = fs::create_dir_all(folder);
        FolderLock::take(folder)
    });
    let mut note = Some(note);
    for _ in 0..ATTEMPTS {
        let old = read(file)?;
        let new = edit(old.as_deref())?;
        if let Some(note) = note.take() {
            note(&new);
        }
        let is_same = old.as_deref() == Some(&*new);
        let saved = match words.is_preview || is_same {
            true => None,
            false => {
                let replaced = Replacement::write(file, old.as_deref(), &new);
                match replaced.map_err(|why| failed(file, &why))? {
                    Replaced::Written(saved) => Some(saved),
                    Replaced::Overtaken => continue,
                }
            }
        };
        // The reader of stdout may be slow.
        drop(lock);
        let change = TextChange { file, old: old.as_deref(), new: &new, saved };
        change.report(words, server, secrets);
        return Ok(());
    }
    Err(CommandError::failure(format_args!(
        "{}: another program changes the file again and again: close {}, and try again",
        file.display(),
        words.client.title()
    )))
}

/// Change of the text of a file.
struct TextChange<'a> {
    file: &'a Path,
    old: Option<&'a str>,
    new: &'a str,
    /// `None` if the file was not written.
    saved: Option<Replacement>,
}

impl TextChange<'_> {
    /// Prints the change, as text or as JSON.
    fn report(self, words: &ClientWords, server: &str, secrets: &[&str]) {
        let Self { file, old, new, saved } = self;
        let difference = || difference(&file.display().to_string(), old.unwrap_or_default(), new);
        if let Some(saved) = &saved {
            warn_of_readers(saved, secrets);
        }
        if words.is_json {
            let shown = saved.as_ref().map_or(file, |saved| &saved.file);
            let kept = saved.as_ref().and_then(|saved| saved.copy.as_deref());
            print(&as_json(&json!({
                "client": words.client.name(),
                "server": server,
                "file": shown.display().to_string(),
                "written": saved.is_some(),
                "backup": kept.map(|kept| kept.display().to_string()),
                // The entry may contain secrets, and the output of an installation often ends up in a log.
                "difference": words.is_preview.then(difference),
            })));
            return;
        }
        let Some(saved) = saved else {
            print(&match words.is_preview {
                true => words.screen.changes(difference()),
                false => format!("{} is up to date\n", file.display()),
            });
            return;
        };
        let copy = saved.copy.map(|copy| format!(", and {} has its old text", copy.display()));
        let (file, copy) = (saved.file.display(), copy.unwrap_or_default());
        let done = if old.is_none() { "written" } else { "changed" };
        print(&format!("{file} is {done}{copy}; restart {}\n", words.client.title()));
    }
}

/// Warns if other users of the machine can read the secrets in a file. Only its owner can read a new file.
fn warn_of_readers(saved: &Replacement, secrets: &[&str]) {
    if let (true, [_, ..]) = (saved.is_open_to_others, secrets) {
        let file = saved.file.display();
        say(format_args!(
            "warning: other users of this machine can read {file}, which has the value of `{}`: run `chmod 600` on it\n",
            secrets.join("`, `"),
        ));
    }
}

fn failed(file: &Path, why: &io::Error) -> CommandError {
    CommandError::failure(format_args!("{}: {why}", file.display()))
}
